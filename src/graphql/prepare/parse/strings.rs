//! The values of strings in a query (GraphQL specification, 2.9.4).

use std::borrow::Cow;

use super::lexer::{Lexeme, Lexer};

/// The value of a string, from the text between its quotes; none if an escape is invalid.
pub(crate) fn string_value(text: &str) -> Option<String> {
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
                let (character, rest) = unicode_escape(behind.as_str())?;
                behind = rest.chars();
                character
            }
            _ => return None,
        });
        rest = behind.as_str();
    }
    value.push_str(rest);
    Some(value)
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

/// Replaces the escapes that `async_graphql`'s parser does not support by characters: surrogate
/// pairs, and code points in braces. Spaces after the string preserve the columns of the following
/// text.
pub(crate) fn with_known_escapes(query: &str) -> Cow<'_, str> {
    let unknown =
        |text: &str| text.contains("\\u{") || text.contains("\\uD") || text.contains("\\ud");
    if !unknown(query) {
        return Cow::Borrowed(query);
    }
    let (mut known, mut copied) = (String::with_capacity(query.len()), 0);
    let mut lexer = Lexer::new(query);
    while let Some((token, _)) = lexer.next() {
        match token {
            Lexeme::End => break,
            Lexeme::String(text) if unknown(text) => {
                if let Some(written) = known_escapes(text) {
                    let closed = lexer.end();
                    let opened = closed - text.len() - 1;
                    known.push_str(&query[copied..opened]);
                    known.push_str(&written);
                    known.push('"');
                    let shorter = text.chars().count() - written.chars().count();
                    known.extend(std::iter::repeat_n(' ', shorter));
                    copied = closed;
                }
            }
            _ => {}
        }
    }
    known.push_str(&query[copied..]);
    Cow::Owned(known)
}

/// The text between the quotes of a string, with all Unicode escapes replaced by characters; none
/// if an escape is invalid.
fn known_escapes(text: &str) -> Option<String> {
    let mut known = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, escaped)) = rest.split_once('\\') {
        known.push_str(plain);
        if let Some(unicode) = escaped.strip_prefix('u') {
            let character;
            (character, rest) = unicode_escape(unicode)?;
            match character {
                '"' | '\\' => known.extend(['\\', character]),
                '\n' => known.push_str("\\n"),
                '\r' => known.push_str("\\r"),
                _ => known.push(character),
            }
        } else {
            let (first, behind) = escaped.split_at_checked(1)?;
            known.extend(["\\", first]);
            rest = behind;
        }
    }
    known.push_str(rest);
    Some(known)
}

/// The value of a block string: without the common indentation of its lines (the first excepted),
/// and without leading and trailing empty lines. `\"""` is kept, as in `async_graphql`'s parser.
pub(crate) fn block_string_value(text: &str) -> String {
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
