//! Copies all documents of one store to another store of any engine.
//!
//! The copy transfers leaves and catalog entries, key by key. It does not transfer versions: a
//! versionstamp orders the commits of one cluster only, so the target assigns new ones. It does not
//! transfer stored responses and commit markers. It rebuilds indexes from the documents at the end,
//! because index entries contain index numbers of their own store. It sets types after that.
//!
//! A document's catalog entry is written in the same transaction as its last leaf. A document that
//! has an entry in the target is therefore complete, and an interrupted copy can resume.

pub(crate) mod batch;
pub(crate) mod digest;
pub(crate) mod overlap;
pub(crate) mod salvage;
pub(crate) mod walk;

use std::sync::Arc;

use batch::CopyReader;
pub use digest::Digest;
use futures::future::BoxFuture;
pub use overlap::check_target;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::bulk::type_checker::TypeChecker;
use super::catalog::collections::{Collection, collections};
use super::index::build::Builder;
use super::index::define::create_index;
use super::index::definition::{IndexPath, indexes};
use super::open::Database;
use super::types::define::{set_type, typed_collections};
use super::types::head::TypeHead;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::limits::{COPY_BATCHES_AT_ONCE, IMPORT_BATCH_TIME_MAX};
use crate::store::{Decision, Transaction};

/// The progress of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Documents copied, including those missing from the source's catalog.
    pub documents: u64,
    /// Documents that the target already had.
    pub skipped: u64,
    /// Leaves copied.
    pub leaves: u64,
    /// Bytes of the keys and values of those leaves.
    pub bytes: u64,
}

/// Copies what the target does not have yet. Call [`check_target`] first. Calls `progress` after
/// every batch.
///
/// # Errors
/// `ALREADY_EXISTS`: another client writes to the target. Errors of either store.
pub async fn copy(
    source: &Database,
    target: &Database,
    mut progress: impl FnMut(&Copied),
) -> Result<Copied> {
    let mut copied = Copied::default();
    let mut reader = CopyReader::over(source, target).await?;
    let mut writes = JoinSet::new();
    while let Some(batch) = reader.next().await? {
        let in_order = batch.in_order;
        let others_max = if in_order {
            0
        } else {
            COPY_BATCHES_AT_ONCE - 1
        };
        finish(&mut writes, others_max).await?;
        copied.documents += batch.documents;
        copied.skipped += batch.skipped;
        copied.leaves += batch.leaves;
        copied.bytes += batch.bytes as u64;
        writes.spawn(batch.write(target.clone()));
        if in_order {
            finish(&mut writes, 0).await?;
        }
        progress(&copied);
    }
    finish(&mut writes, 0).await?;
    copy_indexes(source, target).await?;
    copy_types(source, target).await?;
    Ok(copied)
}

/// Creates the source's indexes in the target and builds them.
async fn copy_indexes(source: &Database, target: &Database) -> Result<()> {
    let snapshot = source.snapshot().await?;
    for Collection { name, .. } in collections(&*snapshot).await? {
        for index in indexes(&*snapshot, &name).await? {
            let collection = name.clone();
            let body = move |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
                let (collection, index) = (collection.clone(), index.clone());
                Box::pin(async move {
                    let on: Vec<&str> = index.on.iter().map(IndexPath::text).collect();
                    let filter = index.filter.as_ref();
                    let filter = filter
                        .map(|filter| filter.filter().clone())
                        .unwrap_or_default();
                    let (name, unique) = (&index.name, index.unique);
                    create_index(&*transaction, &collection, name, &on, unique, filter)
                        .await
                        .map(Decision::Commit)
                })
            };
            let deadline = Instant::now() + IMPORT_BATCH_TIME_MAX;
            target.transact(deadline, body).await?;
        }
    }
    Builder::new(target.clone()).finish().await
}

/// Gives the target's collections the types of the source, except for those that have a type, and checks
/// the documents.
async fn copy_types(source: &Database, target: &Database) -> Result<()> {
    let snapshot = source.snapshot().await?;
    let budget = Budget::of_background();
    for collection in typed_collections(&*snapshot).await? {
        let Some(head) = TypeHead::read(&*snapshot, &collection).await? else {
            continue;
        };
        let types = source.types();
        let of = types.find(&*snapshot, &collection, &head).await?;
        let body = |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
            let (of, budget) = (of.clone(), budget.clone());
            Box::pin(async move {
                let stored = TypeHead::read(&*transaction, of.collection()).await?;
                if stored.is_none() {
                    set_type(&*transaction, &budget, &of).await?;
                }
                Ok(Decision::Commit(()))
            })
        };
        let deadline = Instant::now() + IMPORT_BATCH_TIME_MAX;
        target.transact(deadline, body).await?;
    }
    TypeChecker::new(target.clone()).finish().await
}

/// Waits until at most `under_way_max` writes are in progress.
async fn finish(writes: &mut JoinSet<Result<()>>, under_way_max: usize) -> Result<()> {
    while writes.len() > under_way_max {
        if let Some(ended) = writes.join_next().await {
            ended.map_err(|error| Error::internal(format!("a batch task failed: {error}")))??;
        }
    }
    Ok(())
}
