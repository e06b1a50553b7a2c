//! The counters of a server.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;

use super::registered::{
    ByType, Registered, RequestLabels, ResponseLabels, TYPES, TransportLabel, WaitLabel,
};
use crate::database::ChangesObserver;
use crate::graphql::RequestStats;
use crate::store::{EngineObserver, WriteWait};

/// The content type of `/metrics`.
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The metrics of a server since its start. Clones share them.
#[derive(Clone)]
pub struct Metrics(Arc<Registered>);

impl Default for Metrics {
    fn default() -> Self {
        Self(Arc::new(Registered::new()))
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

impl Metrics {
    /// All metrics as text.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &self.0.registry).expect("writing to a string cannot fail");
        text
    }

    /// Counts a GraphQL request that took the given time.
    pub(crate) fn count(&self, report: &RequestStats, took: Duration) {
        let this = &*self.0;
        let ty = report.ty.unwrap_or("none");
        this.requests
            .get_or_create(&RequestLabels {
                r#type: ty,
                operation: this.names.bounded(report.operation.as_deref()),
                outcome: outcome(report),
            })
            .inc();
        for (found, lookups) in [
            (report.parsed_before, &this.parsed),
            (report.found_by_id, &this.persisted),
        ] {
            match found {
                Some(true) => lookups.hit.inc(),
                Some(false) => lookups.miss.inc(),
                None => continue,
            };
        }
        if let Some(at) = TYPES.iter().position(|known| *known == ty) {
            let by_type = &this.by_type[at];
            by_type.seconds.observe(took.as_secs_f64());
            self.count_store(report, by_type, ty == "mutation");
        }
    }

    fn count_store(&self, report: &RequestStats, by_type: &ByType, writes: bool) {
        let this = &*self.0;
        let store = &report.store;
        let transactions = store.transactions.load(Relaxed);
        if transactions == 0 {
            return;
        }
        let (gets, ranges) = (store.gets.load(Relaxed), store.ranges.load(Relaxed));
        let counts = [
            transactions,
            gets,
            ranges,
            store.pairs.load(Relaxed),
            store.writes.load(Relaxed),
            store.commits.load(Relaxed),
        ];
        let bytes = store.bytes.load(Relaxed);
        let others = [
            (&this.store_bytes, bytes),
            (&this.conflicts, store.conflicts.load(Relaxed)),
            (&this.retries, if writes { transactions - 1 } else { 0 }),
        ];
        for (counter, count) in this.store.iter().zip(counts).chain(others) {
            // All threads share the counters, so one that is not written costs less.
            if count > 0 {
                counter.inc_by(count);
            }
        }
        for (histogram, count) in [
            (&by_type.reads, gets + ranges),
            (&by_type.ranges, ranges),
            (&by_type.bytes, bytes),
        ] {
            #[expect(clippy::cast_precision_loss, reason = "buckets are far apart")]
            histogram.observe(count as f64);
        }
    }

    /// Counts an HTTP response.
    pub(crate) fn responded(&self, route: &'static str, status: u16) {
        let labels = ResponseLabels { route, status };
        self.0.responses.get_or_create(&labels).inc();
    }

    /// Counts a request as in flight until the guard is dropped.
    pub(crate) fn request(&self) -> GaugeGuard {
        GaugeGuard::new(&self.0.in_flight)
    }

    /// Counts a subscription of a transport as open until the guard is dropped.
    pub(crate) fn subscription(&self, transport: &'static str) -> GaugeGuard {
        let label = TransportLabel { transport };
        GaugeGuard::new(&self.0.subscriptions.get_or_create(&label))
    }

    /// The counter of the responses that a transport sends.
    pub(crate) fn stream_messages(&self, transport: &'static str) -> Counter {
        let label = TransportLabel { transport };
        self.0.stream_messages.get_or_create_owned(&label)
    }

    /// Counts a WebSocket as open until the guard is dropped.
    pub(crate) fn websocket(&self) -> GaugeGuard {
        GaugeGuard::new(&self.0.websockets)
    }

    /// Counts a connection as open until the guard is dropped.
    pub(crate) fn connection(&self) -> GaugeGuard {
        self.0.accepted.inc();
        GaugeGuard::new(&self.0.connections)
    }
}

impl EngineObserver for Metrics {
    fn log_synced(&self, took: Duration, bytes: u64) {
        self.0.engine.syncs.observe(took.as_secs_f64());
        self.0.engine.log_written.inc_by(bytes);
    }

    fn checkpointed(&self, took: Duration) {
        self.0.engine.checkpoints.observe(took.as_secs_f64());
    }

    fn waited(&self, place: WriteWait, time: Duration) {
        let place = match place {
            WriteWait::Pace => "pace",
            WriteWait::Lock => "lock",
            WriteWait::Memory => "memory",
            WriteWait::Log => "log",
            WriteWait::Checkpoint => "checkpoint",
            WriteWait::Sync => "sync",
        };
        let waits = self.0.engine.waits.get_or_create(&WaitLabel { place });
        waits.observe(time.as_secs_f64());
    }

    fn log_resized(&self, bytes: u64) {
        self.0
            .engine
            .log_bytes
            .set(i64::try_from(bytes).unwrap_or(i64::MAX));
    }
}

impl ChangesObserver for Metrics {
    fn commits_read(&self, commits: usize, lag: Duration, recent_bytes: usize) {
        let changes = &self.0.changes;
        changes.commits.inc_by(commits as u64);
        changes.lag.observe(lag.as_secs_f64());
        let bytes = i64::try_from(recent_bytes).unwrap_or(i64::MAX);
        changes.recent_bytes.set(bytes);
    }

    fn log_measured(&self, bytes: u64) {
        self.0.changes.stored_bytes.set(bytes);
    }
}

/// Decrements its gauge when dropped.
pub(crate) struct GaugeGuard(Gauge);

impl GaugeGuard {
    fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// `ok`, or the code of the first error.
pub(crate) fn outcome(report: &RequestStats) -> &'static str {
    report.error.map_or("ok", crate::error::ErrorKind::code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[test]
    fn conflicts_and_retries_are_counted() {
        let metrics = Metrics::default();
        let report = RequestStats {
            ty: Some("mutation"),
            error: Some(ErrorKind::Conflict),
            ..RequestStats::default()
        };
        report.store.transactions.store(20, Relaxed);
        report.store.conflicts.store(20, Relaxed);
        metrics.count(&report, Duration::from_millis(3));
        let text = metrics.text();
        for line in [
            r#"phyllo_requests_total{type="mutation",operation="",outcome="CONFLICT"} 1"#,
            "phyllo_transaction_conflicts_total 20",
            "phyllo_transaction_retries_total 19",
            r#"phyllo_request_seconds_sum{type="mutation"} 0.003"#,
            r#"phyllo_request_store_reads_count{type="mutation"} 1"#,
            r#"phyllo_request_store_reads_count{type="query"} 0"#,
        ] {
            assert!(
                text.lines().any(|written| written == line),
                "{line} in {text}"
            );
        }
    }
}
