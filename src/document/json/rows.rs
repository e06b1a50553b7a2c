//! Skips repeated rows of a JSON text.
//!
//! A row is an element of an array, or a member of an object, with its comma and whitespace.
//! Skipping a value (`skip.rs`) normally checks each byte of it against the grammar. Generated
//! input often repeats one row many times, and so does input that is made to cost the server work.
//! If a row has the same bytes as the row before it, its check has the same result, so the rows
//! need a comparison only, which is faster.
//!
//! [`Rows`] keeps the start of the current row at each level, up to [`LEVELS`]. When the next row
//! starts at `at`, the bytes from the start of the current row to `at` are one period. If they
//! occur again at `at`, `same_bytes` finds how far the period repeats, and the parser resumes after
//! the last whole row. A row is compared only if its last byte matches, and only while the failed
//! comparisons are below 1/[`SPENT_PART`] of the bytes read. So input without repeated rows costs
//! little more, and texts shorter than [`FROM_BYTES`] cost nothing.

/// The current rows of a text that is skipped.
pub(super) struct Rows {
    /// The start of the current row at each level.
    begins: [usize; LEVELS],
    /// The offset at which the text starts.
    from: usize,
    /// Bytes of comparisons that failed.
    spent: usize,
}

/// Levels at which rows are tracked.
const LEVELS: usize = 32;
/// Texts with fewer bytes are skipped without rows.
const FROM_BYTES: usize = 4096;
/// Failed comparisons may take at most one in this many bytes read.
const SPENT_PART: usize = 8;

impl Rows {
    /// Tracks the rows of the text from `from` on. `None` if the text is short.
    pub(super) fn new(bytes: &[u8], from: usize) -> Option<Self> {
        (bytes.len() - from >= FROM_BYTES).then_some(Self {
            begins: [0; LEVELS],
            from,
            spent: 0,
        })
    }

    /// Records the first row of a container at `level`.
    #[inline]
    pub(super) fn begin(&mut self, level: usize, at: usize) {
        if let Some(begin) = self.begins.get_mut(level) {
            *begin = at;
        }
    }

    /// Records the next row, at `at`. Returns where the rows equal to the previous row end, commas
    /// included, or `None` if this row differs.
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

/// The length of the common prefix of `a` and `b`.
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
