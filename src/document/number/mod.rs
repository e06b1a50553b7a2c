//! Arithmetic and comparison of number leaves, exact for integers.

pub mod exact_sum;

use std::cmp::Ordering;

use num_bigint::BigInt;

use super::flatten::{json_error, json_text};
use super::json::{Event, Reader};
use super::leaf::{Leaf, abridged};
use crate::error::{Error, Limit, Result};
use crate::limits::INTEGER_BYTES_MAX;

/// Parses a JSON text that is a number.
///
/// # Errors
/// `BAD_USER_INPUT`: the text is not a JSON number, or it is outside the range of binary64.
/// `TOO_LARGE`: it is an integer of more than [`INTEGER_BYTES_MAX`] bytes.
pub fn parse(text: &[u8]) -> Result<Leaf<'static>> {
    let text = json_text(text)?;
    let mut reader = Reader::new(text, 0);
    let event = reader.next();
    let event = event.and_then(|event| reader.next().map(|_| event));
    match event {
        Ok(Event::Number(number)) => Leaf::number(number),
        Err(error) if text.trim_start().starts_with(NUMBER_STARTS) => Err(json_error(&error, text)),
        _ => Err(Error::bad_input(format!(
            "{} is not a number",
            abridged(text)
        ))),
    }
}

/// The characters with which a number begins.
const NUMBER_STARTS: [char; 11] = ['-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'];

/// The sum of two numbers: exact for two integers, otherwise the nearest binary64.
///
/// # Errors
/// `TOO_LARGE`: the sum is an integer of more than [`INTEGER_BYTES_MAX`] bytes. `BAD_USER_INPUT`:
/// an operand is not a number, or the sum is outside the range of binary64.
pub fn sum(a: &Leaf<'_>, b: &Leaf<'_>) -> Result<Leaf<'static>> {
    if let (Leaf::Integer(a), Leaf::Integer(b)) = (a, b)
        && let Some(sum) = a.checked_add(*b)
    {
        return Ok(Leaf::Integer(sum));
    }
    match (exact(a), exact(b)) {
        (Some(a), Some(b)) => integer(a + b),
        _ => double(approximate(a)? + approximate(b)?),
    }
}

/// Whether two leaves are equal. Numbers are compared by value: `1`, `1.0` and `1e0` are equal.
pub fn equal(a: &Leaf<'_>, b: &Leaf<'_>) -> bool {
    match (a, b) {
        (Leaf::Double(a), Leaf::Double(b)) => a.partial_cmp(b) == Some(Ordering::Equal),
        (Leaf::Double(double), other) | (other, Leaf::Double(double)) => {
            exact(other).is_some_and(|integer| compare(&integer, *double) == Ordering::Equal)
        }
        _ => a == b,
    }
}

/// Splits a number into its integer part, rounded towards zero, and its fraction. Both are exact
/// and have the same sign. `None` if the leaf is not a number.
pub fn split(leaf: &Leaf<'_>) -> Option<(Leaf<'static>, f64)> {
    match leaf {
        Leaf::Integer(integer) => Some((Leaf::Integer(*integer), 0.0)),
        Leaf::BigInteger(integer) => Some((Leaf::BigInteger(integer.clone()), 0.0)),
        Leaf::Double(double) => {
            let whole = whole(double.trunc())?;
            let whole = match i64::try_from(&whole) {
                Ok(small) => Leaf::Integer(small),
                Err(_) => Leaf::BigInteger(whole),
            };
            Some((whole, double.fract()))
        }
        _ => None,
    }
}

/// The nearest binary64. `None` if the leaf is not a number.
pub fn nearest(leaf: &Leaf<'_>) -> Option<f64> {
    approximate(leaf).ok()
}

/// The order of two leaves of one type: numbers by exact value, strings by code point, `false`
/// before `true`. Two nulls are equal. `None` for leaves of different types.
pub fn order(a: &Leaf<'_>, b: &Leaf<'_>) -> Option<Ordering> {
    match (a, b) {
        (Leaf::Null, Leaf::Null) => Some(Ordering::Equal),
        (Leaf::Bool(a), Leaf::Bool(b)) => Some(a.cmp(b)),
        // The byte order of UTF-8 is the order of code points.
        (Leaf::String(a), Leaf::String(b)) => Some(a.cmp(b)),
        (Leaf::Integer(a), Leaf::Integer(b)) => Some(a.cmp(b)),
        (Leaf::Double(a), Leaf::Double(b)) => a.partial_cmp(b),
        (Leaf::Double(a), b) => Some(compare(&exact(b)?, *a).reverse()),
        (a, Leaf::Double(b)) => Some(compare(&exact(a)?, *b)),
        (a, b) => Some(exact(a)?.cmp(&exact(b)?)),
    }
}

/// Compares an integer with a double exactly.
fn compare(integer: &BigInt, double: f64) -> Ordering {
    match whole(double.floor()) {
        Some(floor) => integer.cmp(&floor).then_with(|| {
            if double.fract() == 0.0 {
                Ordering::Equal
            } else {
                Ordering::Less
            }
        }),
        None => Ordering::Less,
    }
}

/// Converts a double without a fraction to an integer.
fn whole(double: f64) -> Option<BigInt> {
    const FRACTION_BITS: u64 = 52;
    const EXPONENT_BIAS: u64 = 1075;
    if !double.is_finite() {
        return None;
    }
    let bits = double.abs().to_bits();
    let exponent = bits >> FRACTION_BITS;
    let fraction = bits & ((1 << FRACTION_BITS) - 1);
    if exponent == 0 {
        return Some(BigInt::from(0));
    }
    let mantissa = BigInt::from(fraction | (1 << FRACTION_BITS));
    let magnitude = if exponent >= EXPONENT_BIAS {
        mantissa << (exponent - EXPONENT_BIAS)
    } else {
        mantissa >> (EXPONENT_BIAS - exponent)
    };
    Some(if double.is_sign_negative() {
        -magnitude
    } else {
        magnitude
    })
}

fn exact(leaf: &Leaf<'_>) -> Option<BigInt> {
    match leaf {
        Leaf::Integer(integer) => Some(BigInt::from(*integer)),
        Leaf::BigInteger(integer) => Some(integer.clone()),
        _ => None,
    }
}

fn integer(sum: BigInt) -> Result<Leaf<'static>> {
    if let Ok(small) = i64::try_from(&sum) {
        return Ok(Leaf::Integer(small));
    }
    if sum.magnitude().bits() > 8 * INTEGER_BYTES_MAX as u64 {
        return Err(Error::too_large(
            Limit::new("integerBytes", INTEGER_BYTES_MAX),
            format!(
                "the sum takes more than {INTEGER_BYTES_MAX} bytes, which is the limit of an integer"
            ),
        ));
    }
    Ok(Leaf::BigInteger(sum))
}

fn double(sum: f64) -> Result<Leaf<'static>> {
    if sum.is_finite() {
        return Ok(Leaf::Double(sum));
    }
    Err(Error::bad_input(
        "the sum is past the range of binary64 (about 1.8e308)",
    ))
}

#[expect(
    clippy::cast_precision_loss,
    reason = "the caller wants the nearest binary64"
)]
fn approximate(leaf: &Leaf<'_>) -> Result<f64> {
    match leaf {
        Leaf::Integer(integer) => Ok(*integer as f64),
        // The text of an integer parses as the nearest double, or as infinity.
        Leaf::BigInteger(integer) => Ok(integer.to_string().parse().unwrap_or(f64::INFINITY)),
        Leaf::Double(double) => Ok(*double),
        _ => Err(Error::bad_input(format!("{} is not a number", kind(leaf)))),
    }
}

fn kind(leaf: &Leaf<'_>) -> &'static str {
    match leaf {
        Leaf::Null => "null",
        Leaf::Bool(_) => "a boolean",
        Leaf::String(_) => "a string",
        _ => "a number",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn number(text: &str) -> Leaf<'static> {
        Leaf::number(text).expect(text)
    }

    fn text(leaf: &Leaf<'_>) -> String {
        let mut out = Vec::new();
        leaf.write_json(&mut out);
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn integers_add_exactly_also_past_64_bits() {
        for (a, b, expected) in [
            ("1", "2", "3"),
            ("9223372036854775807", "1", "9223372036854775808"),
            ("9223372036854775808", "-1", "9223372036854775807"),
            ("9007199254740993", "1", "9007199254740994"),
            ("1", "0.5", "1.5"),
            ("1", "1.0", "2.0"),
            ("0.1", "0.2", "0.30000000000000004"),
        ] {
            let sum = sum(&number(a), &number(b)).expect("in range");
            assert_eq!(text(&sum), expected, "{a} + {b}");
            let fits = expected.parse::<i64>().is_ok();
            assert_eq!(
                matches!(sum, Leaf::Integer(_)),
                fits,
                "{expected} has one form"
            );
        }
    }

    #[test]
    fn invalid_and_oversized_numbers_are_rejected() {
        let largest: BigInt = (BigInt::from(1) << 2040) - 1;
        let error = sum(&Leaf::BigInteger(largest), &number("1")).expect_err("too large");
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        let error = sum(&number("1e308"), &number("1e308")).expect_err("past the range");
        assert_eq!(error.kind(), ErrorKind::BadUserInput);
        let error = sum(&Leaf::String("1".into()), &number("1")).expect_err("no number");
        assert!(error.message().contains("a string"), "{error}");
    }

    #[test]
    fn numbers_are_equal_by_value_and_exactly_so() {
        for (a, b, expected) in [
            ("1", "1.0", true),
            ("-0.0", "0", true),
            ("100", "1e2", true),
            ("9007199254740993", "9007199254740992.0", false),
            ("9007199254740992", "9007199254740992.0", true),
            ("1", "1.5", false),
            ("-1", "-1.5", false),
            ("-2", "-1.5", false),
            ("0", "5e-324", false),
            ("0", "-5e-324", false),
            ("10000000000000000000000", "1e22", true),
            ("-10000000000000000000000", "-1e22", true),
        ] {
            assert_eq!(equal(&number(a), &number(b)), expected, "{a} and {b}");
            assert_eq!(equal(&number(b), &number(a)), expected, "{b} and {a}");
        }
        assert!(!equal(&Leaf::Null, &Leaf::Bool(false)));
        assert!(!equal(&Leaf::String("1".into()), &number("1")));
    }
}
