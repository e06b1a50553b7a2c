//! The ids of the documents of one import, which must differ.

use std::collections::HashMap;
use std::collections::hash_map::{Entry, RandomState};
use std::hash::BuildHasher;
use std::sync::Arc;

use super::prepare::{ImportFailure, Prepared};

/// The ids that documents of one import have. It keeps a 64-bit hash of each id, and so takes about 20
/// bytes for a document. Two ids of 10,000,000 have the same hash with a probability of 1 in 300,000.
#[derive(Default)]
pub(crate) struct SeenIds {
    hasher: RandomState,
    /// The number of the document with this hash of its id, counted over all files.
    documents: HashMap<u64, u64>,
    /// The files, with the number of documents before each.
    files: Vec<(u64, Arc<str>)>,
    /// The number of the last document, counted over all files.
    last: u64,
}

impl SeenIds {
    /// Begins a file.
    pub(crate) fn begin(&mut self, file: &Arc<str>) {
        self.files.push((self.last, Arc::clone(file)));
    }

    /// Adds the id of a document. The generated ids of one file differ.
    ///
    /// # Errors
    /// An earlier document has the same id.
    pub(crate) fn check(
        &mut self,
        prepared: Prepared,
        several_files: bool,
    ) -> Result<Prepared, ImportFailure> {
        let before = self.files.last().map_or(0, |(before, _)| *before);
        self.last = before + prepared.place.number;
        if prepared.generated && !several_files {
            return Ok(prepared);
        }
        let id = &prepared.id;
        match self.documents.entry(self.hasher.hash_one(id)) {
            Entry::Vacant(entry) => {
                entry.insert(self.last);
                Ok(prepared)
            }
            Entry::Occupied(entry) => {
                let earlier = *entry.get();
                let file = self.files.partition_point(|(before, _)| *before < earlier);
                let (before, file) = &self.files[file - 1];
                let document = earlier - before;
                let of_file = if *file == prepared.place.file {
                    String::new()
                } else {
                    format!(" of {file}")
                };
                let advice = if prepared.generated {
                    "; the id is generated: give --id, or import the files separately with --name"
                } else {
                    ""
                };
                Err(ImportFailure {
                    reason: format!(
                        "its id {id} is that of document {document}{of_file}, too: the ids of one \
                         import must differ{advice}"
                    ),
                    place: prepared.place,
                })
            }
        }
    }
}
