//! All documents of a collection, one after another, from one snapshot.

use std::sync::Arc;

use super::part::malformed;
use crate::document::id::DocumentId;
use crate::error::Result;
use crate::key::{Family, JsonText};
use crate::store::{Batch, RangeRead, Read};

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
    read: Arc<dyn Read>,
    collection_key: usize,
    end: Vec<u8>,
    batch: Batch,
    at: usize,
    begin: Option<Vec<u8>>,
}

impl Scan {
    /// A scan of `collection`.
    pub fn new(read: Arc<dyn Read>, collection: &str) -> Self {
        let (begin, end) = Family::documents(collection);
        Self {
            read,
            collection_key: begin.len(),
            end,
            batch: Batch::default(),
            at: 0,
            begin: Some(begin),
        }
    }

    /// The next document; none after the last.
    ///
    /// # Errors
    /// `INTERNAL`: damaged data. What the store fails with.
    pub async fn next(&mut self) -> Result<Option<Result<Scanned, Foreign>>> {
        let Some(first) = self.peek().await? else {
            return Ok(None);
        };
        let (id, document_key) = match Family::document_id(&first, self.collection_key) {
            Ok((id, bytes)) => (Ok(id), first[..bytes].to_vec()),
            Err(bytes) => {
                let key = first[..bytes].to_vec();
                (Err(Foreign { key: key.clone() }), key)
            }
        };
        let mut json = Vec::new();
        let mut text = JsonText::new(&mut json);
        while let Some(key) = self.peek().await? {
            let inside =
                key.starts_with(&document_key) && key.get(document_key.len()) != Some(&0xFF);
            if !inside {
                break;
            }
            if id.is_ok() {
                let (_, value) = self.batch.pairs.get(self.at);
                text.push(&key[document_key.len()..], value)
                    .map_err(|error| malformed(error, &key))?;
            }
            self.at += 1;
        }
        text.finish()
            .map_err(|error| malformed(error, &document_key))?;
        Ok(Some(id.map(|id| Scanned { id, json })))
    }

    /// The next key, reading on if need be.
    async fn peek(&mut self) -> Result<Option<Vec<u8>>> {
        if self.at == self.batch.pairs.len() {
            let Some(begin) = self.begin.take() else {
                return Ok(None);
            };
            let range = RangeRead::new(&begin, &self.end);
            self.batch = self.read.range(range).await?;
            self.at = 0;
            let last = self.batch.pairs.last().filter(|_| self.batch.more);
            self.begin = last.map(|(key, _)| [key, &[0]].concat());
        }
        Ok((self.at < self.batch.pairs.len()).then(|| self.batch.pairs.get(self.at).0.to_vec()))
    }
}
