//! Reads at one version, without the conflict tracking of a transaction.
//!
//! A snapshot is a read-only client transaction with read-your-writes disabled. Three things make
//! it fast, and each complicates the errors:
//!
//! 1. **The version is requested, not awaited.** [`Snapshot::lazy`] requests the read version and
//!    returns. [`Snapshot::read`] passes the first read to the client and only then waits for the
//!    version, so the client can send the read as soon as it has the version. The version is kept
//!    in `taken`, with the time at which it arrived.
//! 2. **All ranges of a round are sent before any is awaited.** [`Snapshot::ranges`] reads near
//!    ranges as spans (`span.rs`) and all others alone. A range that its span did not reach is sent
//!    again by itself.
//! 3. **A range that is read to its end is read ahead.** After the second batch of an unlimited
//!    read, the next batch is requested before the caller asks for it ([`Snapshot::ask_ahead`]).
//!
//! Errors: the client would handle a retryable error by resetting the transaction, which cancels
//! all its other reads. So [`Snapshot::read_again`] repeats a failed read in a new transaction at
//! the same version. If the version itself could not be obtained, another transaction obtains it;
//! the reads of the first one then fail and are repeated too. A batch that fails in a round or
//! ahead of time is requested again by itself.
//!
//! A cluster serves a version for about five seconds. A read of an older snapshot fails with
//! `TIMEOUT` ([`Taken::is_kept`]).

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use async_trait::async_trait;
use foundationdb::future::FdbValues;
use foundationdb::options::TransactionOption;
use foundationdb::{FdbError, FdbResult, RangeOption, Transaction};
use tokio::sync::OnceCell;

use super::cluster::{Cluster, versioned};
use super::span::{self, FetchedSpans};
use super::{failure, range};
use crate::error::Result;
use crate::key::Version;
use crate::limits::{CLUSTER_READ_TRIES_MAX, CLUSTER_SNAPSHOT_TIME_MAX};
use crate::store::{Batch, MultiRange, RangeRead, Read, key_after};

pub(super) struct Snapshot {
    // Dropped in this order: nothing may outlive the cluster.
    ahead: Mutex<Option<Ahead>>,
    /// The pending read version of a lazy snapshot.
    version: Mutex<Option<PendingRead<i64>>>,
    transaction: Transaction,
    taken: OnceCell<Taken>,
    cluster: Arc<Cluster>,
}

#[derive(Clone, Copy)]
struct Taken {
    version: i64,
    at: Instant,
}

impl Taken {
    fn now(version: i64) -> Self {
        let at = Instant::now();
        Self { version, at }
    }

    /// Whether the cluster still serves this version.
    fn is_kept(self) -> bool {
        self.at.elapsed() <= CLUSTER_SNAPSHOT_TIME_MAX
    }
}

/// The next batch of a range, requested before the caller asks for it.
struct Ahead {
    begin: Vec<u8>,
    end: Vec<u8>,
    reverse: bool,
    values: PendingRead<FdbValues>,
}

/// A request to the client. It proceeds whether or not it is awaited.
type PendingRead<T> = Pin<Box<dyn Future<Output = FdbResult<T>> + Send>>;

impl Snapshot {
    pub(super) async fn take(cluster: Arc<Cluster>) -> FdbResult<Self> {
        let (transaction, version) = cluster.transaction().await?;
        Self::of(transaction, OnceCell::from(Taken::now(version)), cluster)
    }

    /// A snapshot whose read version is requested but not awaited, so that the first read is sent
    /// at the same time.
    pub(super) fn lazy(cluster: Arc<Cluster>) -> FdbResult<Self> {
        let mut lazy = Self::of(cluster.database.create_trx()?, OnceCell::new(), cluster)?;
        let version = Box::pin(lazy.transaction.get_read_version());
        lazy.version = Mutex::new(Some(version));
        Ok(lazy)
    }

    fn of(
        transaction: Transaction,
        taken: OnceCell<Taken>,
        cluster: Arc<Cluster>,
    ) -> FdbResult<Self> {
        // It is never retried in this transaction, which would reset the option.
        transaction.set_option(TransactionOption::ReadYourWritesDisable)?;
        Ok(Self {
            ahead: Mutex::new(None),
            version: Mutex::new(None),
            transaction,
            taken,
            cluster,
        })
    }

    /// The version, obtained once.
    async fn taken(&self) -> FdbResult<Taken> {
        let take = || async {
            let requested = self
                .version
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            let requested =
                requested.unwrap_or_else(|| Box::pin(self.transaction.get_read_version()));
            let version = match requested.await {
                Ok(version) => version,
                // The reads of this transaction fail too, and are repeated in another one.
                Err(error) => {
                    let other = self.cluster.database.create_trx()?;
                    let (_, version) = versioned(other.on_error(error).await?).await?;
                    version
                }
            };
            Ok(Taken::now(version))
        };
        self.taken.get_or_try_init(take).await.copied()
    }

    /// The cluster's estimate of the bytes of a range.
    pub(super) async fn estimated_bytes(&self, begin: &[u8], end: &[u8]) -> Result<i64> {
        self.read(|transaction| transaction.get_estimated_range_size_bytes(begin, end))
            .await
    }

    /// Reads, and repeats the read if the cluster could not answer it.
    async fn read<T, F: Future<Output = FdbResult<T>>>(
        &self,
        read: impl Fn(&Transaction) -> F,
    ) -> Result<T> {
        let found = read(&self.transaction);
        let taken = self.taken().await.map_err(failure::of_snapshot)?;
        if !taken.is_kept() {
            return Err(failure::too_old());
        }
        match found.await {
            Ok(found) => Ok(found),
            Err(error) if failure::is_passing(error) => {
                self.read_again(taken.version, error, read).await
            }
            Err(error) => Err(error),
        }
        .map_err(failure::of_snapshot)
    }

    /// Repeats a read at the same version in other transactions. The client's error handling would
    /// cancel other reads in this one.
    async fn read_again<T, F: Future<Output = FdbResult<T>>>(
        &self,
        version: i64,
        mut error: FdbError,
        read: impl Fn(&Transaction) -> F,
    ) -> FdbResult<T> {
        let mut transaction = self.cluster.database.create_trx()?;
        for _ in 0..CLUSTER_READ_TRIES_MAX {
            transaction = transaction.on_error(error).await?;
            transaction.set_option(TransactionOption::ReadYourWritesDisable)?;
            transaction.set_read_version(version);
            match read(&transaction).await {
                Err(again) if failure::is_passing(again) => error = again,
                done => return done,
            }
        }
        Err(error)
    }

    fn ask(
        &self,
        option: &RangeOption<'_>,
    ) -> impl Future<Output = FdbResult<FdbValues>> + Send + Sync + Unpin + use<> {
        self.transaction.get_range(option, 1, true)
    }

    /// The first batch of a range that was read in a round. If that failed, reads the range again.
    async fn first_batch(&self, range: &RangeRead<'_>, batch: FdbResult<Batch>) -> Result<Batch> {
        match (batch, self.taken.get()) {
            (Ok(batch), Some(taken)) if taken.is_kept() => Ok(batch),
            _ => self.range(*range).await,
        }
    }

    /// The batch that was read ahead, if it belongs to this read.
    fn taken_ahead(&self, range: &RangeRead<'_>) -> Option<Ahead> {
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        let is_this = |ahead: &mut Ahead| {
            range.pairs_max == usize::MAX
                && ahead.begin == range.begin
                && ahead.end == range.end
                && ahead.reverse == range.reverse
        };
        ahead.take_if(is_this)
    }

    /// Requests the next batch of a range that is read to its end.
    fn ask_ahead(&self, range: &RangeRead<'_>, batch: &Batch) {
        let Some((last, _)) = batch.pairs.last().filter(|_| batch.more && range.resumed) else {
            return;
        };
        if range.pairs_max != usize::MAX {
            return;
        }
        let (begin, end) = if range.reverse {
            (range.begin.to_vec(), last.to_vec())
        } else {
            (key_after(last), range.end.to_vec())
        };
        let next = RangeRead {
            begin: &begin,
            end: &end,
            ..*range
        };
        let Some(option) = range::option(&next) else {
            return;
        };
        let values = Box::pin(self.ask(&option));
        let next = Ahead {
            begin,
            end,
            reverse: range.reverse,
            values,
        };
        let mut ahead = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        *ahead = Some(next);
    }
}

#[async_trait]
impl Read for Snapshot {
    async fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let value = self.read(|transaction| transaction.get(key, true)).await?;
        Ok(value.map(|value| value.to_vec()))
    }

    async fn range(&self, range: RangeRead<'_>) -> Result<Batch> {
        let Some(option) = range::option(&range) else {
            return Ok(Batch::default());
        };
        let ahead = match self.taken_ahead(&range) {
            // If it failed, the batch is read again.
            Some(ahead) => ahead.values.await.ok(),
            None => None,
        };
        let values = match ahead {
            Some(values) => values,
            None => {
                self.read(|transaction| transaction.get_range(&option, 1, true))
                    .await?
            }
        };
        let batch = range::batch(&range, &values);
        self.ask_ahead(&range, &batch);
        Ok(batch)
    }

    async fn ranges(&self, ranges: &[RangeRead<'_>]) -> MultiRange {
        // All requests are sent before the first is awaited.
        let spans = self.cluster.prospects.spans(ranges);
        let asked_spans: Vec<_> = spans
            .iter()
            .map(|span| self.ask(&span::option(&ranges[span.ranges.clone()])))
            .collect();
        let ask = |range| range::option(range).map(|option| self.ask(&option));
        let alone = |(at, range)| (!span::covers(&spans, at)).then(|| ask(range)).flatten();
        let mut requested: Vec<_> = ranges.iter().enumerate().map(alone).collect();
        let mut round = MultiRange::of(ranges.len());
        if let Err(error) = self.taken().await {
            let error = failure::of_snapshot(error);
            for _ in ranges {
                round.push(Err(error.clone()));
            }
            return round;
        }
        let mut found: Vec<Option<FdbResult<Batch>>> = ranges.iter().map(|_| None).collect();
        let mut brought = FetchedSpans::default();
        for (span, values) in spans.into_iter().zip(asked_spans) {
            let values = values.await.ok();
            for at in span.ranges.clone() {
                let brings = |values| span::batch(&ranges[at], values);
                match values.as_ref().and_then(brings) {
                    Some(batch) => found[at] = Some(Ok(batch)),
                    None => requested[at] = ask(&ranges[at]),
                }
            }
            let found = found[span.ranges.clone()].iter().flatten().count();
            brought.add(&span, found);
        }
        self.cluster.prospects.learn(&brought);
        // Waits for the last range first and then for the others in order. By then most of them
        // have arrived. Waiting for each one as it arrives would wake this task once per range.
        let order = (0..ranges.len()).rev().take(1).chain(0..ranges.len());
        for at in order {
            if let Some(values) = requested[at].take() {
                let values = values.await;
                found[at] = Some(values.map(|values| range::batch(&ranges[at], &values)));
            }
        }
        for (found, range) in found.into_iter().zip(ranges) {
            round.push(match found {
                Some(batch) => self.first_batch(range, batch).await,
                None => Ok(Batch::default()),
            });
        }
        round
    }

    async fn version(&self) -> Result<Version> {
        let taken = self.taken().await.map_err(failure::of_snapshot)?;
        Ok(Version::last_of_number(taken.version.cast_unsigned()))
    }

    fn is_remote(&self) -> bool {
        true
    }

    async fn split_points(&self, begin: &[u8], end: &[u8]) -> Result<Vec<Vec<u8>>> {
        range::split_points(begin, end, |bytes| {
            self.read(move |transaction| transaction.get_range_split_points(begin, end, bytes))
        })
        .await
    }
}
