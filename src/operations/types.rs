//! Types of collections.

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::time::Instant;

use crate::budget::{Budget, Steps};
use crate::database;
use crate::database::{Database, DefinedType, StoredType};
use crate::error::Result;
use crate::limits::IMPORT_BATCH_TIME_MAX;
use crate::store::{Decision, Transaction, TransactionResult};
use crate::types::CollectionType;

/// Gives a collection a type, or only says what it would mean for the stored documents.
///
/// # Errors
/// `BAD_USER_INPUT`: the schema is not a type. Errors of [`database::define_type`] and
/// [`database::simulate_type`].
pub async fn set_type(
    database: &Database,
    collection: &str,
    schema: &str,
    dry_run: bool,
) -> Result<DefinedType> {
    let budget = Budget::of_background();
    let parse = |steps: &Steps<'_>| CollectionType::parse(collection, schema, steps);
    let parsed = budget.compute(parse).await?;
    let body = |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
        let (parsed, budget) = (parsed.clone(), budget.clone());
        Box::pin(async move {
            Ok(if dry_run {
                let simulated = database::simulate_type(&*transaction, &budget, &parsed).await?;
                Decision::Abort(simulated)
            } else {
                let defined = database::define_type(&*transaction, &budget, &parsed).await?;
                Decision::Commit(defined)
            })
        })
    };
    let deadline = Instant::now() + IMPORT_BATCH_TIME_MAX;
    match database.transact(deadline, body).await? {
        TransactionResult::Committed(defined, _) | TransactionResult::Aborted(defined) => {
            Ok(defined)
        }
    }
}

/// Drops the type of a collection. Returns whether it had one.
///
/// # Errors
/// Errors of [`database::drop_type`].
pub async fn drop_type(database: &Database, collection: &str) -> Result<bool> {
    let body = |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
        let collection = collection.to_owned();
        Box::pin(async move {
            let dropped = database::drop_type(&*transaction, &collection).await?;
            Ok(if dropped {
                Decision::Commit(true)
            } else {
                Decision::Abort(false)
            })
        })
    };
    let deadline = Instant::now() + IMPORT_BATCH_TIME_MAX;
    match database.transact(deadline, body).await? {
        TransactionResult::Committed(dropped, _) | TransactionResult::Aborted(dropped) => {
            Ok(dropped)
        }
    }
}

/// The type of a collection, if it has one, or the types of all collections, in the order of their
/// names.
///
/// # Errors
/// Errors of [`database::stored_type`].
pub async fn types(database: &Database, collection: Option<&str>) -> Result<Vec<StoredType>> {
    let snapshot = database.snapshot().await?;
    let collections = match collection {
        Some(collection) => vec![collection.to_owned()],
        None => database::typed_collections(&*snapshot).await?,
    };
    let mut types = Vec::new();
    for collection in collections {
        types.extend(database::stored_type(&*snapshot, &collection).await?);
    }
    Ok(types)
}
