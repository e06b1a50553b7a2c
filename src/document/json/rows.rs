//! Rows of elements or members that are the same again and again. Whoever means to make work with
//! little effort sends those, and they need not be looked at one by one.

/// The rows of a text that is skipped.
pub(super) struct Rows {
    /// Where the last element or member begins, at each level.
    begins: [usize; LEVELS],
    /// Where looking began.
    from: usize,
    /// Bytes that were compared for nothing.
    spent: usize,
}

/// How deep rows are looked for.
const LEVELS: usize = 32;
/// Texts of fewer bytes are skipped before it pays to look.
const FROM_BYTES: usize = 4096;
/// Of the bytes that were skipped, such a part may have been compared for nothing.
const SPENT_PART: usize = 8;

impl Rows {
    /// Looks for rows from a place of a text on; not if the text is short.
    pub(super) fn new(bytes: &[u8], from: usize) -> Option<Self> {
        (bytes.len() - from >= FROM_BYTES).then_some(Self {
            begins: [0; LEVELS],
            from,
            spent: 0,
        })
    }

    /// The first element or member of a container begins, at this level.
    #[inline]
    pub(super) fn begin(&mut self, level: usize, at: usize) {
        if let Some(begin) = self.begins.get_mut(level) {
            *begin = at;
        }
    }

    /// The next one begins at `at`. Where those end, commas included, that are the same as the one
    /// before; none if it is not.
    #[inline]
    pub(super) fn next(&mut self, bytes: &[u8], level: usize, at: usize) -> Option<usize> {
        let before = std::mem::replace(self.begins.get_mut(level)?, at);
        let length = at - before;
        if bytes.get(at + length - 1) != bytes.get(at - 1)
            || self.spent > (at - self.from) / SPENT_PART
        {
            return None;
        }
        if !bytes[at..].starts_with(&bytes[before..at]) {
            self.spent += length;
            return None;
        }
        let rows = same_bytes(&bytes[before..], &bytes[at..]) / length;
        Some(at + rows * length)
    }
}

/// How many bytes both begin with.
fn same_bytes(a: &[u8], b: &[u8]) -> usize {
    let mut same = 0;
    for step in [4096, 64, 1] {
        let rest = a[same..]
            .chunks_exact(step)
            .zip(b[same..].chunks_exact(step));
        same += step * rest.take_while(|(a, b)| a == b).count();
    }
    same
}
