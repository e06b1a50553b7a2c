//! Merges the streams of an ordered scan by their first entries.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use futures::future::try_join_all;

use super::keys::KeyReader;
use super::walk::{EntryWalk, IndexEntry, ScanShape};
use crate::budget::{Share, begun_in_turns};
use crate::database::query::page::Stopped;
use crate::error::{Error, Result};
use crate::limits::PARTS_AT_ONCE;

/// The entries of all streams of an ordered scan, in order, without duplicates.
pub(crate) struct MergedWalk<'r> {
    reading: KeyReader<'r>,
    shape: &'r ScanShape<'r>,
    walks: Vec<EntryWalk<'r>>,
    /// The first entry of each stream that is not at its end, if there are several.
    heads: BinaryHeap<Head<'r>>,
    /// Memory for them.
    memory: Share,
    is_open: bool,
    last: Option<IndexEntry>,
    stopped: Option<Stopped>,
}

/// The first entry of a stream. The greatest head is the first one in the order of the query.
struct Head<'r> {
    entry: IndexEntry,
    walk: usize,
    shape: &'r ScanShape<'r>,
}

impl Ord for Head<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.shape.compare(&other.entry, &self.entry)
    }
}

impl PartialOrd for Head<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Head<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Head<'_> {}

impl<'r> MergedWalk<'r> {
    pub(crate) fn new(
        reading: KeyReader<'r>,
        shape: &'r ScanShape<'r>,
        walks: Vec<EntryWalk<'r>>,
    ) -> Self {
        Self {
            reading,
            shape,
            walks,
            heads: BinaryHeap::new(),
            memory: reading.budget.counted_share(),
            is_open: false,
            last: None,
            stopped: None,
        }
    }

    /// Why the walk ended early.
    pub(crate) fn stopped(&self) -> Option<Stopped> {
        self.stopped.clone()
    }

    /// The next entry. None after the last one, and if the walk is stopped.
    ///
    /// # Errors
    /// Errors of the store. `INTERNAL`: damaged entries.
    pub(crate) async fn next(&mut self) -> Result<Option<IndexEntry>> {
        while self.stopped.is_none() {
            self.reading.budget.pace(1).await?;
            let Some(entry) = self.next_of_any().await? else {
                break;
            };
            if self.last.as_ref() != Some(&entry) {
                self.last = Some(entry.clone());
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    async fn next_of_any(&mut self) -> Result<Option<IndexEntry>> {
        if let [only] = &mut self.walks[..] {
            let entry = only.next().await?;
            self.stopped = only.stopped().cloned();
            return Ok(entry);
        }
        if !self.is_open {
            self.is_open = true;
            let mut firsts = Vec::with_capacity(self.walks.len());
            for walks in self.walks.chunks_mut(PARTS_AT_ONCE) {
                let memory = &self.memory;
                let next = walks.iter_mut().map(|walk| next_head(walk, memory));
                firsts.extend(try_join_all(begun_in_turns(next)).await?);
            }
            for (walk, first) in firsts.into_iter().enumerate() {
                self.push(walk, first);
            }
        }
        if self.stopped.is_some() {
            return Ok(None);
        }
        let Some(Head { entry, walk, .. }) = self.heads.pop() else {
            return Ok(None);
        };
        let stream = self.walks.get_mut(walk);
        let stream = stream.ok_or_else(|| Error::internal("a head of no stream"))?;
        let next = next_head(stream, &self.memory).await?;
        self.memory.give(entry.bytes());
        self.push(walk, next);
        Ok(Some(entry))
    }

    fn push(&mut self, walk: usize, entry: Option<IndexEntry>) {
        let shape = self.shape;
        match entry {
            Some(entry) => self.heads.push(Head { entry, walk, shape }),
            None => self.stopped = self.walks[walk].stopped().cloned().or(self.stopped.take()),
        }
    }
}

/// The next entry of a stream, which becomes its head. `memory` holds it.
async fn next_head(walk: &mut EntryWalk<'_>, memory: &Share) -> Result<Option<IndexEntry>> {
    let next = walk.next().await?;
    memory.take(next.as_ref().map_or(0, IndexEntry::bytes))?;
    Ok(next)
}
