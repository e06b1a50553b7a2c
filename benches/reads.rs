//! Reads over HTTP: subdocuments compared with a constant, large documents with small ones, whole
//! documents with a scan of the engine, many paths with many requests, and access rules with none.
//!
//! With `PHYLLO_BENCH_PROGRAMS=OLD,NEW` (paths of two builds of phyllo), only the rates of reads by
//! servers of both, by turns.
//!
//! Responses are not cached. `cargo bench --bench reads -- rules` runs only the part with access rules.

#![expect(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

mod support;

/// The same allocator as in the server.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::body::Bytes;
use axum::routing::post;
use phyllo::database::Database;
use phyllo::key::{Family, Leaves};
use phyllo::store::Batches;
use support::compared_reads::compare_reads;
use support::load::{answer, graphql, post as post_request, rate};
use support::programs::programs;
use support::{
    TURN, application, application_under, compare, database, document, serve_application,
    store_batch, store_document,
};
use tokio::runtime::Runtime;

const CONNECTIONS: usize = 32;
const SMALL: i64 = 40;
const MIDDLE: i64 = 10_000;
const LARGE: i64 = 1_000_000;
/// The id of an array of 1,000,000 numbers.
const ARRAY: i64 = 7;

fn main() {
    let programs = programs();
    if !programs.is_empty() {
        compare_reads(&programs);
        return;
    }
    let runtime = Runtime::new().expect("a runtime");
    let directory = tempfile::tempdir().expect("a directory");
    let database = runtime.block_on(filled(directory.path()));
    let constant = "{\"data\":{\"document\":{\"value\":{\"count\":3,\"name\":\"Name of 3\",\
                    \"open\":false,\"share\":3.25}}}}";
    let application = application(database.clone());
    let application = application.route("/constant", post(async move |_: Bytes| constant));
    let address = runtime.block_on(serve_application(application));

    let answered = runtime.block_on(answer(address, &four_leaves(LARGE)));
    assert_eq!(
        answered, constant,
        "the constant is what the subdocument is"
    );
    let read = |request: &[u8]| rate(address, request, CONNECTIONS, TURN);
    let constant = post_request("/constant", "{\"query\":\"{ constant }\"}");
    if std::env::args().skip(1).any(|name| name == "rules") {
        compare_rules(&runtime, &database, address, directory.path());
        return;
    }
    compare(
        "4 leaves of 40, against a constant without GraphQL",
        "at least 0.40",
        || read(&four_leaves(SMALL)),
        || read(&constant),
    );
    compare(
        "4 leaves of 1,000,000, against 4 leaves of 40",
        "at least 0.90",
        || read(&four_leaves(LARGE)),
        || read(&four_leaves(SMALL)),
    );
    let whole = graphql("{ document(id: 10000) { value } }", "{}");
    for connections in [1, CONNECTIONS] {
        compare(
            &format!(
                "leaves/s of a whole document of 10,000 on {connections} connections, against one \
                 scan of the engine"
            ),
            "at least 0.50",
            || rate(address, &whole, connections, TURN) * MIDDLE as f64,
            || runtime.block_on(scan_rate(&database)),
        );
    }
    let hundred = hundred_paths();
    let one = graphql(
        "{ document(id: 40, path: \"/record0000003\") { value } }",
        "{}",
    );
    compare(
        "100 paths in one request, against 100 requests",
        "at least 8.00",
        || read(&hundred) * 100.0,
        || read(&one),
    );
    compare_rules(&runtime, &database, address, directory.path());
    let (slice, paths) = ten_elements();
    compare(
        "a slice of 10 elements of 1,000,000, against 10 paths",
        "at least 0.80",
        || read(&slice),
        || read(&paths),
    );
}

fn four_leaves(id: i64) -> Vec<u8> {
    graphql(
        "query($id: ID!) { document(id: $id, path: \"/record0000003\") { value } }",
        &format!("{{\"id\":{id}}}"),
    )
}

/// Reads under access rules, and the same reads by the server at `address`, which has none.
fn compare_rules(
    runtime: &Runtime,
    database: &Database,
    address: SocketAddr,
    directory: &std::path::Path,
) {
    let whole = graphql("{ document(id: 10000) { value } }", "{}");
    let under = |rules: &str| {
        let path = directory.join("rules.toml");
        std::fs::write(&path, rules).expect("a file");
        let application = application_under(database.clone(), &path);
        runtime.block_on(serve_application(application))
    };
    let page = graphql(
        "{ documents(first: 50) { nodes { key value(path: \"/a\") } } }",
        "{}",
    );
    for (what, rules) in [
        ("10 rules", ten_rules("")),
        ("10 rules with `where`", ten_rules(WHERE)),
    ] {
        let limited = under(&rules);
        for (read, request) in [
            ("4 leaves of 40", &four_leaves(SMALL)),
            ("a whole document of 10,000", &whole),
            ("a page of 50", &page),
        ] {
            compare(
                &format!("{read} under {what}, against no rules"),
                if what == "10 rules" {
                    "at least 0.97"
                } else {
                    "none"
                },
                || rate(limited, request, CONNECTIONS, TURN),
                || rate(address, request, CONNECTIONS, TURN),
            );
        }
    }
}

/// A condition that every document passes.
const WHERE: &str = "where = { at = \"$.private\", exists = false }";

/// Rules of which the last one allows what is read here, with more members.
fn ten_rules(more: &str) -> String {
    let rule = |number: usize| {
        let path = if number < 9 {
            format!("path = \"/other{number}\"")
        } else {
            String::new()
        };
        format!(
            "[[allow]]\nwho = \"anyone\"\nactions = [\"read\", \"list\"]\ncollection = \"D\"\n{path}\n{more}\n"
        )
    };
    (0..10).map(rule).collect()
}

/// Two requests for the same elements of an array: by a slice, and each by its path.
fn ten_elements() -> (Vec<u8>, Vec<u8>) {
    let slice = format!(
        "{{ document(id: {ARRAY}) {{ select(query: \"$[500000:500010]\") {{ value }} }} }}"
    );
    let paths = (500_000..500_010).map(|at| format!("p{at}: value(path: [{at}]) "));
    let paths = format!(
        "{{ document(id: {ARRAY}) {{ {} }} }}",
        paths.collect::<String>()
    );
    (graphql(&slice, "{}"), graphql(&paths, "{}"))
}

async fn filled(directory: &std::path::Path) -> Database {
    let database = database(directory).await;
    for leaves in [SMALL, MIDDLE, LARGE] {
        store_document(
            &database,
            leaves,
            &document(usize::try_from(leaves).expect("small")),
        )
        .await;
    }
    let small = Leaves::from_json("{\"a\": 1, \"b\": \"text\"}").expect("valid JSON");
    store_batch(&database, 0, 50, Arc::new(small)).await;
    let numbers: Vec<String> = (0..LARGE).map(|number| number.to_string()).collect();
    store_document(&database, ARRAY, &format!("[{}]", numbers.join(","))).await;
    database
}

/// 100 different paths in a document of 1,000,000 leaves.
fn hundred_paths() -> Vec<u8> {
    let paths = (0..100).map(|at| {
        format!(
            "p{at}: document(id: 1000000, path: [\"record{:07}\"]) {{ value }} ",
            at * 2_500
        )
    });
    graphql(&format!("{{ {} }}", paths.collect::<String>()), "{}")
}

async fn scan_rate(database: &Database) -> f64 {
    let snapshot = database.snapshot().await.expect("a snapshot");
    let id = phyllo::document::id::DocumentId::Integer(MIDDLE);
    let begin = Family::Document("D", &id, &phyllo::document::path::Place::default());
    let begin = begin.key().expect("short");
    let end = [&begin[..], &[0xFF]].concat();
    let (start, mut leaves) = (Instant::now(), 0);
    while start.elapsed() < TURN {
        let mut batches = Batches::new(&*snapshot, &begin[..], &end[..]);
        while let Some(batch) = batches.next().await.expect("read") {
            leaves += batch.len();
            std::hint::black_box(&batch);
        }
    }
    leaves as f64 / start.elapsed().as_secs_f64()
}
