//! Which document: its collection and its id; and the ranges of its keys.

use crate::document::id::DocumentId;
use crate::document::path::Segment;
use crate::document::path::{Path, Place};
use crate::error::{Error, Result};
use crate::key::Family;
use crate::key::append_segment;
use crate::limits::KEY_BYTES_MAX;

/// A document of a collection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DocumentKey {
    /// Its collection.
    pub collection: String,
    /// Its id in the collection.
    pub id: DocumentId,
}

impl DocumentKey {
    /// The document `id` of `collection`.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the collection's name is empty. `TOO_LARGE`: the two make a key past the
    /// limit.
    pub fn new(collection: impl Into<String>, id: DocumentId) -> Result<Self> {
        let collection = collection.into();
        check_collection(&collection)?;
        let key = Self { collection, id };
        if !key.is_short() {
            // Its longest system key; what has room for that has room for the others.
            Family::Version(&key.collection, &key.id).key()?;
        }
        Ok(key)
    }

    /// Whether its keys are far from the limit, which most are: packed, a text takes at most twice
    /// its bytes and two more.
    fn is_short(&self) -> bool {
        let id = match &self.id {
            DocumentId::Integer(_) => size_of::<i64>(),
            DocumentId::Text(text) => text.len(),
        };
        self.collection.len() + id < KEY_BYTES_MAX / 4
    }

    /// Appends the key of the only place that a path may mean to others. None if a token is
    /// ambiguous.
    ///
    /// # Errors
    /// `TOO_LARGE`: it passes the limit on keys. Nothing is appended.
    pub(crate) fn append_only(&self, keys: &mut Vec<u8>, path: &Path) -> Option<Result<()>> {
        let place = path.segments()?;
        Some(Family::append_document(
            keys,
            &self.collection,
            &self.id,
            place,
        ))
    }

    /// The key of a place of this document.
    ///
    /// # Errors
    /// `TOO_LARGE`: it passes the limit on keys.
    pub fn place(&self, place: &Place) -> Result<Vec<u8>> {
        Family::Document(&self.collection, &self.id, place).key()
    }
}

/// Checks the name of a collection.
///
/// # Errors
/// `BAD_USER_INPUT`: it is empty.
pub fn check_collection(collection: &str) -> Result<()> {
    if collection.is_empty() {
        return Err(Error::bad_input("the collection's name is empty"));
    }
    Ok(())
}

/// The end of the range of keys that are `key` itself or stand below it.
pub(crate) fn end_of(key: &[u8]) -> Vec<u8> {
    [key, &[0xFF]].concat()
}

/// The key of a member or an element of what is stored at `key`.
pub(crate) fn below(key: &[u8], segment: &Segment) -> Vec<u8> {
    let mut key = key.to_vec();
    append_segment(&mut key, segment.as_ref());
    key
}
