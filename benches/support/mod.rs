//! Shared parts of the benchmarks: databases, load and ratios.
//!
//! Absolute speeds on a shared machine are not meaningful. Ratios of two things measured
//! alternately in one run are. Every benchmark prints ratios; quote the median.

#![allow(dead_code, reason = "each benchmark uses a part of it")]
#![allow(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

pub(crate) mod appends;
pub(crate) mod catch_up;
pub(crate) mod compared_reads;
pub(crate) mod counts;
pub(crate) mod load;
pub(crate) mod programs;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::MethodRouter;
use phyllo::budget::Budget;
use phyllo::database::{Database, DocumentKey, Existing, put};
use phyllo::document::id::DocumentId;
use phyllo::key::Leaves;
use phyllo::server::{Access, AccessOptions, ServeOptions, router, router_with, serve_connections};
use phyllo::store::{Decision, Embedded, EmbeddedOptions, Store};
use tokio::net::TcpListener;

/// The number of measurements of each pair.
pub(crate) const ROUNDS: usize = 7;
/// The duration of each measurement.
pub(crate) const TURN: Duration = Duration::from_millis(1500);
/// Any free port.
const PORT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);

/// The embedded engine in a directory.
pub(crate) fn store(directory: &Path) -> Arc<dyn Store> {
    let options = EmbeddedOptions::default();
    Arc::new(Embedded::open(directory, options, |_| {}).expect("an empty directory"))
}

/// A database in a directory.
pub(crate) async fn database(directory: &Path) -> Database {
    Database::open(store(directory), deadline())
        .await
        .expect("an empty store")
}

/// The router of a server.
pub(crate) fn application(database: Database) -> Router {
    router(database, &ServeOptions::on(PORT))
}

/// Like [`application`], with the access rules of a file.
pub(crate) fn application_under(database: Database, rules: &Path) -> Router {
    let access = AccessOptions {
        rules: Some(rules.to_owned()),
        ..AccessOptions::default()
    };
    let options = ServeOptions {
        access: Access::new(access).expect("valid rules"),
        ..ServeOptions::on(PORT)
    };
    router(database, &options)
}

/// Like [`application`], with additional routes behind the same middleware.
pub(crate) fn application_with(
    database: Database,
    more: impl IntoIterator<Item = (&'static str, MethodRouter)>,
) -> Router {
    router_with(database, &ServeOptions::on(PORT), more)
}

/// Serves a database on a free port for the lifetime of the runtime.
pub(crate) async fn serve(database: Database) -> SocketAddr {
    serve_application(application(database)).await
}

/// Like [`serve`], for a router with additional routes.
pub(crate) async fn serve_application(application: Router) -> SocketAddr {
    let listener = TcpListener::bind(PORT).await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(serve_connections(
        listener,
        application,
        std::future::pending(),
    ));
    address
}

/// A deadline that no benchmark reaches.
pub(crate) fn deadline() -> tokio::time::Instant {
    tokio::time::Instant::now() + Duration::from_secs(600)
}

/// Stores a document.
pub(crate) async fn store_document(database: &Database, id: i64, json: &str) {
    let leaves = Arc::new(Leaves::from_json(json).expect("valid JSON"));
    let document = DocumentKey::new("D", DocumentId::Integer(id)).expect("short");
    let stored = database.transact(deadline(), move |transaction| {
        let (leaves, document) = (leaves.clone(), document.clone());
        Box::pin(async move {
            put(
                &*transaction,
                &Budget::of_background(),
                &document,
                &leaves,
                Existing::Replace,
            )
            .await
            .map(Decision::Commit)
        })
    });
    stored.await.expect("stored");
}

/// Stores `count` documents with the same leaves in one transaction, with ids from `first` on.
pub(crate) async fn store_batch(
    database: &Database,
    first: usize,
    count: usize,
    leaves: Arc<Leaves>,
) {
    let stored = database.transact(deadline(), move |transaction| {
        let leaves = leaves.clone();
        Box::pin(async move {
            for id in first..first + count {
                let id = DocumentId::Text(format!("small-{id}"));
                let document = DocumentKey::new("D", id)?;
                put(
                    &*transaction,
                    &Budget::of_background(),
                    &document,
                    &leaves,
                    Existing::Replace,
                )
                .await?;
            }
            Ok(Decision::Commit(()))
        })
    });
    stored.await.expect("stored");
}

/// A document of `leaves` leaves: an object of records, each an object of four leaves.
pub(crate) fn document(leaves: usize) -> String {
    let record = |record: usize| {
        let (share, open) = (record % 100, record.is_multiple_of(2));
        format!(
            "\"record{record:07}\":{{\"name\":\"Name of {record}\",\"count\":{record},\
             \"share\":{share}.25,\"open\":{open}}}"
        )
    };
    let records: Vec<String> = (0..leaves / 4).map(record).collect();
    format!("{{{}}}", records.join(","))
}

/// The median, minimum and maximum.
pub(crate) fn median(mut figures: Vec<f64>) -> (f64, f64, f64) {
    figures.sort_by(f64::total_cmp);
    let last = figures.len() - 1;
    (figures[figures.len() / 2], figures[0], figures[last])
}

/// Prints one line: what was measured, its ratio, and its goal.
pub(crate) fn report(what: &str, figures: Vec<f64>, goal: &str, detail: &str) {
    let (median, least, greatest) = median(figures);
    println!("{what}: {median:.2} ({least:.2} to {greatest:.2}; goal {goal}) {detail}");
}

/// Measures two rates alternately, discards the first measurement of each, and prints the ratio of
/// the first to the second.
pub(crate) fn compare(
    what: &str,
    goal: &str,
    mut ours: impl FnMut() -> f64,
    mut theirs: impl FnMut() -> f64,
) {
    let (mut ratios, mut first, mut second) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let (a, b) = (ours(), theirs());
        if round > 0 {
            ratios.push(a / b);
            first.push(a);
            second.push(b);
        }
    }
    let (first, second) = (median(first).0, median(second).0);
    report(
        what,
        ratios,
        goal,
        &format!("[{first:.0}/s against {second:.0}/s]"),
    );
}

/// The duration of a future in seconds.
pub(crate) async fn seconds<T>(work: impl Future<Output = T>) -> (f64, T) {
    let begin = Instant::now();
    let result = work.await;
    (begin.elapsed().as_secs_f64(), result)
}
