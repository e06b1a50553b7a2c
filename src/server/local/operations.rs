//! What commands do to a database, whether they hold it themselves or reach it through a server.

use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::time::Instant;

use crate::budget::Budget;
use crate::database;
use crate::database::{
    Adopted, Answer, Check, Collection, Database, DocumentKey, Existing, Extent, Part, Put, Scan,
    Swept, Want, load, put, sweep,
};
use crate::document::filter::Filter;
use crate::document::id::DocumentId;
use crate::document::path::Path;
use crate::error::{Error, ErrorKind, Result};
use crate::graphql::read_filter;
use crate::key::Leaves;
use crate::limits::IMPORT_BATCH_TIME_MAX;
use crate::store::{Backup, Decision, Transaction, TransactionResult};

/// A document on its way into the store.
#[derive(Clone, Debug)]
pub struct NewDocument {
    /// Its id.
    pub id: DocumentId,
    /// What it consists of; if its text was no document, why.
    pub leaves: Result<Leaves>,
}

/// What to do in cases of doubt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Where a document is stored already.
    pub existing: Existing,
    /// Whether documents behind one that fails are stored all the same.
    pub go_on: bool,
}

impl Policy {
    /// The two as they are written: `fail`, `skip` or `replace`, and `stop` or `continue`.
    pub fn names(self) -> (&'static str, &'static str) {
        let existing = match self.existing {
            Existing::Fail => "fail",
            Existing::Skip => "skip",
            Existing::Replace => "replace",
        };
        (existing, if self.go_on { "continue" } else { "stop" })
    }

    /// Reads what [`Policy::names`] wrote.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: it did not write that.
    pub fn parse(existing: &str, on_error: &str) -> Result<Self> {
        let all = [Existing::Fail, Existing::Skip, Existing::Replace]
            .into_iter()
            .flat_map(|existing| [true, false].map(|go_on| Self { existing, go_on }));
        all.into_iter()
            .find(|policy| policy.names() == (existing, on_error))
            .ok_or_else(|| Error::bad_input(format!("no policy: {existing:?}, {on_error:?}")))
    }
}

/// Stores documents in one transaction, and tells what became of each. One that cannot be stored
/// leaves no trace; where that is to end the batch, it is the last that is told about, those
/// before it are stored and those behind it are not.
///
/// # Errors
/// None of the batch is stored: what the store fails with.
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

/// `put` refuses a document before it writes anything of it.
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

/// Enters documents that another program stored, in one transaction: the batch from `begin` on.
///
/// # Errors
/// `BAD_USER_INPUT`: the collection's name is empty. As [`database::adopt`].
pub async fn adopt(
    database: &Database,
    collection: &str,
    begin: Option<Vec<u8>>,
) -> Result<Adopted> {
    database::check_collection(collection)?;
    let deadline = Instant::now() + IMPORT_BATCH_TIME_MAX;
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
    match database.transact(deadline, body).await? {
        TransactionResult::Committed(adopted, _) | TransactionResult::Aborted(adopted) => {
            Ok(adopted)
        }
    }
}

/// The JSON at a place of a document; none if nothing is stored there.
///
/// # Errors
/// As [`part`], and as [`Part::json`].
pub async fn get(
    database: &Database,
    document: DocumentKey,
    path: Path,
) -> Result<Option<Vec<u8>>> {
    let part = part(database, document, path).await?;
    part.map(|part| part.json()).transpose()
}

/// What is stored at a place of a document.
///
/// # Errors
/// As [`load`].
pub async fn part(database: &Database, document: DocumentKey, path: Path) -> Result<Option<Part>> {
    let snapshot = database.snapshot().await?;
    let want = Want::Part(Arc::new(document), path, Extent::Whole);
    let answers = load(&*snapshot, &[&want], &Budget::of_background().reserve()).await;
    Ok(match answers.into_iter().next().transpose()? {
        Some(Answer::Part(part)) => part,
        _ => None,
    })
}

/// All documents of a collection, from a snapshot taken now, and from later ones if the engine does
/// not keep it for so long.
///
/// # Errors
/// `BAD_USER_INPUT`: the collection's name is empty. What the store fails with.
pub async fn scan(database: &Database, collection: &str) -> Result<Scan> {
    database::check_collection(collection)?;
    Scan::over(database, collection).await
}

/// The collections that hold a document.
///
/// # Errors
/// What the store fails with.
pub async fn collections(database: &Database) -> Result<Vec<Collection>> {
    database::collections(&*database.snapshot().await?).await
}

/// All that is stored now, for a copy of the store.
///
/// # Errors
/// As [`Store::backup`](crate::store::Store::backup).
pub async fn backup(database: &Database) -> Result<Backup> {
    database.store().backup().await
}

/// A check of the store, or of one collection of it, at a snapshot taken now.
///
/// # Errors
/// `BAD_USER_INPUT`: the collection's name is empty. What the store fails with.
pub async fn check(database: &Database, collection: Option<&str>) -> Result<Check> {
    if let Some(collection) = collection {
        database::check_collection(collection)?;
    }
    Ok(Check::new(&database.snapshot().await?, collection))
}

/// What to delete.
#[derive(Clone, Debug)]
pub struct Deletion {
    /// The collection.
    pub collection: String,
    /// The filter that documents have to pass, as JSON.
    pub filter: String,
    /// Whether the filter may be one that every document passes.
    pub everything: bool,
}

/// Drops a collection. How many documents the catalog counted in it.
///
/// # Errors
/// As [`database::drop_collection`].
pub async fn drop_collection(database: &Database, collection: &str) -> Result<i64> {
    let body = |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
        let collection = collection.to_owned();
        Box::pin(async move {
            let dropped = database::drop_collection(&*transaction, &collection).await;
            dropped.map(Decision::Commit)
        })
    };
    let deadline = Instant::now() + IMPORT_BATCH_TIME_MAX;
    match database.transact(deadline, body).await? {
        TransactionResult::Committed(documents, _) | TransactionResult::Aborted(documents) => {
            Ok(documents)
        }
    }
}

/// Deletes the next documents of a collection that pass, behind `after`, in one transaction.
///
/// # Errors
/// `BAD_USER_INPUT`: the filter is none, or it is empty and not everything is meant. As [`sweep`].
pub async fn delete_portion(
    database: &Database,
    deletion: &Deletion,
    after: Option<DocumentId>,
    documents_max: usize,
) -> Result<Swept> {
    let filter = Arc::new(filter(deletion).await?);
    let body = |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
        let (collection, filter) = (deletion.collection.clone(), filter.clone());
        let after = after.clone();
        Box::pin(async move {
            let budget = Budget::of_background();
            let after = after.as_ref();
            let transaction = &*transaction;
            let swept = sweep(
                transaction,
                &budget,
                &collection,
                &filter,
                after,
                documents_max,
            );
            let swept = swept.await?;
            Ok(if swept.deleted > 0 {
                Decision::Commit(swept)
            } else {
                Decision::Abort(swept)
            })
        })
    };
    let deadline = Instant::now() + IMPORT_BATCH_TIME_MAX;
    match database.transact(deadline, body).await? {
        TransactionResult::Committed(swept, _) | TransactionResult::Aborted(swept) => Ok(swept),
    }
}

async fn filter(deletion: &Deletion) -> Result<Filter> {
    let filter = read_filter(&deletion.filter).await;
    let filter = filter.map_err(|error| error.at("the filter"))?;
    if filter.is_empty() && !deletion.everything {
        return Err(Error::bad_input(
            "the filter is empty, so every document passes it: give --everything if that is what \
             you want",
        ));
    }
    Ok(filter)
}

/// The names of the collections that are there, if `collection` is not.
///
/// # Errors
/// `BAD_USER_INPUT`: the collection's name is empty. What the store fails with.
pub async fn other_names(database: &Database, collection: &str) -> Result<Option<Vec<String>>> {
    database::check_collection(collection)?;
    let snapshot = database.snapshot().await?;
    if database::is_there(&*snapshot, collection).await? {
        return Ok(None);
    }
    database::names(&*snapshot).await.map(Some)
}
