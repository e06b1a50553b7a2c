//! Exact sums of numbers, so that the result does not depend on the order of the numbers.

use num_bigint::BigInt;

use super::super::leaf::Leaf;
use super::split;

/// The sum of some numbers.
///
/// Integer parts are added as integers. Fractions are added as multiples of 2^-64 if they are such
/// multiples, as the fractions of all numbers from 1/2048 are, and otherwise as multiples of 2^-1074,
/// the least binary64.
#[derive(Clone, Debug, Default)]
pub struct ExactSum {
    whole: i128,
    /// The integer parts that exceed `whole`.
    large: BigInt,
    /// In units of 2^-64.
    fraction: i128,
    /// In units of 2^-1074.
    small: BigInt,
}

const FRACTION_BITS: u64 = 64;
const SMALL_BITS: u64 = 1074;

impl ExactSum {
    /// Adds a number. Returns whether the leaf is one.
    pub fn add(&mut self, leaf: &Leaf<'_>) -> bool {
        let Some((whole, rest)) = split(leaf) else {
            return false;
        };
        match whole {
            Leaf::Integer(whole) => match self.whole.checked_add(i128::from(whole)) {
                Some(sum) => self.whole = sum,
                None => self.large += whole,
            },
            Leaf::BigInteger(whole) => self.large += whole,
            _ => return false,
        }
        self.add_fraction(rest);
        true
    }

    /// Adds another sum.
    pub fn add_sum(&mut self, other: &Self) {
        match self.whole.checked_add(other.whole) {
            Some(sum) => self.whole = sum,
            None => self.large += other.whole,
        }
        self.large += &other.large;
        match self.fraction.checked_add(other.fraction) {
            Some(sum) => self.fraction = sum,
            None => self.small += BigInt::from(other.fraction) << (SMALL_BITS - FRACTION_BITS),
        }
        self.small += &other.small;
    }

    fn add_fraction(&mut self, fraction: f64) {
        const UNITS_PER_ONE: f64 = 18_446_744_073_709_551_616.0;
        if fraction == 0.0 {
            return;
        }
        let units = fraction * UNITS_PER_ONE;
        if units.fract() == 0.0 {
            #[expect(clippy::cast_possible_truncation, reason = "below 2^64, and integral")]
            let units = units as i128;
            match self.fraction.checked_add(units) {
                Some(sum) => self.fraction = sum,
                None => self.small += BigInt::from(units) << (SMALL_BITS - FRACTION_BITS),
            }
            return;
        }
        self.small += in_small_units(fraction);
    }

    /// The sum: an integer if it has no fraction, and otherwise the nearest binary64. From
    /// 2^53 on, where binary64 has no fractions, the nearest integer.
    pub fn total(&self) -> Leaf<'static> {
        self.divided_by(1)
    }

    /// The sum divided by `count`, which is not 0, in the form of [`ExactSum::total`].
    pub fn divided_by(&self, count: u64) -> Leaf<'static> {
        let mut sum = &self.large + self.whole;
        let mut bits = 0;
        if self.fraction != 0 {
            bits = FRACTION_BITS;
            sum = (sum << bits) + self.fraction;
        }
        if self.small != BigInt::ZERO {
            sum = (sum << (SMALL_BITS - bits)) + &self.small;
            bits = SMALL_BITS;
        }
        quotient(&sum, &(BigInt::from(count.max(1)) << bits))
    }
}

/// Converts a fraction, which has no integer part, to units of 2^-1074.
fn in_small_units(fraction: f64) -> BigInt {
    const MANTISSA_BITS: u64 = 52;
    let bits = fraction.abs().to_bits();
    let exponent = bits >> MANTISSA_BITS;
    let mantissa = bits & ((1 << MANTISSA_BITS) - 1);
    let magnitude = match exponent {
        0 => BigInt::from(mantissa),
        _ => BigInt::from(mantissa | (1 << MANTISSA_BITS)) << (exponent - 1),
    };
    if fraction < 0.0 {
        -magnitude
    } else {
        magnitude
    }
}

/// The quotient in the form of [`ExactSum::total`]. `divisor` is positive.
fn quotient(dividend: &BigInt, divisor: &BigInt) -> Leaf<'static> {
    const EXACT_BITS: u64 = 53;
    let whole = dividend / divisor;
    if &whole * divisor == *dividend {
        return integer(whole);
    }
    if whole.bits() > EXACT_BITS {
        let half = divisor >> 1_u8;
        let away = if *dividend < BigInt::ZERO {
            -half
        } else {
            half
        };
        return integer((dividend + away) / divisor);
    }
    // At least 64 bits of the quotient; the last bit says whether others follow.
    let shift = (divisor.bits() + 64).saturating_sub(dividend.bits());
    let magnitude = BigInt::from(dividend.magnitude().clone()) << shift;
    let shifted = &magnitude / divisor;
    let others = &shifted * divisor != magnitude;
    let shifted = u128::try_from(shifted).unwrap_or(u128::MAX) | u128::from(others);
    let double = scaled(shifted, shift);
    Leaf::Double(if *dividend < BigInt::ZERO {
        -double
    } else {
        double
    })
}

/// `integer` / 2^`shift`.
fn scaled(integer: u128, shift: u64) -> f64 {
    // A power of two below 2^-1022 is not exact, so the division has several steps.
    const STEP: u64 = 1000;
    #[expect(
        clippy::cast_precision_loss,
        reason = "the caller wants the nearest binary64"
    )]
    let mut double = integer as f64;
    let mut rest = shift;
    while rest > 0 {
        let step = rest.min(STEP);
        double *= (-f64::from(u32::try_from(step).unwrap_or(0))).exp2();
        rest -= step;
    }
    double
}

fn integer(integer: BigInt) -> Leaf<'static> {
    match i64::try_from(&integer) {
        Ok(small) => Leaf::Integer(small),
        Err(_) => Leaf::BigInteger(integer),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(numbers: &[&str]) -> ExactSum {
        let mut sum = ExactSum::default();
        for number in numbers {
            assert!(sum.add(&Leaf::number(number).expect(number)), "{number}");
        }
        sum
    }

    fn text(leaf: &Leaf<'_>) -> String {
        let mut text = Vec::new();
        leaf.write_json(&mut text);
        String::from_utf8(text).expect("JSON")
    }

    fn total(numbers: &[&str]) -> String {
        text(&sum(numbers).total())
    }

    #[test]
    fn sums_are_exact() {
        assert_eq!(total(&[]), "0");
        assert_eq!(total(&["1", "2.0"]), "3");
        assert_eq!(total(&["0.5", "0.25", "-1"]), "-0.25");
        assert_eq!(total(&["1e300", "1.5", "-1e300"]), "1.5");
        assert_eq!(total(&["1e-300", "1", "-1"]), "1e-300");
        assert_eq!(total(&["5e-324", "1e-310", "-1e-310"]), "5e-324");
        assert_eq!(total(&["9223372036854775807", "1"]), "9223372036854775808");
        // 0.1 is slightly more than a tenth, so the sum is not an integer.
        assert_eq!(total(&["0.1"; 10]), "1.0");
        assert_eq!(total(&["9007199254740993", "0.25"]), "9007199254740993");
        assert_eq!(total(&["-9007199254740993", "-0.75"]), "-9007199254740994");
    }

    #[test]
    fn averages_are_the_nearest_double() {
        assert_eq!(text(&sum(&["1", "2"]).divided_by(2)), "1.5");
        assert_eq!(text(&sum(&["2", "4"]).divided_by(2)), "3");
        assert_eq!(
            text(&sum(&["1"]).divided_by(3)),
            text(&Leaf::Double(1.0 / 3.0))
        );
        assert_eq!(
            text(&sum(&["-1"]).divided_by(3)),
            text(&Leaf::Double(-1.0 / 3.0))
        );
        assert_eq!(
            text(&sum(&["1e308", "1e308", "1"]).divided_by(2)).len(),
            309
        );
    }

    #[test]
    fn the_order_of_numbers_does_not_matter() {
        let mut numbers = vec![
            "1e16", "0.3", "-1e16", "1e-20", "7", "0.1", "-0.7", "1e-200", "3e-320",
        ];
        let first = total(&numbers);
        for _ in 0..numbers.len() {
            numbers.rotate_left(1);
            assert_eq!(total(&numbers), first);
            let (left, right) = numbers.split_at(4);
            let mut both = sum(left);
            both.add_sum(&sum(right));
            assert_eq!(text(&both.total()), first);
        }
    }

    #[test]
    fn other_values_are_not_added() {
        assert!(!ExactSum::default().add(&Leaf::Null));
        assert!(!ExactSum::default().add(&Leaf::String("1".into())));
    }
}
