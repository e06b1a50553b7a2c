//! Adoption of documents that another program stored: their entry into the catalog. Such documents
//! are readable without it, but the catalog does not count them.

use std::time::Instant;

use futures::future::try_join_all;

use crate::budget::Budget;
use crate::database::catalog::scan::Foreign;
use crate::database::changes::record::{self, Edited};
use crate::database::document_key::{DocumentKey, prefix_end};
use crate::database::edit::editor::enter;
use crate::database::edit::write_document::stored;
use crate::database::index::definition::{Definitions, definitions};
use crate::database::index::maintainer::enter_entries;
use crate::database::open::unfinished_write::UnfinishedWrite;
use crate::database::types::define::check_from;
use crate::document::id::DocumentId;
use crate::document::path::Place;
use crate::error::Result;
use crate::key::Family;
use crate::limits::{ADOPT_BATCH_DOCUMENTS_MAX, ADOPT_BATCH_TIME, ADOPT_PAIRS_AT_ONCE};
use crate::store::{RangeRead, Read, Transaction, key_after};

/// The result of one batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Adopted {
    /// Documents that were entered.
    pub entered: u64,
    /// Documents that the catalog already knew.
    pub known: u64,
    /// Documents that cannot be entered and stay unchanged: no GraphQL ID can express their id, or
    /// it is too long for the catalog's keys.
    pub foreign: Vec<Foreign>,
    /// Where the next batch begins. None after the last batch.
    pub next: Option<Vec<u8>>,
}

/// Enters the documents of a collection that have leaves but no catalog entry, from the key `begin`
/// on. A batch reads until it has found [`ADOPT_BATCH_DOCUMENTS_MAX`] documents or
/// [`ADOPT_BATCH_TIME`] has passed, so it can exceed that number slightly. The version of an
/// adopted document stays null until Phyllo writes the document. Adopting a collection again has no
/// effect. If the collection has a type, the background check reads the adopted documents.
///
/// The transaction conflicts with others only about the documents that it enters.
///
/// # Errors
/// `TOO_LARGE`: the collection's name is too long. Errors of the store.
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
            // A foreign key that is a leaf and also has keys below it is found twice.
            None if adopted
                .foreign
                .last()
                .is_some_and(|last| last.key == found.key) => {}
            None => adopted.foreign.push(Foreign { key: found.key }),
        }
    }
    let unknown = unknown(transaction.without_conflict(), nameable).await?;
    adopted.known = unknown.known;
    let present = unknown
        .documents
        .iter()
        .map(|(document, key)| stored(transaction, document, key));
    let present = try_join_all(present).await?;
    let Definitions { indexes, type_head } = definitions(transaction, collection).await?;
    for ((document, key), present) in unknown.documents.iter().zip(present) {
        if present.leaves && !present.entered {
            let write = UnfinishedWrite::begin(transaction);
            enter(transaction, document).await?;
            record::adopted(transaction, Edited::new(document));
            enter_entries(transaction, &Budget::of_background(), document, &indexes).await?;
            write.finish();
            if let Some(head) = &type_head
                && adopted.entered == 0
            {
                check_from(transaction, collection, key, head).await?;
            }
            adopted.entered += 1;
        }
    }
    Ok(adopted)
}

struct UnknownDocument {
    documents: Vec<(DocumentKey, Vec<u8>)>,
    known: u64,
}

/// Removes the documents that the catalog knows.
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
    let documents: Vec<_> = documents
        .into_iter()
        .zip(entries)
        .filter_map(|(document, known)| (!known).then_some(document))
        .collect();
    Ok(UnknownDocument {
        known: (count - documents.len()) as u64,
        documents,
    })
}

/// Finds the documents of a collection by their first pairs.
struct UncountedDocuments {
    collection_key: usize,
    begin: Vec<u8>,
    end: Vec<u8>,
}

/// A document that has leaves.
struct UncountedDocument {
    /// The prefix of its keys.
    key: Vec<u8>,
    /// Whether the key ends in an invalid id and therefore has no keys below it.
    alone: bool,
    id: Option<DocumentId>,
}

impl UncountedDocuments {
    fn of(collection: &str, begin: Option<&[u8]>) -> Self {
        let (first, end) = Family::documents(collection);
        let collection_key = first.len();
        // A `begin` before this collection is replaced by the first key of the collection.
        let begin = begin.map_or_else(|| first.clone(), |begin| first.clone().max(begin.to_vec()));
        Self {
            collection_key,
            begin,
            end,
        }
    }

    /// One batch of documents and where the next batch begins. After each document the
    /// search skips to the end of its keys, so large documents are not read in full.
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

    /// The end of its keys.
    fn end(&self) -> Vec<u8> {
        if self.alone {
            key_after(&self.key)
        } else {
            prefix_end(&self.key)
        }
    }

    /// The document key, if the catalog can hold one.
    fn name(&self, collection: &str) -> Option<DocumentKey> {
        let document = DocumentKey::new(collection, self.id.clone()?).ok()?;
        // A number has several packed forms. Only the canonical form is a document of Phyllo.
        let own = document.place(&Place::default()).ok()?;
        (own == self.key).then_some(document)
    }
}
