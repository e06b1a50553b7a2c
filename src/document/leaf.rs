//! Leaves: null, booleans, numbers and strings.

use std::borrow::Cow;

use num_bigint::BigInt;

use super::json::write_string;
use crate::error::{Error, Limit, Result};
use crate::limits::{INTEGER_BYTES_MAX, INTEGER_DIGITS_MAX};

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// An object, empty or not.
    Object,
    /// An array, empty or not.
    Array,
    /// A string, split into pieces or not.
    String,
    /// An integer or a double.
    Number,
    /// `true` or `false`.
    Boolean,
    /// `null`
    Null,
}

/// A value that is neither an object nor an array.
#[derive(Clone, Debug, PartialEq)]
pub enum Leaf<'a> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A 64-bit integer.
    Integer(i64),
    /// A larger integer, of at most [`INTEGER_BYTES_MAX`] bytes.
    BigInteger(BigInt),
    /// A finite binary64.
    Double(f64),
    /// A string.
    String(Cow<'a, str>),
}

impl Leaf<'_> {
    /// Parses a JSON number. Without `.`, `e` or `E` it is an exact integer, otherwise the nearest
    /// binary64 (RFC 8259 §6).
    ///
    /// # Errors
    /// `TOO_LARGE`: an integer of more than [`INTEGER_BYTES_MAX`] bytes. `BAD_USER_INPUT`: a number
    /// outside the range of binary64.
    pub fn number(text: &str) -> Result<Leaf<'static>> {
        if text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
            return double(text);
        }
        match text.parse() {
            Ok(integer) => Ok(Leaf::Integer(integer)),
            Err(_) => big_integer(text),
        }
    }

    /// The kind of this leaf.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Null => Kind::Null,
            Self::Bool(_) => Kind::Boolean,
            Self::Integer(_) | Self::BigInteger(_) | Self::Double(_) => Kind::Number,
            Self::String(_) => Kind::String,
        }
    }

    /// Appends the leaf as JSON text. A double is written in the shortest form that parses to the
    /// same value, always with a `.` or an exponent, so that it never parses as an integer.
    #[inline]
    pub fn write_json(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"null"),
            Self::Bool(true) => out.extend_from_slice(b"true"),
            Self::Bool(false) => out.extend_from_slice(b"false"),
            Self::Integer(integer) => {
                out.extend_from_slice(itoa::Buffer::new().format(*integer).as_bytes());
            }
            Self::BigInteger(integer) => out.extend_from_slice(integer.to_string().as_bytes()),
            Self::Double(double) => write_double(out, *double),
            Self::String(text) => write_string(out, text),
        }
    }
}

fn write_double(out: &mut Vec<u8>, double: f64) {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(double);
    // The exponent of a large number does not need its plus sign.
    if double.abs() >= 1e15
        && let Some((digits, exponent)) = text.split_once('+')
    {
        out.extend_from_slice(digits.as_bytes());
        out.extend_from_slice(exponent.as_bytes());
        return;
    }
    out.extend_from_slice(text.as_bytes());
}

fn double(text: &str) -> Result<Leaf<'static>> {
    match text.parse::<f64>() {
        Ok(double) if double.is_finite() => Ok(Leaf::Double(double)),
        _ => Err(Error::bad_input(format!(
            "the number {} is past the range of binary64 (about 1.8e308)",
            abridged(text)
        ))),
    }
}

fn big_integer(text: &str) -> Result<Leaf<'static>> {
    let too_large = || {
        Error::too_large(
            Limit::new("integerBytes", INTEGER_BYTES_MAX),
            format!(
                "the integer {} has {} digits; the limit is {INTEGER_BYTES_MAX} bytes (about {} digits)",
                abridged(text),
                text.trim_start_matches('-').len(),
                INTEGER_DIGITS_MAX - 1,
            ),
        )
    };
    if text.len() > INTEGER_DIGITS_MAX + 1 {
        return Err(too_large());
    }
    let integer: BigInt = text
        .parse()
        .map_err(|_| Error::bad_input(format!("{} is not a number", abridged(text))))?;
    if integer.magnitude().bits() > 8 * INTEGER_BYTES_MAX as u64 {
        return Err(too_large());
    }
    Ok(Leaf::BigInteger(integer))
}

/// The first 40 characters of a text, for messages.
pub fn abridged(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(40) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn printed(text: &str) -> String {
        let mut out = Vec::new();
        Leaf::number(text).expect(text).write_json(&mut out);
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn a_number_without_a_point_or_an_exponent_is_an_exact_integer() {
        assert_eq!(printed("-0"), "0");
        assert_eq!(printed("-9223372036854775808"), i64::MIN.to_string());
        for text in [
            "9223372036854775807",
            "9223372036854775808",
            "-9223372036854775809",
        ] {
            assert_eq!(printed(text), text);
        }
        let digits = "1234567890".repeat(30);
        assert_eq!(printed(&digits), digits);
    }

    #[test]
    fn an_integer_of_255_bytes_is_the_largest() {
        let largest: BigInt = (BigInt::from(1) << 2040) - 1;
        let past: BigInt = &largest + 1;
        for (largest, past) in [(largest.clone(), past.clone()), (-largest, -past)] {
            assert_eq!(printed(&largest.to_string()), largest.to_string());
            let error = Leaf::number(&past.to_string()).expect_err("too large");
            assert_eq!(error.kind(), ErrorKind::TooLarge);
            assert!(error.message().contains("255 bytes"), "{error}");
        }
        let error = Leaf::number(&"9".repeat(1_000_000)).expect_err("too large");
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        assert!(
            error.message().len() < 200,
            "the message does not repeat it: {error}"
        );
    }

    #[test]
    fn any_other_number_is_the_nearest_binary64_and_never_prints_as_an_integer() {
        for (text, expected) in [
            ("0.0", "0.0"),
            ("-0.0", "-0.0"),
            ("-0e5", "-0.0"),
            ("1.0", "1.0"),
            ("1e0", "1.0"),
            ("100E-2", "1.0"),
            ("0.1000000000000000055511151231257827", "0.1"),
            ("9007199254740993.0", "9007199254740992.0"),
            ("1e15", "1000000000000000.0"),
            ("1e16", "1e16"),
            ("1e21", "1e21"),
            ("1.5e300", "1.5e300"),
            ("5e-324", "5e-324"),
            ("2e-324", "0.0"),
            ("1e-400", "0.0"),
            ("1.7976931348623157e308", "1.7976931348623157e308"),
            ("1.7976931348623158e308", "1.7976931348623157e308"),
        ] {
            assert_eq!(printed(text), expected, "{text}");
        }
        for text in ["1e400", "-1e400", "1.8e308", "1e99999999999999999999"] {
            let error = Leaf::number(text).expect_err(text);
            assert_eq!(error.kind(), ErrorKind::BadUserInput, "{text}");
        }
        assert_eq!(printed("1e-99999999999999999999"), "0.0");
    }

    #[test]
    fn each_leaf_has_its_kind() {
        for (leaf, kind) in [
            (Leaf::Null, Kind::Null),
            (Leaf::Bool(false), Kind::Boolean),
            (Leaf::Integer(1), Kind::Number),
            (Leaf::BigInteger(BigInt::from(1)), Kind::Number),
            (Leaf::Double(1.0), Kind::Number),
            (Leaf::String(Cow::Borrowed("")), Kind::String),
        ] {
            assert_eq!(leaf.kind(), kind);
        }
    }

    #[test]
    fn a_long_text_is_abridged_between_characters() {
        assert_eq!(abridged("short"), "short");
        assert_eq!(abridged(&"é".repeat(40)), "é".repeat(40));
        assert_eq!(abridged(&"é".repeat(41)), "é".repeat(40) + "…");
    }
}
