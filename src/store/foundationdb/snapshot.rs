//! Reads at one version, without a transaction's bookkeeping.

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
use crate::limits::{CLUSTER_READ_TRIES_MAX, CLUSTER_SNAPSHOT_TIME_MAX};
use crate::store::{Batch, MultiRange, RangeRead, Read, key_after};

pub(super) struct Snapshot {
    // Dropped in this order: nothing outlives the cluster.
    ahead: Mutex<Option<Ahead>>,
    /// The answer to the question for the version, if it was asked ahead.
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

    /// Whether the cluster keeps it still.
    fn is_kept(self) -> bool {
        self.at.elapsed() <= CLUSTER_SNAPSHOT_TIME_MAX
    }
}

/// The batch behind the last one of a range, which is on its way before it is asked for.
struct Ahead {
    begin: Vec<u8>,
    end: Vec<u8>,
    reverse: bool,
    values: PendingRead<FdbValues>,
}

/// What the client was asked for, and is under way whether or not it is waited for.
type PendingRead<T> = Pin<Box<dyn Future<Output = FdbResult<T>> + Send>>;

impl Snapshot {
    pub(super) async fn take(cluster: Arc<Cluster>) -> FdbResult<Self> {
        let (transaction, version) = cluster.transaction().await?;
        Self::of(transaction, OnceCell::from(Taken::now(version)), cluster)
    }

    /// A snapshot whose version the cluster is asked for and nobody waits for: what the first read
    /// asks for is on its way meanwhile.
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
        // No other try is to come in this transaction, which would undo it.
        transaction.set_option(TransactionOption::ReadYourWritesDisable)?;
        Ok(Self {
            ahead: Mutex::new(None),
            version: Mutex::new(None),
            transaction,
            taken,
            cluster,
        })
    }

    /// The version, for which the cluster is asked once.
    async fn taken(&self) -> FdbResult<Taken> {
        let take = || async {
            let asked = self
                .version
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take();
            let asked = asked.unwrap_or_else(|| Box::pin(self.transaction.get_read_version()));
            let version = match asked.await {
                Ok(version) => version,
                // What is read in this transaction fails as well, and is read again in others.
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

    /// Reads, and reads again where the cluster could not answer for the moment.
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

    /// Reads at the same version in other transactions, since what the client does after an error
    /// would disturb the reads that are under way in this one.
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

    /// The first batch of a range, which was asked for and has come; if that failed, it is asked for
    /// again.
    async fn first_batch(&self, range: &RangeRead<'_>, batch: FdbResult<Batch>) -> Result<Batch> {
        match (batch, self.taken.get()) {
            (Ok(batch), Some(taken)) if taken.is_kept() => Ok(batch),
            _ => self.range(*range).await,
        }
    }

    /// The batch that was asked for ahead, if it is this one.
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

    /// Asks for the batch behind this one of a range that is read to its end.
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
            // Whatever it failed with, it is read anew.
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
        // All are on their way before one is waited for.
        let spans = self.cluster.prospects.spans(ranges);
        let asked_spans: Vec<_> = spans
            .iter()
            .map(|span| self.ask(&span::option(&ranges[span.clone()])))
            .collect();
        let ask = |range| range::option(range).map(|option| self.ask(&option));
        let alone = |(at, range)| (!span::covers(&spans, at)).then(|| ask(range)).flatten();
        let mut asked: Vec<_> = ranges.iter().enumerate().map(alone).collect();
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
            for at in span.clone() {
                let brings = |values| span::batch(&ranges[at], values);
                match values.as_ref().and_then(brings) {
                    Some(batch) => found[at] = Some(Ok(batch)),
                    None => asked[at] = ask(&ranges[at]),
                }
            }
            let found = found[span.clone()].iter().flatten().count();
            brought.add(&ranges[span], found);
        }
        self.cluster.prospects.learn(&brought);
        // The last one is waited for first, and then the first one: with one of them most others
        // have come. Waiting for each as it comes would have the client's thread wake this one as
        // often.
        let order = (0..ranges.len()).rev().take(1).chain(0..ranges.len());
        for at in order {
            if let Some(values) = asked[at].take() {
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
