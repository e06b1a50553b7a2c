//! The ids of the documents of one import, which must differ.

use std::collections::HashMap;
use std::collections::hash_map::{Entry, RandomState};
use std::hash::BuildHasher;

use super::prepare::{ImportFailure, Prepared};

/// The ids that documents of one import have. It keeps a 64-bit hash of each id, and so takes about 20
/// bytes for a document. Two ids of 10,000,000 have the same hash with a probability of 1 in 300,000.
#[derive(Default)]
pub(crate) struct SeenIds {
    hasher: RandomState,
    /// The number of the document with this hash of its id.
    documents: HashMap<u64, u64>,
}

impl SeenIds {
    /// Adds the id of a document. Generated ids always differ.
    ///
    /// # Errors
    /// An earlier document has the same id.
    pub(crate) fn check(&mut self, prepared: Prepared) -> Result<Prepared, ImportFailure> {
        if prepared.generated {
            return Ok(prepared);
        }
        let id = &prepared.document.id;
        match self.documents.entry(self.hasher.hash_one(id)) {
            Entry::Vacant(entry) => {
                entry.insert(prepared.number);
                Ok(prepared)
            }
            Entry::Occupied(entry) => Err(ImportFailure {
                number: prepared.number,
                place: prepared.place,
                reason: format!(
                    "its id {id} is that of document {}, too: the ids of one import must differ",
                    entry.get()
                ),
            }),
        }
    }
}
