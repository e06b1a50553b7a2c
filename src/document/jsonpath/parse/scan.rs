//! The tokens of a query that have an inside: names, numbers and strings, by the letter of
//! RFC 9535's grammar.

/// The number of blanks that a text begins with (§2.1.1); each is one byte.
pub(super) fn blank_bytes(text: &str) -> usize {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    text.bytes().take_while(blank).count()
}

/// The bytes of the name without quotes that a text begins with (§2.5.1.1).
pub(super) fn name_bytes(text: &str) -> Option<usize> {
    let first = |character: char| character.is_ascii_alphabetic() || character == '_';
    let part = |character: char| first(character) || !character.is_ascii();
    let begins = text.chars().next().is_some_and(part);
    let end = text.find(|character: char| !part(character) && !character.is_ascii_digit());
    begins.then_some(end.unwrap_or(text.len()))
}

/// The bytes of the number that a text begins with (§2.3.5.1): without needless zeros in front.
pub(super) fn number_bytes(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let mut end = usize::from(bytes.first() == Some(&b'-'));
    end += match bytes.get(end)? {
        b'0' => 1,
        b'1'..=b'9' => digits(end),
        _ => return None,
    };
    if bytes.get(end) == Some(&b'.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if digits(end + 1 + sign) > 0 {
            end += 1 + sign + digits(end + 1 + sign);
        }
    }
    Some(end)
}

/// The string in quotes that a text begins with, and how many bytes it takes (§2.3.1.1).
///
/// # Errors
/// At which byte something is wrong, and what.
pub(super) fn string(text: &str) -> Result<(String, usize), (usize, &'static str)> {
    let quote = text.chars().next().unwrap_or_default();
    let mut out = String::new();
    let mut at = 1;
    while let Some(character) = text[at..].chars().next() {
        match character {
            _ if character == quote => return Ok((out, at + 1)),
            '\\' => {
                let (escaped, bytes) = escape(&text[at..], quote).map_err(|what| (at, what))?;
                out.push(escaped);
                at += bytes;
            }
            '\0'..' ' => return Err((at, "a control character in a string has to be escaped")),
            _ => {
                out.push(character);
                at += character.len_utf8();
            }
        }
    }
    Err((0, "a string has no end"))
}

fn escape(text: &str, quote: char) -> Result<(char, usize), &'static str> {
    let escaped = text[1..].chars().next();
    let character = match escaped {
        Some('b') => '\u{8}',
        Some('f') => '\u{c}',
        Some('n') => '\n',
        Some('r') => '\r',
        Some('t') => '\t',
        Some('/') => '/',
        Some('\\') => '\\',
        Some('u') => return unicode(text),
        Some(escaped) if escaped == quote => quote,
        _ => return Err("an unknown escape in a string"),
    };
    Ok((character, 2))
}

fn unicode(text: &str) -> Result<(char, usize), &'static str> {
    const LONE: &str = "half of a surrogate pair in a string, which is no Unicode character";
    let unit = hex(text).ok_or("an escape in a string lacks its four hexadecimal digits")?;
    if let Some(character) = char::from_u32(unit) {
        return Ok((character, 6));
    }
    let low = hex(&text[6..])
        .filter(|low| (0xDC00..0xE000).contains(low))
        .filter(|_| unit < 0xDC00)
        .ok_or(LONE)?;
    let character = char::from_u32(0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00));
    Ok((character.ok_or(LONE)?, 12))
}

/// The number in an escape, `\u` and four digits.
fn hex(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    let hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    hexadecimal
        .then(|| u32::from_str_radix(digits, 16).ok())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_at_the_first_other_character() {
        for (text, bytes) in [
            ("a", Some(1)),
            ("_a1-b", Some(3)),
            ("é\u{a0}\u{3000}.", Some(7)),
            ("1a", None),
            ("-a", None),
            (" a", None),
            ("", None),
        ] {
            assert_eq!(name_bytes(text), bytes, "{text:?}");
        }
    }

    #[test]
    fn numbers_follow_the_grammar() {
        for (text, bytes) in [
            ("0", Some(1)),
            ("-0", Some(2)),
            ("01", Some(1)),
            ("120]", Some(3)),
            ("-1.50e+07x", Some(9)),
            ("1.", Some(1)),
            ("1.e5", Some(1)),
            ("1e", Some(1)),
            ("1E5", Some(3)),
            ("-", None),
            (".1", None),
            ("+1", None),
            ("", None),
        ] {
            assert_eq!(number_bytes(text), bytes, "{text:?}");
        }
    }

    #[test]
    fn strings_have_only_the_escapes_of_their_own_quotes() {
        for (text, string_of, bytes) in [
            (r"'a'b", "a", 3),
            (r#""'""#, "'", 3),
            (r"'\''", "'", 4),
            (r"'\b\f\n\r\t\/\\'", "\u{8}\u{c}\n\r\t/\\", 16),
            (r"'\u00e9\uD83D\ude00'", "é😀", 20),
            ("'\u{7f}'", "\u{7f}", 3),
        ] {
            assert_eq!(string(text), Ok((string_of.to_owned(), bytes)), "{text}");
        }
        for (text, at) in [
            ("'a", 0),
            (r#"'a\"'"#, 2),
            (r#""\'""#, 1),
            (r"'\x'", 1),
            (r"'\u12'", 1),
            (r"'\u+123'", 1),
            (r"'\uD83D'", 1),
            (r"'\uDE00\uD83D'", 1),
            (r"'\uD83D\u0041'", 1),
            ("'\n'", 1),
            ("'\\", 1),
        ] {
            assert_eq!(string(text).map_err(|(at, _)| at), Err(at), "{text}");
        }
    }
}
