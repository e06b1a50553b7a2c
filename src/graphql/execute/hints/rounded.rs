//! Integers that clients round: JavaScript reads every number as a binary64.

/// The least integer that is also the binary64 of another one.
const ROUNDED_MIN: u64 = 1 << 53;

/// The bits of the significand of a binary64.
const SIGNIFICAND_BITS: u32 = 53;

/// The least and the greatest integer that a client which reads numbers as binary64 may have had
/// instead of this one. None if it is read exactly.
pub(super) fn mistakable(integer: i64) -> Option<(i64, i64)> {
    let magnitude = integer.unsigned_abs();
    if magnitude < ROUNDED_MIN {
        return None;
    }
    let bits = u64::BITS - magnitude.leading_zeros();
    // The distance of neighboring binary64 numbers. Two of them have at most half of it between
    // each and the integers that round to it, and the integer itself may be such a one.
    let distance = i64::try_from(1_u64 << (bits.saturating_sub(SIGNIFICAND_BITS))).ok()?;
    let (least, greatest) = (
        integer.saturating_sub(distance),
        integer.saturating_add(distance),
    );
    Some((least, greatest))
}

/// Whether both integers are the same binary64.
pub(super) fn are_same_double(a: i64, b: i64) -> bool {
    let double = |integer: i64| integer.to_string().parse::<f64>().ok();
    double(a).map(f64::to_bits) == double(b).map(f64::to_bits)
}

/// Whether a client that had read numbers as binary64 would write this integer as it is: with the
/// fewest digits that identify the binary64.
pub(super) fn looks_rounded(integer: i64) -> bool {
    let text = integer.to_string();
    mistakable(integer).is_some()
        && text
            .parse::<f64>()
            .is_ok_and(|double| double.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_past_two_to_the_53_can_be_rounded() {
        for exact in [0, 1, -1, (1 << 53) - 1, 1 - (1 << 53)] {
            assert_eq!(mistakable(exact), None, "{exact}");
            assert!(!looks_rounded(exact), "{exact}");
        }
        // What JavaScript makes of each.
        for (stored, rounded) in [
            (9_007_199_254_740_993, 9_007_199_254_740_992),
            (9_007_199_254_740_995, 9_007_199_254_740_996),
            (1_234_567_890_123_456_789, 1_234_567_890_123_456_800),
            (-1_234_567_890_123_456_789, -1_234_567_890_123_456_800),
            (i64::MAX - 600, 9_223_372_036_854_775_000),
        ] {
            assert!(are_same_double(stored, rounded), "{stored}");
            let (least, greatest) = mistakable(rounded).expect("large");
            assert!((least..=greatest).contains(&stored), "{stored}");
            assert!(looks_rounded(rounded), "{rounded}");
            assert!(!looks_rounded(stored), "{stored}");
        }
        assert!(mistakable(i64::MAX).is_some());
        assert!(mistakable(i64::MIN).is_some());
    }
}
