//! Storing a batch of documents.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

use futures::future::BoxFuture;

use super::batch_changes::{BatchChanges, kept_puts, puts_text};
use super::change_rights::{apply_allowed, hidden_documents};
use super::transact::transact;
use crate::budget::{Budget, Pool, pause};
use crate::database::{
    Database, IdempotencyKey, Put, ReferenceViolation, UniqueViolation, keep_answer, kept_answer,
    required_documents, settle_references, unique_violation,
};
use crate::error::{Error, ErrorKind, Resource, Result};
use crate::limits::Bounds;
use crate::rights::RequestRights;
use crate::store::{Decision, MeteredTransaction, Transaction};

/// Who sends a batch over HTTP, and what each of its transactions may use. A command has no such limits.
#[derive(Clone, Debug)]
pub struct BatchSender {
    /// What the sender may do.
    pub rights: RequestRights,
    /// The limits of a mutation.
    pub bounds: Bounds,
    /// The memory of all requests.
    pub pool: Pool,
}

/// Makes changes, each of one document, and returns a result for each. A document that fails writes nothing. If the batch
/// ends at an error, the failed document has the last result: the documents before it are stored,
/// those after it are not.
///
/// The batch is one transaction if no document fails, and unique indexes and references are checked at its end, so
/// that values can be swapped between its documents, and that they can refer to each other in any order. A transaction in which a document failed is never
/// committed. It is repeated with the documents before the failed one, and the next transaction begins
/// behind it.
///
/// With a key, no change that took effect is made again if the same batch is sent again with the key: its earlier
/// result is returned. Without a sender, nothing is limited.
///
/// # Errors
/// Errors of the store. Documents before those of the failed transaction are then stored. `BAD_USER_INPUT`: another
/// batch was sent with the key.
// Boxed, so that the server can send the future to another thread.
pub fn change_batch<'a>(
    database: &'a Database,
    collection: &'a str,
    changes: Arc<BatchChanges>,
    go_on: bool,
    once_only: Option<IdempotencyKey>,
    sender: Option<BatchSender>,
) -> BoxFuture<'a, Result<Vec<Result<Put>>>> {
    Box::pin(async move {
        let count = changes.len();
        let batch = ChangeBatch {
            database: database.clone(),
            collection: collection.into(),
            changes,
            once_only,
            sender: sender.map(Arc::new),
        };
        let run = |range, unique| batch.clone().run(range, unique);
        put_in_runs(count, go_on, run).await
    })
}

/// What one transaction stored, or why it stored nothing.
type PutRun = Result<Result<Vec<Put>, PutFailure>>;

/// Stores `count` documents in one or several transactions. `run` stores a range of them in one
/// transaction, or none of them. It returns another number of results if it did so earlier.
async fn put_in_runs<R>(
    count: usize,
    go_on: bool,
    mut run: impl FnMut(Range<usize>, UniqueCheck) -> R,
) -> Result<Vec<Result<Put>>>
where
    R: Future<Output = PutRun>,
{
    let mut results = Vec::with_capacity(count);
    let mut unique = UniqueCheck::AtEnd;
    // The most documents of the next transaction.
    let mut fit = count;
    // The end of the next transaction, and the error of the document there, if it is known.
    let (mut end, mut failed) = (count, None);
    while results.len() < count {
        let begin = results.len();
        let error = match run(begin..end, unique).await? {
            Ok(puts) => {
                results.extend(puts.into_iter().map(Ok));
                if end - begin == fit {
                    fit = fit.saturating_mul(2);
                }
                failed.take().filter(|_| results.len() == end)
            }
            Err(PutFailure { at: None, .. }) if end - begin > 1 => {
                fit = (end - begin) / 2;
                (end, failed) = (begin + fit, None);
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
        if let Some(error) = error {
            results.push(Err(error));
            if !go_on {
                break;
            }
        }
        (end, failed) = (count.min(results.len().saturating_add(fit)), None);
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

#[derive(Clone)]
struct ChangeBatch {
    database: Database,
    collection: Arc<str>,
    changes: Arc<BatchChanges>,
    once_only: Option<IdempotencyKey>,
    sender: Option<Arc<BatchSender>>,
}

impl ChangeBatch {
    /// Makes some of the changes in one transaction, or none of them if one fails.
    async fn run(self, range: Range<usize>, unique: UniqueCheck) -> PutRun {
        let once_only = self.once_only.as_ref().map(|once_only| IdempotencyKey {
            key: format!("{}:{}", once_only.key, range.start),
            digest: once_only.digest,
        });
        let body = |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
            let (collection, changes) = (self.collection.clone(), self.changes.clone());
            let (range, once_only) = (range.clone(), once_only.clone());
            let sender = self.sender.clone();
            Box::pin(async move {
                let (transaction, budget) = metered(transaction, sender.as_deref());
                let transaction = &*transaction;
                if let Some(once_only) = &once_only
                    && let Some(kept) =
                        kept_answer(transaction, once_only, SystemTime::now()).await?
                {
                    let puts = kept_puts(&kept.bytes, changes.len() - range.start)?;
                    return Ok(Decision::Abort(Ok(puts)));
                }
                let rights = sender.as_ref().map(|sender| &sender.rights);
                let target = (transaction, &budget, rights);
                let made = change_all(target, &collection, &changes, range, unique).await;
                if let Some(exhausted) = budget.exhausted() {
                    return Err(exhausted.clone());
                }
                let puts = match made? {
                    Ok(puts) => puts,
                    Err(failure) => return Ok(Decision::Abort(Err(failure))),
                };
                if let Some(once_only) = &once_only {
                    let now = SystemTime::now();
                    keep_answer(transaction, once_only, &puts_text(&puts), now).await?;
                    return Ok(Decision::Commit(Ok(puts)));
                }
                Ok(if puts.iter().all(|put| *put == Put::Skipped) {
                    Decision::Abort(Ok(puts))
                } else {
                    Decision::Commit(Ok(puts))
                })
            })
        };
        match transact(&self.database, body).await {
            Err(error) if is_of_the_transaction(error.kind()) => {
                Ok(Err(PutFailure { at: None, error }))
            }
            puts => puts,
        }
    }
}

/// The transaction and the budget with which a sender's changes are made.
fn metered(
    transaction: Arc<dyn Transaction>,
    sender: Option<&BatchSender>,
) -> (Arc<dyn Transaction>, Budget) {
    let Some(BatchSender { bounds, pool, .. }) = sender else {
        return (transaction, Budget::of_background());
    };
    let budget = Budget::of_lines_written(bounds, pool);
    (
        Arc::new(MeteredTransaction::new(transaction, &budget)),
        budget,
    )
}

/// Whether fewer changes could still be made in a transaction.
fn is_of_the_transaction(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::TooLarge
            | ErrorKind::Exhausted(
                Resource::Steps | Resource::ReadBytes | Resource::WriteBytes | Resource::Time
            )
    )
}

/// Makes changes. Stops at the first one that fails.
async fn change_all(
    (transaction, budget, rights): (&dyn Transaction, &Budget, Option<&RequestRights>),
    collection: &str,
    changes: &BatchChanges,
    range: Range<usize>,
    unique: UniqueCheck,
) -> Result<Result<Vec<Put>, PutFailure>> {
    let mut puts = Vec::with_capacity(range.len());
    let rights = rights.filter(|rights| rights.rules_in_force().is_some());
    for at in range.clone() {
        let made = match rights {
            None => changes.apply(transaction, budget, collection, at).await,
            Some(rights) => {
                let allowed = (budget, rights);
                apply_allowed(changes, transaction, allowed, collection, at).await
            }
        };
        match made {
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
            let mut written = range.start..=at;
            let is_of_document = |written: &usize| {
                let place = changes.place(*written);
                place.is_some_and(|place| *place.id == document.id)
            };
            let at = written.rfind(is_of_document).unwrap_or(at);
            let error = match rights {
                None => error,
                Some(_) => UniqueViolation::without_documents(),
            };
            return Ok(Err(PutFailure {
                at: Some(at),
                error,
            }));
        }
        // An engine may complete every call without waiting, so yield explicitly.
        pause().await;
    }
    let hidden = match rights {
        None => HashSet::new(),
        Some(rights) => {
            let required = required_documents(transaction, budget).await?;
            hidden_documents(transaction, (budget, rights), required).await?
        }
    };
    let settled = settle_references(transaction, budget, &hidden).await;
    let settled = match rights {
        None => settled,
        Some(_) => settled.map_err(ReferenceViolation::settling_failed),
    };
    let violation = match settled {
        Ok(None) => return Ok(Ok(puts)),
        Ok(Some(violation)) => violation,
        Err(error) if is_about_the_document(&error) => {
            return Ok(Err(PutFailure { at: None, error }));
        }
        Err(error) => return Err(error),
    };
    let ReferenceViolation { document, error } = violation;
    let error = match rights {
        None => error,
        Some(_) => ReferenceViolation::without_documents(error),
    };
    let mut written = range;
    let is_of_document = |written: &usize| {
        let place = changes.place(*written);
        place.is_some_and(|place| *place.id == document.id)
    };
    let at = written.rfind(is_of_document);
    Ok(Err(PutFailure { at, error }))
}

/// Whether another document of the same batch could still be stored.
fn is_about_the_document(error: &Error) -> bool {
    matches!(
        error.kind().for_clients(),
        ErrorKind::BadUserInput
            | ErrorKind::InvalidPath
            | ErrorKind::NotFound
            | ErrorKind::TooLarge
            | ErrorKind::AlreadyExists
            | ErrorKind::UniqueViolation
            | ErrorKind::ReferenceViolation
            | ErrorKind::TypeMismatch
            | ErrorKind::Forbidden
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::future::ready;

    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};

    use super::*;

    /// Documents of which some fail, in transactions that hold at most `fit` of them.
    async fn put(fails: &[bool], fit: usize, go_on: bool) -> (Vec<Result<Put>>, Vec<usize>) {
        let mut stored = Vec::new();
        let mut run = |range: Range<usize>| {
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
        let results = put_in_runs(fails.len(), go_on, |range, _| ready(run(range))).await;
        (results.expect("no error of the store"), stored)
    }

    #[tokio::test]
    async fn what_was_stored_earlier_has_its_earlier_results() {
        let mut random = StdRng::seed_from_u64(38);
        for _ in 0..2_000 {
            let count = random.random_range(0..12);
            let fails: Vec<bool> = (0..count).map(|_| random.random_ratio(1, 3)).collect();
            let (mut kept, mut stored) = (BTreeMap::<usize, usize>::new(), Vec::new());
            // Each time but the last ends after some transactions.
            for runs_max in [random.random_range(0..4), random.random_range(0..8), 100] {
                let mut runs = 0;
                let mut run = |range: Range<usize>| {
                    if let Some(end) = kept.get(&range.start) {
                        return Ok(Ok(vec![Put::Created; end - range.start]));
                    }
                    runs += 1;
                    if runs > runs_max {
                        return Err(Error::unavailable("the connection is cut", ""));
                    }
                    if let Some(at) = range.clone().find(|at| fails[*at]) {
                        let error = Error::bad_input(format!("{at} fails"));
                        let at = Some(at);
                        return Ok(Err(PutFailure { at, error }));
                    }
                    stored.extend(range.clone());
                    kept.insert(range.start, range.end);
                    Ok(Ok(vec![Put::Created; range.len()]))
                };
                let run = |range, _| ready(run(range));
                let Ok(results) = put_in_runs(count, true, run).await else {
                    continue;
                };
                let found: Vec<bool> = results.iter().map(Result::is_err).collect();
                assert_eq!(found, fails);
            }
            let good: Vec<usize> = (0..count).filter(|at| !fails[*at]).collect();
            assert_eq!(stored, good, "{fails:?}");
        }
    }

    #[tokio::test]
    async fn few_transactions_are_tried_in_vain() {
        for fit in [1, 7, 100, 999] {
            let mut runs = 0;
            let mut run = |range: Range<usize>| {
                runs += 1;
                if range.len() > fit {
                    let error = Error::bad_input("too large");
                    return Ok(Err(PutFailure { at: None, error }));
                }
                Ok(Ok(vec![Put::Created; range.len()]))
            };
            let results = put_in_runs(1_000, true, |range, _| ready(run(range))).await;
            assert!(
                results
                    .expect("no error of the store")
                    .iter()
                    .all(Result::is_ok)
            );
            assert!(runs <= 12 + 4 * 1_000 / fit, "{runs} for {fit}");
        }
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
