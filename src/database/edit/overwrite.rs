//! Putting a value in the place of another: only what differs is written.

use super::super::end_of;
use super::Editor;
use super::locate::Spot;
use crate::error::Result;
use crate::key::Leaves;
use crate::store::{Batches, Transaction, pace};

impl Editor<'_> {
    /// Puts a value in the place of the one that stands there.
    pub(super) async fn overwrite(&mut self, spot: &Spot, leaves: &Leaves) -> Result<()> {
        leaves.check_keys(spot.key.len())?;
        if let (Some(stored), Some(leaf)) = (spot.leaf(), leaves.as_leaf()) {
            if stored != leaf {
                self.touch(&spot.key).await?;
                self.transaction.set(&spot.key, leaf);
                self.changed = true;
            }
            return Ok(());
        }
        let end = end_of(&spot.key);
        self.overwrite_range(&spot.key, &spot.key, &end, leaves)
            .await
    }

    /// Makes the pairs from `begin` to before `end` those of `leaves`, whose keys go on from
    /// `base`. Both come in the order of their keys, so it is one pass, and what is read is never
    /// held as a whole.
    pub(super) async fn overwrite_range(
        &mut self,
        base: &[u8],
        begin: &[u8],
        end: &[u8],
        leaves: &Leaves,
    ) -> Result<()> {
        self.upkeep.touch(begin, end).await?;
        let mut writes = Writes {
            transaction: self.transaction,
            key: base.to_vec(),
            base: base.len(),
            bounds: (begin, end),
            stale: None,
            any: false,
        };
        let mut new = leaves.iter().peekable();
        let mut batches = Batches::new(self.transaction, begin, end);
        while let Some(batch) = batches.next().await? {
            for (key, value) in batch.iter() {
                let stored = &key[base.len()..];
                while let Some((key, value)) = new.next_if(|(key, _)| *key < stored) {
                    writes.set(key, value);
                }
                match new.next_if(|(key, _)| *key == stored) {
                    Some((_, same)) if same == value => writes.keep(),
                    Some((key, value)) => writes.set(key, value),
                    None => writes.stale(key),
                }
            }
        }
        for (at, (key, value)) in new.enumerate() {
            writes.set(key, value);
            pace(at).await;
        }
        self.changed |= writes.finish();
        Ok(())
    }
}

/// Writes that all stand under one write conflict range, made with the first of them.
struct Writes<'w> {
    transaction: &'w dyn Transaction,
    key: Vec<u8>,
    base: usize,
    bounds: (&'w [u8], &'w [u8]),
    /// The first and the last of neighbouring keys that are to go.
    stale: Option<(Vec<u8>, Vec<u8>)>,
    any: bool,
}

impl Writes<'_> {
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

    /// Something stays where it is, so what is stale before it goes on its own.
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

    fn finish(mut self) -> bool {
        self.keep();
        if self.any {
            self.transaction.without_write_conflicts(false);
        }
        self.any
    }
}
