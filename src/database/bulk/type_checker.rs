//! The check of stored documents against the types of their collections, in the background.
//!
//! A check reads the documents of the catalog in the order of their ids, from snapshots, so it does not
//! conflict with writes. Writes are validated since the type was set, so a document that once fitted
//! fits for ever. A document that does not fit may have been corrected since it was read: the
//! transaction that records it depends on its version.

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::time::{Instant, sleep};

use super::typed_documents::{PortionBounds, PortionRead, ValidatedPortion, validate_portion};
use crate::budget::Budget;
use crate::database::edit::depend_on_version;
use crate::database::open::Database;
use crate::database::open::lease::{LeaseHolder, seconds_from_now};
use crate::database::read::load::version;
use crate::database::types::define::write_types_version;
use crate::database::types::head::{TypeCheckProgress, TypeHead, TypeState};
use crate::database::types::misfits::{misfits, write_misfits};
use crate::error::{ErrorKind, Result};
use crate::key::Family;
use crate::limits::{
    INDEX_LEASE_TIME, INDEX_POLL_TIME, TYPE_CHECK_BYTES_MAX, TYPE_CHECK_DOCUMENTS_MAX,
    TYPE_VIOLATIONS_MAX,
};
use crate::store::{Batches, Decision, Read, Transaction, TransactionResult};
use crate::types::CollectionType;

/// Checks the stored documents of collections whose types are new, one collection at a time.
pub struct TypeChecker {
    database: Database,
    holder: LeaseHolder,
    /// The only collection that it checks, if it is limited to one.
    only: Option<String>,
    /// Documents in the next portion. Lowered after a portion that changed while it was read.
    documents: usize,
}

/// The result of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeCheckStep {
    /// No type is being checked, or other checkers hold the leases.
    Nothing,
    /// This many more documents of this collection were checked.
    Documents(String, u64),
    /// The check of this collection has ended.
    Ended(String, TypeState),
}

/// A collection whose documents are checked.
struct CheckTask {
    of: CollectionType,
    head: TypeHead,
    progress: TypeCheckProgress,
}

impl TypeChecker {
    /// Creates a checker of the collections in `database`.
    pub fn new(database: Database) -> Self {
        Self {
            holder: LeaseHolder::of(&database),
            database,
            only: None,
            documents: TYPE_CHECK_DOCUMENTS_MAX,
        }
    }

    /// Creates a checker of one collection in `database`.
    pub fn of_collection(database: Database, collection: &str) -> Self {
        Self {
            only: Some(collection.to_owned()),
            ..Self::new(database)
        }
    }

    /// Checks collections, now and in the future. Never returns.
    // Boxed, as the other functions, so that other crates do not compile the future again.
    pub fn run(mut self) -> BoxFuture<'static, ()> {
        Box::pin(async move { self.check_always().await })
    }

    async fn check_always(&mut self) {
        let mut last_warning = String::new();
        loop {
            match self.checked_portion().await {
                Ok(TypeCheckStep::Nothing) => sleep(INDEX_POLL_TIME).await,
                Ok(TypeCheckStep::Documents(..)) => tokio::task::yield_now().await,
                Ok(TypeCheckStep::Ended(collection, TypeState::Failed)) => tracing::warn!(
                    collection,
                    "some documents do not fit the type of the collection; the field `violations` \
                     of the type has the places"
                ),
                Ok(TypeCheckStep::Ended(collection, _)) => {
                    tracing::info!(collection, "all documents fit the type of the collection");
                }
                Err(error) => {
                    // The same error, for example of a damaged type, is logged once.
                    let warning = error.to_string();
                    if error.kind() != ErrorKind::Conflict && warning != last_warning {
                        tracing::warn!("the check of a type was interrupted: {warning}");
                        last_warning = warning;
                    }
                    sleep(INDEX_POLL_TIME).await;
                }
            }
        }
    }

    /// Checks until no check is left that this checker may do. A document that was changed while it was
    /// read is read again.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn finish(&mut self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            loop {
                match self.checked_portion().await {
                    Ok(TypeCheckStep::Nothing) => return Ok(()),
                    Err(error) if error.kind() != ErrorKind::Conflict => return Err(error),
                    Err(_) => sleep(INDEX_POLL_TIME).await,
                    Ok(_) => {}
                }
            }
        })
    }

    /// Checks one portion of documents.
    ///
    /// # Errors
    /// `CONFLICT`: a document was changed while it was read. Errors of the store. The same step may succeed
    /// when it is repeated.
    pub fn step(&mut self) -> BoxFuture<'_, Result<TypeCheckStep>> {
        Box::pin(self.checked_portion())
    }

    async fn checked_portion(&mut self) -> Result<TypeCheckStep> {
        let Some(task) = self.next_task().await? else {
            return Ok(TypeCheckStep::Nothing);
        };
        let collection = task.of.collection().to_owned();
        let portion = self.portion(&task).await?;
        let documents = portion.documents as u64;
        let Some(state) = self.record(task, portion).await? else {
            // The type, or a document that does not fit, has changed meanwhile.
            self.documents = (self.documents / 2).max(1);
            return Ok(TypeCheckStep::Documents(collection, 0));
        };
        self.documents = (self.documents * 2).min(TYPE_CHECK_DOCUMENTS_MAX);
        if state == TypeState::Checking {
            return Ok(TypeCheckStep::Documents(collection, documents));
        }
        Ok(TypeCheckStep::Ended(collection, state))
    }

    /// The first check that no other checker holds, of a type that is not damaged.
    async fn next_task(&self) -> Result<Option<CheckTask>> {
        // The unknown format was logged once; do not log it at each poll.
        if !self.database.knows_format() {
            return Ok(None);
        }
        let snapshot = self.database.snapshot().await?;
        let (begin, end) = Family::type_checks();
        let mut batches = Batches::new(&*snapshot, begin, end);
        let mut failed = None;
        while let Some(pairs) = batches.next().await? {
            for (key, value) in pairs.iter() {
                match self.task(&*snapshot, key, value).await {
                    Ok(None) => {}
                    Ok(task) => return Ok(task),
                    Err(error) => failed = failed.or(Some(error)),
                }
            }
        }
        failed.map_or(Ok(None), Err)
    }

    /// The check with this key and progress, if no other checker holds it.
    async fn task(&self, read: &dyn Read, key: &[u8], value: &[u8]) -> Result<Option<CheckTask>> {
        let Some(collection) = Family::typed_collection(key) else {
            return Ok(None);
        };
        if self.only.as_ref().is_some_and(|only| *only != collection) {
            return Ok(None);
        }
        let progress = TypeCheckProgress::of_collection(&collection, value)?;
        if !self.holder.may_go_on(&progress.owner, progress.expiry) {
            return Ok(None);
        }
        let Some(head) = TypeHead::read(read, &collection).await? else {
            return Ok(None);
        };
        let types = self.database.types();
        let of = types.find(read, &collection, &head).await?;
        Ok(Some(CheckTask { of, head, progress }))
    }

    /// Validates the next documents. If the engine drops the snapshot, tries again with fewer.
    async fn portion(&mut self, task: &CheckTask) -> Result<ValidatedPortion> {
        let budget = Budget::of_background();
        let found = misfits(&*self.database.snapshot().await?, task.of.collection()).await?;
        loop {
            let bounds = PortionBounds {
                documents: self.documents,
                bytes: TYPE_CHECK_BYTES_MAX,
                misfits: TYPE_VIOLATIONS_MAX - found.len().min(TYPE_VIOLATIONS_MAX - 1),
            };
            let snapshot = self.database.snapshot().await?;
            let position = &task.progress.position;
            let read = PortionRead::renewed(&*snapshot, &self.database);
            let portion = validate_portion(read, &budget, &task.of, position, bounds).await;
            match portion {
                Err(error) if error.kind() == ErrorKind::Timeout && self.documents > 1 => {
                    self.documents = (self.documents / 2).max(1);
                }
                portion => return portion,
            }
        }
    }

    /// Records a portion, and the end of the check. Returns the state. None if the type, or a
    /// document that does not fit, has changed since it was read.
    async fn record(
        &self,
        task: CheckTask,
        portion: ValidatedPortion,
    ) -> Result<Option<TypeState>> {
        let (task, portion) = (Arc::new(task), Arc::new(portion));
        let owner = self.holder.owner().to_vec();
        let body = move |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
            let (task, portion, owner) = (task.clone(), portion.clone(), owner.clone());
            Box::pin(async move {
                let state = task.record(&*transaction, &portion, owner).await?;
                Ok(match state {
                    Some(_) => Decision::Commit(state),
                    None => Decision::Abort(state),
                })
            })
        };
        let deadline = Instant::now() + INDEX_LEASE_TIME;
        self.database
            .transact(deadline, body)
            .await
            .map(TransactionResult::into_result)
    }
}

impl CheckTask {
    async fn record(
        &self,
        transaction: &dyn Transaction,
        portion: &ValidatedPortion,
        owner: Vec<u8>,
    ) -> Result<Option<TypeState>> {
        let collection = self.of.collection();
        let stored = TypeCheckProgress::read(transaction, collection).await?;
        let head = TypeHead::read(transaction, collection).await?;
        if stored.as_ref() != Some(&self.progress) || head != Some(self.head) {
            return Ok(None);
        }
        for (document, read) in &portion.unfit {
            depend_on_version(transaction, document)?;
            if version(transaction.without_conflict(), document).await? != *read {
                return Ok(None);
            }
        }
        let mut found = misfits(transaction, collection).await?;
        let known = found.len();
        for misfit in &portion.misfits {
            if found.len() < TYPE_VIOLATIONS_MAX && !found.contains(misfit) {
                found.push(misfit.clone());
            }
        }
        write_misfits(transaction, collection, known, &found[known..])?;
        let is_full = found.len() >= TYPE_VIOLATIONS_MAX;
        if !portion.is_last && !is_full {
            let progress = TypeCheckProgress {
                owner,
                expiry: seconds_from_now(INDEX_LEASE_TIME),
                position: portion.position.clone(),
                documents: self.progress.documents + portion.documents as u64,
            };
            progress.write(transaction, collection)?;
            return Ok(Some(TypeState::Checking));
        }
        let state = if found.is_empty() {
            TypeState::Enforced
        } else {
            TypeState::Failed
        };
        TypeHead { state, ..self.head }.write(transaction, collection)?;
        transaction.clear(&Family::TypeCheck(collection).key()?);
        write_types_version(transaction)?;
        Ok(Some(state))
    }
}
