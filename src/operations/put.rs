//! Storing a batch of documents in one transaction.

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::time::Instant;

use crate::budget::Budget;
use crate::database::{Database, DocumentKey, Existing, Put, put};
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
    /// The names of both settings: `fail`, `skip` or `replace`, and `stop` or `continue`.
    pub fn names(self) -> (&'static str, &'static str) {
        let existing = match self.existing {
            Existing::Fail => "fail",
            Existing::Skip => "skip",
            Existing::Replace => "replace",
        };
        (existing, if self.go_on { "continue" } else { "stop" })
    }

    /// Parses the names that [`Policy::names`] returns.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the names are unknown.
    pub fn parse(existing: &str, on_error: &str) -> Result<Self> {
        let all = [Existing::Fail, Existing::Skip, Existing::Replace]
            .into_iter()
            .flat_map(|existing| [true, false].map(|go_on| Self { existing, go_on }));
        all.into_iter()
            .find(|policy| policy.names() == (existing, on_error))
            .ok_or_else(|| Error::bad_input(format!("unknown policy: {existing:?}, {on_error:?}")))
    }
}

/// Stores documents in one transaction and returns a result for each. A document that fails writes
/// nothing. If an error ends the batch, the failed document has the last result: the documents
/// before it are stored, those after it are not.
///
/// # Errors
/// Errors of the store. Nothing of the batch is then stored.
pub async fn put_batch(
    database: &Database,
    collection: &str,
    documents: Arc<Vec<NewDocument>>,
    policy: Policy,
) -> Result<Vec<Result<Put>>> {
    let deadline = Instant::now() + IMPORT_BATCH_TIME_MAX;
    let body = |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
        let (collection, documents) = (collection.to_owned(), documents.clone());
        Box::pin(async move { put_all(&*transaction, &collection, &documents, policy).await })
    };
    match database.transact(deadline, body).await? {
        TransactionResult::Committed(results, _) | TransactionResult::Aborted(results) => {
            Ok(results)
        }
    }
}

async fn put_all(
    transaction: &dyn Transaction,
    collection: &str,
    documents: &[NewDocument],
    policy: Policy,
) -> Result<Decision<Vec<Result<Put>>>> {
    let mut results = Vec::with_capacity(documents.len());
    for document in documents {
        let result = put_one(transaction, collection, document, policy.existing).await;
        let failed = match &result {
            Err(error) if !is_about_the_document(error) => return Err(error.clone()),
            result => result.is_err(),
        };
        results.push(result);
        if failed && !policy.go_on {
            break;
        }
    }
    let written = |result: &Result<Put>| matches!(result, Ok(Put::Created | Put::Replaced));
    Ok(if results.iter().any(written) {
        Decision::Commit(results)
    } else {
        Decision::Abort(results)
    })
}

/// `put` validates a document before it writes anything.
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

fn is_about_the_document(error: &Error) -> bool {
    matches!(
        error.kind().for_clients(),
        ErrorKind::BadUserInput | ErrorKind::TooLarge | ErrorKind::AlreadyExists
    )
}
