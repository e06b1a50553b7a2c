//! Storing a batch of documents.

use std::ops::Range;
use std::sync::Arc;

use futures::future::BoxFuture;

use super::transact::transact;
use crate::budget::Budget;
use crate::database::{
    Database, DocumentKey, Existing, Put, UniqueViolation, put, unique_violation,
};
use crate::document::id::DocumentId;
use crate::error::{Error, ErrorKind, Result};
use crate::key::Leaves;
use crate::store::{Decision, Transaction};

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
    let batch = PutBatch {
        database,
        collection,
        documents: documents.clone(),
        existing: policy.existing,
    };
    let run = async |range, unique| batch.run(range, unique).await;
    put_in_runs(documents.len(), policy.go_on, run).await
}

/// Stores `count` documents in one or several transactions. `run` stores a range of them in one
/// transaction, or none of them.
async fn put_in_runs(
    count: usize,
    go_on: bool,
    mut run: impl AsyncFnMut(Range<usize>, UniqueCheck) -> Result<Result<Vec<Put>, PutFailure>>,
) -> Result<Vec<Result<Put>>> {
    let mut results = Vec::with_capacity(count);
    let mut unique = UniqueCheck::AtEnd;
    // The end of the next transaction, and the error of the document there, if it is known.
    let (mut end, mut failed) = (count, None);
    while results.len() < count {
        let begin = results.len();
        let error = match run(begin..end, unique).await? {
            Ok(puts) => {
                results.extend(puts.into_iter().map(Ok));
                failed.take()
            }
            Err(PutFailure { at: None, .. }) if end - begin > 1 => {
                (end, failed) = (begin + (end - begin) / 2, None);
                continue;
            }
            Err(PutFailure { at, error }) => {
                unique = UniqueCheck::AfterEach;
                match at {
                    Some(at) if at > begin => {
                        (end, failed) = (at, Some(error));
                        continue;
                    }
                    _ => Some(error),
                }
            }
        };
        (end, failed) = (count, None);
        if let Some(error) = error {
            results.push(Err(error));
            if !go_on {
                break;
            }
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
}

impl PutBatch<'_> {
    /// Stores some of the documents in one transaction, or none of them if one fails.
    async fn run(
        &self,
        range: Range<usize>,
        unique: UniqueCheck,
    ) -> Result<Result<Vec<Put>, PutFailure>> {
        let existing = self.existing;
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
        match transact(self.database, body).await {
            Err(error) if error.kind() == ErrorKind::TooLarge => {
                Ok(Err(PutFailure { at: None, error }))
            }
            puts => puts,
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
            | ErrorKind::TypeMismatch
    )
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    use super::*;

    /// Documents of which some fail, in transactions that hold at most `fit` of them.
    async fn put(fails: &[bool], fit: usize, go_on: bool) -> (Vec<Result<Put>>, Vec<usize>) {
        let mut stored = Vec::new();
        let run = async |range: Range<usize>, _| {
            let error = |text: String| Error::bad_input(text);
            if let Some(at) = range.clone().find(|at| fails[*at]) {
                let error = error(format!("{at} fails"));
                return Ok(Err(PutFailure {
                    at: Some(at),
                    error,
                }));
            }
            if range.len() > fit {
                let error = error("too large".to_owned());
                return Ok(Err(PutFailure { at: None, error }));
            }
            stored.extend(range.clone());
            Ok(Ok(vec![Put::Created; range.len()]))
        };
        let results = put_in_runs(fails.len(), go_on, run).await;
        (results.expect("no error of the store"), stored)
    }

    #[tokio::test]
    async fn each_document_is_stored_once_or_has_its_own_error() {
        let mut random = StdRng::seed_from_u64(33);
        for _ in 0..2_000 {
            let count = random.random_range(0..12);
            let fails: Vec<bool> = (0..count).map(|_| random.random_ratio(1, 3)).collect();
            let fit = random.random_range(1..12);
            for go_on in [true, false] {
                let (results, stored) = put(&fails, fit, go_on).await;
                let first = fails.iter().position(|fails| *fails);
                let tried = match first {
                    Some(first) if !go_on => first + 1,
                    _ => count,
                };
                assert_eq!(results.len(), tried, "{fails:?}, {fit}");
                for (at, result) in results.iter().enumerate() {
                    let expected = fails[at].then(|| format!("{at} fails"));
                    let found = result
                        .as_ref()
                        .err()
                        .map(|error| error.message().to_owned());
                    assert_eq!(found, expected, "{fails:?}, {fit}");
                }
                let good: Vec<usize> = (0..tried).filter(|at| !fails[*at]).collect();
                assert_eq!(stored, good, "{fails:?}, {fit}");
            }
        }
    }
}
