//! A database in a store: its format, its snapshots and its transactions.

use super::format;
use super::format::LastFormat;
use crate::budget::Budget;
use crate::error::Result;
use crate::limits::FORMAT_POLL_TIME;
use crate::store::{
    Decision, MeteredRead, Observed, Operations, Read, Store, Transaction, TransactionResult,
    transact,
};
use futures::future::{BoxFuture, join};
use std::sync::Arc;
use tokio::time::{Instant, sleep};

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
    pub(crate) fn knows_format(&self) -> bool {
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
