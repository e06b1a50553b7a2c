//! The references that a transaction has written, and the documents that it has deleted to which references
//! can lead. They are checked at the end of the operation, as the values of unique indexes are, so documents
//! can be written and deleted in any order.

use std::mem::take;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::referring_types::ReferringTypes;
use crate::budget::{Budget, Reservation};
use crate::database::document_key::DocumentKey;
use crate::error::{Error, Result};
use crate::limits::REFERENCES_CHECKED_MAX;
use crate::store::Transaction;
use crate::types::{SeenReference, too_many_references};

/// What a transaction has to check.
#[derive(Default)]
struct PendingReferences(Mutex<Pending>);

#[derive(Default)]
struct Pending {
    written: Vec<Arc<WrittenReference>>,
    deleted: Vec<Arc<DocumentKey>>,
    /// Memory for them.
    reserved: Option<Reservation>,
}

/// A reference that was written.
pub(crate) struct WrittenReference {
    /// The document that has it.
    pub(crate) from: Arc<DocumentKey>,
    pub(crate) seen: SeenReference,
}

impl WrittenReference {
    /// The document to which it leads. None if there can be none.
    pub(crate) fn target(&self) -> Option<DocumentKey> {
        let id = self.seen.to.clone()?;
        // A key that is too long is that of no document.
        DocumentKey::new(&*self.seen.reference.collection, id).ok()
    }
}

/// Approximate memory of an entry besides its texts.
const HELD_PER_ENTRY: usize = 256;

fn locked(pending: &PendingReferences) -> MutexGuard<'_, Pending> {
    pending.0.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records references that were written in a document.
///
/// # Errors
/// `TOO_LARGE`: the operation has written more references than it can check.
/// [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted): they take too much memory.
pub(crate) fn references_written(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &DocumentKey,
    seen: Vec<SeenReference>,
) -> Result<()> {
    if seen.is_empty() {
        return Ok(());
    }
    let attached = transaction.attachments().get::<PendingReferences>();
    let mut pending = locked(&attached);
    if pending.written.len() + seen.len() > REFERENCES_CHECKED_MAX {
        return Err(too_many_references());
    }
    let reserved = pending.reserved.get_or_insert_with(|| budget.reserve());
    for seen in &seen {
        reserved.hold(HELD_PER_ENTRY + seen.held())?;
    }
    let from = Arc::new(document.clone());
    let written = seen.into_iter().map(|seen| {
        let from = from.clone();
        Arc::new(WrittenReference { from, seen })
    });
    pending.written.extend(written);
    Ok(())
}

/// Records that a document was deleted, if the deletion of a document of its collection can act on others.
///
/// # Errors
/// As [`ReferringTypes::of`]. [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted).
pub(crate) async fn document_deleted(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &Arc<DocumentKey>,
) -> Result<()> {
    let referring = ReferringTypes::of(transaction).await?;
    if referring.to(&document.collection).is_empty() {
        return Ok(());
    }
    let attached = transaction.attachments().get::<PendingReferences>();
    let mut pending = locked(&attached);
    let reserved = pending.reserved.get_or_insert_with(|| budget.reserve());
    reserved.hold(HELD_PER_ENTRY)?;
    pending.deleted.push(document.clone());
    Ok(())
}

/// The references that were written and not checked yet.
pub(crate) fn written_references(transaction: &dyn Transaction) -> Vec<Arc<WrittenReference>> {
    match transaction.attachments().find::<PendingReferences>() {
        Some(pending) => locked(&pending).written.clone(),
        None => Vec::new(),
    }
}

/// Takes the references that were written.
pub(crate) fn take_written(transaction: &dyn Transaction) -> Vec<Arc<WrittenReference>> {
    match transaction.attachments().find::<PendingReferences>() {
        Some(pending) => take(&mut locked(&pending).written),
        None => Vec::new(),
    }
}

/// Takes the documents that were deleted.
pub(crate) fn take_deleted(transaction: &dyn Transaction) -> Vec<Arc<DocumentKey>> {
    match transaction.attachments().find::<PendingReferences>() {
        Some(pending) => take(&mut locked(&pending).deleted),
        None => Vec::new(),
    }
}

/// Checks that all references of a transaction were checked.
///
/// # Errors
/// `INTERNAL`: some were not.
pub(crate) fn check_settled(transaction: &dyn Transaction) -> Result<()> {
    let Some(pending) = transaction.attachments().find::<PendingReferences>() else {
        return Ok(());
    };
    let pending = locked(&pending);
    if pending.written.is_empty() && pending.deleted.is_empty() {
        return Ok(());
    }
    Err(Error::internal(
        "a transaction with references that were not checked was not committed",
    ))
}
