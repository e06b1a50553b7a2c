//! A scan of all documents in a collection, from one snapshot. If the engine drops the snapshot
//! first, the scan continues in a new one.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::cursor::Cursor;
use crate::budget::{Budget, Share};
use crate::database::document_key::{DocumentKey, covers, prefix_end};
use crate::database::open::Database;
use crate::database::read::value_ref::malformed;
use crate::document::id::DocumentId;
use crate::document::path::Place;
use crate::error::{ErrorKind, Result};
use crate::key::{Family, JsonText, Version};
use crate::limits::{SCANNED_BYTES_AT_A_TIME, SCANNED_BYTES_PER_STEP};
use crate::store::{Read, key_after};

/// A document found by a scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scanned {
    /// The id.
    pub id: DocumentId,
    /// The JSON text.
    pub json: Vec<u8>,
}

/// A document that another program stored under an id that no GraphQL ID can express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// The prefix of its keys.
    pub key: Vec<u8>,
}

/// Whether a scan takes a document, asked in the snapshot of the scan.
pub type ScanTest =
    Box<dyn Fn(Arc<dyn Read>, DocumentId) -> BoxFuture<'static, Result<bool>> + Send + Sync>;

/// Scans the documents of a collection in the order of their ids.
pub struct Scan {
    pairs: Cursor,
    read: Arc<dyn Read>,
    /// The source of new snapshots when the engine drops the current one.
    database: Option<Database>,
    /// What pays for the scan, and the memory for the current document.
    paid: Option<(Budget, Share)>,
    test: Option<ScanTest>,
    /// The end of the last processed document.
    done: Vec<u8>,
    /// The value of `done` when the current snapshot was taken, unless it is the first snapshot.
    renewed: Option<Vec<u8>>,
    collection_key: usize,
}

impl Scan {
    /// Creates a scan of `collection` that takes a new snapshot, between two documents, whenever
    /// the engine drops the current one. Each document is consistent as of some moment.
    ///
    /// # Errors
    /// As [`Database::snapshot`].
    pub async fn over(database: &Database, collection: &str) -> Result<Self> {
        let mut scan = Self::new(database.snapshot().await?, collection);
        scan.database = Some(database.clone());
        Ok(scan)
    }

    /// As [`Scan::over`]. The budget counts what is read, and the memory for the current document.
    ///
    /// # Errors
    /// As [`Database::metered_snapshot`].
    pub async fn metered(database: &Database, collection: &str, budget: &Budget) -> Result<Self> {
        let mut scan = Self::new(database.metered_snapshot(budget).await?, collection);
        scan.database = Some(database.clone());
        scan.pairs.count_in(budget.share());
        scan.paid = Some((budget.clone(), budget.share()));
        Ok(scan)
    }

    /// From now on takes only the documents that pass a test, if there is one. The others are not read.
    pub fn set_test(&mut self, test: Option<ScanTest>) {
        self.test = test;
    }

    /// The version of the current snapshot.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn version(&self) -> Result<Version> {
        self.read.version().await
    }

    /// Creates a scan of `collection` in one snapshot.
    pub fn new(read: Arc<dyn Read>, collection: &str) -> Self {
        let (begin, end) = Family::documents(collection);
        Self {
            database: None,
            paid: None,
            test: None,
            done: begin.clone(),
            renewed: None,
            collection_key: begin.len(),
            pairs: Cursor::new(read.clone(), begin, end),
            read,
        }
    }

    /// The same scan, from the first document after `document`. Called before the first document is
    /// taken.
    ///
    /// # Errors
    /// `TOO_LARGE`: the key of the document exceeds the limit.
    pub fn after(mut self, document: &DocumentKey) -> Result<Self> {
        self.done = prefix_end(&document.place(&Place::default())?);
        self.pairs.seek(&self.done);
        Ok(self)
    }

    /// The next document, or none after the last. After an error about a damaged document,
    /// the next call continues with the document after it.
    ///
    /// # Errors
    /// `INTERNAL`: damaged data. Errors of the store.
    pub async fn next(&mut self) -> Result<Option<Result<Scanned, Foreign>>> {
        loop {
            let next = self.next_in_snapshot().await;
            match &next {
                Err(error) if error.kind() == ErrorKind::Timeout && self.renew().await? => {}
                _ => return next,
            }
        }
    }

    /// Restarts after the last processed document in a new snapshot. Returns false if the current
    /// snapshot was itself a renewal and processed no document.
    async fn renew(&mut self) -> Result<bool> {
        let Some(database) = &self.database else {
            return Ok(false);
        };
        if self.renewed.as_ref() == Some(&self.done) {
            return Ok(false);
        }
        self.read = match &self.paid {
            Some((budget, _)) => database.metered_snapshot(budget).await?,
            None => database.snapshot().await?,
        };
        self.pairs.renew(self.read.clone(), self.done.clone());
        self.renewed = Some(self.done.clone());
        Ok(true)
    }

    async fn next_in_snapshot(&mut self) -> Result<Option<Result<Scanned, Foreign>>> {
        loop {
            let Some((first, _)) = self.pairs.peek().await? else {
                return Ok(None);
            };
            if let (Some(test), Ok((id, bytes))) =
                (&self.test, Family::document_id(first, self.collection_key))
            {
                let document_key = first[..bytes].to_vec();
                if !test(self.read.clone(), id).await? {
                    self.done = prefix_end(&document_key);
                    self.pairs.seek(&self.done);
                    continue;
                }
            }
            return self.document().await;
        }
    }

    /// Reads the document at the current pair.
    async fn document(&mut self) -> Result<Option<Result<Scanned, Foreign>>> {
        let Some((first, _)) = self.pairs.peek().await? else {
            return Ok(None);
        };
        let (id, bytes) = match Family::document_id(first, self.collection_key) {
            Ok((id, bytes)) => (Some(id), bytes),
            Err(bytes) => (None, bytes),
        };
        let document_key = first[..bytes].to_vec();
        let Some(id) = id else {
            // A key that ends where an id is expected, or in an invalid id, has no keys below it.
            let alone = first.len() == bytes;
            self.skip(&document_key, alone).await?;
            return Ok(Some(Err(Foreign { key: document_key })));
        };
        let mut json = Vec::new();
        let mut text = JsonText::new(&mut json);
        let mut written = 0;
        while let Some((key, value)) = self.pairs.peek().await? {
            if !covers(&document_key, key) {
                break;
            }
            if let Some((budget, held)) = &self.paid {
                written += SCANNED_BYTES_PER_STEP + key.len() + value.len();
                if written >= SCANNED_BYTES_AT_A_TIME {
                    // The text, and its copy in the lines of an export.
                    held.take(2 * written)?;
                    budget
                        .pace((written / SCANNED_BYTES_PER_STEP) as u64)
                        .await?;
                    written = 0;
                }
            }
            if let Err(error) = text.push(&key[document_key.len()..], value) {
                let error = malformed(error, key);
                self.skip(&document_key, false).await?;
                return Err(error);
            }
            self.pairs.advance();
        }
        self.done = prefix_end(&document_key);
        if let Some((_, held)) = &self.paid {
            held.clear();
        }
        text.finish()
            .map_err(|error| malformed(error, &document_key))?;
        Ok(Some(Ok(Scanned { id, json })))
    }

    /// Skips a document, or only the key equal to `document_key` if `alone`.
    async fn skip(&mut self, document_key: &[u8], alone: bool) -> Result<()> {
        while let Some((key, _)) = self.pairs.peek().await? {
            if !covers(document_key, key) || (alone && key != document_key) {
                break;
            }
            self.pairs.advance();
        }
        self.done = if alone {
            key_after(document_key)
        } else {
            prefix_end(document_key)
        };
        Ok(())
    }
}
