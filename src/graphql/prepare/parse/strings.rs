//! The values of strings in a query (GraphQL specification, 2.9.4).

/// The value of a string, from the text between its quotes.
///
/// # Errors
/// The part of the text that begins with an invalid escape.
pub(crate) fn string_value(text: &str) -> Result<String, &str> {
    let mut value = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, escaped)) = rest.split_once('\\') {
        value.push_str(plain);
        let (character, behind) = escape(escaped).ok_or(&rest[plain.len()..])?;
        value.push(character);
        rest = behind;
    }
    value.push_str(rest);
    Ok(value)
}

/// The character of an escape, from the text after its `\`, and the text after the escape.
fn escape(text: &str) -> Option<(char, &str)> {
    let mut behind = text.chars();
    let character = match behind.next()? {
        it @ ('"' | '\\' | '/') => it,
        'b' => '\u{8}',
        'f' => '\u{C}',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => return unicode_escape(behind.as_str()),
        _ => return None,
    };
    Some((character, behind.as_str()))
}

/// The character of a Unicode escape, from the text after its `\u`, and the text after the escape.
/// A leading and a trailing surrogate are one character; any other surrogate is invalid.
fn unicode_escape(text: &str) -> Option<(char, &str)> {
    if let Some(text) = text.strip_prefix('{') {
        let (digits, rest) = text.split_once('}')?;
        return Some((char::from_u32(hexadecimal(digits)?)?, rest));
    }
    let (unit, rest) = code_unit(text)?;
    if !(0xD800..0xDC00).contains(&unit) {
        return Some((char::from_u32(unit)?, rest));
    }
    let (trailing, rest) = code_unit(rest.strip_prefix("\\u")?)?;
    let trailing = trailing.checked_sub(0xDC00).filter(|bits| *bits < 0x400)?;
    let point = 0x1_0000 + ((unit - 0xD800) << 10) + trailing;
    Some((char::from_u32(point)?, rest))
}

/// The value of the four leading hexadecimal digits, and the text after them.
fn code_unit(text: &str) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at_checked(4)?;
    Some((hexadecimal(digits)?, rest))
}

fn hexadecimal(digits: &str) -> Option<u32> {
    // The standard library also accepts a sign.
    let all_digits = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let value = u32::from_str_radix(digits, 16).ok()?;
    all_digits.then_some(value)
}

/// The value of a block string: without the common indentation of its lines (the first excepted),
/// and without leading and trailing lines of white space. `\"""` is `"""`.
pub(crate) fn block_string_value(text: &str) -> String {
    let mut lines: Vec<&str> = text
        .split("\r\n")
        .flat_map(|lines| lines.split(['\r', '\n']))
        .collect();
    let indents = lines
        .iter()
        .skip(1)
        .filter_map(|line| line.find(is_no_space));
    let indent = indents.min().unwrap_or(0);
    for line in lines.iter_mut().skip(1) {
        // A line of white space may be shorter than the indentation.
        *line = line.get(indent..).unwrap_or_default();
    }
    let has_content = |line: &&str| line.contains(is_no_space);
    let begin = lines.iter().position(has_content).unwrap_or(lines.len());
    let end = lines
        .iter()
        .rposition(has_content)
        .map_or(begin, |last| last + 1);
    let value = lines[begin..end].join("\n");
    if value.contains(ESCAPED_QUOTES) {
        return value.replace(ESCAPED_QUOTES, "\"\"\"");
    }
    value
}

const ESCAPED_QUOTES: &str = "\\\"\"\"";

fn is_no_space(character: char) -> bool {
    !matches!(character, ' ' | '\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_strings_have_the_value_of_the_specification() {
        for (text, value) in [
            (r#"a \""" b"#, r#"a """ b"#),
            (r#"\"""\""""#, r#""""""""#),
            (r#"\\""" \"" \n"#, r#"\""" \"" \n"#),
            ("\n    a\n  \n    b\n", "a\n\nb"),
            ("\n    a\n      \n    b\n", "a\n  \nb"),
            ("\n  a\n \t\t\n  b", "a\n\t\nb"),
            ("  a\n  b\n   c", "  a\nb\n c"),
            (" \t\r\n \r\t", ""),
            ("\r  é\r\n    b\n   ", "é\n  b"),
            ("\n\u{A0}a\n b", "\u{A0}a\n b"),
        ] {
            assert_eq!(block_string_value(text), value, "{text:?}");
        }
    }
}
