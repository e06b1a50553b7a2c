//! Operations on documents: each inside one transaction or snapshot of the store.

mod adjacent;
mod adopt;
mod bulk;
mod catalog;
mod check;
mod children;
pub mod copy;
mod cursor;
mod drop;
mod edit;
mod fetch;
mod format;
mod index;
mod names;
mod part;
mod path_candidates;
pub mod query;
mod range_plan;
mod read;
mod scan;
mod slice;
mod stored_response;
mod sweep;
mod write;

use std::sync::Arc;

use futures::future::{BoxFuture, join};
use tokio::time::{Instant, sleep};

pub use adjacent::AdjacentDocuments;
pub use adopt::{Adopted, adopt};
pub use bulk::{Bulk, Changes, bulk, bulk_documents};
pub use catalog::{Collection, collections};
pub use check::{Check, Finding, Severity, Summary};
pub use children::{Child, Children, ChildrenPage, children};
pub use drop::drop_collection;
pub use edit::{
    SetValue, delete, depend_on_version, increment, merge, patch, replace, version_before,
};
pub use format::{FORMAT, FORMAT_INDEXED, FORMAT_TOMBSTONES};
pub use index::{BuildStep, Builder, Index, IndexPath, State, create_index, drop_index, indexes};
pub use names::{is_there, names};
pub use part::Part;
pub use range_plan::{Extent, RangeSource, ReadPlan};
pub use read::{Answer, Asked, Loaded, Want, load, read_asked};
pub use scan::{Foreign, Scan, Scanned};
pub use slice::Slice;
pub use stored_response::{IdempotencyKey, StoredResponse, keep_answer, kept_answer};
pub use sweep::{Swept, sweep};
pub use write::{Existing, Put, insert, put};

use crate::budget::Budget;
use crate::document::id::DocumentId;
use crate::document::path::{Path, Place};
use crate::error::{Error, Result};
use crate::key::Family;
use crate::limits::{FORMAT_POLL_TIME, KEY_BYTES_MAX};
use crate::store::{
    Decision, MeteredRead, Observed, Operations, Read, Store, Transaction, TransactionResult,
    transact,
};
use format::LastFormat;

/// A database of documents in a store.
#[derive(Clone)]
pub struct Database {
    store: Arc<dyn Store>,
    format: LastFormat,
}

impl Database {
    /// Opens the database that a store holds, or makes one in an empty store.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the store cannot serve, or its format is one of a newer program.
    pub async fn open(store: Arc<dyn Store>, deadline: Instant) -> Result<Self> {
        let database = Self {
            store,
            format: LastFormat::default(),
        };
        let snapshot = database.snapshot().await?;
        if !format::check_format(&*snapshot).await? {
            let write = |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
                Box::pin(async move {
                    format::write_format(&*transaction)
                        .await
                        .map(Decision::Commit)
                })
            };
            database.transact(deadline, write).await?;
        }
        Ok(database)
    }

    /// Whether a store holds a database.
    ///
    /// # Errors
    /// As [`Database::open`].
    pub async fn is_in(store: &dyn Store) -> Result<bool> {
        format::check_format(&*store.snapshot().await?).await
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// The same database, of which what is asked of the store is counted.
    #[must_use]
    pub fn observed(&self, operations: Arc<Operations>) -> Self {
        Self {
            store: Arc::new(Observed::counting(self.store.clone(), operations)),
            format: self.format.clone(),
        }
    }

    /// Whether it serves.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the store does not serve, or another program has raised its format to one that
    /// this program does not know.
    pub async fn ready(&self) -> Result<()> {
        self.format.check()?;
        self.store.ready().await
    }

    /// Whether the format of the store was a known one when it was last read; costs no read.
    fn knows_format(&self) -> bool {
        self.format.check().is_ok()
    }

    /// Reads the format of the store again and again, so that reads are refused soon after another
    /// program has raised it to one that this program does not know, also if nothing is written.
    /// Never ends.
    pub async fn watch_format(&self) {
        loop {
            sleep(FORMAT_POLL_TIME).await;
            if let Ok(snapshot) = self.store.lazy_snapshot().await {
                // A store that cannot be read now is read again the next time.
                let _checked = self.format.check_stored(&*snapshot).await;
            }
        }
    }

    /// A snapshot to read from.
    ///
    /// # Errors
    /// `UNAVAILABLE`, `TIMEOUT`.
    pub async fn snapshot(&self) -> Result<Arc<dyn Read>> {
        self.format.check()?;
        self.store.snapshot().await
    }

    /// A snapshot that is taken no later than its first read, which is one wait less.
    ///
    /// # Errors
    /// `UNAVAILABLE`, `TIMEOUT`.
    pub async fn lazy_snapshot(&self) -> Result<Arc<dyn Read>> {
        self.format.check()?;
        self.store.lazy_snapshot().await
    }

    /// As [`Database::lazy_snapshot`], of which a budget counts what is read.
    ///
    /// # Errors
    /// `UNAVAILABLE`, `TIMEOUT`.
    pub async fn metered_snapshot(&self, budget: &Budget) -> Result<Arc<dyn Read>> {
        let snapshot = self.lazy_snapshot().await?;
        Ok(Arc::new(MeteredRead::new(snapshot, budget)))
    }

    /// Runs `body` in a transaction, again after a conflict. While it runs, the transaction reads the
    /// format of the store, so that it conflicts with one that raises it.
    ///
    /// # Errors
    /// As [`transact`]. `UNAVAILABLE`: the format is not one that this program knows.
    pub async fn transact<T: Send + 'static>(
        &self,
        deadline: Instant,
        mut body: impl FnMut(Arc<dyn Transaction>) -> BoxFuture<'static, Result<Decision<T>>> + Send,
    ) -> Result<TransactionResult<T>> {
        let checked = |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
            let outcome = body(transaction.clone());
            let format = self.format.clone();
            Box::pin(async move {
                // The format comes first: the body may write it.
                let stored = format.check_stored(&*transaction);
                let (stored, outcome) = join(stored, outcome).await;
                // What a body tells without a commit needs no format, unless it is an unknown one.
                format.check()?;
                if matches!(outcome, Ok(Decision::Commit(_))) {
                    stored?;
                }
                outcome
            })
        };
        transact(&*self.store, deadline, checked).await
    }
}

/// A document of a collection.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DocumentKey {
    /// Its collection.
    pub collection: String,
    /// Its id in the collection.
    pub id: DocumentId,
}

impl DocumentKey {
    /// The document `id` of `collection`.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the collection's name is empty. `TOO_LARGE`: the two make a key past the
    /// limit.
    pub fn new(collection: impl Into<String>, id: DocumentId) -> Result<Self> {
        let collection = collection.into();
        check_collection(&collection)?;
        let key = Self { collection, id };
        if !key.is_short() {
            // Its longest system key; what has room for that has room for the others.
            Family::Version(&key.collection, &key.id).key()?;
        }
        Ok(key)
    }

    /// Whether its keys are far from the limit, which most are: packed, a text takes at most twice
    /// its bytes and two more.
    fn is_short(&self) -> bool {
        let id = match &self.id {
            DocumentId::Integer(_) => size_of::<i64>(),
            DocumentId::Text(text) => text.len(),
        };
        self.collection.len() + id < KEY_BYTES_MAX / 4
    }

    /// Appends the key of the only place that a path may mean to others. None if a token is
    /// ambiguous.
    ///
    /// # Errors
    /// `TOO_LARGE`: it passes the limit on keys. Nothing is appended.
    fn append_only(&self, keys: &mut Vec<u8>, path: &Path) -> Option<Result<()>> {
        let place = path.segments()?;
        Some(Family::append_document(
            keys,
            &self.collection,
            &self.id,
            place,
        ))
    }

    /// The key of a place of this document.
    ///
    /// # Errors
    /// `TOO_LARGE`: it passes the limit on keys.
    pub fn place(&self, place: &Place) -> Result<Vec<u8>> {
        Family::Document(&self.collection, &self.id, place).key()
    }
}

/// Checks the name of a collection.
///
/// # Errors
/// `BAD_USER_INPUT`: it is empty.
pub fn check_collection(collection: &str) -> Result<()> {
    if collection.is_empty() {
        return Err(Error::bad_input("the collection's name is empty"));
    }
    Ok(())
}

/// The end of the range of keys that are `key` itself or stand below it.
fn end_of(key: &[u8]) -> Vec<u8> {
    [key, &[0xFF]].concat()
}
