//! Document keys: a collection and an id, and the key ranges derived from them.

use crate::document::id::DocumentId;
use crate::document::path::{Path, Place, Segment};
use crate::error::{Error, Result};
use crate::key::{Family, Version, append_segment};
use crate::limits::KEY_BYTES_MAX;

/// Identifies a document.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DocumentKey {
    /// The collection.
    pub collection: String,
    /// The id in the collection.
    pub id: DocumentId,
}

impl DocumentKey {
    /// Creates the key of document `id` in `collection`.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the collection's name is empty. `TOO_LARGE`: a system key of the document
    /// would exceed the limit on keys.
    pub fn new(collection: impl Into<String>, id: DocumentId) -> Result<Self> {
        let collection = collection.into();
        check_collection(&collection)?;
        let key = Self { collection, id };
        if !key.is_short() {
            // The version key is the longest system key, so checking it covers the others.
            Family::Version(&key.collection, &key.id).key()?;
        }
        Ok(key)
    }

    /// Whether the keys are far below the limit, as most are. A packed string takes at most
    /// twice its bytes plus two.
    fn is_short(&self) -> bool {
        self.collection.len() + self.id.bytes() < KEY_BYTES_MAX / 4
    }

    /// Appends the key of the only place that `path` can mean. None if a token is
    /// ambiguous.
    ///
    /// # Errors
    /// `TOO_LARGE`: the key exceeds the limit on keys. Nothing is appended.
    pub(crate) fn append_only(&self, keys: &mut Vec<u8>, path: &Path) -> Option<Result<()>> {
        let place = path.segments()?;
        Some(Family::append_document(
            keys,
            &self.collection,
            &self.id,
            place,
        ))
    }

    /// The key of a place in this document.
    ///
    /// # Errors
    /// `TOO_LARGE`: the key exceeds the limit on keys.
    pub fn place(&self, place: &Place) -> Result<Vec<u8>> {
        Family::Document(&self.collection, &self.id, place).key()
    }
}

/// Validates the name of a collection.
///
/// # Errors
/// `BAD_USER_INPUT`: the name is empty.
pub fn check_collection(collection: &str) -> Result<()> {
    if collection.is_empty() {
        return Err(Error::bad_input("the collection's name is empty"));
    }
    Ok(())
}

/// The end of the range that holds `key` and all keys below it.
pub(crate) fn prefix_end(key: &[u8]) -> Vec<u8> {
    [key, &[0xFF]].concat()
}

/// Whether the range of a place, from its key to its key followed by `0xFF`, contains
/// `key`.
pub(crate) fn covers(place: &[u8], key: &[u8]) -> bool {
    key.starts_with(place) && key.get(place.len()) != Some(&0xFF)
}

/// The range of the packed strings that begin with a text. `packed` is the packed text.
pub(crate) fn strings_from(packed: &[u8]) -> (Vec<u8>, Vec<u8>) {
    // Without the terminating NUL, the packed text is a prefix of all packed strings that begin
    // with it.
    let begin = packed[..packed.len().saturating_sub(1)].to_vec();
    let mut end = begin.clone();
    // A NUL inside a text is packed with 0xFF after it. No key can follow 0xFF, so strip it.
    while end.last() == Some(&0xFF) {
        end.pop();
    }
    if let Some(last) = end.last_mut() {
        *last += 1;
    }
    (begin, end)
}

/// The key of a member or an element of what is stored at `key`.
pub(crate) fn below(key: &[u8], segment: &Segment) -> Vec<u8> {
    let mut key = key.to_vec();
    append_segment(&mut key, segment.as_ref());
    key
}

/// Whether an id is the placeholder of a versionstamp that is known after the commit. Such an id is not
/// accepted from clients, so no stored document has it.
pub(crate) fn is_pending(id: &DocumentId) -> bool {
    let commit = &Version::PLACEHOLDER[..10];
    matches!(id, DocumentId::Versionstamp(stamp) if stamp.starts_with(commit))
}
