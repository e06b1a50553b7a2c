//! The metrics, with their names and help texts.

use std::sync::Arc;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Metric, Registry};

use super::longest_poll::LongestPoll;
use super::measured::MeasuredGauge;
use super::names::Names;

/// Per request, only the counters with name, outcome, route and status labels are looked up. The
/// other metrics are fields.
pub(crate) struct Registered {
    pub(crate) registry: Registry,
    pub(crate) names: Names,
    pub(crate) requests: Family<RequestLabels, Counter>,
    pub(crate) by_type: [ByType; TYPES.len()],
    pub(crate) store: [Counter; STORE_OPERATIONS.len()],
    pub(crate) store_bytes: Counter,
    pub(crate) conflicts: Counter,
    pub(crate) retries: Counter,
    pub(crate) parsed: Lookups,
    pub(crate) persisted: Lookups,
    pub(crate) responses: Family<ResponseLabels, Counter>,
    pub(crate) in_flight: Gauge,
    pub(crate) connections: Gauge,
    pub(crate) accepted: Counter,
    pub(crate) websockets: Gauge,
    pub(crate) subscriptions: Family<TransportLabel, Gauge>,
    pub(crate) stream_messages: Family<TransportLabel, Counter>,
    pub(crate) engine: EngineMetrics,
    pub(crate) changes: ChangesMetrics,
}

/// The metrics of following the change log.
#[derive(Clone)]
pub(crate) struct ChangesMetrics {
    pub(crate) commits: Counter,
    pub(crate) lag: Histogram,
    pub(crate) recent_bytes: Gauge,
    pub(crate) stored_bytes: MeasuredGauge,
}

/// The metrics of the embedded engine's log.
#[derive(Clone)]
pub(crate) struct EngineMetrics {
    pub(crate) log_bytes: Gauge,
    pub(crate) log_written: Counter,
    pub(crate) syncs: Histogram,
    pub(crate) checkpoints: Histogram,
    pub(crate) waits: Family<WaitLabel, Histogram>,
}

/// The types of requests. `export` and `upload` are streams of lines, and `none` labels requests that have no
/// operation.
pub(crate) const TYPES: [&str; 6] = [
    "query",
    "mutation",
    "subscription",
    "export",
    "upload",
    "none",
];
const STORE_OPERATIONS: [&str; 6] = ["transaction", "get", "range", "pair", "write", "commit"];

/// The metrics with a label for the request type.
pub(crate) struct ByType {
    pub(crate) seconds: Histogram,
    pub(crate) reads: Histogram,
    pub(crate) ranges: Histogram,
    pub(crate) bytes: Histogram,
}

/// Counters of cache hits and misses.
pub(crate) struct Lookups {
    pub(crate) hit: Counter,
    pub(crate) miss: Counter,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct RequestLabels {
    pub(crate) r#type: &'static str,
    pub(crate) operation: Arc<str>,
    pub(crate) outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct TypeLabel {
    r#type: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StoreLabel {
    operation: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct FoundLabel {
    result: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct ResponseLabels {
    pub(crate) route: &'static str,
    pub(crate) status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct TransportLabel {
    pub(crate) transport: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(crate) struct WaitLabel {
    pub(crate) place: &'static str,
}

impl Registered {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("phyllo");
        let version = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "The program", version);
        Self {
            names: Names::default(),
            requests: register(
                &mut registry,
                "requests",
                "GraphQL requests, counting each request of a batch, by type, operation name and \
                 outcome",
            ),
            by_type: ByType::register(&mut registry),
            store: register_store(&mut registry),
            store_bytes: register(
                &mut registry,
                "store_read_bytes",
                "Bytes that GraphQL requests read from the store",
            ),
            conflicts: register(
                &mut registry,
                "transaction_conflicts",
                "Commits of GraphQL requests that failed with a conflict",
            ),
            retries: register(
                &mut registry,
                "transaction_retries",
                "Retries of transactions of GraphQL requests",
            ),
            parsed: Lookups::register(
                &mut registry,
                "operation_cache",
                "Lookups in the cache of parsed and validated operations, by result",
            ),
            persisted: Lookups::register(
                &mut registry,
                "persisted_queries",
                "Lookups of persisted queries by hash, by result",
            ),
            responses: register(
                &mut registry,
                "http_responses",
                "HTTP responses by route and status",
            ),
            in_flight: register(
                &mut registry,
                "http_requests_in_flight",
                "HTTP requests in flight",
            ),
            connections: register(&mut registry, "connections", "Open connections"),
            accepted: register(
                &mut registry,
                "connections_accepted",
                "Accepted connections",
            ),
            websockets: register(&mut registry, "websockets", "Open WebSockets"),
            subscriptions: register(
                &mut registry,
                "subscriptions",
                "Open subscriptions, by transport",
            ),
            stream_messages: register(
                &mut registry,
                "stream_messages",
                "Responses sent on transports for subscriptions, also to queries and mutations",
            ),
            engine: EngineMetrics::register(&mut registry),
            changes: ChangesMetrics::register(&mut registry),
            registry: with_longest_poll(registry),
        }
    }
}

fn with_longest_poll(mut registry: Registry) -> Registry {
    registry.register_collector(Box::new(LongestPoll));
    registry
}

/// Registers a new metric.
fn register<M: Metric + Clone + Default>(registry: &mut Registry, name: &str, help: &str) -> M {
    let metric = M::default();
    registry.register(name, help, metric.clone());
    metric
}

fn register_store(registry: &mut Registry) -> [Counter; STORE_OPERATIONS.len()] {
    let family: Family<StoreLabel, Counter> = register(
        registry,
        "store_operations",
        "Store operations of GraphQL requests",
    );
    STORE_OPERATIONS.map(|operation| family.get_or_create_owned(&StoreLabel { operation }))
}

impl EngineMetrics {
    fn register(registry: &mut Registry) -> Self {
        let waits = Family::new_with_constructor(engine_seconds as fn() -> Histogram);
        let help = "Time for which a write transaction waited, by what it waited for";
        registry.register("write_wait_seconds", help, waits.clone());
        let mut seconds = |name, help| {
            let histogram = engine_seconds();
            registry.register(name, help, histogram.clone());
            histogram
        };
        Self {
            syncs: seconds(
                "log_sync_seconds",
                "Time to write and sync a group of transactions to the write-ahead log",
            ),
            checkpoints: seconds(
                "checkpoint_seconds",
                "Time of a checkpoint, which frees a part of the write-ahead log",
            ),
            waits,
            log_bytes: register(
                registry,
                "log_bytes",
                "Size of the files of the write-ahead log",
            ),
            log_written: register(
                registry,
                "log_written_bytes",
                "Bytes of transactions written to the write-ahead log",
            ),
        }
    }
}

/// A histogram of 0.1 ms to 15 s.
fn engine_seconds() -> Histogram {
    Histogram::new(exponential_buckets(0.000_1, 2.5, 14))
}

impl ChangesMetrics {
    fn register(registry: &mut Registry) -> Self {
        let lag = Histogram::new(exponential_buckets(0.001, 2.5, 12));
        let help = "Time from a commit until this server has read it for its subscribers";
        registry.register("changes_lag_seconds", help, lag.clone());
        Self {
            commits: register(
                registry,
                "changes_commits",
                "Commits of the change log that this server has read for its subscribers",
            ),
            recent_bytes: register(
                registry,
                "changes_recent_bytes",
                "Memory of the recent commits that this server keeps for its subscribers",
            ),
            stored_bytes: MeasuredGauge::register(
                registry,
                "changes_stored_bytes",
                "Bytes of the stored change log. On a cluster, an estimate",
            ),
            lag,
        }
    }
}

impl ByType {
    fn register(registry: &mut Registry) -> [Self; TYPES.len()] {
        let seconds = || Histogram::new(exponential_buckets(0.000_1, 2.5, 14));
        let counts = || Histogram::new(exponential_buckets(1.0, 4.0, 10));
        let bytes = || Histogram::new(exponential_buckets(64.0, 8.0, 8));
        let mut register = |name, help, new: fn() -> Histogram| {
            let family = Family::<TypeLabel, Histogram>::new_with_constructor(new);
            registry.register(name, help, family.clone());
            family
        };
        let families = [
            register(
                "request_seconds",
                "Execution time of a GraphQL request, without reading its body",
                seconds,
            ),
            register(
                "request_store_reads",
                "Reads of keys and ranges per GraphQL request",
                counts,
            ),
            register(
                "request_store_ranges",
                "Reads of ranges per GraphQL request",
                counts,
            ),
            register(
                "request_store_bytes",
                "Bytes read from the store per GraphQL request",
                bytes,
            ),
        ];
        TYPES.map(|ty| {
            let of = |family: &Family<_, _>| family.get_or_create_owned(&TypeLabel { r#type: ty });
            let [seconds, reads, ranges, bytes] = families.each_ref().map(of);
            Self {
                seconds,
                reads,
                ranges,
                bytes,
            }
        })
    }
}

impl Lookups {
    fn register(registry: &mut Registry, name: &str, help: &str) -> Self {
        let family: Family<FoundLabel, Counter> = register(registry, name, help);
        let found = |result| family.get_or_create_owned(&FoundLabel { result });
        Self {
            hit: found("hit"),
            miss: found("miss"),
        }
    }
}
