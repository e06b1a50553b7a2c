//! `multipleOf`, on decimal numbers.
//!
//! A double is taken as the shortest decimal number that denotes it, as it is written in JSON. So 19.99
//! is a multiple of 0.01, although no double is exactly 19.99 or 0.01.

use num_bigint::BigInt;

use crate::budget::Steps;
use crate::document::leaf::Leaf;
use crate::error::Result;

/// Whether a number is a multiple of another, which is not 0.
///
/// # Errors
/// As [`Steps::spend`].
pub(crate) fn is_multiple(of: &Leaf<'_>, divisor: &Leaf<'_>, steps: &Steps<'_>) -> Result<bool> {
    /// The largest numbers have as many bits as 40 words.
    const STEPS_OF_DECIMALS: u64 = 20;
    if let (Leaf::Integer(of), Leaf::Integer(divisor)) = (of, divisor) {
        return Ok(of.checked_rem(*divisor).is_none_or(|rest| rest == 0));
    }
    steps.spend(STEPS_OF_DECIMALS)?;
    let (Some(of), Some(divisor)) = (Decimal::of(of), Decimal::of(divisor)) else {
        return Ok(false);
    };
    let exponent = of.exponent.min(divisor.exponent);
    let (of, divisor) = (of.scaled(exponent), divisor.scaled(exponent));
    Ok(divisor != BigInt::ZERO && of % divisor == BigInt::ZERO)
}

/// `digits` times ten to the power of `exponent`.
struct Decimal {
    digits: BigInt,
    exponent: i32,
}

impl Decimal {
    /// None if the leaf is not a number.
    fn of(leaf: &Leaf<'_>) -> Option<Self> {
        match leaf {
            Leaf::Integer(integer) => Some(Self::integer(BigInt::from(*integer))),
            Leaf::BigInteger(integer) => Some(Self::integer(integer.clone())),
            Leaf::Double(_) => Self::of_double(leaf),
            Leaf::Null | Leaf::Bool(_) | Leaf::String(_) => None,
        }
    }

    fn integer(digits: BigInt) -> Self {
        Self {
            digits,
            exponent: 0,
        }
    }

    fn of_double(leaf: &Leaf<'_>) -> Option<Self> {
        let mut text = Vec::new();
        leaf.write_json(&mut text);
        let text = String::from_utf8(text).ok()?;
        let (number, exponent) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let exponent: i32 = exponent.parse().ok()?;
        Some(Self {
            digits: format!("{whole}{fraction}").parse().ok()?,
            exponent: exponent - i32::try_from(fraction.len()).ok()?,
        })
    }

    /// The number in units of ten to the power of `exponent`, which is not above its own.
    fn scaled(self, exponent: i32) -> BigInt {
        let more = u32::try_from(self.exponent - exponent).unwrap_or_default();
        self.digits * BigInt::from(10).pow(more)
    }
}
