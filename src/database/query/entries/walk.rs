//! An ordered walk over the entries of one stream of an ordered scan.
//!
//! The keys of the entries of a stream begin with fixed columns. The columns that provide the order
//! follow (the levels), then possibly other columns, then the id. The query defines a direction for
//! each level and for the ids.
//!
//! The part of the stream that is not read yet is a stack of pieces. A piece is a range of entries
//! that are equal in the first levels, and is ordered by the levels after them. Levels of the same
//! direction form a run.
//!
//! * If all levels after those of a piece, and the ids, are one run, the order of the keys, or its
//!   reverse, is the order of the query. The entries are returned as they are read.
//! * Otherwise a batch is read in the direction of the first run. Entries that are equal in that run
//!   are a group. Groups that the batch holds completely are sorted in memory. A group that is
//!   larger than the batch becomes a piece of its own.
//! * If other columns precede the ids, a group that is equal in all levels is sorted by id in
//!   memory, up to a limit.
//!
//! To resume after an entry, the walk begins with the pieces that follow it: first the entries that
//! are equal in all levels and have a later id, then those that are equal in all levels but the
//! last, and so on. Adjacent pieces of one run are merged.

use std::cmp::Ordering;
use std::collections::VecDeque;

use super::held::HeldEntry;
use super::ids::{IdBytes, no_entry};
use super::keys::{KeyReader, KeyStream};
use crate::budget::Share;
use crate::database::document_key::prefix_end;
use crate::database::query::key_set::KeySet;
use crate::database::query::page::{Stopped, compare};
use crate::error::Result;
use crate::key::{IndexKey, IndexValue, Rank};
use crate::limits::{BATCH_PAIRS_MAX, SORTED_IDS_MAX};
use crate::store::key_after;

/// An entry: the values of the order, and the id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexEntry {
    pub(crate) values: Vec<IndexValue>,
    pub(crate) id: IdBytes,
    /// All that the entry holds, if the [shape](ScanShape::holds) asks for it.
    pub(crate) held: Option<HeldEntry>,
}

impl IndexEntry {
    /// The memory of the entry, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let values = self.values.iter();
        let values = values.map(|value| size_of::<IndexValue>() + value.bytes().len());
        let held = self.held.as_ref();
        let held = held.map_or(0, |held| held.packed.len() + held.forms.len());
        size_of::<Self>() + self.id.len() + values.sum::<usize>() + held
    }
}

/// What all streams of an ordered scan have in common.
pub(crate) struct ScanShape<'q> {
    pub(crate) key: IndexKey,
    /// The name of the index.
    pub(crate) name: &'q str,
    /// The number of columns of the index.
    pub(crate) columns: usize,
    /// The number of fixed columns.
    pub(crate) fixed: usize,
    /// The number of levels.
    pub(crate) levels: usize,
    /// The column of each value of the order.
    pub(crate) of_values: Vec<usize>,
    /// Whether each value of the order descends, and then whether ids do.
    pub(crate) directions: Vec<bool>,
    /// The keys that documents must have.
    pub(crate) keys: &'q KeySet,
    /// Whether to return all that an entry holds.
    pub(crate) holds: bool,
}

impl ScanShape<'_> {
    /// Compares two entries in the order of the query.
    pub(crate) fn compare(&self, a: &IndexEntry, b: &IndexEntry) -> Ordering {
        compare(&self.directions, (&a.values, &a.id), (&b.values, &b.id))
    }

    /// Whether a level descends. The level after the last one is that of the ids.
    fn descends(&self, level: usize) -> bool {
        let column = self.fixed + level;
        let value = self.of_values.iter().position(|of| *of == column);
        let at = value
            .filter(|_| level < self.levels)
            .unwrap_or(self.of_values.len());
        self.directions.get(at).copied().unwrap_or_default()
    }

    /// Whether the ids follow the levels immediately, so that they ascend in each group.
    fn has_sorted_ids(&self) -> bool {
        self.fixed + self.levels == self.columns
    }

    /// The end of the run that begins at a level: the number of levels before its end. One
    /// more than the number of levels if the run includes the ids.
    fn run_end(&self, level: usize) -> usize {
        let levels = self.levels + usize::from(self.has_sorted_ids());
        let rest =
            (level + 1..levels).take_while(|next| self.descends(*next) == self.descends(level));
        (level + 1 + rest.count()).min(levels.max(level))
    }
}

/// A part of a stream that is not read yet.
struct ScanPiece {
    /// The number of levels in which all entries are equal.
    level: usize,
    /// The range, absolute.
    begin: Vec<u8>,
    end: Vec<u8>,
    /// Return only entries after this id. Set only if the entries are sorted by id in memory.
    after: Option<IdBytes>,
}

/// Reads the entries of one stream.
pub(crate) struct EntryWalk<'r> {
    reading: KeyReader<'r>,
    shape: &'r ScanShape<'r>,
    /// The packed values of the fixed columns.
    prefix: Vec<u8>,
    /// The pieces that are not read yet, the next one last.
    pieces: Vec<ScanPiece>,
    /// The entries of a piece that are in the order of the query as they are read.
    open: Option<KeyStream<'r>>,
    queue: VecDeque<IndexEntry>,
    /// Memory for the entries in the queue.
    memory: Share,
    batch: usize,
    /// The number of entries read and left out.
    left_out: usize,
    stopped: Option<Stopped>,
}

impl<'r> EntryWalk<'r> {
    /// Creates a walk over the entries with `prefix` in `range`, which is relative to the prefix,
    /// after the entry `after`.
    pub(crate) fn new(
        reading: KeyReader<'r>,
        shape: &'r ScanShape<'r>,
        prefix: Vec<u8>,
        range: (&[u8], &[u8]),
        after: Option<&IndexEntry>,
    ) -> Self {
        let mut walk = Self {
            reading,
            shape,
            pieces: Vec::new(),
            open: None,
            queue: VecDeque::new(),
            memory: reading.budget.counted_share(),
            batch: reading.first_batch,
            left_out: 0,
            stopped: None,
            prefix,
        };
        let from = [&walk.prefix[..], range.0].concat();
        let to = [&walk.prefix[..], range.1].concat();
        let (from, to) = shape.key.span(&from, &to);
        let mut pieces = match after {
            None => vec![ScanPiece {
                level: 0,
                begin: from.clone(),
                end: to.clone(),
                after: None,
            }],
            Some(after) => walk.after(after),
        };
        for piece in &mut pieces {
            piece.begin = from.clone().max(std::mem::take(&mut piece.begin));
            piece.end = to.clone().min(std::mem::take(&mut piece.end));
        }
        pieces.reverse();
        walk.pieces = pieces;
        walk
    }

    /// Why the walk ended early.
    pub(crate) fn stopped(&self) -> Option<&Stopped> {
        self.stopped.as_ref()
    }

    /// The next entry. None after the last one, and if the walk is stopped.
    ///
    /// # Errors
    /// Errors of the store. `INTERNAL`: damaged entries.
    pub(crate) async fn next(&mut self) -> Result<Option<IndexEntry>> {
        loop {
            if self.stopped.is_some() {
                return Ok(None);
            }
            if let Some(entry) = self.queue.pop_front() {
                return Ok(Some(entry));
            }
            if let Some(keys) = &mut self.open {
                let Some(pair) = keys.peek_pair().await? else {
                    self.open = None;
                    continue;
                };
                let entry = parse(self.shape, pair)?;
                keys.advance();
                if let Some(entry) = self.keep(entry) {
                    return Ok(Some(entry));
                }
                continue;
            }
            let Some(piece) = self.pieces.pop() else {
                return Ok(None);
            };
            if piece.begin < piece.end {
                self.read(piece).await?;
            }
        }
    }

    /// Leaves out entries that do not belong to the result, up to a limit.
    fn keep(&mut self, parsed: ParsedEntry) -> Option<IndexEntry> {
        if parsed.is_complete && self.shape.keys.contains(&parsed.entry.id) {
            return Some(parsed.entry);
        }
        self.left_out += 1;
        if self.left_out > SORTED_IDS_MAX {
            self.stopped = Some(Stopped::LeftOut(self.shape.name.to_owned()));
        }
        None
    }

    async fn read(&mut self, piece: ScanPiece) -> Result<()> {
        let end = self.shape.run_end(piece.level);
        if end > self.shape.levels {
            let descends = self.shape.descends(piece.level);
            let keys = KeyStream::new(self.reading, &piece.begin, &piece.end, descends);
            self.open = Some(keys);
            return Ok(());
        }
        if piece.level == self.shape.levels {
            return self.sort_by_id(piece).await;
        }
        self.read_groups(piece, end).await
    }

    /// Reads a batch of a piece and sorts its groups, which are equal in the levels before
    /// `levels`.
    async fn read_groups(&mut self, mut piece: ScanPiece, levels: usize) -> Result<()> {
        let descends = self.shape.descends(piece.level);
        let reading = KeyReader {
            first_batch: self.batch,
            ..self.reading
        };
        self.memory = self.reading.budget.counted_share();
        let mut keys = KeyStream::new(reading, &piece.begin, &piece.end, descends);
        let mut groups: Vec<(Vec<u8>, Vec<IndexEntry>)> = Vec::new();
        let mut read = 0;
        while read < self.batch
            && let Some(pair) = keys.peek_pair().await?
        {
            let parsed = parse(self.shape, pair)?;
            keys.advance();
            read += 1;
            let group = group(&parsed.values, self.shape.fixed + levels);
            if groups.last().is_none_or(|(last, _)| *last != group) {
                groups.push((group, Vec::new()));
            }
            if let Some(entry) = self.keep(parsed)
                && let Some((_, entries)) = groups.last_mut()
            {
                self.memory.take(entry.bytes())?;
                entries.push(entry);
            }
        }
        let is_whole = read < self.batch;
        self.batch = (2 * self.batch).min(BATCH_PAIRS_MAX);
        // The batch may not hold all entries of the last group.
        let last = if is_whole { None } else { groups.pop() };
        for (_, mut entries) in groups {
            entries.sort_by(|a, b| self.shape.compare(a, b));
            entries.dedup();
            self.queue.extend(entries);
        }
        if let Some((group, _)) = last {
            let (begin, end) = self.shape.key.span(&group, &prefix_end(&group));
            let begin = begin.max(piece.begin.clone());
            let end = end.min(piece.end.clone());
            if descends {
                piece.end.clone_from(&begin);
            } else {
                piece.begin.clone_from(&end);
            }
            if self.queue.is_empty() {
                self.pieces.push(piece);
                self.pieces.push(ScanPiece {
                    level: levels,
                    begin,
                    end,
                    after: None,
                });
            } else {
                // It is read again, with the groups after it.
                if descends {
                    piece.end = end;
                } else {
                    piece.begin = begin;
                }
                self.pieces.push(piece);
            }
        }
        Ok(())
    }

    /// Reads a group that is equal in all levels and sorts it by id.
    async fn sort_by_id(&mut self, piece: ScanPiece) -> Result<()> {
        self.memory = self.reading.budget.counted_share();
        let mut keys = KeyStream::new(self.reading, &piece.begin, &piece.end, false);
        let mut entries = Vec::new();
        let mut read = 0;
        while let Some(pair) = keys.peek_pair().await? {
            let parsed = parse(self.shape, pair)?;
            keys.advance();
            read += 1;
            if read > SORTED_IDS_MAX {
                self.stopped = Some(Stopped::Unsorted(self.shape.name.to_owned()));
                return Ok(());
            }
            if let Some(entry) = self.keep(parsed) {
                self.memory.take(entry.bytes())?;
                entries.push(entry);
            }
        }
        let mut sort = || {
            entries.sort_by(|a, b| self.shape.compare(a, b));
            Ok(())
        };
        if read > BATCH_PAIRS_MAX {
            self.reading.budget.compute_long(sort).await?;
        } else {
            sort()?;
        }
        entries.dedup();
        if let Some(after) = &piece.after {
            let descends = self.shape.descends(self.shape.levels);
            entries.retain(|entry| {
                if descends {
                    entry.id < *after
                } else {
                    entry.id > *after
                }
            });
        }
        self.queue.extend(entries);
        Ok(())
    }

    /// The pieces after an entry, in order.
    fn after(&self, after: &IndexEntry) -> Vec<ScanPiece> {
        let shape = self.shape;
        let (bounds, relation) = self.bounds_at(after);
        let mut pieces = Vec::from_iter(self.first_after(after, &bounds, relation));
        for (level, pair) in bounds.windows(2).enumerate().rev() {
            let (parent, group) = (&pair[0], &pair[1]);
            let (begin, end) = if shape.descends(level) {
                shape.key.span(parent, group)
            } else {
                shape.key.span(&prefix_end(group), &prefix_end(parent))
            };
            self.push_merged(&mut pieces, level, begin, end);
        }
        pieces
    }

    /// The groups that an entry is in, from the whole stream to the one that is equal in all
    /// levels, and `Equal`. If a constant of this stream differs from the value of the entry, the last
    /// group is that of the levels before the constant, and the ordering is that of the constant
    /// relative to the entry.
    fn bounds_at(&self, after: &IndexEntry) -> (Vec<Vec<u8>>, Ordering) {
        let shape = self.shape;
        let constants: Vec<IndexValue> = IndexValue::split_all(&self.prefix).collect();
        let mut bounds = vec![self.prefix.clone()];
        let values = shape.of_values.iter().zip(&after.values);
        for ((column, value), descends) in values.zip(&shape.directions) {
            let Some(constant) = constants.get(*column) else {
                // A value that repeats is in the group already.
                if shape.fixed + bounds.len() == column + 1 {
                    let last = bounds.last().map_or(&[][..], Vec::as_slice);
                    bounds.push([last, value.bytes()].concat());
                }
                continue;
            };
            let relation = match constant.cmp(value) {
                relation if *descends => relation.reverse(),
                relation => relation,
            };
            if relation.is_ne() {
                return (bounds, relation);
            }
        }
        (bounds, Ordering::Equal)
    }

    /// The entries after an entry in the last group of `bounds`.
    fn first_after(
        &self,
        after: &IndexEntry,
        bounds: &[Vec<u8>],
        relation: Ordering,
    ) -> Option<ScanPiece> {
        let shape = self.shape;
        let level = bounds.len() - 1;
        let group = bounds.last().map_or(&[][..], Vec::as_slice);
        let (begin, end) = shape.key.span(group, &prefix_end(group));
        let whole = ScanPiece {
            level,
            begin,
            end,
            after: None,
        };
        match relation {
            Ordering::Less => None,
            Ordering::Greater => Some(whole),
            Ordering::Equal if !shape.has_sorted_ids() => Some(ScanPiece {
                after: Some(after.id.clone()),
                ..whole
            }),
            Ordering::Equal => {
                let at = [&whole.begin[..], &after.id].concat();
                Some(if shape.descends(level) {
                    ScanPiece { end: at, ..whole }
                } else {
                    ScanPiece {
                        begin: key_after(&at),
                        ..whole
                    }
                })
            }
        }
    }

    /// Appends a piece, or extends the last one if both are one range of one run.
    fn push_merged(&self, pieces: &mut Vec<ScanPiece>, level: usize, begin: Vec<u8>, end: Vec<u8>) {
        let shape = self.shape;
        let is_run = |last: &&mut ScanPiece| {
            last.level == level + 1
                && shape.run_end(level) > last.level
                && shape.descends(level) == shape.descends(last.level)
        };
        match pieces.last_mut().filter(is_run) {
            Some(last) => {
                last.level = level;
                if shape.descends(level) {
                    last.begin = begin;
                } else {
                    last.end = end;
                }
            }
            None => pieces.push(ScanPiece {
                level,
                begin,
                end,
                after: None,
            }),
        }
    }
}

/// A parsed entry.
struct ParsedEntry {
    entry: IndexEntry,
    /// The packed values of all columns.
    values: Vec<u8>,
    /// Whether every value of the order is there.
    is_complete: bool,
}

fn parse(shape: &ScanShape<'_>, (at, forms): (&[u8], &[u8])) -> Result<ParsedEntry> {
    let relative = shape.key.relative(at).unwrap_or_default();
    let (packed, _) = shape
        .key
        .parse(at, shape.columns)
        .ok_or_else(|| no_entry(at))?;
    let mut columns = Vec::with_capacity(shape.fixed + shape.levels);
    let mut rest = packed;
    while columns.len() < shape.fixed + shape.levels {
        let (value, behind) = IndexValue::split(rest).ok_or_else(|| no_entry(at))?;
        columns.push(value);
        rest = behind;
    }
    let values: Vec<IndexValue> = shape
        .of_values
        .iter()
        .filter_map(|column| columns.get(*column).cloned())
        .collect();
    Ok(ParsedEntry {
        is_complete: values.iter().all(|value| value.rank() != Rank::Missing),
        entry: IndexEntry {
            values,
            id: relative[packed.len()..].to_vec(),
            held: shape.holds.then(|| HeldEntry {
                packed: packed.to_vec(),
                forms: forms.to_vec(),
            }),
        },
        values: packed.to_vec(),
    })
}

/// The packed values of the first columns.
fn group(packed: &[u8], columns: usize) -> Vec<u8> {
    let mut rest = packed;
    for _ in 0..columns {
        let Some((_, behind)) = IndexValue::split(rest) else {
            break;
        };
        rest = behind;
    }
    packed[..packed.len() - rest.len()].to_vec()
}
