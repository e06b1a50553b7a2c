//! The cost of GraphQL: reads of all sizes compared with the same HTTP stack that returns the same
//! bytes without GraphQL, entities in one request compared with separate requests, and latency
//! below full load.
//!
//! Responses are not cached.
//!
//! `cargo bench --bench front -- one` (`middle`, `large`, `entities`) runs only one of the
//! benchmarks.

#![expect(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

mod support;

/// The same allocator as in the server.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use axum::body::Bytes;
use axum::routing::{MethodRouter, post};
use phyllo::database::{Database, DocumentKey};
use phyllo::document::id::DocumentId;
use phyllo::document::path::Place;
use phyllo::store::Batches;
use support::load::{answer, graphql, latencies, post as post_request, rate};
use support::{
    TURN, application, application_with, compare, database, document, median, serve_application,
    store_document,
};
use tokio::runtime::Runtime;

const CONNECTIONS: usize = 32;
const MIDDLE: i64 = 40;
const LARGE: i64 = 10_000;
const ENTITIES: i64 = 1_000;

fn main() {
    let runtime = Runtime::new().expect("a runtime");
    let directory = tempfile::tempdir().expect("a directory");
    let database = runtime.block_on(filled(directory.path()));
    let asked = [
        ("1 leaf", one_leaf(), "/one", "at least 0.50"),
        ("40 leaves", whole(MIDDLE), "/middle", "at least 0.45"),
        ("10,000 leaves", whole(LARGE), "/large", "at least 0.50"),
    ];
    let plain = runtime.block_on(serve_application(application(database.clone())));
    let constants = asked.each_ref().map(|(_, request, path, _)| {
        let answer = runtime.block_on(answer(plain, request));
        (*path, constant(answer))
    });
    let application = application_with(database.clone(), constants);
    let address = runtime.block_on(serve_application(application));
    let only = std::env::args().skip(1).find(|name| !name.starts_with('-'));
    let wanted = |name: &str| only.as_ref().is_none_or(|only| only == name);
    let asked = asked.iter().filter(|(_, _, path, _)| wanted(&path[1..]));
    let asked: Vec<_> = asked.collect();
    let read = |request: &[u8]| rate(address, request, CONNECTIONS, TURN);
    for (what, request, path, goal) in &asked {
        let constant = post_request(path, "{\"query\":\"{ constant }\"}");
        compare(
            &format!("{what}, against the same bytes without GraphQL"),
            goal,
            || read(request),
            || read(&constant),
        );
    }
    if wanted("large") {
        compare(
            "10,000 leaves, against what the engine scans of them with all cores",
            "at least 0.50",
            || read(&whole(LARGE)),
            || scans(&runtime, &database),
        );
    }
    if wanted("entities") {
        let entities = entities();
        compare(
            "1,000 entities of one leaf in one request, against 1,000 requests",
            "at least 20.00",
            || read(&entities) * ENTITIES as f64,
            || read(&one_entity()),
        );
    }
    for (what, request, _, _) in &asked {
        below_full_load(address, what, request);
    }
}

/// How many times per second the engine can scan all pairs of the large document on the server's
/// threads, without processing them.
fn scans(runtime: &Runtime, database: &Database) -> f64 {
    let document = DocumentKey::new("D", DocumentId::Integer(LARGE)).expect("short");
    let begin = document.place(&Place::default()).expect("short");
    let end = [&begin[..], &[0xFF]].concat();
    let done = Arc::new(AtomicU64::new(0));
    let begun = Instant::now();
    let tasks = (0..CONNECTIONS).map(|_| {
        let (database, done) = (database.clone(), done.clone());
        let (begin, end) = (begin.clone(), end.clone());
        runtime.spawn(async move {
            while begun.elapsed() < TURN {
                let read = database.snapshot().await.expect("a snapshot");
                let mut batches = Batches::new(&*read, begin.clone(), end.clone());
                let mut pairs = 0;
                while let Some(batch) = batches.next().await.expect("it can be read") {
                    pairs += std::hint::black_box(batch).len();
                }
                assert_eq!(i64::try_from(pairs), Ok(LARGE));
                done.fetch_add(1, Relaxed);
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        runtime.block_on(task).expect("it read");
    }
    done.load(Relaxed) as f64 / begun.elapsed().as_secs_f64()
}

/// Prints the latency of requests at half of the maximum rate.
fn below_full_load(address: SocketAddr, what: &str, request: &[u8]) {
    let highest = (0..3).map(|_| rate(address, request, CONNECTIONS, TURN));
    let (highest, _, _) = median(highest.collect());
    let taken = latencies(address, request, CONNECTIONS, highest / 2.0, 4 * TURN);
    let at = |per_mille: usize| 1_000.0 * taken[taken.len() * per_mille / 1_000];
    println!(
        "{what} at half of the highest load ({:.0}/s): p50 {:.2} ms, p99 {:.2} ms, p99.9 {:.2} ms, \
         of {} requests",
        highest / 2.0,
        at(500),
        at(990),
        at(999),
        taken.len()
    );
}

async fn filled(directory: &std::path::Path) -> Database {
    let database = database(directory).await;
    for leaves in [MIDDLE, LARGE] {
        let json = document(usize::try_from(leaves).expect("small"));
        store_document(&database, leaves, &json).await;
    }
    for id in 0..ENTITIES {
        store_document(&database, 1_000_000 + id, "{\"name\":\"Name\",\"count\":7}").await;
    }
    database
}

/// A handler that returns this response to every request.
fn constant(answer: String) -> MethodRouter {
    let answer = Bytes::from(answer);
    let headers = [("content-type", "application/json")];
    post(async move |_: Bytes| (headers, answer.clone()))
}

fn one_leaf() -> Vec<u8> {
    graphql(
        "query($id: ID!) { document(id: $id, path: \"/record0000003/count\") { value } }",
        "{\"id\":40}",
    )
}

fn whole(id: i64) -> Vec<u8> {
    graphql(
        "query($id: ID!) { document(id: $id) { value } }",
        &format!("{{\"id\":{id}}}"),
    )
}

const REPRESENTATIONS: &str = "query($representations: [_Any!]!) { _entities(representations: \
    $representations) { ... on Document { value(path: \"/count\") } } }";

fn entities_of(ids: impl Iterator<Item = i64>) -> Vec<u8> {
    let representations: Vec<String> = ids
        .map(|id| format!("{{\"__typename\":\"Document\",\"collection\":\"D\",\"key\":{id}}}"))
        .collect();
    let variables = format!("{{\"representations\":[{}]}}", representations.join(","));
    graphql(REPRESENTATIONS, &variables)
}

fn entities() -> Vec<u8> {
    entities_of((0..ENTITIES).map(|id| 1_000_000 + id))
}

fn one_entity() -> Vec<u8> {
    entities_of(std::iter::once(1_000_500))
}
