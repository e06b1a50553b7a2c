//! Replaces a value with another one. Only the pairs that differ are written.

use std::iter::Peekable;

use super::Editor;
use super::location::Location;
use crate::budget::Budget;
use crate::database::changes::record::{self, Edited};
use crate::database::document_key::prefix_end;
use crate::error::Result;
use crate::key::Leaves;
use crate::limits::LEAVES_PER_PACE;
use crate::store::{Batches, Pairs, Transaction};

impl Editor<'_> {
    /// Replaces the value at a location.
    pub(crate) async fn overwrite(&mut self, location: &Location, leaves: &Leaves) -> Result<()> {
        let changed_before = std::mem::take(&mut self.changed);
        self.overwrite_value(location, leaves).await?;
        if self.changed {
            let document = Edited::existing(&self.document);
            record::replaced(self.transaction, document, &location.place, leaves);
            self.type_guard.wrote(&location.key, Some(leaves));
        }
        self.changed |= changed_before;
        Ok(())
    }

    async fn overwrite_value(&mut self, location: &Location, leaves: &Leaves) -> Result<()> {
        leaves.check_fits(location.key.len(), location.place.0.len())?;
        if let (Some(stored), Some(leaf)) = (location.leaf(), leaves.as_leaf()) {
            if stored != leaf {
                self.touch(&location.key).await?;
                self.transaction.set(&location.key, leaf);
                self.changed = true;
            }
            return Ok(());
        }
        let end = prefix_end(&location.key);
        if location.is_whole() {
            self.touch(&location.key).await?;
            let mut writes = writes_of(
                self.transaction,
                &location.key,
                (&location.key, &end),
                leaves.iter(),
            );
            writes.overwrite(&location.first, self.budget).await?;
            self.changed |= writes.finish(self.budget).await?;
            return Ok(());
        }
        self.overwrite_range(&location.key, &location.key, &end, leaves.iter())
            .await
    }

    /// Replaces the pairs from `begin` to before `end` with new ones, whose keys are relative to
    /// `base`. Stored and new pairs are both in key order, so one pass over both suffices and
    /// the stored pairs are never all in memory.
    pub(crate) async fn overwrite_range<'n>(
        &mut self,
        base: &[u8],
        begin: &[u8],
        end: &[u8],
        new: impl Iterator<Item = (&'n [u8], &'n [u8])>,
    ) -> Result<()> {
        self.index_maintainer.touch(begin, end).await?;
        let mut writes = writes_of(self.transaction, base, (begin, end), new);
        let mut batches = Batches::new(self.transaction, begin, end);
        while let Some(batch) = batches.next().await? {
            writes.overwrite(&batch, self.budget).await?;
        }
        self.changed |= writes.finish(self.budget).await?;
        Ok(())
    }
}

/// Replaces the pairs of a range. All writes share one write conflict range, which is added with
/// the first write.
struct Writes<'w, 'n, N: Iterator<Item = (&'n [u8], &'n [u8])>> {
    transaction: &'w dyn Transaction,
    /// The leaves that are not yet merged.
    new: Peekable<N>,
    key: Vec<u8>,
    base: usize,
    bounds: (&'w [u8], &'w [u8]),
    /// The first and the last of consecutive keys to remove.
    stale: Option<(Vec<u8>, Vec<u8>)>,
    any: bool,
    /// The number of stored and new leaves so far.
    merged: usize,
}

fn writes_of<'w, 'n, N: Iterator<Item = (&'n [u8], &'n [u8])>>(
    transaction: &'w dyn Transaction,
    base: &[u8],
    bounds: (&'w [u8], &'w [u8]),
    new: N,
) -> Writes<'w, 'n, N> {
    Writes {
        transaction,
        new: new.peekable(),
        key: base.to_vec(),
        base: base.len(),
        bounds,
        stale: None,
        any: false,
        merged: 0,
    }
}

impl<'n, N: Iterator<Item = (&'n [u8], &'n [u8])>> Writes<'_, 'n, N> {
    /// Merges the next stored pairs.
    async fn overwrite(&mut self, stored: &Pairs, budget: &Budget) -> Result<()> {
        for (key, value) in stored.iter() {
            let stored = &key[self.base..];
            while let Some((key, value)) = self.new.next_if(|(key, _)| *key < stored) {
                self.set(key, value);
                self.pace(budget).await?;
            }
            match self.new.next_if(|(key, _)| *key == stored) {
                Some((_, same)) if same == value => self.keep(),
                Some((key, value)) => self.set(key, value),
                None => self.stale(key),
            }
            self.pace(budget).await?;
        }
        Ok(())
    }

    /// Pays for a leaf that was merged.
    #[inline]
    async fn pace(&mut self, budget: &Budget) -> Result<()> {
        self.merged += 1;
        if self.merged.is_multiple_of(LEAVES_PER_PACE) {
            budget.pace(LEAVES_PER_PACE as u64).await?;
        }
        Ok(())
    }

    fn set(&mut self, relative: &[u8], value: &[u8]) {
        self.keep();
        self.begin();
        self.key.truncate(self.base);
        self.key.extend_from_slice(relative);
        self.transaction.set(&self.key, value);
    }

    fn stale(&mut self, key: &[u8]) {
        match &mut self.stale {
            Some((_, last)) => key.clone_into(last),
            None => self.stale = Some((key.to_vec(), key.to_vec())),
        }
    }

    /// Ends a run of keys to remove, because the next pair is kept or set, and clears the run.
    fn keep(&mut self) {
        let Some((first, mut last)) = self.stale.take() else {
            return;
        };
        self.begin();
        if first == last {
            self.transaction.clear(&first);
        } else {
            last.push(0);
            self.transaction.clear_range(&first, &last);
        }
    }

    fn begin(&mut self) {
        if !self.any {
            self.any = true;
            let (begin, end) = self.bounds;
            self.transaction.add_write_conflict(begin, end);
            self.transaction.without_write_conflicts(true);
        }
    }

    /// Writes the remaining leaves. Returns whether anything was written.
    async fn finish(mut self, budget: &Budget) -> Result<bool> {
        while let Some((key, value)) = self.new.next() {
            self.set(key, value);
            self.pace(budget).await?;
        }
        self.keep();
        if self.any {
            self.transaction.without_write_conflicts(false);
        }
        Ok(self.any)
    }
}
