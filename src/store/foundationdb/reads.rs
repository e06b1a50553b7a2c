//! The reads of a cluster transaction, which include its own writes.

use std::sync::Arc;

use async_trait::async_trait;
use foundationdb::RangeOption;
use foundationdb::future::{FdbKeyValue, FdbValues};
use foundationdb::options::ConflictRangeType;
use futures::future::join_all;

use super::range;
use super::shared::Shared;
use super::span::{self, RangeSpan, Reach};
use crate::error::Result;
use crate::key::Version;
use crate::limits::CLUSTER_SPAN_RANGES_MAX;
use crate::store::{Batch, MultiRange, RangeRead, Read, key_after};

pub(super) struct Reads {
    shared: Arc<Shared>,
    /// Whether the reads add no read conflicts. The client calls them snapshot reads.
    snapshot: bool,
}

impl Reads {
    /// Reads that add read conflicts.
    pub(super) fn conflicting(shared: Arc<Shared>) -> Self {
        let snapshot = false;
        Self { shared, snapshot }
    }

    /// Reads without read conflicts.
    pub(super) fn free(shared: Arc<Shared>) -> Self {
        let snapshot = true;
        Self { shared, snapshot }
    }

    async fn values(&self, option: RangeOption<'_>, snapshot: bool) -> Result<FdbValues> {
        let (begin, end) = (option.begin.key(), option.end.key());
        self.shared.check_readable(begin, end)?;
        let values = self
            .shared
            .ask(|client| client.get_range(&option, 1, snapshot));
        values.await
    }

    /// Counts the read conflict that the client has added for a range that it read up to its end,
    /// or up to the key `last`.
    fn count(&self, begin: &[u8], end: &[u8], last: Option<&[u8]>) {
        if !self.snapshot {
            let last = last.map_or(0, |last| last.len() + 1);
            self.shared.count_conflict(begin.len(), end.len().max(last));
        }
    }

    /// Adds the read conflict for a batch that was read as part of a span. It is the same range
    /// that the client adds if it reads the range alone, in ascending order.
    fn depend_on(&self, range: &RangeRead<'_>, batch: &Batch) {
        if self.snapshot {
            return;
        }
        let full = batch.pairs.len() >= range.pairs_max;
        let end = match batch.pairs.last().filter(|_| full) {
            Some((last, _)) => key_after(last),
            None => range.end.to_vec(),
        };
        let kind = ConflictRangeType::Read;
        self.shared.add_conflict(range.begin, &end, kind);
    }
}

#[async_trait]
impl Read for Reads {
    async fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>> {
        self.shared.check_readable(key, &key_after(key))?;
        let value = self
            .shared
            .ask(|client| client.get(key, self.snapshot))
            .await?;
        self.count(key, &key_after(key), None);
        Ok(value.map(|value| value.to_vec()))
    }

    async fn range(&self, range: RangeRead<'_>) -> Result<Batch> {
        let Some(option) = range::option(&range) else {
            return Ok(Batch::default());
        };
        let values = self.values(option, self.snapshot).await?;
        let last = values.last().map(FdbKeyValue::key);
        self.count(range.begin, range.end, last);
        Ok(range::batch(&range, &values))
    }

    /// Reads few ranges one by one, which can save a round trip. With many ranges, each separate
    /// read costs more than the unneeded pairs of a span, because the client merges the
    /// transaction's own writes into each read.
    async fn ranges(&self, ranges: &[RangeRead<'_>]) -> MultiRange {
        let many = ranges.len() >= CLUSTER_SPAN_RANGES_MAX;
        let spans = if many {
            span::spans(ranges, Reach::Document)
        } else {
            Vec::new()
        };
        let ask = |span: &RangeSpan| self.values(span::option(&ranges[span.ranges.clone()]), true);
        let requested = join_all(spans.iter().map(ask));
        let mut found: Vec<Option<Batch>> = ranges.iter().map(|_| None).collect();
        for (span, values) in spans.iter().zip(requested.await) {
            // If a span fails, its ranges are read one by one and report the error.
            let Ok(values) = values else { continue };
            for at in span.ranges.clone() {
                found[at] = span::batch(&ranges[at], &values);
                if let Some(batch) = &found[at] {
                    self.depend_on(&ranges[at], batch);
                }
            }
        }
        let found = found.into_iter().zip(ranges).map(|(found, range)| async {
            match found {
                Some(batch) => Ok(batch),
                None => self.range(*range).await,
            }
        });
        let mut round = MultiRange::of(ranges.len());
        for batch in join_all(found).await {
            round.push(batch);
        }
        round
    }

    async fn version(&self) -> Result<Version> {
        let version = self
            .shared
            .ask(foundationdb::Transaction::get_read_version)
            .await?;
        Ok(Version::last_of_number(version.cast_unsigned()))
    }

    fn is_remote(&self) -> bool {
        true
    }

    async fn split_points(&self, begin: &[u8], end: &[u8]) -> Result<Vec<Vec<u8>>> {
        range::split_points(begin, end, |bytes| {
            self.shared
                .ask(move |client| client.get_range_split_points(begin, end, bytes))
        })
        .await
    }
}
