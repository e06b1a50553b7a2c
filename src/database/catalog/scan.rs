//! All documents of a collection, one after another, from one snapshot, or from several where the
//! engine does not keep one for so long.

use std::sync::Arc;

use super::cursor::Cursor;
use crate::database::document_key::end_of;
use crate::database::open::Database;
use crate::database::read::range_plan::covers;
use crate::database::read::slice::malformed;
use crate::document::id::DocumentId;
use crate::error::{ErrorKind, Result};
use crate::key::{Family, JsonText};
use crate::store::{Read, key_after};

/// A document that a scan came across.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scanned {
    /// Its id.
    pub id: DocumentId,
    /// Its JSON text.
    pub json: Vec<u8>,
}

/// A document whose id is of a kind that no GraphQL ID names; some other program stored it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// The beginning of its keys.
    pub key: Vec<u8>,
}

/// Reads the documents of a collection in the order of their ids.
pub struct Scan {
    pairs: Cursor,
    /// Where the next snapshot comes from when the engine keeps this one no longer.
    database: Option<Database>,
    /// Past the last document that is done with.
    done: Vec<u8>,
    /// Where the last snapshot was taken, if it has brought nothing yet.
    renewed: Option<Vec<u8>>,
    collection_key: usize,
}

impl Scan {
    /// A scan of `collection` that takes a new snapshot, between two documents, each time that the
    /// engine keeps the one it has no longer. Each document is whole, as it was at some moment.
    ///
    /// # Errors
    /// As [`Database::snapshot`].
    pub async fn over(database: &Database, collection: &str) -> Result<Self> {
        let mut scan = Self::new(database.snapshot().await?, collection);
        scan.database = Some(database.clone());
        Ok(scan)
    }

    /// A scan of `collection` in one snapshot.
    pub fn new(read: Arc<dyn Read>, collection: &str) -> Self {
        let (begin, end) = Family::documents(collection);
        Self {
            database: None,
            done: begin.clone(),
            renewed: None,
            collection_key: begin.len(),
            pairs: Cursor::new(read, begin, end),
        }
    }

    /// The next document; none after the last. After a damaged document it goes on behind it.
    ///
    /// # Errors
    /// `INTERNAL`: damaged data. What the store fails with.
    pub async fn next(&mut self) -> Result<Option<Result<Scanned, Foreign>>> {
        loop {
            let next = self.next_in_snapshot().await;
            match &next {
                Err(error) if error.kind() == ErrorKind::Timeout && self.renew().await? => {}
                _ => return next,
            }
        }
    }

    /// Goes back to behind the last document that is done with, in a new snapshot. Not if this one
    /// is a new one already, and nothing came of it.
    async fn renew(&mut self) -> Result<bool> {
        let Some(database) = &self.database else {
            return Ok(false);
        };
        if self.renewed.as_ref() == Some(&self.done) {
            return Ok(false);
        }
        self.pairs
            .renew(database.snapshot().await?, self.done.clone());
        self.renewed = Some(self.done.clone());
        Ok(true)
    }

    async fn next_in_snapshot(&mut self) -> Result<Option<Result<Scanned, Foreign>>> {
        let Some((first, _)) = self.pairs.peek().await? else {
            return Ok(None);
        };
        let (id, bytes) = match Family::document_id(first, self.collection_key) {
            Ok((id, bytes)) => (Some(id), bytes),
            Err(bytes) => (None, bytes),
        };
        let document_key = first[..bytes].to_vec();
        let Some(id) = id else {
            // A key that ends where its id should, or in what is no id, stands for itself alone.
            let alone = first.len() == bytes;
            self.skip(&document_key, alone).await?;
            return Ok(Some(Err(Foreign { key: document_key })));
        };
        let mut json = Vec::new();
        let mut text = JsonText::new(&mut json);
        while let Some((key, value)) = self.pairs.peek().await? {
            if !covers(&document_key, key) {
                break;
            }
            if let Err(error) = text.push(&key[document_key.len()..], value) {
                let error = malformed(error, key);
                self.skip(&document_key, false).await?;
                return Err(error);
            }
            self.pairs.advance();
        }
        self.done = end_of(&document_key);
        text.finish()
            .map_err(|error| malformed(error, &document_key))?;
        Ok(Some(Ok(Scanned { id, json })))
    }

    /// Goes past a document, or past its own key `alone`.
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
            end_of(document_key)
        };
        Ok(())
    }
}
