//! All documents of a collection, one after another, from one snapshot.

use std::sync::Arc;

use super::cursor::Cursor;
use super::part::malformed;
use super::plan::covers;
use crate::document::id::DocumentId;
use crate::error::Result;
use crate::key::{Family, JsonText};
use crate::store::Read;

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
    collection_key: usize,
}

impl Scan {
    /// A scan of `collection`.
    pub fn new(read: Arc<dyn Read>, collection: &str) -> Self {
        let (begin, end) = Family::documents(collection);
        Self {
            collection_key: begin.len(),
            pairs: Cursor::new(read, begin, end),
        }
    }

    /// The next document; none after the last. After a damaged document it goes on behind it.
    ///
    /// # Errors
    /// `INTERNAL`: damaged data. What the store fails with.
    pub async fn next(&mut self) -> Result<Option<Result<Scanned, Foreign>>> {
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
        Ok(())
    }
}
