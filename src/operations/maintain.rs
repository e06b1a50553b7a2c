//! Adopting, backing up and checking.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::transact::transact;
use crate::database;
use crate::database::{Adopted, Check, Database, change_log_of_backup};
use crate::error::Result;
use crate::store::{Backup, Decision, Transaction};

/// Adopts documents that another program stored, in one transaction: the batch from `begin` on.
///
/// # Errors
/// `BAD_USER_INPUT`: the collection's name is empty. Errors of [`database::adopt`].
pub async fn adopt(
    database: &Database,
    collection: &str,
    begin: Option<Vec<u8>>,
) -> Result<Adopted> {
    database::check_collection(collection)?;
    let body = |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
        let (collection, begin) = (collection.to_owned(), begin.clone());
        Box::pin(async move {
            let adopted = database::adopt(&*transaction, &collection, begin.as_deref()).await?;
            Ok(if adopted.entered > 0 {
                Decision::Commit(adopted)
            } else {
                Decision::Abort(adopted)
            })
        })
    };
    transact(database, body).await
}

/// Backs up everything that is stored now. Of the change log, the backup has the retention.
///
/// # Errors
/// Errors of [`Store::backup`](crate::store::Store::backup).
pub async fn backup(database: &Database) -> Result<Backup> {
    let backup = database.store().backup().await?;
    let log = change_log_of_backup(backup.snapshot()).await?;
    Ok(backup.with_log(log))
}

/// Checks the store, or one collection.
///
/// # Errors
/// `BAD_USER_INPUT`: the collection's name is empty. Errors of the store.
pub async fn check(database: &Database, collection: Option<&str>) -> Result<Check> {
    if let Some(collection) = collection {
        database::check_collection(collection)?;
    }
    // Rejects a format that this program does not know.
    database.snapshot().await?;
    Check::of_store(database.store().clone(), collection).await
}
