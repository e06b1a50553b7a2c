//! The bytes that the stored change log takes, keys included.
//!
//! A cluster estimates them. On an engine that only this process has open, the log is counted. The
//! first count reads all headers, and each later one reads the headers since. A header states the
//! bytes of its patches, so these are not read. What expires is subtracted. All entries are then in
//! one shard.

use super::settings::horizon_of;
use crate::budget::pause;
use crate::error::{Error, Result};
use crate::key::{ChangeLogPart, ChangeLogRange, ChangesDecoder, Family, Version};
use crate::limits::{CHANGE_SHARDS, EXCLUSIVE_CHANGE_SHARD, PIECE_BYTES};
use crate::store::{RangeRead, Store, key_after};

/// What is known of the bytes of a change log, from one measurement to the next.
#[derive(Default)]
pub struct LogSize {
    /// The count, if the engine does not estimate the bytes.
    count: Option<LogCount>,
}

/// The entries of the log from a horizon to a position.
struct LogCount {
    /// The horizon of the log. If the stored one differs, entries were removed that this does not
    /// know of.
    horizon: Version,
    /// The first key of a header that is not counted.
    begin: Vec<u8>,
    entries: EntryBytes,
}

impl LogSize {
    /// The bytes of the log now. `None` if the engine does not say, and other processes can write
    /// to the log.
    ///
    /// # Errors
    /// `INTERNAL`: a key is malformed. Errors of the store.
    pub(crate) async fn measure(&mut self, store: &dyn Store) -> Result<Option<u64>> {
        if !store.is_exclusive() {
            let first = ChangeLogRange::new(ChangeLogPart::Headers, 0);
            let last = ChangeLogRange::new(ChangeLogPart::Patches, CHANGE_SHARDS - 1);
            return store.estimated_bytes(first.begin(), &last.end()).await;
        }
        let headers = ChangeLogRange::new(ChangeLogPart::Headers, EXCLUSIVE_CHANGE_SHARD);
        // Each portion has its own snapshot, so that a long count does not retain old versions.
        loop {
            let snapshot = store.snapshot().await?;
            let horizon = snapshot.get(&Family::ChangeHorizon.key()?).await?;
            let horizon = horizon_of(horizon.as_deref())?;
            let count = self.count.take().filter(|count| count.horizon == horizon);
            let count = self.count.insert(count.unwrap_or_else(|| LogCount {
                horizon,
                begin: headers.begin().to_vec(),
                entries: EntryBytes::of(EXCLUSIVE_CHANGE_SHARD),
            }));
            let end = headers.end();
            let batch = snapshot.range(RangeRead::new(&count.begin, &end)).await?;
            for (key, header) in batch.pairs.iter() {
                count.entries.add(key, header)?;
            }
            if let Some((last, _)) = batch.pairs.last() {
                count.begin = key_after(last);
            }
            if !batch.more {
                return Ok(Some(count.entries.bytes));
            }
            pause().await;
        }
    }

    /// Subtracts entries that were removed. They are all entries up to the version `horizon`.
    pub(crate) fn remove(&mut self, horizon: Version, bytes: u64) {
        let Some(count) = &mut self.count else {
            return;
        };
        count.horizon = horizon;
        count.entries.bytes = if horizon < count.entries.version {
            count.entries.bytes.saturating_sub(bytes)
        } else {
            // No entry is left that was counted.
            0
        };
    }
}

/// Adds up the stored bytes of entries of a shard.
pub(crate) struct EntryBytes {
    headers: ChangeLogRange,
    patches: ChangeLogRange,
    /// The bytes of all entries that were added, keys included.
    pub(crate) bytes: u64,
    /// The commit of the last header.
    version: Version,
    /// The bytes of the patches of this commit.
    patch_bytes: u64,
}

impl EntryBytes {
    /// No entries of a shard.
    pub(crate) fn of(shard: u8) -> Self {
        Self {
            headers: ChangeLogRange::new(ChangeLogPart::Headers, shard),
            patches: ChangeLogRange::new(ChangeLogPart::Patches, shard),
            bytes: 0,
            version: Version([0; 10]),
            patch_bytes: 0,
        }
    }

    /// Adds the next header, with its patches. Returns its commit. The patches of a malformed header
    /// are not counted, so that it can expire.
    ///
    /// # Errors
    /// `INTERNAL`: the key is not one of a header.
    pub(crate) fn add(&mut self, key: &[u8], header: &[u8]) -> Result<Version> {
        let parsed = self.headers.parse(key);
        let (version, _) = parsed.ok_or_else(|| Error::internal("a key in the change log"))?;
        let more = ChangesDecoder::patch_bytes_of(header).unwrap_or_default();
        if version != self.version {
            self.version = version;
            self.patch_bytes = 0;
        }
        let before = self.stored_patch_bytes();
        self.patch_bytes = self.patch_bytes.saturating_add(more);
        self.bytes += (key.len() + header.len()) as u64;
        self.bytes += self.stored_patch_bytes() - before;
        Ok(version)
    }

    /// The bytes of the pieces of the patches of the last commit, keys included.
    fn stored_patch_bytes(&self) -> u64 {
        let pieces = 0..self.patch_bytes.div_ceil(PIECE_BYTES as u64);
        let key = |number| self.patches.key(self.version, number).len() as u64;
        self.patch_bytes + pieces.map(key).sum::<u64>()
    }
}
