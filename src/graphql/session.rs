//! What one execution of an operation shares: its snapshot or transaction, its loader, and what
//! it has written.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_graphql::Context;
use async_graphql::dataloader::{DataLoader, Loader};
use tokio::sync::OnceCell;

use super::batch::{Loads, NoDelay};
use crate::database::{Answer, Database, DocumentKey, Want, load};
use crate::error::{Error, Result};
use crate::limits::RESPONSE_BYTES_MAX;
use crate::store::{Read, Transaction};

/// What one execution of an operation shares.
pub(super) struct Session {
    source: Source,
    loader: DataLoader<WantLoader>,
    written: Mutex<HashSet<Arc<DocumentKey>>>,
    carried: AtomicUsize,
}

#[derive(Clone)]
enum Source {
    /// A query: one snapshot, taken when the first read needs it.
    Snapshot(Database, Arc<OnceCell<Arc<dyn Read>>>),
    /// A mutation: one transaction.
    Transaction(Arc<dyn Transaction>),
}

impl Source {
    async fn read(&self) -> Result<Arc<dyn Read>> {
        match self {
            Self::Snapshot(database, snapshot) => {
                let snapshot = snapshot.get_or_try_init(|| database.snapshot()).await?;
                Ok(snapshot.clone())
            }
            Self::Transaction(transaction) => Ok(transaction.clone()),
        }
    }
}

impl Session {
    /// A session of a query operation.
    pub(super) fn query(database: &Database, loads: &Loads) -> Self {
        let source = Source::Snapshot(database.clone(), Arc::default());
        Self::new(source, loads)
    }

    /// A session of a mutation operation.
    pub(super) fn mutation(transaction: Arc<dyn Transaction>, loads: &Loads) -> Self {
        Self::new(Source::Transaction(transaction), loads)
    }

    fn new(source: Source, loads: &Loads) -> Self {
        let loader = WantLoader(source.clone());
        Self {
            source,
            loader: DataLoader::new(loader, loads.clone(), NoDelay).max_batch_size(usize::MAX),
            written: Mutex::default(),
            carried: AtomicUsize::default(),
        }
    }

    /// The session that a resolver belongs to.
    pub(super) fn of<'c>(context: &Context<'c>) -> &'c Self {
        context.data_unchecked::<Self>()
    }

    /// The snapshot or transaction.
    pub(super) async fn read(&self) -> Result<Arc<dyn Read>> {
        self.source.read().await
    }

    /// The transaction of a mutation.
    pub(super) fn transaction(&self) -> Result<&dyn Transaction> {
        match &self.source {
            Source::Transaction(transaction) => Ok(&**transaction),
            Source::Snapshot(..) => Err(Error::internal("a query asked for a transaction")),
        }
    }

    /// Loads all of these, in one round with what other resolvers ask for in the same turn.
    pub(super) async fn load(&self, wants: Vec<Want>) -> Result<HashMap<Want, Answer>> {
        self.loader.load_many(wants).await
    }

    /// Whether the response may carry so much JSON besides what it carries already.
    ///
    /// # Errors
    /// `TOO_LARGE`: names the limit.
    pub(super) fn carry(&self, bytes: usize) -> Result<()> {
        if self.carried.fetch_add(bytes, Ordering::Relaxed) + bytes <= RESPONSE_BYTES_MAX {
            return Ok(());
        }
        Err(Error::too_large(format!(
            "with this the response would carry more than {RESPONSE_BYTES_MAX} bytes of JSON, \
             which is the limit"
        )))
    }

    /// Notes that this operation has written a document.
    pub(super) fn wrote(&self, document: Arc<DocumentKey>) {
        self.written().insert(document);
    }

    /// Whether this operation has written a document.
    pub(super) fn has_written(&self, document: &DocumentKey) -> bool {
        self.written().contains(document)
    }

    fn written(&self) -> std::sync::MutexGuard<'_, HashSet<Arc<DocumentKey>>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct WantLoader(Source);

impl Loader<Want> for WantLoader {
    type Value = Answer;
    type Error = Error;

    async fn load(&self, wants: &[Want]) -> Result<HashMap<Want, Answer>> {
        let read = self.0.read().await?;
        load(&*read, wants).await
    }
}
