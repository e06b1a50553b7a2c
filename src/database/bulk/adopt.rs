//! Entering documents that another program stored: they can be read as they are, but the catalog
//! does not know them, and so they are not counted.

use std::time::Instant;

use futures::future::try_join_all;

use crate::budget::Budget;
use crate::database::catalog::scan::Foreign;
use crate::database::document_key::DocumentKey;
use crate::database::document_key::end_of;
use crate::database::edit::editor::enter;
use crate::database::edit::write::stored;
use crate::database::index::definition::indexes;
use crate::database::index::maintainer::enter_entries;
use crate::document::id::DocumentId;
use crate::document::path::Place;
use crate::error::Result;
use crate::key::Family;
use crate::limits::{ADOPT_BATCH_DOCUMENTS_MAX, ADOPT_BATCH_TIME, ADOPT_PAIRS_AT_ONCE};
use crate::store::{RangeRead, Read, Transaction, key_after};

/// What became of one batch of documents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adopted {
    /// Documents that were entered.
    pub entered: u64,
    /// Documents that the catalog knew.
    pub known: u64,
    /// Documents that cannot be entered and are left as they are: their id is of a kind that no
    /// GraphQL ID names, or too long for the catalog's keys.
    pub foreign: Vec<Foreign>,
    /// Where the next batch begins; none if this was the last.
    pub next: Option<Vec<u8>>,
}

/// Enters the documents of a collection, from `begin` on, that have leaves and no entry in the
/// catalog: at most [`ADOPT_BATCH_DOCUMENTS_MAX`] of them, and a few more. Their versions stay
/// null until they are written. A collection that is adopted again stays as it is.
///
/// The transaction conflicts with others only about the documents that it enters.
///
/// # Errors
/// `TOO_LARGE`: the collection's name. What the store fails with.
pub async fn adopt(
    transaction: &dyn Transaction,
    collection: &str,
    begin: Option<&[u8]>,
) -> Result<Adopted> {
    let documents = UncountedDocuments::of(collection, begin);
    let (found, next) = documents.find(transaction.without_conflict()).await?;
    let mut adopted = Adopted {
        next,
        ..Adopted::default()
    };
    let mut nameable = Vec::with_capacity(found.len());
    for found in found {
        match found.name(collection) {
            Some(document) => nameable.push((document, found.key)),
            // One that is a leaf itself, and has others below, came twice.
            None if adopted
                .foreign
                .last()
                .is_some_and(|last| last.key == found.key) => {}
            None => adopted.foreign.push(Foreign { key: found.key }),
        }
    }
    let unknown = unknown(transaction.without_conflict(), nameable).await?;
    adopted.known = unknown.known;
    let present = unknown.documents.iter();
    let present = present.map(|(document, key)| stored(transaction, document, key));
    let present = try_join_all(present).await?;
    let indexes = indexes(transaction, collection).await?;
    for ((document, _), present) in unknown.documents.iter().zip(present) {
        if present.leaves && !present.entered {
            enter(transaction, document)?;
            enter_entries(transaction, &Budget::of_background(), document, &indexes).await?;
            adopted.entered += 1;
        }
    }
    Ok(adopted)
}

struct UnknownDocument {
    documents: Vec<(DocumentKey, Vec<u8>)>,
    known: u64,
}

/// Those of some documents that the catalog does not know.
async fn unknown(
    read: &dyn Read,
    documents: Vec<(DocumentKey, Vec<u8>)>,
) -> Result<UnknownDocument> {
    let entries = documents.iter().map(|(document, _)| async {
        let existence = Family::Existence(&document.collection, &document.id).key()?;
        read.get(&existence).await.map(|entry| entry.is_some())
    });
    let entries: Vec<bool> = try_join_all(entries).await?;
    let count = documents.len();
    let documents = documents.into_iter().zip(entries);
    let documents: Vec<_> = documents
        .filter_map(|(document, known)| (!known).then_some(document))
        .collect();
    Ok(UnknownDocument {
        known: (count - documents.len()) as u64,
        documents,
    })
}

/// The documents of a collection by their first pairs.
struct UncountedDocuments {
    collection_key: usize,
    begin: Vec<u8>,
    end: Vec<u8>,
}

/// A document that has leaves.
struct UncountedDocument {
    /// The beginning of its keys.
    key: Vec<u8>,
    /// Whether it is a key that ends in what is no id, and so stands for itself alone.
    alone: bool,
    id: Option<DocumentId>,
}

impl UncountedDocuments {
    fn of(collection: &str, begin: Option<&[u8]>) -> Self {
        let (first, end) = Family::documents(collection);
        let collection_key = first.len();
        // A place in another collection is none to begin at.
        let begin = begin.map_or_else(|| first.clone(), |begin| first.clone().max(begin.to_vec()));
        Self {
            collection_key,
            begin,
            end,
        }
    }

    /// One batch of documents, and where the next begins. Of a document no more is read than what
    /// comes along: the next read begins behind it.
    async fn find(mut self, read: &dyn Read) -> Result<(Vec<UncountedDocument>, Option<Vec<u8>>)> {
        let began = Instant::now();
        let mut found = Vec::new();
        while found.len() < ADOPT_BATCH_DOCUMENTS_MAX && began.elapsed() < ADOPT_BATCH_TIME {
            let range = RangeRead::new(&self.begin, &self.end).at_most(ADOPT_PAIRS_AT_ONCE);
            let batch = read.range(range).await?;
            for (key, _) in batch.pairs.iter() {
                if key >= &self.begin[..] {
                    let document = UncountedDocument::at(key, self.collection_key);
                    self.begin = document.end();
                    found.push(document);
                }
            }
            if batch.pairs.len() < ADOPT_PAIRS_AT_ONCE && !batch.more {
                return Ok((found, None));
            }
        }
        Ok((found, Some(self.begin)))
    }
}

impl UncountedDocument {
    fn at(key: &[u8], collection_key: usize) -> Self {
        match Family::document_id(key, collection_key) {
            Ok((id, bytes)) => Self {
                key: key[..bytes].to_vec(),
                alone: false,
                id: Some(id),
            },
            Err(bytes) => Self {
                key: key[..bytes].to_vec(),
                alone: key.len() == bytes,
                id: None,
            },
        }
    }

    /// Past its last key.
    fn end(&self) -> Vec<u8> {
        if self.alone {
            key_after(&self.key)
        } else {
            end_of(&self.key)
        }
    }

    /// Its key, if the catalog can have one.
    fn name(&self, collection: &str) -> Option<DocumentKey> {
        let document = DocumentKey::new(collection, self.id.clone()?).ok()?;
        // Numbers have several forms, and only one of them is ours.
        let own = document.place(&Place::default()).ok()?;
        (own == self.key).then_some(document)
    }
}
