//! The index entries that documents should have, as hashes.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use super::document_read::DocumentState;
use crate::document::id::DocumentId;
use crate::error::Result;
use crate::limits::CHECK_HASHES_BYTES_MAX;

/// The entries that a document should have in an index.
#[derive(Clone)]
pub(crate) struct Expected {
    /// The hashes of the entries, ascending. None if the catalog lacks the document.
    pub(crate) hashes: Option<Arc<[u64]>>,
    /// The document when they were read.
    pub(crate) state: DocumentState,
    /// The numbers of the first and the last snapshot in which the document was in this state.
    pub(crate) snapshots: (u64, u64),
}

/// How an entry differs from those that its document should have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    /// The catalog lacks the document.
    NoDocument,
    /// The document has no such values.
    NotOfDocument,
    /// The document has the values in other forms.
    OtherForms,
}

impl Expected {
    /// Compares the hash of an entry. None if the document should have it.
    pub(crate) fn compare(&self, hash: u64) -> Option<Comparison> {
        match &self.hashes {
            None => Some(Comparison::NoDocument),
            Some(hashes) => match hashes.binary_search(&hash) {
                Ok(_) => None,
                Err(_) => Some(Comparison::NotOfDocument),
            },
        }
    }
}

pub(crate) fn compact(hashes: &mut Vec<u64>) {
    hashes.sort_unstable();
    hashes.dedup();
}

/// The maximum number of compared entries of one document.
pub(crate) const HASHES_MAX: usize = CHECK_HASHES_BYTES_MAX / size_of::<u64>();
/// The maximum number of entries of a document that is compared beside others.
pub(crate) const PREPARED_HASHES_MAX: usize = HASHES_MAX / 256;

/// A cache of the entry hashes of recently compared documents of one collection, keyed by index
/// number and id. It also stores errors, so that they are not computed again.
#[derive(Default)]
pub(crate) struct Hashes {
    state: RandomState,
    collection: String,
    found: HashMap<(u64, DocumentId), Result<Expected>>,
    order: VecDeque<(u64, DocumentId)>,
    count: usize,
}

impl Hashes {
    pub(crate) fn of(&self, values: &[u8], forms: &[u8]) -> u64 {
        self.state.hash_one((values, forms))
    }

    pub(crate) fn get(
        &mut self,
        collection: &str,
        key: &(u64, DocumentId),
    ) -> Option<&Result<Expected>> {
        if self.collection != collection {
            self.clear();
            collection.clone_into(&mut self.collection);
        }
        self.found.get(key)
    }

    pub(crate) fn clear(&mut self) {
        self.collection.clear();
        self.found.clear();
        self.order.clear();
        self.count = 0;
    }

    pub(crate) fn insert(&mut self, key: (u64, DocumentId), hashes: Result<Expected>) {
        self.count += weight(&hashes);
        match self.found.insert(key.clone(), hashes) {
            Some(earlier) => self.count -= weight(&earlier),
            None => self.order.push_back(key),
        }
        while self.count > HASHES_MAX
            && self.order.len() > 1
            && let Some(oldest) = self.order.pop_front()
        {
            self.count -= self.found.remove(&oldest).as_ref().map_or(0, weight);
        }
    }
}

/// The memory of the hashes of a document and of its cache entry, in units of one hash.
fn weight(expected: &Result<Expected>) -> usize {
    const OF_DOCUMENT: usize = 32;
    let hashes = expected.as_ref().ok().and_then(|it| it.hashes.as_ref());
    OF_DOCUMENT + hashes.map_or(0, |hashes| hashes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_hashes_are_evicted() {
        let mut hashes = Hashes::default();
        let key = |id| (1, DocumentId::Integer(id));
        assert!(hashes.get("D", &key(0)).is_none());
        let many: Arc<[u64]> = vec![7; HASHES_MAX / 4].into();
        for id in 0..6 {
            let expected = Expected {
                hashes: Some(many.clone()),
                state: DocumentState::default(),
                snapshots: (0, 0),
            };
            hashes.insert(key(id), Ok(expected));
            assert!(hashes.count <= HASHES_MAX);
        }
        assert!(hashes.get("D", &key(0)).is_none());
        assert!(hashes.get("D", &key(5)).is_some());
        assert!(hashes.get("E", &key(5)).is_none());
        assert_eq!(hashes.count, 0);
    }
}
