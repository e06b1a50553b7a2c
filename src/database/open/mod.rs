//! A database in a store: its format, its snapshots and its transactions.

mod collection_types;
pub(crate) mod lease;
pub(crate) mod unfinished_write;
pub(crate) mod unique_values;

use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, join};
use tokio::time::{Instant, sleep};

use self::unfinished_write::check_finished;
use self::unique_values::unique_violation;
use super::changes::expire::expire;
use super::changes::feed::{ChangeFeed, ChangesObserver};
use super::changes::recorder::ChangeRecorder;
use super::changes::settings::{ChangeSettings, set_retention};
use super::changes::size::LogSize;
use super::changes::write_commit_entry::write_entry;
use super::format;
use super::format::LastFormat;
use super::types::pending_references::check_settled;
use super::types::type_cache::TypeCache;
use crate::budget::Budget;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{CHANGES_EXPIRY_TIME, FORMAT_POLL_TIME};
use crate::store::{
    Decision, MeteredRead, Observed, Operations, Read, Store, Transaction, TransactionResult,
    transact,
};

/// A database of documents in a store.
#[derive(Clone)]
pub struct Database {
    store: Arc<dyn Store>,
    format: LastFormat,
    changes: ChangeFeed,
    types: TypeCache,
    is_new: bool,
}

impl Database {
    /// Opens the database in a store. Creates it without a change log if the store is empty.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the store is not available, or a newer program raised its format.
    pub fn open(store: Arc<dyn Store>, deadline: Instant) -> BoxFuture<'static, Result<Self>> {
        Self::open_or_create(store, Duration::ZERO, deadline)
    }

    /// Opens the database in a store. If the store is empty and not open for reading only, creates a database whose change log
    /// keeps entries for `retention`, in whole seconds. Zero means that the log is off. The setting
    /// of an existing database stays as it is.
    ///
    /// # Errors
    /// As [`Database::open`].
    pub fn open_or_create(
        store: Arc<dyn Store>,
        retention: Duration,
        deadline: Instant,
    ) -> BoxFuture<'static, Result<Self>> {
        Box::pin(Self::opened(store, retention, deadline))
    }

    async fn opened(store: Arc<dyn Store>, retention: Duration, deadline: Instant) -> Result<Self> {
        let mut database = Self {
            changes: ChangeFeed::new(store.clone()),
            store,
            format: LastFormat::default(),
            types: TypeCache::default(),
            is_new: false,
        };
        let snapshot = database.snapshot().await?;
        let has_format = database.format.check_stored(&*snapshot).await?;
        if database.store.is_read_only() {
            return Ok(database);
        }
        let lacks_log = database.store.lacks_log();
        if lacks_log || !has_format {
            database.is_new = database.initialize(retention, deadline).await?;
        }
        if lacks_log {
            database.store.enable_log().await?;
        }
        if database.is_new {
            // So that the first transaction knows of the change log.
            let snapshot = database.store.snapshot().await?;
            database.format.check_stored(&*snapshot).await?;
        }
        Ok(database)
    }

    /// Writes the format of a new store and the retention of its change log. The format of a store
    /// whose engine keeps a write-ahead log makes older programs reject it before there is a log.
    /// Returns whether the store is new.
    async fn initialize(&self, retention: Duration, deadline: Instant) -> Result<bool> {
        let lacks_log = self.store.lacks_log();
        let write = |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
            Box::pin(async move {
                // Another process may have created the database meanwhile.
                let is_new = !format::check_format(&*transaction).await?;
                if lacks_log {
                    format::write_log_format(&*transaction).await?;
                } else {
                    format::write_format(&*transaction).await?;
                }
                if is_new {
                    set_retention(&*transaction, retention).await?;
                }
                Ok(Decision::Commit(is_new))
            })
        };
        self.transact(deadline, write)
            .await
            .map(TransactionResult::into_result)
    }

    /// Whether [`Database::open_or_create`] has created the database.
    pub fn is_new(&self) -> bool {
        self.is_new
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

    /// The same database with the operations on its store counted in `operations`.
    #[must_use]
    pub fn observed(&self, operations: Arc<Operations>) -> Self {
        Self {
            store: Arc::new(Observed::counting(self.store.clone(), operations)),
            format: self.format.clone(),
            changes: self.changes.clone(),
            types: self.types.clone(),
            is_new: self.is_new,
        }
    }

    /// Checks that the database can serve queries.
    ///
    /// # Errors
    /// As [`Database::ready`].
    pub async fn ready_to_read(&self) -> Result<()> {
        self.format.check()?;
        self.store.snapshot().await?.version().await.map(drop)
    }

    /// Checks that the database can serve queries and mutations.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the store is not available, or another program raised its format to one that
    /// this program does not know.
    pub async fn ready(&self) -> Result<()> {
        self.format.check()?;
        self.store.ready().await
    }

    /// Whether the format was known when it was last read. Costs no read.
    pub(crate) fn knows_format(&self) -> bool {
        self.format.check().is_ok()
    }

    /// The parsed types of this process.
    pub(crate) fn types(&self) -> &TypeCache {
        &self.types
    }

    /// The changes of documents, for subscribers.
    pub(crate) fn changes(&self) -> &ChangeFeed {
        &self.changes
    }

    /// Reports how this process follows the change log to an observer. Only the first one is used.
    pub fn observe_changes(&self, observer: Arc<dyn ChangesObserver>) {
        self.changes.observe(observer);
    }

    /// Ends all subscriptions of this process with an error.
    pub fn stop_following(&self) {
        self.changes.stop();
    }

    /// Sets the time for which the change log keeps entries, in whole seconds. Zero switches it off.
    ///
    /// # Errors
    /// As [`Database::transact`].
    pub fn set_change_retention(
        &self,
        deadline: Instant,
        retention: Duration,
    ) -> BoxFuture<'_, Result<()>> {
        Box::pin(self.change_retention(deadline, retention))
    }

    async fn change_retention(&self, deadline: Instant, retention: Duration) -> Result<()> {
        let stored = self.change_settings().await?;
        if stored.is_some_and(|stored| stored.retention.as_secs() == retention.as_secs()) {
            // A store on a full disk cannot begin a transaction.
            return Ok(());
        }
        let write = |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
            Box::pin(async move {
                set_retention(&*transaction, retention)
                    .await
                    .map(Decision::Commit)
            })
        };
        self.transact(deadline, write).await.map(|_| ())
    }

    /// The settings of the change log. `None` if they were never set.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn change_settings(&self) -> Result<Option<ChangeSettings>> {
        ChangeSettings::read(&*self.snapshot().await?).await
    }

    /// Measures the change log periodically for the observer of this process, and removes expired
    /// entries if `expires`. Never returns.
    pub async fn maintain_changes(&self, expires: bool) {
        let mut size = LogSize::default();
        loop {
            // If the store cannot be used now, the next iteration tries again.
            match self.measure_changes(&mut size).await {
                Ok(Some(bytes)) => self.changes.measured(bytes),
                Ok(None) => {}
                Err(error) => tracing::debug!("the change log cannot be measured: {error}"),
            }
            sleep(CHANGES_EXPIRY_TIME).await;
            if expires {
                let _removed = self.expire_changes(&mut size).await;
            }
        }
    }

    /// The bytes of the stored change log now, keys included: on the embedded engine exactly, on a
    /// cluster its estimate. `None` if the engine has no estimate. `size` is that of the last call.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn measure_changes(&self, size: &mut LogSize) -> Result<Option<u64>> {
        if !self.format.may_log_changes() {
            return Ok(Some(0));
        }
        size.measure(&*self.store).await
    }

    /// Removes all expired entries of the change log, and subtracts them from `size`.
    ///
    /// # Errors
    /// As [`Database::transact`].
    pub fn expire_changes<'a>(&'a self, size: &'a mut LogSize) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.expire(size))
    }

    async fn expire(&self, size: &mut LogSize) -> Result<()> {
        while self.format.may_log_changes() {
            let deadline = Instant::now() + CHANGES_EXPIRY_TIME;
            let write = |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
                Box::pin(async move { expire(&*transaction).await.map(Decision::Commit) })
            };
            let outcome = self.transact(deadline, write).await?;
            let TransactionResult::Committed(expired, _) = outcome else {
                break;
            };
            if let Some(horizon) = expired.horizon {
                size.remove(horizon, expired.bytes);
            }
            if !expired.more {
                break;
            }
        }
        Ok(())
    }

    /// Reads the format periodically, every [`FORMAT_POLL_TIME`], so that reads are soon rejected
    /// after another program raises it to an unknown one, even if nothing is written. Never
    /// returns.
    pub async fn watch_format(&self) {
        loop {
            sleep(FORMAT_POLL_TIME).await;
            if let Ok(snapshot) = self.store.lazy_snapshot().await {
                // If the store cannot be read now, the next iteration tries again.
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

    /// A snapshot that is taken at its first read at the latest, which saves one round
    /// trip.
    ///
    /// # Errors
    /// `UNAVAILABLE`, `TIMEOUT`.
    pub async fn lazy_snapshot(&self) -> Result<Arc<dyn Read>> {
        self.format.check()?;
        self.store.lazy_snapshot().await
    }

    /// As [`Database::lazy_snapshot`]. The budget counts what is read.
    ///
    /// # Errors
    /// `UNAVAILABLE`, `TIMEOUT`.
    pub async fn metered_snapshot(&self, budget: &Budget) -> Result<Arc<dyn Read>> {
        let snapshot = self.lazy_snapshot().await?;
        Ok(Arc::new(MeteredRead::new(snapshot, budget)))
    }

    /// Runs `body` in a transaction and retries it after a conflict. The transaction also reads the
    /// format of the store, so that it conflicts with a transaction that raises it.
    ///
    /// # Errors
    /// As [`transact`]. `UNAVAILABLE`: this program does not know the format.
    pub async fn transact<T: Send + 'static>(
        &self,
        deadline: Instant,
        mut body: impl FnMut(Arc<dyn Transaction>) -> BoxFuture<'static, Result<Decision<T>>> + Send,
    ) -> Result<TransactionResult<T>> {
        let checked = |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
            let logs_changes = self.format.may_log_changes();
            if logs_changes {
                ChangeRecorder::start(&*transaction);
            }
            self.types.attach(&*transaction);
            let outcome = body(transaction.clone());
            let (format, store) = (self.format.clone(), self.store.clone());
            Box::pin(async move {
                // Reads the format before the body can write it.
                let begun = begin(&format, &transaction, logs_changes);
                let ((stored, settings), outcome) = join(begun, outcome).await;
                // A body that does not commit needs no stored format, but the format must not be
                // unknown.
                format.check()?;
                if matches!(outcome, Ok(Decision::Commit(_))) {
                    stored?;
                    if format.may_log_changes() && !logs_changes {
                        let message = "the change log was switched on";
                        return Err(Error::new(ErrorKind::Conflict, message));
                    }
                    finish(&store, &transaction, settings).await?;
                }
                outcome
            })
        };
        transact(&*self.store, deadline, checked).await
    }
}

/// What a transaction reads before its body can write: whether the format is known, and the settings
/// of the change log if it is on.
type Begun = (Result<bool>, Result<Option<ChangeSettings>>);

/// Begins a transaction. The future is boxed, like that of [`finish`], so that it is compiled once
/// and not for each body.
fn begin(
    format: &LastFormat,
    transaction: &Arc<dyn Transaction>,
    logs_changes: bool,
) -> BoxFuture<'static, Begun> {
    let (format, transaction) = (format.clone(), transaction.clone());
    Box::pin(async move {
        let settings = async {
            if logs_changes {
                ChangeSettings::read(&*transaction).await
            } else {
                Ok(None)
            }
        };
        join(format.check_stored(&*transaction), settings).await
    })
}

/// Finishes what the body of a transaction wrote: checks it, and writes the entry of the change log.
fn finish(
    store: &Arc<dyn Store>,
    transaction: &Arc<dyn Transaction>,
    settings: Result<Option<ChangeSettings>>,
) -> BoxFuture<'static, Result<()>> {
    let (store, transaction) = (store.clone(), transaction.clone());
    Box::pin(async move {
        check_finished(&*transaction)?;
        check_settled(&*transaction)?;
        if let Some(violation) = unique_violation(&*transaction).await? {
            return Err(violation.error);
        }
        let changes = ChangeRecorder::finish(&*transaction);
        let is_on = settings?.is_some_and(|settings| settings.is_on());
        if let Some(changes) = changes.filter(|_| is_on) {
            write_entry(&*store, &*transaction, changes).await?;
        }
        Ok(())
    })
}
