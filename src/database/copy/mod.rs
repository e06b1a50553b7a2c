//! All documents of one store copied to another, of whatever engine.
//!
//! Leaves and entries of the catalog are copied, key by key. Versions are stamped anew: a
//! versionstamp orders the commits of one cluster and says nothing in another. What is kept about
//! operations (answers, markers of commits) stays behind.
//!
//! The entries of indexes are made anew from the documents, when all of those are there: their
//! keys have numbers that are the target's own.
//!
//! A document's entry is written in one transaction with its last leaf, so what the target has
//! entered is there as a whole, and a copy that was interrupted can be taken up.

pub(crate) mod batch;
pub(crate) mod digest;
pub(crate) mod overlap;
pub(crate) mod walk;

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::catalog::collections::{Collection, collections};
use super::index::build::Builder;
use super::index::define::create_index;
use super::index::definition::{IndexPath, indexes};
use super::open::Database;
use crate::error::{Error, Result};
use crate::limits::{COPY_BATCHES_AT_ONCE, IMPORT_BATCH_TIME_MAX};
use crate::store::{Decision, Transaction};
use batch::CopyReader;
pub use digest::Digest;
pub use overlap::check_target;

/// How far a copy is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copied {
    /// Documents that were copied, those among them that the source's catalog does not know.
    pub documents: u64,
    /// Documents that were there.
    pub skipped: u64,
    /// Leaves that were copied.
    pub leaves: u64,
    /// Their bytes, of keys and values.
    pub bytes: u64,
}

/// Copies what the target does not have yet; [`check_target`] first. `progress` is told after
/// every batch.
///
/// # Errors
/// `ALREADY_EXISTS`: somebody else writes to the target. What a store fails with.
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
    Ok(copied)
}

/// Makes the source's indexes in the target and builds them.
async fn copy_indexes(source: &Database, target: &Database) -> Result<()> {
    let snapshot = source.snapshot().await?;
    for Collection { name, .. } in collections(&*snapshot).await? {
        for index in indexes(&*snapshot, &name).await? {
            let collection = name.clone();
            let body = move |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
                let (collection, index) = (collection.clone(), index.clone());
                Box::pin(async move {
                    let on: Vec<&str> = index.on.iter().map(IndexPath::text).collect();
                    create_index(&*transaction, &collection, &index.name, &on, index.unique)
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

/// Waits until no more than so many writes are under way.
async fn finish(writes: &mut JoinSet<Result<()>>, under_way_max: usize) -> Result<()> {
    while writes.len() > under_way_max {
        if let Some(ended) = writes.join_next().await {
            ended.map_err(|error| Error::internal(format!("a batch ended: {error}")))??;
        }
    }
    Ok(())
}
