//! What is known before a selection is executed: the result of a mutation, or a change.

use std::sync::Arc;

use bytes::Bytes;

use super::seen_change::SeenChange;
use crate::database::{self, DocumentKey, Update, UpdateOperator};
use crate::document::id::DocumentId;
use crate::document::json::write_string;
use crate::document::path::Path;
use crate::graphql::response::commit_version::text_of_commit;

/// What a selection is of, instead of the root of a query.
#[derive(Clone, Copy)]
pub(crate) enum Given<'g> {
    Outcome(&'g Outcome),
    Change(SeenChange<'g>),
}

/// The result of a field of `Mutation`.
pub(crate) enum Outcome {
    /// The document after it was changed or tested.
    Document(Arc<DocumentKey>),
    /// The document after a value was stored if none was there, and whether it was.
    IfAbsent(Arc<DocumentKey>, bool),
    Deletion(Deletion),
    Taken(Vec<Deletion>),
    /// The key of an appended document, with the pending versionstamp as its id.
    Appended(DocumentKey),
    Bulk(BulkResult),
    /// The results of `writeDocuments`.
    Written(Vec<WriteResult>),
    Index(database::StoredIndex),
    /// Whether there was an index to drop.
    IndexDrop(bool),
    TypeDefinition(database::DefinedType),
    /// Whether there was a type to drop.
    TypeDrop(bool),
    /// The collection that was dropped, and the number of its documents in the catalog.
    CollectionDrop(String, i64),
}

/// The result of one write of `writeDocuments`.
pub(crate) struct WriteResult {
    /// The key of the document, as JSON that may have the placeholder of the commit.
    pub(crate) key: Vec<u8>,
    /// The name of the collection, as JSON.
    pub(crate) collection: Vec<u8>,
    pub(crate) created: Option<bool>,
    pub(crate) deleted: Option<bool>,
    /// The document, if it can be read.
    pub(crate) document: Option<Arc<DocumentKey>>,
    /// Whether the operation has written the document.
    pub(crate) is_written: bool,
}

impl WriteResult {
    /// The result of a write, from that of its function. None if it is no function of one document.
    pub(crate) fn of(outcome: Outcome) -> Option<Self> {
        let (mut created, mut deleted) = (None, None);
        let mut key = Vec::new();
        let document = match outcome {
            Outcome::Document(document) => document,
            Outcome::IfAbsent(document, stored) => {
                created = Some(stored);
                document
            }
            Outcome::Deletion(deletion) => {
                deleted = Some(deletion.deleted);
                deletion.document
            }
            Outcome::Appended(document) => {
                text_of_commit(&mut key, &document.id.to_string());
                Arc::new(document)
            }
            _ => return None,
        };
        let can_be_read = key.is_empty();
        if can_be_read {
            write_string(&mut key, &document.id.to_string());
        }
        let mut collection = Vec::new();
        write_string(&mut collection, &document.collection);
        Some(Self {
            key,
            collection,
            created,
            deleted,
            document: can_be_read.then_some(document),
            is_written: false,
        })
    }
}

/// A value that `deleteDocument` or `takeDocuments` removed, if there was one.
pub(crate) struct Deletion {
    pub(crate) document: Arc<DocumentKey>,
    pub(crate) path: Path,
    pub(crate) deleted: bool,
    /// The removed JSON, if it is selected.
    pub(crate) value: Option<Bytes>,
}

impl Deletion {
    /// Whether it is of a whole document.
    pub(crate) fn is_of_whole(&self) -> bool {
        self.path.tokens().is_empty()
    }
}

/// The result of `updateDocuments` or `deleteDocuments`.
pub(crate) struct BulkResult {
    pub(crate) matched: usize,
    pub(crate) changed: usize,
    pub(crate) updates: Vec<UpdateResult>,
    /// None if all documents were examined.
    pub(crate) portion: Option<ExaminedPortion>,
}

/// The documents of which some were changed.
pub(crate) struct ExaminedPortion {
    pub(crate) examined: usize,
    /// The last of them, if others follow it.
    pub(crate) next: Option<DocumentId>,
}

/// What one element of the operator lists of `updateDocuments` did, in all documents.
pub(crate) struct UpdateResult {
    pub(crate) operator: UpdateOperator,
    /// The JSONPath of the element.
    pub(crate) at: String,
    /// The number of places to which it was applied.
    pub(crate) places: u64,
}

impl UpdateResult {
    pub(crate) fn new(update: &Update, places: u64) -> Self {
        Self {
            operator: update.operator(),
            at: update.at().text().to_owned(),
            places,
        }
    }
}
