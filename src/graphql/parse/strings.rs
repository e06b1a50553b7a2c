//! What strings in a query stand for (GraphQL specification, 2.9.4).

/// The value of a string, from what stands between its quotes; none where an escape is none.
pub(super) fn string_value(text: &str) -> Option<String> {
    let mut value = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, escaped)) = rest.split_once('\\') {
        value.push_str(plain);
        let mut behind = escaped.chars();
        value.push(match behind.next()? {
            it @ ('"' | '\\' | '/') => it,
            'b' => '\u{8}',
            'f' => '\u{C}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let digits = behind.as_str().get(..4)?;
                if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
                    return None;
                }
                behind = behind.as_str()[4..].chars();
                char::from_u32(u32::from_str_radix(digits, 16).ok()?)?
            }
            _ => return None,
        });
        rest = behind.as_str();
    }
    value.push_str(rest);
    Some(value)
}

/// The value of a block string: without the indentation that its lines share but for the first
/// one, and without the empty lines around it. `\"""` stays as it is, as with the other parser.
pub(super) fn block_string_value(text: &str) -> String {
    let lines = text
        .split("\r\n")
        .flat_map(|lines| lines.split(['\r', '\n']));
    let mut lines: Vec<&str> = lines.collect();
    let indents = lines
        .iter()
        .skip(1)
        .filter_map(|line| line.find(is_no_space));
    let indent = indents.min().unwrap_or(0);
    for line in lines.iter_mut().skip(1) {
        *line = line.get(indent..).unwrap_or(line);
    }
    let has_content = |line: &&str| line.contains(is_no_space);
    let begin = lines.iter().position(has_content).unwrap_or(lines.len());
    let end = lines
        .iter()
        .rposition(has_content)
        .map_or(begin, |last| last + 1);
    lines[begin..end].join("\n")
}

fn is_no_space(character: char) -> bool {
    !matches!(character, ' ' | '\t')
}
