//! Reads and writes of redb tables.

use std::ops::{Bound, ControlFlow};

use redb::{CursorError, ReadableTable, StorageError, Table};

use super::Bytes;
use super::overlay::KeyChange;
use super::overlays::OverlayWalk;
use super::redb_panics::read_table;
use super::table_range::TableRange;
use super::tombstones;
pub(crate) use super::visible::Tables;
use super::visible::{Visible, VisiblePart};
use crate::limits::{
    READ_BYTES_PER_STEP, READ_STEPS_AT_A_TIME, STEPS_PER_HIDDEN_RANGE, STEPS_PER_RANGE,
};
use crate::store::read::{BatchStart, Filling};
use crate::store::{Pairs, RangeRead, key_after};

/// The steps of a portion of a read.
#[derive(Default)]
pub(crate) struct PortionSteps {
    /// Over what it does not return.
    stepped_over: u64,
    /// All, including those for what it returns.
    all: u64,
}

/// How a portion of a range read ended.
pub(crate) enum PortionEnd {
    /// The batch is complete. Whether the range may have more pairs.
    Done { more: bool },
    /// It took as many steps as one portion may. The rest of the range begins at this key, or ends
    /// there if the read descends.
    Paused(Vec<u8>),
}

/// Why a portion ended before its range.
enum Stop {
    Full,
    Paused(Vec<u8>),
}

type PortionFlow = Result<ControlFlow<Stop>, StorageError>;

impl PortionSteps {
    /// The steps over what the read does not return.
    pub(crate) fn stepped_over(&self) -> u64 {
        self.stepped_over
    }

    /// The steps for what the read returns.
    pub(crate) fn returned(&self) -> u64 {
        self.all - self.stepped_over
    }

    /// Whether the portion has to end.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.all >= READ_STEPS_AT_A_TIME
    }

    /// Counts the search for the beginning of a range.
    pub(super) fn begin_range(&mut self) {
        self.all += STEPS_PER_RANGE;
    }

    /// Counts a pair that the read returns. Returns whether the portion has to end.
    #[inline]
    pub(super) fn pair(&mut self, key: &[u8], value: &[u8]) -> bool {
        self.all += 1 + ((key.len() + value.len()) / READ_BYTES_PER_STEP) as u64;
        self.is_over()
    }

    /// Counts `steps` over what the read does not return. The rest begins or ends at the key of `rest`
    /// if the portion has to end.
    fn step_over(&mut self, steps: u64, rest: impl FnOnce() -> Vec<u8>) -> ControlFlow<Stop> {
        self.stepped_over += steps;
        self.all += steps;
        if self.is_over() {
            return ControlFlow::Break(Stop::Paused(rest()));
        }
        ControlFlow::Continue(())
    }
}

/// The key at which the rest of a range begins after `key`, or ends if the read descends.
pub(super) fn rest_after(key: &[u8], reverse: bool) -> Vec<u8> {
    if reverse {
        key.to_vec()
    } else {
        key_after(key)
    }
}

pub(crate) fn get(
    tables: Tables<'_, impl ReadableTable<Bytes, Bytes>>,
    key: &[u8],
) -> Result<Option<Vec<u8>>, StorageError> {
    if let Some(value) = tables.overlays.and_then(|overlays| overlays.get(key)) {
        return Ok(value.map(<[u8]>::to_vec));
    }
    read_table(|| {
        if let Some(tombstones) = tables.tombstones
            && tombstones::covers(tombstones, key)?
        {
            return Ok(None);
        }
        let value = tables.pairs.get(key)?;
        Ok(value.map(|value| value.value().to_vec()))
    })
}

/// Appends pairs of a range to the batch that began at `start`.
pub(crate) fn append_range(
    tables: Tables<'_, impl ReadableTable<Bytes, Bytes>>,
    range: RangeRead<'_>,
    start: BatchStart,
    pairs: &mut Pairs,
    steps: &mut PortionSteps,
) -> Result<PortionEnd, StorageError> {
    if range.is_empty() {
        return Ok(PortionEnd::Done { more: false });
    }
    steps.begin_range();
    read_table(|| {
        let mut filling = Filling::new(pairs, start, &range);
        let changes = tables
            .overlays
            .map(|overlays| overlays.range(range.begin, range.end, range.reverse));
        let mut fill = Fill {
            table: tables.pairs,
            reverse: range.reverse,
            changes: changes.filter(|changes| changes.peek().is_some()),
            filling: &mut filling,
            steps,
        };
        let filled = if tables.hide(range.begin, range.end) {
            fill.visible(Visible::new(tables, &range))?
        } else {
            fill.part(range.begin, range.end)?
        };
        Ok(match fill.rest(filled) {
            ControlFlow::Continue(()) => PortionEnd::Done { more: false },
            ControlFlow::Break(Stop::Full) => PortionEnd::Done {
                more: filling.more(),
            },
            ControlFlow::Break(Stop::Paused(at)) => PortionEnd::Paused(at),
        })
    })
}

/// Fills a batch.
struct Fill<'f, 'p, 'o, T> {
    table: &'f T,
    reverse: bool,
    /// The changes in the range. `None` if there are none.
    changes: Option<OverlayWalk<'o>>,
    filling: &'f mut Filling<'p>,
    steps: &'f mut PortionSteps,
}

impl<T: ReadableTable<Bytes, Bytes>> Fill<'_, '_, '_, T> {
    /// Appends the pairs that nothing hides, and the changes up to the last of them.
    fn visible(&mut self, mut visible: Visible<'_, T>) -> PortionFlow {
        while let Some(part) = visible.next()? {
            let flow = match part {
                VisiblePart::Pairs((begin, end)) => self.part(&begin, &end)?,
                VisiblePart::Skipped(position) => self.skip(position),
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Steps over a hidden range. The changes in it come first.
    fn skip(&mut self, position: Vec<u8>) -> ControlFlow<Stop> {
        if let Some(changes) = &mut self.changes {
            while let Some(change) = changes.next_within(&position) {
                append_change(self.filling, self.steps, change, self.reverse)?;
            }
        }
        self.steps.step_over(STEPS_PER_HIDDEN_RANGE, || position)
    }

    /// Appends the pairs from `begin` to before `end`, and the changes up to the last of them.
    fn part(&mut self, begin: &[u8], end: &[u8]) -> PortionFlow {
        let mut found = TableRange::new(self.table, (begin, end), self.reverse)?;
        // By reference: a pair is 192 bytes, which each move would copy.
        while let Some((key, value)) = &found.next()? {
            let key = key.value();
            if !found.has(key) {
                break;
            }
            let mut changed = false;
            if let Some(changes) = &mut self.changes {
                while let Some(change) = changes.next_until(key) {
                    changed = change.0 == key;
                    let flow = append_change(self.filling, self.steps, change, self.reverse);
                    if flow.is_break() {
                        return Ok(flow);
                    }
                }
            }
            if !changed {
                let flow = append(self.filling, self.steps, (key, value.value()), self.reverse);
                if flow.is_break() {
                    return Ok(flow);
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Appends the changes that are left, if the pairs are complete.
    fn rest(&mut self, filled: ControlFlow<Stop>) -> ControlFlow<Stop> {
        filled?;
        if let Some(changes) = &mut self.changes {
            for change in changes {
                append_change(self.filling, self.steps, change, self.reverse)?;
            }
        }
        ControlFlow::Continue(())
    }
}

/// Appends a changed pair, or steps over a cleared one.
fn append_change(
    filling: &mut Filling<'_>,
    steps: &mut PortionSteps,
    (key, value): KeyChange<'_>,
    reverse: bool,
) -> ControlFlow<Stop> {
    match value {
        Some(value) => append(filling, steps, (key, value), reverse),
        None => steps.step_over(1, || rest_after(key, reverse)),
    }
}

/// Appends a pair.
#[inline]
fn append(
    filling: &mut Filling<'_>,
    steps: &mut PortionSteps,
    (key, value): (&[u8], &[u8]),
    reverse: bool,
) -> ControlFlow<Stop> {
    if filling.push(key, value) {
        return ControlFlow::Break(Stop::Full);
    }
    if steps.pair(key, value) {
        return ControlFlow::Break(Stop::Paused(rest_after(key, reverse)));
    }
    ControlFlow::Continue(())
}

/// The keys of the pairs from `begin` to before `end`. `None` if there are more than `count_max`.
pub(crate) fn keys(
    tables: Tables<'_, impl ReadableTable<Bytes, Bytes>>,
    begin: &[u8],
    end: &[u8],
    count_max: usize,
) -> Result<Option<Vec<Vec<u8>>>, StorageError> {
    let mut keys: Vec<Vec<u8>> = Vec::new();
    let mut begin = begin.to_vec();
    while keys.len() <= count_max {
        let mut pairs = Pairs::default();
        let left = count_max + 1 - keys.len();
        let range = RangeRead::new(&begin, end).at_most(left);
        let start = BatchStart::of(&pairs);
        let portion = append_range(
            tables,
            range,
            start,
            &mut pairs,
            &mut PortionSteps::default(),
        )?;
        keys.extend(pairs.iter().map(|(key, _)| key.to_vec()));
        begin = match (portion, keys.last()) {
            (PortionEnd::Paused(at), _) => at,
            (PortionEnd::Done { more: true }, Some(last)) => key_after(last),
            (PortionEnd::Done { .. }, _) => break,
        };
    }
    Ok((keys.len() <= count_max).then_some(keys))
}

/// Sets pairs with ascending keys. A run of adjacent new keys costs one descent of the tree.
pub(crate) fn set_ascending<'p>(
    table: &mut Table<'_, Bytes, Bytes>,
    pairs: impl Iterator<Item = (&'p [u8], &'p [u8])>,
) -> Result<(), StorageError> {
    let mut pairs = pairs.peekable();
    while let Some((first, _)) = pairs.peek() {
        let mut cursor = table.lower_bound_mut(Bound::Included(*first))?;
        let mut present = None;
        for (key, value) in pairs.by_ref() {
            match cursor.insert_before(key, value) {
                Ok(()) => {}
                Err(CursorError::UnorderedKey) => {
                    present = Some((key, value));
                    break;
                }
                Err(CursorError::Storage(error)) => return Err(error),
                Err(other) => return Err(StorageError::Corrupted(other.to_string())),
            }
        }
        cursor.close()?;
        if let Some((key, value)) = present {
            table.insert(key, value)?;
        }
    }
    Ok(())
}
