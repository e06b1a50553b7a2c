//! The own keys of documents: how a scan of the whole store groups keys by document.
//!
//! A document's own key is `(collection, id)`. It is the prefix of the keys of its leaves and the
//! suffix of the keys of its catalog entries, so leaves, existence entries and versions have the
//! same order.

use foundationdb_tuple::Element;

use super::family::{EXISTENCE, Family, VERSION, append_system, ended};
use super::tuple::{STRING, split_element};

/// A kind of catalog entry of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// [`Family::Existence`]
    Existence,
    /// [`Family::Version`]
    Version,
}

impl Entry {
    /// The range of all entries of this kind, as its first key and its end.
    pub fn all(self) -> (Vec<u8>, Vec<u8>) {
        ended(self.prefix())
    }

    /// The key of this entry for the document with the own key `document`.
    pub fn key_of(self, document: &[u8]) -> Vec<u8> {
        let mut key = self.prefix();
        key.extend_from_slice(document);
        key
    }

    /// The own key of the document that the entry at `key` belongs to.
    pub fn document(self, key: &[u8]) -> &[u8] {
        key.strip_prefix(&self.prefix()[..]).unwrap_or_default()
    }

    fn prefix(self) -> Vec<u8> {
        let mut prefix = Vec::with_capacity(4);
        let family = match self {
            Self::Existence => EXISTENCE,
            Self::Version => VERSION,
        };
        append_system(&mut prefix, family);
        prefix
    }
}

/// The range of the leaves of all documents, as its first key and its end. These are all keys that
/// begin with a string.
pub fn all_documents() -> (Vec<u8>, Vec<u8>) {
    (vec![STRING], vec![STRING + 1])
}

/// The own key of a document, parsed from the start of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnKey {
    /// The collection. `None` if the key does not begin with a string element.
    pub collection: Option<String>,
    /// The length of the own key.
    pub bytes: usize,
    /// Whether the key counts as a document by itself, because its collection is followed by no
    /// valid element, or by one that is no id and ends the key.
    pub alone: bool,
}

impl OwnKey {
    /// Parses the own key of the document that `key` belongs to.
    pub fn of(key: &[u8]) -> Self {
        let Some((Element::String(collection), rest)) = split_element(key) else {
            return Self {
                collection: None,
                bytes: key.len(),
                alone: true,
            };
        };
        let (bytes, alone) = match Family::document_id(key, key.len() - rest.len()) {
            Ok((_, bytes)) => (bytes, false),
            Err(bytes) => (bytes, bytes == key.len()),
        };
        Self {
            collection: Some(collection.into_owned()),
            bytes,
            alone,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::id::DocumentId;
    use crate::document::path::{Place, Segment};

    #[test]
    fn own_keys_are_parsed_from_entries_and_leaves() {
        let ids = [DocumentId::Integer(-7), DocumentId::Text("a\0b".to_owned())];
        for id in ids {
            let own = Family::Document("D\0", &id, &Place::default())
                .key()
                .expect("short");
            let place = Place(vec![Segment::Key("k".to_owned()), Segment::Index(3)]);
            let leaf = Family::Document("D\0", &id, &place).key().expect("short");
            let own_key = OwnKey::of(&leaf);
            assert_eq!(own_key.collection.as_deref(), Some("D\0"));
            assert_eq!((own_key.bytes, own_key.alone), (own.len(), false));
            let existence = Family::Existence("D\0", &id).key().expect("short");
            assert_eq!(Entry::Existence.key_of(&own), existence);
            assert_eq!(Entry::Existence.document(&existence), own);
            let version = Family::Version("D\0", &id).key().expect("short");
            assert_eq!(Entry::Version.key_of(&own), version);
            let (begin, end) = all_documents();
            assert!(begin <= own && leaf < end);
            let (begin, end) = Entry::Version.all();
            assert!(begin <= version && version < end);
        }
        for alone in [&b"\x02D"[..], b"\x02D\0", b"\x02D\0\x01x\0"] {
            let own_key = OwnKey::of(alone);
            assert_eq!((own_key.bytes, own_key.alone), (alone.len(), true));
        }
    }
}
