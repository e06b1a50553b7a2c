//! Which elements a slice selects (RFC 9535 §2.3.4.2).

/// The indexes that `start:end:step` selects of an array of `len` elements, in their order.
pub(super) fn slice(
    len: usize,
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
) -> impl Iterator<Item = usize> {
    let len = i64::try_from(len).unwrap_or(i64::MAX);
    let from_front = |index: i64| if index < 0 { len + index } else { index };
    let (mut at, end) = if step >= 0 {
        let clamped = |index: i64| from_front(index).clamp(0, len);
        (start.map_or(0, clamped), end.map_or(len, clamped))
    } else {
        let clamped = |index: i64| from_front(index).clamp(-1, len - 1);
        (start.map_or(len - 1, clamped), end.map_or(-1, clamped))
    };
    std::iter::from_fn(move || {
        let goes_on = if step > 0 {
            at < end
        } else {
            step < 0 && at > end
        };
        let index = usize::try_from(at).ok().filter(|_| goes_on);
        at += step;
        index
    })
    .fuse()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_clamped_in_both_directions() {
        const FAR: i64 = (1 << 53) - 1;
        for (start, end, step, expected) in [
            (Some(1), Some(3), 1, vec![1, 2]),
            (None, None, 1, vec![0, 1, 2, 3, 4]),
            (None, None, 2, vec![0, 2, 4]),
            (None, None, -2, vec![4, 2, 0]),
            (Some(-2), None, 1, vec![3, 4]),
            (None, Some(-2), 1, vec![0, 1, 2]),
            (Some(3), Some(1), -1, vec![3, 2]),
            (Some(1), Some(3), -1, vec![]),
            (Some(3), Some(1), 1, vec![]),
            (None, None, 0, vec![]),
            (Some(-FAR), Some(FAR), FAR, vec![0]),
            (Some(FAR), Some(-FAR), -FAR, vec![4]),
            (Some(0), None, -1, vec![0]),
            (None, Some(0), -1, vec![4, 3, 2, 1]),
        ] {
            let selected: Vec<_> = slice(5, start, end, step).collect();
            assert_eq!(selected, expected, "{start:?}:{end:?}:{step}");
        }
        for step in [1, -1] {
            assert_eq!(slice(0, None, None, step).count(), 0);
        }
    }
}
