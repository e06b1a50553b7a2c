//! A store that forwards all calls and injects faults.

#![allow(dead_code, reason = "each program that has it uses a part")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use phyllo::error::{Error, ErrorKind, Result};
use phyllo::key::Version;
use phyllo::store::{
    Attachments, Batch, CommitError, MultiRange, RangeRead, Read, Store, StoreLimits, Transaction,
};

/// An injected fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Commits have no effect and fail with this kind.
    Commit(ErrorKind),
    /// The outcome of commits is unknown, and they take effect or not.
    CommitUnknown { takes_effect: bool },
    /// The outcome of every other commit, at random, is unknown, and half of these take effect.
    CommitUnknownAtRandom,
    /// Single reads fail with this kind.
    Get(ErrorKind),
    /// Transactions do not begin.
    BeginNever,
    /// The engine drops each snapshot after so many reads, as a cluster does after five seconds.
    SnapshotsEnd,
}

pub(crate) struct Injected {
    inner: Arc<dyn Store>,
    fault: Fault,
    remaining: Arc<AtomicUsize>,
}

impl Injected {
    /// Injects `fault` into the first `times` calls.
    pub(crate) fn new(inner: Arc<dyn Store>, fault: Fault, times: usize) -> Self {
        let remaining = Arc::new(AtomicUsize::new(times));
        Self {
            inner,
            fault,
            remaining,
        }
    }
}

fn strikes(remaining: &AtomicUsize) -> bool {
    let less = |times: usize| times.checked_sub(1);
    remaining
        .fetch_update(Ordering::SeqCst, Ordering::SeqCst, less)
        .is_ok()
}

#[async_trait]
impl Store for Injected {
    async fn snapshot(&self) -> Result<Arc<dyn Read>> {
        let inner = self.inner.snapshot().await?;
        if self.fault != Fault::SnapshotsEnd {
            return Ok(inner);
        }
        let reads = self.remaining.load(Ordering::SeqCst);
        Ok(Arc::new(InjectedSnapshot {
            inner,
            remaining: AtomicUsize::new(reads),
        }))
    }

    async fn begin(&self) -> Result<Arc<dyn Transaction>> {
        if self.fault == Fault::BeginNever && strikes(&self.remaining) {
            std::future::pending::<()>().await;
        }
        Ok(Arc::new(InjectedTransaction {
            inner: self.inner.begin().await?,
            fault: self.fault,
            remaining: self.remaining.clone(),
        }))
    }

    fn limits(&self) -> StoreLimits {
        self.inner.limits()
    }

    fn commits_can_end_unknown(&self) -> bool {
        let injected = matches!(
            self.fault,
            Fault::CommitUnknown { .. } | Fault::CommitUnknownAtRandom
        );
        injected || self.inner.commits_can_end_unknown()
    }

    fn is_exclusive(&self) -> bool {
        self.inner.is_exclusive()
    }

    async fn ready(&self) -> Result<()> {
        self.inner.ready().await
    }

    async fn failed(&self) -> Error {
        self.inner.failed().await
    }
}

/// A snapshot of which the engine serves some reads.
struct InjectedSnapshot {
    inner: Arc<dyn Read>,
    remaining: AtomicUsize,
}

impl InjectedSnapshot {
    fn serve(&self) -> Result<&dyn Read> {
        if strikes(&self.remaining) {
            return Ok(&*self.inner);
        }
        Err(Error::new(ErrorKind::Timeout, "injected"))
    }
}

#[async_trait]
impl Read for InjectedSnapshot {
    async fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.serve()?.get(key).await
    }

    async fn range(&self, range: RangeRead<'_>) -> Result<Batch> {
        self.serve()?.range(range).await
    }

    async fn version(&self) -> Result<Version> {
        self.inner.version().await
    }

    fn is_remote(&self) -> bool {
        self.inner.is_remote()
    }

    async fn split_points(&self, begin: &[u8], end: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.serve()?.split_points(begin, end).await
    }
}

struct InjectedTransaction {
    inner: Arc<dyn Transaction>,
    fault: Fault,
    remaining: Arc<AtomicUsize>,
}

impl InjectedTransaction {
    /// Commits or aborts, and returns an error that does not say which.
    async fn commit_unknown(&self, takes_effect: bool) -> Result<Version, CommitError> {
        if takes_effect {
            self.inner.commit().await?;
        } else {
            self.inner.abort().await?;
        }
        Err(CommitError::Unknown(Error::unavailable("injected", "")))
    }
}

#[async_trait]
impl Read for InjectedTransaction {
    async fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        match self.fault {
            Fault::Get(kind) if strikes(&self.remaining) => Err(Error::new(kind, "injected")),
            _ => self.inner.get(key).await,
        }
    }

    async fn range(&self, range: RangeRead<'_>) -> Result<Batch> {
        self.inner.range(range).await
    }

    async fn ranges(&self, ranges: &[RangeRead<'_>]) -> MultiRange {
        self.inner.ranges(ranges).await
    }

    async fn version(&self) -> Result<Version> {
        self.inner.version().await
    }

    fn is_remote(&self) -> bool {
        self.inner.is_remote()
    }
}

#[async_trait]
impl Transaction for InjectedTransaction {
    fn without_conflict(&self) -> &dyn Read {
        self.inner.without_conflict()
    }

    async fn read_ahead(&self, ranges: &[RangeRead<'_>]) {
        self.inner.read_ahead(ranges).await;
    }

    fn set(&self, key: &[u8], value: &[u8]) {
        self.inner.set(key, value);
    }

    fn clear(&self, key: &[u8]) {
        self.inner.clear(key);
    }

    fn clear_range(&self, begin: &[u8], end: &[u8]) {
        self.inner.clear_range(begin, end);
    }

    async fn advance_versions(&self, version: Version) -> Result<()> {
        self.inner.advance_versions(version).await
    }

    async fn clear_large_range(&self, begin: &[u8], end: &[u8]) -> Result<bool> {
        self.inner.clear_large_range(begin, end).await
    }

    fn add(&self, key: &[u8], by: i64) {
        self.inner.add(key, by);
    }

    fn set_versionstamped_value(&self, key: &[u8], value: &[u8], stamp_at: usize) {
        self.inner.set_versionstamped_value(key, value, stamp_at);
    }

    fn set_versionstamped_key(&self, key: &[u8], stamp_at: usize, value: &[u8]) {
        self.inner.set_versionstamped_key(key, stamp_at, value);
    }

    fn add_read_conflict(&self, begin: &[u8], end: &[u8]) {
        self.inner.add_read_conflict(begin, end);
    }

    fn add_write_conflict(&self, begin: &[u8], end: &[u8]) {
        self.inner.add_write_conflict(begin, end);
    }

    fn without_write_conflicts(&self, on: bool) {
        self.inner.without_write_conflicts(on);
    }

    async fn bytes(&self) -> Result<usize> {
        self.inner.bytes().await
    }

    fn is_read_only(&self) -> bool {
        self.inner.is_read_only()
    }

    fn attachments(&self) -> &Attachments {
        self.inner.attachments()
    }

    async fn commit(&self) -> Result<Version, CommitError> {
        match self.fault {
            Fault::Commit(kind) if strikes(&self.remaining) => {
                self.inner.abort().await?;
                Err(Error::new(kind, "injected").into())
            }
            Fault::CommitUnknown { takes_effect } if strikes(&self.remaining) => {
                self.commit_unknown(takes_effect).await
            }
            Fault::CommitUnknownAtRandom
                if rand::random() && !self.is_read_only() && strikes(&self.remaining) =>
            {
                self.commit_unknown(rand::random()).await
            }
            _ => self.inner.commit().await,
        }
    }

    async fn abort(&self) -> Result<()> {
        self.inner.abort().await
    }
}
