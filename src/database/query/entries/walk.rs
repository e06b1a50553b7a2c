//! An ordered walk over index entries: by the last column, and by id among equal values.
//!
//! The walk reads a span in which all columns but the last are fixed. The keys of these entries are
//! ordered by value and then by id. The query defines two directions: that of the values
//! (`descending`) and that of the ids (`backward`, the direction of the page; ids ascend on a
//! forward page).
//!
//! * If both directions are equal, the order of the keys, or its reverse, is the order of the
//!   query. The entries are returned as they are read.
//! * If they differ, values are read in one direction and the ids of each value are returned in the
//!   other. If a batch holds all entries of a value, they are reversed in memory. Otherwise the
//!   entries of that value are read separately, from the other end (`one_value`).
//!
//! To resume after an entry, the walk first returns the rest of that entry's value, in the
//! direction of the ids, and then continues after the value.

use std::collections::VecDeque;

use super::ids::{IdBytes, no_entry};
use super::keys::{KeyReader, KeyStream};
use crate::database::document_key::prefix_end;
use crate::error::Result;
use crate::key::{IndexKey, IndexValue};
use crate::limits::BATCH_PAIRS_MAX;
use crate::store::key_after;

/// The value of the last column, and the id.
pub(crate) type IndexEntry = (IndexValue, IdBytes);

/// Reads the entries of a span in which all columns but the last are fixed.
pub(crate) struct EntryWalk<'r> {
    reading: KeyReader<'r>,
    key: IndexKey,
    /// The packed values of all columns but the last.
    same: Vec<u8>,
    columns: usize,
    /// Whether values are read from the greatest to the least.
    descending: bool,
    /// The part of the span that is not read yet.
    begin: Vec<u8>,
    end: Vec<u8>,
    /// The remaining entries of a single value, in the direction of the ids.
    one_value: Option<KeyStream<'r>>,
    queue: VecDeque<IndexEntry>,
    batch: usize,
}

/// The arguments of a walk.
pub(crate) struct Along<'t> {
    pub(crate) key: IndexKey,
    pub(crate) columns: usize,
    pub(crate) same: &'t [u8],
    /// The bounds of the span, relative to the index.
    pub(crate) begin: &'t [u8],
    pub(crate) end: &'t [u8],
    pub(crate) descending: bool,
    /// Return only entries after this one: its value and its id.
    pub(crate) after: Option<(&'t [u8], &'t [u8])>,
}

impl<'r> EntryWalk<'r> {
    pub(crate) fn new(reading: KeyReader<'r>, along: Along<'_>) -> Self {
        let Along { key, same, .. } = along;
        let (begin, end) = key.span(along.begin, along.end);
        let mut walk = Self {
            reading,
            key,
            same: same.to_vec(),
            columns: along.columns,
            descending: along.descending,
            begin,
            end,
            one_value: None,
            queue: VecDeque::new(),
            batch: reading.first_batch,
        };
        if let Some((value, id)) = along.after {
            let (first, past) = walk.entries_of(value);
            let at = [&first[..], id].concat();
            let rest = if reading.backward {
                (first, at)
            } else {
                (key_after(&at), past)
            };
            walk.one_value = Some(KeyStream::new(reading, &rest.0, &rest.1, reading.backward));
            walk.leave_out(value);
        }
        walk
    }

    /// Returns the next entries, at most `count`. Returns fewer only at the end.
    ///
    /// # Errors
    /// Errors of the store. `INTERNAL`: damaged entries.
    pub(crate) async fn next(&mut self, count: usize) -> Result<Vec<IndexEntry>> {
        let mut found = Vec::new();
        while found.len() < count {
            if let Some(entry) = self.queue.pop_front() {
                found.push(entry);
            } else if let Some(keys) = &mut self.one_value {
                match keys.peek().await? {
                    Some(key) => {
                        found.push(entry(&self.key, &self.same, self.columns, key)?);
                        keys.advance();
                    }
                    None => self.one_value = None,
                }
            } else if !self.read_on().await? {
                break;
            }
        }
        Ok(found)
    }

    /// Reads a batch of entries. Returns false if there are no more.
    async fn read_on(&mut self) -> Result<bool> {
        if self.begin >= self.end {
            return Ok(false);
        }
        let reading = KeyReader {
            first_batch: self.batch,
            ..self.reading
        };
        let mut keys = KeyStream::new(reading, &self.begin, &self.end, self.descending);
        let mut entries = Vec::new();
        while entries.len() < self.batch
            && let Some(key) = keys.peek().await?
        {
            entries.push(entry(&self.key, &self.same, self.columns, key)?);
            keys.advance();
        }
        let all = entries.len() < self.batch;
        self.batch = (2 * self.batch).min(BATCH_PAIRS_MAX);
        let Some((last, _)) = entries.last().cloned() else {
            return Ok(false);
        };
        if self.descending == self.reading.backward {
            // The order of the keys is the order of the query.
            if all {
                self.begin.clone_from(&self.end);
            } else {
                self.go_behind(&entries[entries.len() - 1]);
            }
            self.queue.extend(entries);
            return Ok(true);
        }
        if !all {
            // The batch may not hold all entries of the last value.
            let whole = entries.partition_point(|(value, _)| {
                if self.descending {
                    *value > last
                } else {
                    *value < last
                }
            });
            entries.truncate(whole);
        }
        if let Some((value, _)) = entries.last() {
            self.leave_out(value.clone().bytes());
        } else {
            let (first, past) = self.entries_of(last.bytes());
            let backward = self.reading.backward;
            self.one_value = Some(KeyStream::new(self.reading, &first, &past, backward));
            self.leave_out(last.bytes());
        }
        for group in entries.chunk_by(|(a, _), (b, _)| a == b) {
            self.queue.extend(group.iter().rev().cloned());
        }
        if all {
            self.begin.clone_from(&self.end);
        }
        Ok(true)
    }

    /// Returns the range of the entries of a value.
    fn entries_of(&self, value: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let values = [&self.same[..], value].concat();
        self.key.span(&values, &prefix_end(&values))
    }

    /// Excludes all entries of a value, and those before it, from what is still to be read.
    fn leave_out(&mut self, value: &[u8]) {
        let (first, past) = self.entries_of(value);
        if self.descending {
            self.end = first.min(std::mem::take(&mut self.end));
        } else {
            self.begin = past.max(std::mem::take(&mut self.begin));
        }
    }

    fn go_behind(&mut self, (value, id): &IndexEntry) {
        let (first, _) = self.entries_of(value.bytes());
        let at = [&first[..], id].concat();
        if self.descending {
            self.end = at;
        } else {
            self.begin = key_after(&at);
        }
    }
}

/// Parses an entry into the value of its last column and its id.
fn entry(key: &IndexKey, same: &[u8], columns: usize, at: &[u8]) -> Result<IndexEntry> {
    let relative = key.relative(at).unwrap_or_default();
    let (values, _) = key.parse(at, columns).ok_or_else(|| no_entry(at))?;
    let value = values.get(same.len()..).and_then(IndexValue::split);
    let (value, _) = value.ok_or_else(|| no_entry(at))?;
    Ok((value, relative[values.len()..].to_vec()))
}
