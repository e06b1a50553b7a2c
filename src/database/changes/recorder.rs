//! The changes of documents that a transaction has made, for the change log.
//!
//! [`record`](super::record) adds them while documents are written. They are stored when the transaction
//! commits. The memory that they hold is bounded: past a limit, details are dropped (docs/format.md).

use std::collections::{HashMap, HashSet};
use std::mem::take;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::document::id::DocumentId;
use crate::document::path::{Place, Segment};
use crate::limits::{CHANGE_HEADER_BYTES_MAX, CHANGE_PATCH_BYTES_MAX, CHANGE_PLACES_MAX};
use crate::store::Transaction;

/// Records the changes of one transaction. It records nothing until it is started.
#[derive(Default)]
pub(crate) struct ChangeRecorder(Mutex<Option<TransactionChanges>>);

impl ChangeRecorder {
    /// Starts recording the changes of a transaction.
    pub(crate) fn start(transaction: &dyn Transaction) {
        let recorder = transaction.attachments().get::<Self>();
        recorder.lock().get_or_insert_default();
    }

    /// Records changes with `record`, unless recording was not started.
    pub(crate) fn record(
        transaction: &dyn Transaction,
        record: impl FnOnce(&mut TransactionChanges),
    ) {
        if let Some(recorder) = transaction.attachments().find::<Self>()
            && let Some(changes) = &mut *recorder.lock()
        {
            record(changes);
        }
    }

    /// Ends recording, and returns the changes. `None` if recording was not started.
    pub(crate) fn finish(transaction: &dyn Transaction) -> Option<TransactionChanges> {
        transaction.attachments().find::<Self>()?.lock().take()
    }

    fn lock(&self) -> MutexGuard<'_, Option<TransactionChanges>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The net changes of a transaction, in the order in which each document first changed.
#[derive(Debug, Default)]
pub(crate) struct TransactionChanges {
    changes: Vec<Option<RecordedChange>>,
    /// The positions in `changes`.
    documents: HashMap<(String, DocumentId), usize>,
    /// The collections of which only the fact of a change is recorded.
    abridged: HashSet<String>,
    patch_bytes: usize,
    header_bytes: usize,
}

/// One recorded change.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum RecordedChange {
    /// A document has changed.
    Document(RecordedDocument),
    /// All documents of this collection were removed.
    Dropped(String),
    /// Documents of this collection have changed; they are not recorded one by one.
    Abridged(String),
}

/// The change of one document.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RecordedDocument {
    /// The collection.
    pub(crate) collection: String,
    /// The id. A versionstamp of the transaction itself is the placeholder.
    pub(crate) id: DocumentId,
    /// Whether the document existed before the transaction.
    pub(crate) existed: bool,
    /// Whether the document exists after the transaction.
    pub(crate) exists: bool,
    /// The places that changed, none inside another.
    pub(crate) places: Vec<Place>,
    /// The operations of a JSON Patch (RFC 6902), separated by commas. `None` if they were dropped.
    pub(crate) patch: Option<Vec<u8>>,
}

/// One edit of a document.
pub(crate) enum RecordedEdit {
    /// The operations of a JSON Patch that have the same effect, separated by commas, and the
    /// place that they change. `None` if the operations are too large.
    Edited(Place, Option<Vec<u8>>),
    /// The whole document has this value, as one operation of a JSON Patch. `None` if it is too
    /// large.
    Written(Option<Vec<u8>>),
    /// The document was removed.
    Deleted,
}

impl TransactionChanges {
    /// The bytes of operations that can still be recorded.
    pub(crate) fn patch_bytes_left(&self) -> usize {
        CHANGE_PATCH_BYTES_MAX - self.patch_bytes
    }

    /// Records an edit of a document. `existed` says whether the document existed before the edit.
    pub(crate) fn add(
        &mut self,
        collection: &str,
        id: &DocumentId,
        existed: bool,
        edit: RecordedEdit,
    ) {
        if self.abridged.contains(collection) {
            return;
        }
        let (at, mut document) = self.take_document(collection, id, existed);
        self.apply(&mut document, edit);
        if document.existed || document.exists {
            self.header_bytes += header_bytes(&document);
            self.changes[at] = Some(RecordedChange::Document(document));
        }
        if self.header_bytes > CHANGE_HEADER_BYTES_MAX {
            self.abridge();
        }
    }

    /// Records that documents of a collection have changed, without naming them.
    pub(crate) fn abridge_collection(&mut self, collection: &str) {
        if !self.abridged.contains(collection) {
            self.forget(collection);
            self.push_abridged(collection.to_owned());
        }
    }

    fn push_abridged(&mut self, collection: String) {
        self.abridged.insert(collection.clone());
        let change = RecordedChange::Abridged(collection);
        self.changes.push(Some(change));
    }

    /// Records that all documents of a collection were removed.
    pub(crate) fn drop_collection(&mut self, collection: &str) {
        self.forget(collection);
        self.abridged.remove(collection);
        let dropped = RecordedChange::Dropped(collection.to_owned());
        self.header_bytes += collection.len();
        self.changes.push(Some(dropped));
    }

    /// The changes.
    pub(crate) fn into_changes(self) -> Vec<RecordedChange> {
        self.changes.into_iter().flatten().collect()
    }

    /// Whether nothing has changed.
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.iter().all(Option::is_none)
    }

    /// An upper bound of the bytes of the entry in the change log.
    pub(crate) fn bytes_max(&self) -> usize {
        self.header_bytes + self.patch_bytes
    }

    /// Drops all operations of patches.
    pub(crate) fn drop_patches(&mut self) {
        for change in self.changes.iter_mut().flatten() {
            if let RecordedChange::Document(document) = change {
                document.patch = None;
            }
        }
        self.patch_bytes = 0;
    }

    /// Replaces the changes of documents by the fact that their collections have changed.
    pub(crate) fn abridge(&mut self) {
        let mut collections: Vec<String> = Vec::new();
        for change in self.changes.iter().flatten() {
            if let RecordedChange::Document(document) = change
                && !collections.contains(&document.collection)
            {
                collections.push(document.collection.clone());
            }
        }
        for collection in collections {
            let dropped = self.changes.iter().flatten().any(
                |change| matches!(change, RecordedChange::Dropped(other) if *other == collection),
            );
            self.forget(&collection);
            if dropped {
                let dropped = RecordedChange::Dropped(collection.clone());
                self.changes.push(Some(dropped));
            }
            self.push_abridged(collection);
        }
        self.header_bytes = 0;
    }

    /// Takes the recorded change of a document out of its position in the list.
    fn take_document(
        &mut self,
        collection: &str,
        id: &DocumentId,
        existed: bool,
    ) -> (usize, RecordedDocument) {
        let at = *self
            .documents
            .entry((collection.to_owned(), id.clone()))
            .or_insert_with(|| {
                self.changes.push(None);
                self.changes.len() - 1
            });
        let document = match self.changes[at].take() {
            Some(RecordedChange::Document(document)) => {
                self.header_bytes = self.header_bytes.saturating_sub(header_bytes(&document));
                document
            }
            // The document is new to the transaction, or was created and removed again.
            _ => RecordedDocument {
                collection: collection.to_owned(),
                id: id.clone(),
                existed,
                exists: existed,
                places: Vec::new(),
                patch: Some(Vec::new()),
            },
        };
        (at, document)
    }

    fn apply(&mut self, document: &mut RecordedDocument, edit: RecordedEdit) {
        match edit {
            RecordedEdit::Edited(place, operations) => {
                add_place(&mut document.places, place);
                let patch = document.patch.take();
                self.patch_bytes -= patch.as_ref().map_or(0, Vec::len);
                document.patch = patch.zip(operations).and_then(|(mut patch, operations)| {
                    if !patch.is_empty() {
                        patch.push(b',');
                    }
                    patch.extend_from_slice(&operations);
                    self.hold(patch)
                });
            }
            RecordedEdit::Written(operation) => {
                document.exists = true;
                self.replace(document, operation);
            }
            RecordedEdit::Deleted => {
                document.exists = false;
                self.replace(document, Some(Vec::new()));
            }
        }
    }

    /// Replaces all operations of a document.
    fn replace(&mut self, document: &mut RecordedDocument, operation: Option<Vec<u8>>) {
        self.patch_bytes -= document.patch.take().map_or(0, |patch| patch.len());
        document.places = vec![Place::default()];
        document.patch = operation.and_then(|operation| self.hold(operation));
    }

    /// Counts the bytes of a patch. `None` if they exceed the limit.
    fn hold(&mut self, patch: Vec<u8>) -> Option<Vec<u8>> {
        if patch.len() > self.patch_bytes_left() {
            return None;
        }
        self.patch_bytes += patch.len();
        Some(patch)
    }

    /// Forgets all changes of a collection.
    fn forget(&mut self, collection: &str) {
        for change in &mut self.changes {
            let of_collection = match &change {
                Some(RecordedChange::Document(document)) => document.collection == collection,
                Some(RecordedChange::Dropped(other) | RecordedChange::Abridged(other)) => {
                    other == collection
                }
                None => false,
            };
            if of_collection && let Some(RecordedChange::Document(document)) = take(change) {
                self.patch_bytes -= document.patch.as_ref().map_or(0, Vec::len);
                self.header_bytes = self.header_bytes.saturating_sub(header_bytes(&document));
            }
        }
        self.documents.retain(|(other, _), _| other != collection);
    }
}

/// The bytes of a change in a header, without its names.
const HEADER_BYTES_PER_CHANGE: usize = 24;

/// An upper bound of the bytes of a change in a header.
fn header_bytes(document: &RecordedDocument) -> usize {
    let places = document.places.iter().map(|place| {
        let segments = place.0.iter().map(|segment| match segment {
            Segment::Key(name) => name.len() + 2,
            Segment::Index(_) => size_of::<u64>() + 1,
        });
        4 + segments.sum::<usize>()
    });
    document.collection.len()
        + document.id.bytes()
        + HEADER_BYTES_PER_CHANGE
        + places.sum::<usize>()
}

/// Adds a place, so that no place is inside another. Past the limit, the common ancestor of all
/// places takes their place.
fn add_place(places: &mut Vec<Place>, place: Place) {
    if places.iter().any(|outer| place.0.starts_with(&outer.0)) {
        return;
    }
    places.retain(|inner| !inner.0.starts_with(&place.0));
    places.push(place);
    if places.len() > CHANGE_PLACES_MAX {
        let common = places
            .iter()
            .skip(1)
            .fold(places[0].0.len(), |length, place| {
                let same = place.0.iter().zip(&places[0].0);
                length.min(same.take_while(|(a, b)| a == b).count())
            });
        let ancestor = Place(places[0].0[..common].to_vec());
        *places = vec![ancestor];
    }
}
