//! Records edits as operations of a JSON Patch (RFC 6902).

use super::recorder::{ChangeRecorder, RecordedEdit, TransactionChanges};
use crate::database::document_key::DocumentKey;
use crate::document::id::DocumentId;
use crate::document::json::{Reader, write_string};
use crate::document::path::{Place, Segment};
use crate::key::Leaves;
use crate::store::Transaction;

/// The document that is edited.
#[derive(Clone, Copy)]
pub(crate) struct Edited<'d> {
    pub(crate) collection: &'d str,
    pub(crate) id: &'d DocumentId,
    /// Whether the document existed before the edit.
    pub(crate) existed: bool,
}

impl<'d> Edited<'d> {
    /// A document that existed before the edit.
    pub(crate) fn existing(document: &'d DocumentKey) -> Self {
        Self {
            existed: true,
            ..Self::new(document)
        }
    }

    /// A document that did not exist before the edit.
    pub(crate) fn new(document: &'d DocumentKey) -> Self {
        Self {
            collection: &document.collection,
            id: &document.id,
            existed: false,
        }
    }
}

/// Records that a whole document was written.
pub(crate) fn written(transaction: &dyn Transaction, document: Edited<'_>, leaves: &Leaves) {
    record(transaction, document, |changes| {
        RecordedEdit::Written(put(changes, "add", &Place::default(), leaves))
    });
}

/// Records that a document was found that another program stored.
pub(crate) fn adopted(transaction: &dyn Transaction, document: Edited<'_>) {
    record(transaction, document, |_| RecordedEdit::Written(None));
}

/// Records that a document was removed.
pub(crate) fn deleted(transaction: &dyn Transaction, document: Edited<'_>) {
    record(transaction, document, |_| RecordedEdit::Deleted);
}

/// Records that a value was replaced.
pub(crate) fn replaced(
    transaction: &dyn Transaction,
    document: Edited<'_>,
    place: &Place,
    leaves: &Leaves,
) {
    if place.0.is_empty() {
        return written(transaction, document, leaves);
    }
    record(transaction, document, |changes| {
        RecordedEdit::Edited(place.clone(), put(changes, "replace", place, leaves))
    });
}

/// Records that a value was added. `below` are the members and first elements, none of which existed, that
/// lead to it from the new value at `place`.
pub(crate) fn added(
    transaction: &dyn Transaction,
    document: Edited<'_>,
    place: &Place,
    below: &[Segment],
    leaves: &Leaves,
) {
    record(transaction, document, |changes| {
        let operation = json_if_fits(changes, leaves).map(|json| {
            let mut value = Vec::new();
            for segment in below {
                match segment {
                    Segment::Key(name) => {
                        value.push(b'{');
                        write_string(&mut value, name);
                        value.push(b':');
                    }
                    Segment::Index(_) => value.push(b'['),
                }
            }
            value.extend_from_slice(&json);
            value.extend(below.iter().rev().map(|segment| match segment {
                Segment::Key(_) => b'}',
                Segment::Index(_) => b']',
            }));
            write_put("add", place, &value)
        });
        if place.0.is_empty() {
            RecordedEdit::Written(operation)
        } else {
            RecordedEdit::Edited(place.clone(), operation)
        }
    });
}

/// Records that elements were added at the end of an array, from `first` on.
pub(crate) fn appended(
    transaction: &dyn Transaction,
    document: Edited<'_>,
    array: &Place,
    first: u64,
    elements: &Leaves,
) {
    ChangeRecorder::record(transaction, |changes| {
        let json = json_if_fits(changes, elements);
        let text = json
            .as_ref()
            .and_then(|json| std::str::from_utf8(json).ok());
        let Some(text) = text else {
            return add(changes, document, RecordedEdit::Edited(array.clone(), None));
        };
        let mut reader = Reader::new(text, usize::MAX);
        // Enters the array.
        let _begun = reader.next();
        let mut index = first;
        while let Ok(Some(element)) = reader.next_element() {
            let place = array.child(Segment::Index(index));
            let operation = write_put("add", &place, element.as_bytes());
            add(
                changes,
                document,
                RecordedEdit::Edited(place, Some(operation)),
            );
            index += 1;
        }
    });
}

/// Records that an element was inserted at a place, and the elements from there on moved.
pub(crate) fn inserted(
    transaction: &dyn Transaction,
    document: Edited<'_>,
    place: &Place,
    leaves: &Leaves,
) {
    record(transaction, document, |changes| {
        let array = place.0.split_last().map_or(&[][..], |(_, array)| array);
        RecordedEdit::Edited(Place(array.to_vec()), put(changes, "add", place, leaves))
    });
}

/// Records that a member was removed.
pub(crate) fn removed(transaction: &dyn Transaction, document: Edited<'_>, place: &Place) {
    record(transaction, document, |_| {
        let mut operation = Vec::new();
        write_remove(&mut operation, place);
        RecordedEdit::Edited(place.clone(), Some(operation))
    });
}

/// Records that elements of an array were removed. Their indexes ascend.
pub(crate) fn removed_elements(
    transaction: &dyn Transaction,
    document: Edited<'_>,
    array: &Place,
    indexes: &[u64],
) {
    record(transaction, document, |changes| {
        let mut operations = Vec::new();
        let bytes_max = changes.patch_bytes_left();
        // Each removal moves only elements behind it.
        for index in indexes.iter().rev() {
            if operations.len() > bytes_max {
                break;
            }
            if !operations.is_empty() {
                operations.push(b',');
            }
            write_remove(&mut operations, &array.child(Segment::Index(*index)));
        }
        let operations = (operations.len() <= bytes_max).then_some(operations);
        RecordedEdit::Edited(array.clone(), operations)
    });
}

/// Records that documents of a collection have changed, without naming them.
pub(crate) fn collection_changed(transaction: &dyn Transaction, collection: &str) {
    ChangeRecorder::record(transaction, |changes| {
        changes.abridge_collection(collection);
    });
}

/// Records that all documents of a collection were removed.
pub(crate) fn dropped(transaction: &dyn Transaction, collection: &str) {
    ChangeRecorder::record(transaction, |changes| changes.drop_collection(collection));
}

/// Records an edit of a document, which is computed only if changes are recorded.
fn record(
    transaction: &dyn Transaction,
    document: Edited<'_>,
    edit: impl FnOnce(&TransactionChanges) -> RecordedEdit,
) {
    ChangeRecorder::record(transaction, |changes| {
        let edit = edit(changes);
        add(changes, document, edit);
    });
}

fn add(changes: &mut TransactionChanges, document: Edited<'_>, edit: RecordedEdit) {
    changes.add(document.collection, document.id, document.existed, edit);
}

/// A value as JSON. `None` if its operation would exceed the limit of the transaction.
fn json_if_fits(changes: &TransactionChanges, leaves: &Leaves) -> Option<Vec<u8>> {
    (leaves.bytes() <= changes.patch_bytes_left()).then(|| leaves.to_json())
}

/// An operation with a value. `None` if it would exceed the limit of the transaction.
fn put(
    changes: &TransactionChanges,
    operation: &str,
    place: &Place,
    leaves: &Leaves,
) -> Option<Vec<u8>> {
    json_if_fits(changes, leaves).map(|json| write_put(operation, place, &json))
}

/// An operation with a value, which is JSON.
fn write_put(operation: &str, place: &Place, value: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(value.len() + 64);
    out.extend_from_slice(b"{\"op\":\"");
    out.extend_from_slice(operation.as_bytes());
    out.extend_from_slice(b"\",\"path\":");
    write_string(&mut out, &place.to_string());
    out.extend_from_slice(b",\"value\":");
    out.extend_from_slice(value);
    out.push(b'}');
    out
}

fn write_remove(out: &mut Vec<u8>, place: &Place) {
    out.extend_from_slice(b"{\"op\":\"remove\",\"path\":");
    write_string(out, &place.to_string());
    out.push(b'}');
}
