//! Sets of keys, stored as ranges.

/// A set of half-open key ranges (begin inclusive, end exclusive), disjoint and ascending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct KeyRanges(Vec<(Vec<u8>, Vec<u8>)>);

impl KeyRanges {
    pub(crate) fn iter(&self) -> impl Iterator<Item = &(Vec<u8>, Vec<u8>)> {
        self.0.iter()
    }

    /// The parts of `begin..end` that no range covers, ascending.
    pub(crate) fn gaps(&self, begin: &[u8], end: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let mut gaps = Vec::new();
        let mut at = begin;
        let first = self.0.partition_point(|(_, past)| &past[..] <= begin);
        for (first, past) in &self.0[first..] {
            if &first[..] >= end {
                break;
            }
            if at < &first[..] {
                gaps.push((at.to_vec(), first.clone()));
            }
            at = past;
        }
        if at < end {
            gaps.push((at.to_vec(), end.to_vec()));
        }
        gaps
    }

    /// Adds a range and merges it with ranges that it overlaps or touches.
    pub(crate) fn add(&mut self, begin: Vec<u8>, end: Vec<u8>) {
        if begin >= end {
            return;
        }
        let first = self.0.partition_point(|(_, past)| *past < begin);
        let last = self.0.partition_point(|(first, _)| *first <= end);
        let mut merged = (begin, end);
        if let Some(met) = self.0.get(first..last)
            && let (Some((begin, _)), Some((_, end))) = (met.first(), met.last())
        {
            merged.0 = merged.0.min(begin.clone());
            merged.1 = merged.1.max(end.clone());
        }
        self.0.splice(first..last.max(first), [merged]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(begin: u8, end: u8) -> (Vec<u8>, Vec<u8>) {
        (vec![begin], vec![end])
    }

    #[test]
    fn ranges_stay_disjoint_and_gaps_are_their_complement() {
        let mut ranges = KeyRanges::default();
        let mut known = [false; 40];
        let mut seed = 7_u32;
        let mut random = |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            u8::try_from((seed >> 16) % below).expect("small")
        };
        for round in 0..200 {
            if round % 8 == 0 {
                (ranges, known) = (KeyRanges::default(), [false; 40]);
            }
            let begin = random(35);
            let end = begin + random(6);
            let (first, past) = range(begin, end);
            ranges.add(first, past);
            known[usize::from(begin)..usize::from(end)].fill(true);
            let bounds: Vec<_> = ranges.iter().cloned().collect();
            assert!(bounds.windows(2).all(|pair| pair[0].1 < pair[1].0));
            let (from, to) = (random(20), 20 + random(20));
            let mut left = [false; 40];
            for (begin, end) in ranges.gaps(&[from], &[to]) {
                left[usize::from(begin[0])..usize::from(end[0])].fill(true);
            }
            for at in 0..40 {
                let inside = (usize::from(from)..usize::from(to)).contains(&at);
                assert_eq!(left[at], inside && !known[at], "{ranges:?} at {at}");
            }
        }
    }
}
