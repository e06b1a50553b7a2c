//! The entries of an index in the order of one column, those of the same value by id.

use std::collections::VecDeque;

use super::ids::{IdBytes, no_entry};
use super::keys::{KeyReader, KeyStream};
use crate::database::document_key::end_of;
use crate::error::Result;
use crate::key::{IndexKey, IndexValue};
use crate::limits::BATCH_PAIRS_MAX;
use crate::store::key_after;

/// An entry: the value of the column, and the id.
pub(crate) type IndexEntry = (IndexValue, IdBytes);

/// Reads a span in which all columns but the last are the same. Ids ascend where values descend
/// if both directions say so: then what has the same value is turned round, held if a batch has
/// all of it, else read from its other end.
pub(crate) struct EntryWalk<'r> {
    reading: KeyReader<'r>,
    key: IndexKey,
    /// The packed values of all columns but the last.
    same: Vec<u8>,
    columns: usize,
    /// From the greatest value to the least.
    descending: bool,
    /// What was not read yet.
    begin: Vec<u8>,
    end: Vec<u8>,
    /// The entries of the value that is being read, by id.
    one_value: Option<KeyStream<'r>>,
    queue: VecDeque<IndexEntry>,
    batch: usize,
}

/// What of an index is walked.
pub(crate) struct Along<'t> {
    pub(crate) key: IndexKey,
    pub(crate) columns: usize,
    pub(crate) same: &'t [u8],
    /// Where the last column begins and ends, relative to the index.
    pub(crate) begin: &'t [u8],
    pub(crate) end: &'t [u8],
    pub(crate) descending: bool,
    /// Only what comes behind this entry.
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

    /// The next entries, at most `count`; fewer only if there are no more.
    ///
    /// # Errors
    /// What the store fails with. `INTERNAL`: damaged entries.
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

    /// Reads a batch of entries; false if there are no more.
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
            // The order of the keys is the order asked for.
            if all {
                self.begin.clone_from(&self.end);
            } else {
                self.go_behind(&entries[entries.len() - 1]);
            }
            self.queue.extend(entries);
            return Ok(true);
        }
        if !all {
            // Of the last value there may be more.
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

    /// Where the entries of a value stand.
    fn entries_of(&self, value: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let values = [&self.same[..], value].concat();
        self.key.span(&values, &end_of(&values))
    }

    /// What is not read yet begins behind all entries of a value.
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

/// The value of the last column of an entry, and its id.
fn entry(key: &IndexKey, same: &[u8], columns: usize, at: &[u8]) -> Result<IndexEntry> {
    let relative = key.relative(at).unwrap_or_default();
    let (values, _) = key.parse(at, columns).ok_or_else(|| no_entry(at))?;
    let value = values.get(same.len()..).and_then(IndexValue::split);
    let (value, _) = value.ok_or_else(|| no_entry(at))?;
    Ok((value, relative[values.len()..].to_vec()))
}
