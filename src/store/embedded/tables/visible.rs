//! The parts of a range of redb's pairs that are not cleared.
//!
//! Tombstones and the cleared ranges of overlays hide pairs. A read seeks to the end of each such
//! range, so it does not read the hidden pairs.

use redb::{ReadableTable, StorageError};

use super::Bytes;
use super::cleared::ClearedRanges;
use super::overlays::Overlays;
use super::tombstones::{self, KeyRange};
use crate::store::RangeRead;

/// The tables as a reader sees them.
pub(crate) struct Tables<'t, T> {
    pub(crate) pairs: &'t T,
    /// `None` if there are no tombstones.
    pub(crate) tombstones: Option<&'t T>,
    /// The changes of pairs that are not in the tables yet. `None` if there are none.
    pub(crate) overlays: Option<&'t Overlays>,
}

impl<T> Copy for Tables<'_, T> {}

impl<T> Clone for Tables<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

/// The visible parts of a range, in the order of the read.
pub(super) struct Visible<'t, T> {
    tombstones: Option<&'t T>,
    cleared: [Option<&'t ClearedRanges>; 2],
    begin: Vec<u8>,
    end: Vec<u8>,
    reverse: bool,
}

/// What is at the position of [`Visible`].
pub(super) enum VisiblePart {
    /// Pairs that nothing hides.
    Pairs(KeyRange),
    /// A hidden range, which was skipped. The key is the new position.
    Skipped(Vec<u8>),
}

impl<T: ReadableTable<Bytes, Bytes>> Tables<'_, T> {
    /// Whether a tombstone or an overlay may hide pairs of redb from `begin` to before `end`.
    pub(super) fn hide(&self, begin: &[u8], end: &[u8]) -> bool {
        let cleared = self.overlays.is_some_and(|overlays| {
            let meets = |cleared: &ClearedRanges| cleared.meets(begin, end);
            overlays.cleared().into_iter().any(meets)
        });
        cleared || self.tombstones.is_some()
    }
}

impl<'t, T: ReadableTable<Bytes, Bytes>> Visible<'t, T> {
    pub(super) fn new(tables: Tables<'t, T>, range: &RangeRead<'_>) -> Self {
        let cleared = tables.overlays.map(|overlays| overlays.cleared().map(Some));
        Self {
            tombstones: tables.tombstones,
            cleared: cleared.unwrap_or_default(),
            begin: range.begin.to_vec(),
            end: range.end.to_vec(),
            reverse: range.reverse,
        }
    }

    /// The next part, or `None` after the last.
    pub(super) fn next(&mut self) -> Result<Option<VisiblePart>, StorageError> {
        if self.begin >= self.end {
            return Ok(None);
        }
        if self.reverse {
            self.next_back()
        } else {
            self.next_forward()
        }
    }

    fn next_forward(&mut self) -> Result<Option<VisiblePart>, StorageError> {
        let mut hidden = match self.tombstones {
            Some(tombstones) => tombstones::first_after(tombstones, &self.begin)?,
            None => None,
        };
        for cleared in self.cleared.into_iter().flatten() {
            let first = cleared.first_after(&self.begin);
            if let Some((begin, end)) = first
                && hidden.as_ref().is_none_or(|(known, _)| begin < &known[..])
            {
                hidden = Some((begin.to_vec(), end.to_vec()));
            }
        }
        let end = match hidden {
            Some((begin, end)) if begin <= self.begin => {
                self.begin.clone_from(&end);
                return Ok(Some(VisiblePart::Skipped(end)));
            }
            Some((begin, _)) if begin < self.end => begin,
            _ => self.end.clone(),
        };
        let begin = std::mem::replace(&mut self.begin, end.clone());
        Ok(Some(VisiblePart::Pairs((begin, end))))
    }

    fn next_back(&mut self) -> Result<Option<VisiblePart>, StorageError> {
        let mut hidden = match self.tombstones {
            Some(tombstones) => tombstones::last_before(tombstones, &self.end)?,
            None => None,
        };
        for cleared in self.cleared.into_iter().flatten() {
            let last = cleared.last_before(&self.end);
            if let Some((begin, end)) = last
                && hidden.as_ref().is_none_or(|(_, known)| end > &known[..])
            {
                hidden = Some((begin.to_vec(), end.to_vec()));
            }
        }
        let begin = match hidden {
            Some((begin, end)) if end >= self.end => {
                self.end.clone_from(&begin);
                return Ok(Some(VisiblePart::Skipped(begin)));
            }
            Some((_, end)) if end > self.begin => end,
            _ => self.begin.clone(),
        };
        let end = std::mem::replace(&mut self.end, begin.clone());
        Ok(Some(VisiblePart::Pairs((begin, end))))
    }
}
