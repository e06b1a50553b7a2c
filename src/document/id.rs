//! The id of a document: a string, a 64-bit integer or a versionstamp.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use super::json::{Event, Reader, write_string};
use super::leaf::{Leaf, abridged};
use crate::error::{Error, Result};

/// The id of a document in its collection.
///
/// Its text form is a GraphQL ID. The canonical decimal text of a 64-bit integer (`42`, `-5`, but
/// not `007`) is that integer. `@` and 24 lower-case hexadecimal digits are the versionstamp of these
/// bytes. A JSON string (`"\"42\""`) is that string. Any other non-empty text is the string itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DocumentId {
    /// A string. Strings sort before integers.
    Text(String),
    /// A 64-bit integer. Integers sort before versionstamps.
    Integer(i64),
    /// A versionstamp: the ten bytes of the commit that stored the document, and the number of the
    /// document in that commit. Versionstamps sort in the order of the commits.
    Versionstamp([u8; 12]),
}

impl DocumentId {
    /// The approximate size in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Integer(_) => size_of::<i64>(),
            Self::Text(text) => text.len(),
            Self::Versionstamp(stamp) => stamp.len(),
        }
    }

    /// Parses the text form of an id.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the text is empty, or begins with `"` and is not a JSON string.
    pub fn parse(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Err(Error::bad_input("the id is empty"));
        }
        if let Some(integer) = canonical_integer(text) {
            return Ok(Self::Integer(integer));
        }
        if let Some(stamp) = versionstamp(text) {
            return Ok(Self::Versionstamp(stamp));
        }
        if text.starts_with('"') {
            return json_string(text).map(Self::Text);
        }
        Ok(Self::Text(text.to_owned()))
    }

    /// The id that a value is, as a reference to a document has it: an integer, or a string that is the text form
    /// of an id. None for other values, and for other texts of an id, such as `"\"a\""` for `a`.
    pub fn of_leaf(leaf: &Leaf<'_>) -> Option<Self> {
        match leaf {
            Leaf::String(text) => {
                let id = Self::parse(text).ok();
                id.filter(|id| id.to_string() == **text)
            }
            Leaf::Integer(integer) => Some(Self::Integer(*integer)),
            Leaf::Double(double) => exact_integer(*double).map(Self::Integer),
            _ => None,
        }
    }

    /// Parses what string ids begin with, in the text form of an id. Empty text is the beginning of
    /// every string.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the text is that of an integer or a versionstamp, which have no beginning.
    /// As [`DocumentId::parse`].
    pub fn parse_prefix(text: &str) -> Result<String> {
        if text.is_empty() {
            return Ok(String::new());
        }
        let kind = match Self::parse(text)? {
            Self::Text(text) => return Ok(text),
            Self::Integer(_) => "an integer",
            Self::Versionstamp(_) => "a versionstamp",
        };
        Err(Error::bad_input(format!(
            "{text} is the key of {kind}, and only keys that are strings can begin with a prefix. For \
             the strings that begin with {text}, write a JSON string with its quotation marks: \
             \"{text}\". For keys of {kind}, use `gte` and `lt`"
        )))
    }
}

/// The text form, which [`DocumentId::parse`] parses into the same id.
impl fmt::Display for DocumentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(integer) => write!(f, "{integer}"),
            Self::Text(text) if needs_quotes(text) => {
                let mut quoted = Vec::with_capacity(text.len() + 2);
                write_string(&mut quoted, text);
                f.write_str(&String::from_utf8_lossy(&quoted))
            }
            Self::Text(text) => f.write_str(text),
            Self::Versionstamp(stamp) => {
                f.write_str("@")?;
                stamp.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
        }
    }
}

/// The integer that a number without a fraction is.
fn exact_integer(double: f64) -> Option<i64> {
    // Up to here, each integer has one number.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if double.fract() != 0.0 || double.abs() > EXACT {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the number is within the bounds and has no fraction"
    )]
    let integer = double as i64;
    Some(integer)
}

fn needs_quotes(text: &str) -> bool {
    text.is_empty()
        || text.starts_with('"')
        || is_canonical_integer(text)
        || versionstamp(text).is_some()
}

/// Whether `text` is the canonical decimal text of a 64-bit integer.
pub fn is_canonical_integer(text: &str) -> bool {
    canonical_integer(text).is_some()
}

fn canonical_integer(text: &str) -> Option<i64> {
    let integer: i64 = text.parse().ok()?;
    (itoa::Buffer::new().format(integer) == text).then_some(integer)
}

/// The versionstamp with this text form. `None` if the text is no such form.
fn versionstamp(text: &str) -> Option<[u8; 12]> {
    let digits = text.strip_prefix('@')?.as_bytes();
    let mut stamp = [0; 12];
    if digits.len() != 2 * stamp.len() {
        return None;
    }
    for (byte, digits) in stamp.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = hex_digit(digits[0])? << 4 | hex_digit(digits[1])?;
    }
    Some(stamp)
}

fn hex_digit(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

/// The string of a text that begins with `"`.
fn json_string(text: &str) -> Result<String> {
    let mut reader = Reader::new(text, 0);
    let string = match reader.next() {
        Ok(Event::String(string)) => reader.next().map(|_| string.into_owned()),
        Ok(_) => return Err(Error::bad_input("the id is not a JSON string")),
        Err(error) => Err(error),
    };
    string.map_err(|error| {
        let id = abridged(text);
        let mut message = format!(
            "the id {id} begins with '\"', so it must be a JSON string: {}",
            error.describe(text)
        );
        if let Cow::Borrowed(text) = id {
            let written = DocumentId::Text(text.to_owned());
            write!(message, "; the id that is this string is written {written}")
                .expect("a string has room");
        }
        Error::bad_input(message)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_id_reads_back_from_its_text() {
        let text = |text: &str| DocumentId::Text(text.to_owned());
        for (written, id) in [
            ("42", DocumentId::Integer(42)),
            ("-5", DocumentId::Integer(-5)),
            ("0", DocumentId::Integer(0)),
            ("9223372036854775807", DocumentId::Integer(i64::MAX)),
            ("9223372036854775808", text("9223372036854775808")),
            ("007", text("007")),
            ("-0", text("-0")),
            ("+1", text("+1")),
            ("\"42\"", text("42")),
            ("\"\\\"x\"", text("\"x")),
            ("\"\"", text("")),
            ("Jazz \u{0} 🎷", text("Jazz \u{0} 🎷")),
            (
                "@00000000000002f1000a0003",
                DocumentId::Versionstamp([0, 0, 0, 0, 0, 0, 2, 0xF1, 0, 0x0A, 0, 3]),
            ),
            (
                "@ffffffffffffffffffffffff",
                DocumentId::Versionstamp([0xFF; 12]),
            ),
            (
                "\"@00000000000002f1000a0003\"",
                text("@00000000000002f1000a0003"),
            ),
            (
                "@00000000000002F1000A0003",
                text("@00000000000002F1000A0003"),
            ),
            ("@00000000000002f1000a000", text("@00000000000002f1000a000")),
            (
                "@00000000000002f1000a00033",
                text("@00000000000002f1000a00033"),
            ),
            (
                "@g0000000000002f1000a0003",
                text("@g0000000000002f1000a0003"),
            ),
            ("@", text("@")),
        ] {
            assert_eq!(DocumentId::parse(written).expect(written), id);
            assert_eq!(id.to_string(), written);
        }
    }

    #[test]
    fn prefixes_are_strings() {
        for (written, prefix) in [
            ("", ""),
            ("2024-", "2024-"),
            ("007", "007"),
            ("-", "-"),
            ("\"2024\"", "2024"),
            ("\"\"", ""),
            ("\"\\\"\"", "\""),
            ("@00", "@00"),
            ("\"@00000000000002f1000a0003\"", "@00000000000002f1000a0003"),
        ] {
            assert_eq!(DocumentId::parse_prefix(written).expect(written), prefix);
        }
        for (written, told) in [
            ("2024", "2024 is the key of an integer"),
            ("-5", "\"-5\""),
            ("0", "`gte` and `lt`"),
            ("@00000000000002f1000a0003", "a versionstamp"),
            ("\"", "must be a JSON string"),
        ] {
            let error = DocumentId::parse_prefix(written).expect_err(written);
            assert!(error.message().contains(told), "{}", error.message());
        }
    }

    #[test]
    fn empty_ids_and_broken_strings_are_rejected() {
        for (text, reason) in [
            ("", "the id is empty"),
            (
                "\"",
                "the id \" begins with '\"', so it must be a JSON string: expected the string's \
                 closing '\"' at line 1, column 2; the id that is this string is written \"\\\"\"",
            ),
            (
                "\"a\"b",
                "the id \"a\"b begins with '\"', so it must be a JSON string: expected the end of the \
                 text at line 1, column 4; the id that is this string is written \"\\\"a\\\"b\"",
            ),
            (
                "\"\\q\"",
                "the id \"\\q\" begins with '\"', so it must be a JSON string: \\q in a string, which is \
                 no escape at line 1, column 2; the id that is this string is written \
                 \"\\\"\\\\q\\\"\"",
            ),
        ] {
            let error = DocumentId::parse(text).expect_err(text);
            assert_eq!(error.message(), reason);
        }
        let long = format!("\"{}\\ud800\"", "a".repeat(100));
        let error = DocumentId::parse(&long).expect_err("a lone surrogate");
        assert!(error.message().len() < 250, "{error}");
        assert!(
            error.message().ends_with("character at line 1, column 102"),
            "{error}"
        );
    }
}
