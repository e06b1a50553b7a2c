//! Storing a batch of documents.

use std::ops::Range;
use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::time::Instant;

use crate::budget::Budget;
use crate::database::{
    Database, DocumentKey, Existing, Put, UniqueViolation, put, unique_violation,
};
use crate::document::id::DocumentId;
use crate::error::{Error, ErrorKind, Result};
use crate::key::Leaves;
use crate::limits::IMPORT_BATCH_TIME_MAX;
use crate::store::{Decision, Transaction, TransactionResult};

/// A document to store.
#[derive(Clone, Debug)]
pub struct NewDocument {
    /// Its id.
    pub id: DocumentId,
    /// Its leaves, or why its text is not a document.
    pub leaves: Result<Leaves>,
}

/// How a batch handles existing documents and errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// What happens to documents that already exist.
    pub existing: Existing,
    /// Whether documents after one that fails are still stored.
    pub go_on: bool,
}

impl Policy {
    /// The names of both settings: `fail`, `skip`, `replace` or `must-equal`, and `stop` or
    /// `continue`.
    pub fn names(self) -> (&'static str, &'static str) {
        let existing = match self.existing {
            Existing::Fail => "fail",
            Existing::Skip => "skip",
            Existing::Replace => "replace",
            Existing::MustEqual => "must-equal",
        };
        (existing, if self.go_on { "continue" } else { "stop" })
    }

    /// Parses the names that [`Policy::names`] returns.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the names are unknown.
    pub fn parse(existing: &str, on_error: &str) -> Result<Self> {
        let all = Existing::ALL
            .into_iter()
            .flat_map(|existing| [true, false].map(|go_on| Self { existing, go_on }));
        all.into_iter()
            .find(|policy| policy.names() == (existing, on_error))
            .ok_or_else(|| Error::bad_input(format!("unknown policy: {existing:?}, {on_error:?}")))
    }
}

/// Stores documents and returns a result for each. A document that fails writes nothing. If the batch
/// ends at an error, the failed document has the last result: the documents before it are stored,
/// those after it are not.
///
/// The batch is one transaction if no document fails, and unique indexes are checked at its end, so
/// that values can be swapped between its documents. A transaction in which a document failed is never
/// committed. It is repeated with the documents before the failed one, and the next transaction begins
/// behind it.
///
/// # Errors
/// Errors of the store. Documents before those of the failed transaction are then stored.
pub async fn put_batch(
    database: &Database,
    collection: &str,
    documents: Arc<Vec<NewDocument>>,
    policy: Policy,
) -> Result<Vec<Result<Put>>> {
    let mut batch = PutBatch {
        database,
        collection,
        documents: documents.clone(),
        existing: policy.existing,
        unique: UniqueCheck::AtEnd,
    };
    let mut results = Vec::with_capacity(documents.len());
    let (mut end, mut failed) = (documents.len(), None);
    while results.len() < documents.len() {
        let begin = results.len();
        match batch.run(begin..end).await? {
            Ok(puts) => {
                results.extend(puts.into_iter().map(Ok));
                end = documents.len();
                let Some(error) = failed.take() else { continue };
                results.push(Err(error));
            }
            Err(PutFailure { at: None, .. }) if end - begin > 1 => {
                end = begin + (end - begin) / 2;
                continue;
            }
            Err(PutFailure { at, error }) => {
                batch.unique = UniqueCheck::AfterEach;
                let at = at.unwrap_or(begin);
                if at > begin {
                    (end, failed) = (at, Some(error));
                    continue;
                }
                results.push(Err(error));
                (end, failed) = (documents.len(), None);
            }
        }
        if !policy.go_on {
            break;
        }
    }
    Ok(results)
}

/// When a transaction checks unique indexes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum UniqueCheck {
    /// After the last document.
    AtEnd,
    /// After each document, so that the first one that fails is known.
    AfterEach,
}

/// A document that failed.
struct PutFailure {
    /// Its index in the batch. None if the transaction as a whole is too large.
    at: Option<usize>,
    error: Error,
}

struct PutBatch<'b> {
    database: &'b Database,
    collection: &'b str,
    documents: Arc<Vec<NewDocument>>,
    existing: Existing,
    unique: UniqueCheck,
}

impl PutBatch<'_> {
    /// Stores some of the documents in one transaction, or none of them if one fails.
    async fn run(&self, range: Range<usize>) -> Result<Result<Vec<Put>, PutFailure>> {
        let deadline = Instant::now() + IMPORT_BATCH_TIME_MAX;
        let (existing, unique) = (self.existing, self.unique);
        let body = |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
            let (collection, documents) = (self.collection.to_owned(), self.documents.clone());
            let range = range.clone();
            Box::pin(async move {
                let transaction = &*transaction;
                let put = put_all(
                    transaction,
                    &collection,
                    &documents,
                    range,
                    existing,
                    unique,
                );
                Ok(match put.await? {
                    Ok(puts) if puts.iter().all(|put| *put == Put::Skipped) => {
                        Decision::Abort(Ok(puts))
                    }
                    Ok(puts) => Decision::Commit(Ok(puts)),
                    Err(failure) => Decision::Abort(Err(failure)),
                })
            })
        };
        match self.database.transact(deadline, body).await {
            Ok(TransactionResult::Committed(puts, _) | TransactionResult::Aborted(puts)) => {
                Ok(puts)
            }
            Err(error) if error.kind() == ErrorKind::TooLarge => {
                Ok(Err(PutFailure { at: None, error }))
            }
            Err(error) => Err(error),
        }
    }
}

/// Writes documents. Stops at the first one that fails.
async fn put_all(
    transaction: &dyn Transaction,
    collection: &str,
    documents: &[NewDocument],
    range: Range<usize>,
    existing: Existing,
    unique: UniqueCheck,
) -> Result<Result<Vec<Put>, PutFailure>> {
    let mut puts = Vec::with_capacity(range.len());
    for at in range.clone() {
        match put_one(transaction, collection, &documents[at], existing).await {
            Ok(put) => puts.push(put),
            Err(error) if is_about_the_document(&error) => {
                return Ok(Err(PutFailure {
                    at: Some(at),
                    error,
                }));
            }
            Err(error) => return Err(error),
        }
        let checks = unique == UniqueCheck::AfterEach || at + 1 == range.end;
        if checks
            && let Some(UniqueViolation { document, error }) = unique_violation(transaction).await?
        {
            let mut written = documents[range.start..=at].iter();
            let written = written.rposition(|written| written.id == document.id);
            let at = written.map_or(at, |written| range.start + written);
            return Ok(Err(PutFailure {
                at: Some(at),
                error,
            }));
        }
    }
    Ok(Ok(puts))
}

async fn put_one(
    transaction: &dyn Transaction,
    collection: &str,
    document: &NewDocument,
    existing: Existing,
) -> Result<Put> {
    let leaves = document.leaves.as_ref().map_err(Clone::clone)?;
    let key = DocumentKey::new(collection, document.id.clone())?;
    put(
        transaction,
        &Budget::of_background(),
        &key,
        leaves,
        existing,
    )
    .await
}

/// Whether another document of the same batch could still be stored.
fn is_about_the_document(error: &Error) -> bool {
    matches!(
        error.kind().for_clients(),
        ErrorKind::BadUserInput
            | ErrorKind::TooLarge
            | ErrorKind::AlreadyExists
            | ErrorKind::UniqueViolation
    )
}
