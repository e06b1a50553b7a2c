//! All documents and their entries in the catalog, whatever their collections: how what goes
//! through a whole store tells which belong together.
//!
//! A document's own key, `(collection, id)`, begins the keys of its leaves, and ends those of its
//! entries. So all three come in the same order.

use super::family::{EXISTENCE, Family, VERSION, append_system, ended};
use super::tuple::{STRING, split_element};

use foundationdb_tuple::Element;

/// What the catalog knows of one document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// [`Family::Existence`]
    Existence,
    /// [`Family::Version`]
    Version,
}

impl Entry {
    /// The keys of this kind of entry of all documents: from the first to past the last.
    pub fn all(self) -> (Vec<u8>, Vec<u8>) {
        ended(self.prefix())
    }

    /// The key of this entry of the document with this key of its own.
    pub fn key_of(self, document: &[u8]) -> Vec<u8> {
        let mut key = self.prefix();
        key.extend_from_slice(document);
        key
    }

    /// The own key of the document whose entry this is.
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

/// The keys of the leaves of all documents: from the first to past the last. Whatever begins with
/// a string is one.
pub fn all_documents() -> (Vec<u8>, Vec<u8>) {
    (vec![STRING], vec![STRING + 1])
}

/// What a leaf's key, or a document's own, begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnKey {
    /// The collection; none if the key does not begin with a string of a tuple.
    pub collection: Option<String>,
    /// The length of the document's own key.
    pub bytes: usize,
    /// Whether the key goes on with what is no id, or with one of another kind and nothing
    /// behind it: such a key is a document by itself.
    pub alone: bool,
}

impl OwnKey {
    /// Looks at a key.
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
    fn a_documents_entries_and_leaves_tell_its_own_key() {
        let ids = [DocumentId::Integer(-7), DocumentId::Text("a\0b".to_owned())];
        for id in ids {
            let own = Family::Document("D\0", &id, &Place::default()).key();
            let own = own.expect("short");
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
