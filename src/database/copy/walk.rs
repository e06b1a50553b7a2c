//! Sequential scans over the ranges of a store.

use std::sync::Arc;

use crate::database::document_key::{covers, prefix_end};
use crate::database::open::Database;
use crate::document::id::DocumentId;
use crate::error::{ErrorKind, Result};
use crate::key::{Entry, Family, OwnKey, all_documents, name_of_collection};
use crate::store::{Batches, Pairs, Read, key_after};

/// Scans a range in key order, from one snapshot. If the engine drops the snapshot, the scan
/// continues in a new one.
pub(crate) struct StoreWalk {
    database: Database,
    batches: Batches<Arc<dyn Read>>,
    /// Whether nothing was read from this snapshot yet.
    fresh: bool,
    batch: Pairs,
    at: usize,
}

impl StoreWalk {
    pub(crate) async fn over(database: &Database, range: (Vec<u8>, Vec<u8>)) -> Result<Self> {
        let (begin, end) = range;
        Ok(Self {
            batches: Batches::new(database.snapshot().await?, begin, end),
            database: database.clone(),
            fresh: true,
            batch: Pairs::default(),
            at: 0,
        })
    }

    /// The current pair. None after the last.
    pub(crate) async fn pair(&mut self) -> Result<Option<(&[u8], &[u8])>> {
        if self.at == self.batch.len() {
            let Some(batch) = self.read_on().await? else {
                return Ok(None);
            };
            self.batch = batch;
            self.at = 0;
        }
        Ok(Some(self.batch.get(self.at)))
    }

    /// Moves to the next pair.
    pub(crate) fn step(&mut self) {
        self.at += 1;
    }

    /// Moves forward to the first pair at or after `key`. Never moves back.
    pub(crate) fn seek(&mut self, key: &[u8]) {
        let ahead = self
            .batch
            .between(0..self.batch.len(), key, self.batches.end());
        self.at = self.at.max(ahead.start);
        if self.at == self.batch.len() {
            self.batches.seek(key);
        }
    }

    async fn read_on(&mut self) -> Result<Option<Pairs>> {
        let batch = match self.batches.next().await {
            Err(error) if error.kind() == ErrorKind::Timeout && !self.fresh => {
                self.batches.renew(self.database.snapshot().await?);
                self.batches.next().await?
            }
            batch => batch?,
        };
        self.fresh = false;
        Ok(batch)
    }
}

/// The facts about a document that are known before its leaves are read.
#[derive(Clone, Debug)]
pub(crate) struct DocumentHead {
    /// The key of the document.
    pub(crate) key: Vec<u8>,
    /// Whether the document is only the leaf at that key ([`OwnKey::alone`]).
    alone: bool,
    /// The collection. None if the document cannot have a catalog entry.
    pub(crate) collection: Option<String>,
    /// Whether the document has a catalog entry.
    pub(crate) entered: bool,
    /// Whether the document has a version, so Phyllo has written it.
    pub(crate) versioned: bool,
}

impl DocumentHead {
    /// Whether a leaf belongs to this document.
    pub(crate) fn covers(&self, key: &[u8]) -> bool {
        if self.alone {
            return key == self.key;
        }
        covers(&self.key, key)
    }

    /// The id, if it is a versionstamp.
    pub(crate) fn versionstamp(&self) -> Option<[u8; 12]> {
        let (_, collection) = name_of_collection(&self.key)?;
        match Family::document_id(&self.key, collection) {
            Ok((DocumentId::Versionstamp(stamp), _)) => Some(stamp),
            _ => None,
        }
    }

    /// The end of the document's keys.
    pub(crate) fn end(&self) -> Vec<u8> {
        if self.alone {
            return key_after(&self.key);
        }
        prefix_end(&self.key)
    }
}

/// Scans all documents of a store in key order, with their catalog entries.
pub(crate) struct Documents {
    pub(crate) leaves: StoreWalk,
    pub(crate) entries: StoreWalk,
    versions: StoreWalk,
}

impl Documents {
    pub(crate) async fn of(database: &Database) -> Result<Self> {
        Ok(Self {
            leaves: StoreWalk::over(database, all_documents()).await?,
            entries: StoreWalk::over(database, Entry::Existence.all()).await?,
            versions: StoreWalk::over(database, Entry::Version.all()).await?,
        })
    }

    /// The next document that has leaves or a catalog entry. `leaves` is then at its first
    /// leaf. Move past its last leaf before the next call.
    pub(crate) async fn next(&mut self) -> Result<Option<DocumentHead>> {
        let leaf = self.leaves.pair().await?.map(|(key, _)| {
            let own = OwnKey::of(key);
            (key[..own.bytes].to_vec(), own)
        });
        let entry = self
            .entries
            .pair()
            .await?
            .map(|(key, _)| Entry::Existence.document(key).to_vec());
        let (key, own) = match (leaf, &entry) {
            (leaf, Some(entry)) if leaf.as_ref().is_none_or(|(leaf, _)| entry < leaf) => {
                (entry.clone(), OwnKey::of(entry))
            }
            (Some(leaf), _) => leaf,
            (None, _) => return Ok(None),
        };
        let entered = entry.as_ref() == Some(&key);
        if entered {
            self.entries.step();
        }
        let version = Entry::Version.key_of(&key);
        self.versions.seek(&version);
        let versioned = matches!(self.versions.pair().await?, Some((found, _)) if found == version);
        Ok(Some(DocumentHead {
            alone: own.alone,
            collection: own.collection,
            key,
            entered,
            versioned,
        }))
    }
}
