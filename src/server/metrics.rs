//! What the server counts, for Prometheus: `/metrics`, in the text format of OpenMetrics.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use prometheus_client::encoding::{EncodeLabelSet, text::encode};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use crate::graphql::Report;
use crate::limits::{METRICS_OPERATIONS_MAX, OPERATION_NAME_CHARACTERS_MAX};

/// The type of what `/metrics` answers.
pub(super) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What a server counts from its start on. Clones count together.
#[derive(Clone)]
pub struct Metrics(Arc<Inner>);

struct Inner {
    registry: Registry,
    names: Names,
    requests: Family<RequestLabels, Counter>,
    seconds: Family<TypeLabel, Histogram>,
    reads: Family<TypeLabel, Histogram>,
    ranges: Family<TypeLabel, Histogram>,
    bytes: Family<TypeLabel, Histogram>,
    store: Family<StoreLabel, Counter>,
    store_bytes: Counter,
    conflicts: Counter,
    retries: Counter,
    parsed: Family<FoundLabel, Counter>,
    persisted: Family<FoundLabel, Counter>,
    responses: Family<ResponseLabels, Counter>,
    in_flight: Gauge,
    connections: Gauge,
    accepted: Counter,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    r#type: &'static str,
    operation: Arc<str>,
    outcome: &'static str,
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
struct ResponseLabels {
    route: &'static str,
    status: u16,
}

impl Default for Metrics {
    fn default() -> Self {
        Self(Arc::new(Inner::new()))
    }
}

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Metrics")
    }
}

impl Metrics {
    /// All of it as text.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        encode(&mut text, &self.0.registry).expect("a string takes all");
        text
    }

    /// Counts a request that was answered in so much time.
    pub(super) fn count(&self, report: &Report, took: Duration) {
        let this = &*self.0;
        let ty = report.ty.unwrap_or("none");
        this.requests
            .get_or_create(&RequestLabels {
                r#type: ty,
                operation: this.names.bounded(report.operation.as_deref()),
                outcome: outcome(report),
            })
            .inc();
        let ty = TypeLabel { r#type: ty };
        this.seconds.get_or_create(&ty).observe(took.as_secs_f64());
        for (found, family) in [
            (report.parsed_before, &this.parsed),
            (report.found_by_hash, &this.persisted),
        ] {
            if let Some(found) = found {
                let result = if found { "hit" } else { "miss" };
                family.get_or_create(&FoundLabel { result }).inc();
            }
        }
        self.count_store(report, &ty);
    }

    fn count_store(&self, report: &Report, ty: &TypeLabel) {
        let this = &*self.0;
        let store = &report.store;
        let [
            transactions,
            gets,
            ranges,
            pairs,
            writes,
            commits,
            conflicts,
            bytes,
        ] = [
            &store.transactions,
            &store.gets,
            &store.ranges,
            &store.pairs,
            &store.writes,
            &store.commits,
            &store.conflicts,
            &store.bytes,
        ]
        .map(|count| count.load(Relaxed));
        if transactions == 0 {
            return;
        }
        for (operation, count) in [
            ("transaction", transactions),
            ("get", gets),
            ("range", ranges),
            ("pair", pairs),
            ("write", writes),
            ("commit", commits),
        ] {
            let label = StoreLabel { operation };
            this.store.get_or_create(&label).inc_by(count);
        }
        this.store_bytes.inc_by(bytes);
        this.conflicts.inc_by(conflicts);
        if ty.r#type == "mutation" {
            this.retries.inc_by(transactions - 1);
        }
        for (family, count) in [
            (&this.reads, gets + ranges),
            (&this.ranges, ranges),
            (&this.bytes, bytes),
        ] {
            #[expect(clippy::cast_precision_loss, reason = "buckets are far apart")]
            family.get_or_create(ty).observe(count as f64);
        }
    }

    /// Counts a response of a route.
    pub(super) fn responded(&self, route: &'static str, status: u16) {
        let labels = ResponseLabels { route, status };
        self.0.responses.get_or_create(&labels).inc();
    }

    /// Counts a request as one that is being answered, until it is dropped.
    pub(super) fn request(&self) -> Counted {
        Counted::new(&self.0.in_flight)
    }

    /// Counts a connection, until it is dropped as one that is open.
    pub(super) fn connection(&self) -> Counted {
        self.0.accepted.inc();
        Counted::new(&self.0.connections)
    }
}

/// Something that is counted for as long as it is there.
pub(super) struct Counted(Gauge);

impl Counted {
    fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// `ok`, or the code of the first error.
pub(super) fn outcome(report: &Report) -> &'static str {
    report.error.map_or("ok", crate::error::ErrorKind::code)
}

impl Inner {
    fn new() -> Self {
        let seconds = || Histogram::new(exponential_buckets(0.000_1, 2.5, 14));
        let counts = || Histogram::new(exponential_buckets(1.0, 4.0, 10));
        let bytes = || Histogram::new(exponential_buckets(64.0, 8.0, 8));
        let mut this = Self {
            registry: Registry::with_prefix("phyllo"),
            names: Names::default(),
            requests: Family::default(),
            seconds: Family::new_with_constructor(seconds),
            reads: Family::new_with_constructor(counts),
            ranges: Family::new_with_constructor(counts),
            bytes: Family::new_with_constructor(bytes),
            store: Family::default(),
            store_bytes: Counter::default(),
            conflicts: Counter::default(),
            retries: Counter::default(),
            parsed: Family::default(),
            persisted: Family::default(),
            responses: Family::default(),
            in_flight: Gauge::default(),
            connections: Gauge::default(),
            accepted: Counter::default(),
        };
        this.register_requests();
        this.register_store();
        this.register_connections();
        this
    }

    fn register_requests(&mut self) {
        let registry = &mut self.registry;
        let version = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "The program", version);
        registry.register(
            "requests",
            "GraphQL requests, each of a batch by itself, by type, operation name and outcome",
            self.requests.clone(),
        );
        registry.register(
            "request_seconds",
            "Time to execute a GraphQL request, once it is read",
            self.seconds.clone(),
        );
        registry.register(
            "operation_cache",
            "Requests by whether their text was found parsed and validated",
            self.parsed.clone(),
        );
        registry.register(
            "persisted_queries",
            "Requests by the hash of a text alone, by whether the text was found",
            self.persisted.clone(),
        );
    }

    fn register_store(&mut self) {
        let registry = &mut self.registry;
        for (name, help, histogram) in [
            (
                "request_store_reads",
                "Reads of keys and ranges",
                &self.reads,
            ),
            ("request_store_ranges", "Reads of ranges", &self.ranges),
            (
                "request_store_bytes",
                "Bytes read from the store",
                &self.bytes,
            ),
        ] {
            let help = format!("{help} that a GraphQL request came to");
            registry.register(name, help, histogram.clone());
        }
        registry.register(
            "store_operations",
            "What GraphQL requests asked of the store",
            self.store.clone(),
        );
        for (name, help, counter) in [
            (
                "store_read_bytes",
                "Bytes that GraphQL requests read",
                &self.store_bytes,
            ),
            (
                "transaction_conflicts",
                "Commits of GraphQL requests that were refused because of a conflict",
                &self.conflicts,
            ),
            (
                "transaction_retries",
                "Tries of transactions of GraphQL requests behind the first",
                &self.retries,
            ),
        ] {
            registry.register(name, help, counter.clone());
        }
    }

    fn register_connections(&mut self) {
        let registry = &mut self.registry;
        registry.register(
            "http_responses",
            "Responses by route and status",
            self.responses.clone(),
        );
        registry.register(
            "http_requests_in_flight",
            "Requests that are being answered",
            self.in_flight.clone(),
        );
        registry.register(
            "connections",
            "Connections that are open",
            self.connections.clone(),
        );
        registry.register(
            "connections_accepted",
            "Connections that were accepted",
            self.accepted.clone(),
        );
    }
}

/// The names of operations that are told apart: the first ones that come, so that clients cannot
/// make the server count without bound.
#[derive(Default)]
struct Names(RwLock<HashSet<Arc<str>>>);

impl Names {
    /// The name itself, or `other`; empty for an operation without a name.
    fn bounded(&self, name: Option<&str>) -> Arc<str> {
        let name = abridged(name.unwrap_or_default());
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(name) {
            return known.clone();
        }
        let full = known.len() >= METRICS_OPERATIONS_MAX;
        drop(known);
        if full {
            return "other".into();
        }
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let name: Arc<str> = name.into();
        known.insert(name.clone());
        name
    }
}

/// The beginning of an operation's name, which is ASCII.
pub(super) fn abridged(name: &str) -> &str {
    name.get(..OPERATION_NAME_CHARACTERS_MAX).unwrap_or(name)
}
