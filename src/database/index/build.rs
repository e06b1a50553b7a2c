//! Index builds on existing documents, while the documents change.
//!
//! From the commit that defines an index, every change of a document maintains its entries. The
//! builder adds the entries of documents that existed before. It works in batches, in the order of
//! the document ids. Each batch is one transaction that reads its documents under conflict, sets
//! their entries and advances the stored build position.
//!
//! A lease decides which server builds an index. Each batch renews it. When it expires, another
//! server continues from the stored position. If no other process can open the store, leases of
//! other owners are ignored.
//!
//! # Large documents
//! A document that exceeds a batch is built alone, in several transactions. Each one resumes at a
//! child of the array or object that `[*]` iterates over. The stored position advances with the
//! last one. The child is not stored, so a new lease holder starts the document again and sets the
//! same entries a second time.
//!
//! The document may change between these transactions. Its entries are correct at the end, because:
//!
//! * If a change wrote a child after the index was defined, that change set the child's entry: a
//!   change sets the entries of all children that it touches, including renumbered ones.
//! * Any other child has kept its key all along, and the builder reads it when it reaches that key.
//! * A change clears an entry only if no child holds its value afterwards.
//! * The entry with the missing value is set by the first of these transactions if it has read no
//!   value. Each later transaction, and each change, that reads a value clears it.
//! * Each of these transactions reads the columns without `[*]`. A change of such a column touches
//!   all children.

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::time::{Instant, sleep};

use super::batch::{Adding, Alone, BatchBounds};
use super::build_progress::{BuildProgress, damaged};
use super::define::{clear_entries, define};
use super::definition::{Index, State, index_named};
use crate::budget::Budget;
use crate::database::document_key::DocumentKey;
use crate::database::open::Database;
use crate::database::open::lease::{LeaseHolder, seconds_from_now};
use crate::error::{Error, ErrorKind, Result};
use crate::key::Family;
use crate::limits::{
    INDEX_BATCH_BYTES_MAX, INDEX_BATCH_BYTES_MIN, INDEX_BATCH_DOCUMENTS_MAX, INDEX_LEASE_TIME,
    INDEX_POLL_TIME,
};
use crate::store::{Batches, Decision, RangeRead, Transaction, TransactionResult};

/// Builds the pending indexes of a store, one at a time.
pub struct Builder {
    database: Database,
    holder: LeaseHolder,
    /// Documents in the next batch. Lowered after a failed batch.
    documents: usize,
    bounds: BatchBounds,
    /// The document that is being built alone, and where its next batch begins.
    alone: Option<Alone>,
}

/// The result of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildStep {
    /// No index is pending, or other builders hold the leases.
    Nothing,
    /// This many more documents have all their entries in the index of this collection and name.
    Documents(String, String, usize),
    /// The index of this collection and name is ready.
    Ready(String, String),
    /// The index of this collection and name cannot be built, for this reason.
    Failed(String, String, String),
}

/// A pending index.
#[derive(Clone, Debug)]
struct Task {
    collection: String,
    number: u64,
    name: String,
    holder: LeaseHolder,
}

/// The result of a batch.
enum BatchEnd {
    /// Another builder has the lease, or the index was dropped.
    Left,
    Done {
        documents: usize,
        /// Documents to read concurrently in the next batch.
        at_once: usize,
        /// The document that the next batch continues.
        alone: Option<Alone>,
    },
    Ready,
    /// A document cannot be in the index.
    Unfit(Error),
}

impl Builder {
    /// Creates a builder of the indexes in `database`.
    pub fn new(database: Database) -> Self {
        Self {
            holder: LeaseHolder::of(&database),
            database,
            documents: INDEX_BATCH_DOCUMENTS_MAX,
            bounds: BatchBounds::DEFAULT,
            alone: None,
        }
    }

    /// Builds pending indexes, now and in the future. Never returns.
    pub fn run(self) -> BoxFuture<'static, ()> {
        Box::pin(self.build_always())
    }

    async fn build_always(mut self) {
        loop {
            match self.step().await {
                Ok(BuildStep::Nothing) => sleep(INDEX_POLL_TIME).await,
                Ok(BuildStep::Documents(..)) => tokio::task::yield_now().await,
                Ok(BuildStep::Ready(collection, index)) => {
                    tracing::info!(collection, index, "the index is built and ready");
                }
                // The reason can contain values of documents, so it is not logged.
                Ok(BuildStep::Failed(collection, index, _)) => tracing::warn!(
                    collection,
                    index,
                    "the index cannot be built; the field `error` of the index says why"
                ),
                Err(error) => {
                    if error.kind() != ErrorKind::Conflict {
                        tracing::warn!("an index build was interrupted: {error}");
                    }
                    sleep(INDEX_POLL_TIME).await;
                }
            }
        }
    }

    /// Builds until no index is left that this builder may build.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn finish(&mut self) -> Result<()> {
        while self.step().await? != BuildStep::Nothing {}
        Ok(())
    }

    /// Runs one batch.
    ///
    /// # Errors
    /// Errors of the store. The same step may succeed when it is repeated.
    pub fn step(&mut self) -> BoxFuture<'_, Result<BuildStep>> {
        Box::pin(self.next_batch())
    }

    async fn next_batch(&mut self) -> Result<BuildStep> {
        let Some(task) = self.next_task().await? else {
            return Ok(BuildStep::Nothing);
        };
        let batch = match self.batch(&task).await {
            Err(error) if is_about_size(&error) && self.lower() => {
                return Ok(BuildStep::Documents(task.collection, task.name, 0));
            }
            // The smallest possible batch exceeds a transaction.
            Err(error) if error.kind() == ErrorKind::TooLarge => BatchEnd::Unfit(error),
            batch => batch?,
        };
        Ok(match batch {
            BatchEnd::Left => BuildStep::Nothing,
            BatchEnd::Done {
                documents,
                at_once,
                alone,
            } => {
                self.documents = (self.documents * 2).min(INDEX_BATCH_DOCUMENTS_MAX);
                self.bounds.bytes = (self.bounds.bytes * 2).min(INDEX_BATCH_BYTES_MAX);
                self.bounds.at_once = at_once;
                self.alone = alone;
                BuildStep::Documents(task.collection, task.name, documents)
            }
            BatchEnd::Ready => BuildStep::Ready(task.collection, task.name),
            BatchEnd::Unfit(error) => {
                let reason = error.message().to_owned();
                self.fail(&task, &reason).await?;
                BuildStep::Failed(task.collection, task.name, reason)
            }
        })
    }

    /// Lowers the limits of the next batch. Returns false if they are at the minimum.
    fn lower(&mut self) -> bool {
        if self.documents == 1 && self.bounds.bytes <= INDEX_BATCH_BYTES_MIN {
            return false;
        }
        self.documents = (self.documents / 2).max(1);
        self.bounds.bytes = (self.bounds.bytes / 2).max(INDEX_BATCH_BYTES_MIN);
        self.bounds.at_once = 1;
        true
    }

    /// The first pending index that no other builder holds.
    async fn next_task(&self) -> Result<Option<Task>> {
        // The unknown format was logged once; do not log it at each poll.
        if !self.database.knows_format() {
            return Ok(None);
        }
        let snapshot = self.database.snapshot().await?;
        let (begin, end) = Family::builds();
        let mut batches = Batches::new(&*snapshot, begin, end);
        while let Some(pairs) = batches.next().await? {
            for (key, value) in pairs.iter() {
                let (collection, number) = Family::build_of(key).ok_or_else(|| damaged(key))?;
                let progress = BuildProgress::of_pair(key, value)?;
                if self.holder.may_go_on(&progress.owner, progress.expiry) {
                    return Ok(Some(Task {
                        collection,
                        number,
                        name: progress.name,
                        holder: self.holder,
                    }));
                }
            }
        }
        Ok(None)
    }

    async fn batch(&self, task: &Task) -> Result<BatchEnd> {
        let (documents, bounds) = (self.documents, self.bounds);
        let alone = self.alone.clone();
        let alone = alone.filter(|alone| task.is_of(alone));
        let task = task.clone();
        let body = move |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
            let (task, alone) = (task.clone(), alone.clone());
            Box::pin(async move {
                let batch = task.batch(&*transaction, documents, bounds, alone).await?;
                Ok(match batch {
                    BatchEnd::Unfit(_) | BatchEnd::Left => Decision::Abort(batch),
                    _ => Decision::Commit(batch),
                })
            })
        };
        let deadline = Instant::now() + INDEX_LEASE_TIME;
        self.database
            .transact(deadline, body)
            .await
            .map(TransactionResult::into_result)
    }

    /// Marks the index as failed, stores the reason and clears its entries.
    async fn fail(&self, task: &Task, reason: &str) -> Result<()> {
        let (task, reason) = (task.clone(), reason.to_owned());
        let body = move |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
            let (task, reason) = (task.clone(), reason.clone());
            Box::pin(async move {
                let Some(index) = task.index(&*transaction).await? else {
                    return Ok(Decision::Abort(()));
                };
                clear_entries(&*transaction, &task.collection, task.number).await?;
                let failed = Index {
                    state: State::Failed,
                    error: Some(reason),
                    ..index
                };
                define(&*transaction, &task.collection, &failed)?;
                Ok(Decision::Commit(()))
            })
        };
        let deadline = Instant::now() + INDEX_LEASE_TIME;
        self.database.transact(deadline, body).await.map(|_| ())
    }
}

impl Task {
    /// The definition of the index if it is still pending.
    async fn index(&self, transaction: &dyn Transaction) -> Result<Option<Index>> {
        let index = index_named(transaction, &self.collection, &self.name).await?;
        Ok(index.filter(|index| index.number == self.number && index.state == State::Building))
    }

    fn is_of(&self, alone: &Alone) -> bool {
        self.collection == alone.collection && self.number == alone.number
    }

    async fn batch(
        &self,
        transaction: &dyn Transaction,
        documents_max: usize,
        bounds: BatchBounds,
        alone: Option<Alone>,
    ) -> Result<BatchEnd> {
        let key = Family::Build(&self.collection, self.number).key()?;
        let Some(value) = transaction.get(&key).await? else {
            return Ok(BatchEnd::Left);
        };
        let mut progress = BuildProgress::of_pair(&key, &value)?;
        let owner = self.holder.owner();
        if !self.holder.may_go_on(&progress.owner, progress.expiry) {
            return Ok(BatchEnd::Left);
        }
        let Some(index) = self.index(transaction).await? else {
            transaction.clear(&key);
            return Ok(BatchEnd::Done {
                documents: 0,
                at_once: bounds.at_once,
                alone: None,
            });
        };
        let budget = Budget::of_background();
        let adding = Adding {
            transaction,
            budget: &budget,
            index: &index,
            bounds,
        };
        // Another builder may have passed this document, or built another one alone, while this
        // builder had no lease. An empty owner means a newer index with the same number, created
        // after this one was dropped.
        let alone =
            alone.filter(|alone| progress.owner == owner && alone.position > progress.position);
        let added = if let Some(alone) = alone {
            adding.alone(alone).await?
        } else {
            let position = &progress.position;
            let documents = self.documents(transaction, position, documents_max).await?;
            if documents.is_empty() {
                let ready = Index {
                    state: State::Ready,
                    ..index
                };
                define(transaction, &self.collection, &ready)?;
                transaction.clear(&key);
                return Ok(BatchEnd::Ready);
            }
            adding.documents(&self.collection, &documents).await?
        };
        let added = match added {
            Ok(added) => added,
            Err(error) => return Ok(BatchEnd::Unfit(error)),
        };
        owner.clone_into(&mut progress.owner);
        if let Some(position) = added.position {
            progress.position = position;
        }
        progress.documents = progress
            .documents
            .map(|documents| documents + added.documents as u64);
        progress.expiry = seconds_from_now(INDEX_LEASE_TIME);
        transaction.set(&key, &progress.encode());
        Ok(BatchEnd::Done {
            documents: added.documents,
            at_once: added.at_once,
            alone: added.alone,
        })
    }

    /// The next documents of the catalog, each with the position after it. Read without
    /// conflict: a transaction that enters a document also sets its entries.
    async fn documents(
        &self,
        transaction: &dyn Transaction,
        position: &[u8],
        documents_max: usize,
    ) -> Result<Vec<(Arc<DocumentKey>, Vec<u8>)>> {
        let (first, end) = Family::existences(&self.collection);
        let begin = match position {
            [] => first.clone(),
            position => [&first[..], position, &[0]].concat(),
        };
        let range = RangeRead::new(&begin, &end).at_most(documents_max);
        let found = transaction.without_conflict().range(range).await?.pairs;
        let documents = found.iter().filter_map(|(key, _)| {
            let id = Family::existing_id(key, &first)?;
            let document = DocumentKey::new(self.collection.clone(), id);
            let position = key[first.len()..].to_vec();
            Some(document.map(|document| (Arc::new(document), position)))
        });
        documents.collect()
    }
}

/// Whether a batch with fewer documents may avoid the error. A batch that may have been
/// committed can be repeated: its transaction reads how far the build is.
fn is_about_size(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::TooLarge | ErrorKind::Timeout | ErrorKind::OutcomeUnknown | ErrorKind::Conflict
    )
}
