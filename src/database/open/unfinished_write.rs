//! Guards against the commit of a part of an operation.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use crate::error::{Error, Result};
use crate::store::Transaction;

/// How many operations on documents began to write in a transaction and did not finish.
#[derive(Default)]
struct UnfinishedWrites(AtomicUsize);

/// An operation on a document that may have written a part of its pairs. Unless it is finished, the
/// transaction does not commit: a document is written with all of its pairs and index entries, or
/// not at all, even if the caller continues after an error.
pub(crate) struct UnfinishedWrite(Arc<UnfinishedWrites>);

impl UnfinishedWrite {
    /// Begins an operation. Call it before the first write.
    pub(crate) fn begin(transaction: &dyn Transaction) -> Self {
        let unfinished = transaction.attachments().get::<UnfinishedWrites>();
        unfinished.0.fetch_add(1, Relaxed);
        Self(unfinished)
    }

    /// Ends an operation that has written all of its pairs, or none.
    pub(crate) fn finish(self) {
        self.0.0.fetch_sub(1, Relaxed);
    }
}

/// Checks that all operations on documents were finished.
///
/// # Errors
/// `INTERNAL`: one was not, because it failed and its caller ignored the error.
pub(super) fn check_finished(transaction: &dyn Transaction) -> Result<()> {
    let unfinished = transaction.attachments().find::<UnfinishedWrites>();
    match unfinished.map_or(0, |unfinished| unfinished.0.load(Relaxed)) {
        0 => Ok(()),
        left => Err(Error::internal(format!(
            "a transaction with {left} unfinished operations on documents was not committed"
        ))),
    }
}
