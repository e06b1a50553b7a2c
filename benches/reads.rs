//! Reading over HTTP: subdocuments against a constant, large documents against small ones, whole
//! documents against a scan of the engine, many paths against many requests.
//!
//! Nothing caches responses, and no shape of query is a special case.

#![expect(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

mod support;

/// As in the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use phyllo::database::Database;
use phyllo::key::Family;
use phyllo::server::{ServeOptions, router, serve_connections};
use phyllo::store::Batches;
use support::load::{Connection, graphql, post as post_request, rate};
use support::{ROUNDS, TURN, database, document, report, store_document};
use tokio::net::TcpListener;

const CONNECTIONS: usize = 32;
const SMALL: i64 = 40;
const MIDDLE: i64 = 10_000;
const LARGE: i64 = 1_000_000;

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let directory = tempfile::tempdir().expect("a directory");
    let database = runtime.block_on(filled(directory.path()));
    let constant = "{\"data\":{\"document\":{\"value\":{\"count\":3,\"name\":\"Name of 3\",\
                    \"open\":false,\"share\":3.25}}}}";
    let application = router(database.clone(), &ServeOptions::on(any()));
    let application = application.route("/constant", post(async move |_: Bytes| constant));
    let address = runtime.block_on(listen(application));

    let four_leaves = |id: i64| {
        graphql(
            "query($id: ID!) { document(id: $id, path: \"/record0000003\") { value } }",
            &format!("{{\"id\":{id}}}"),
        )
    };
    let answered = runtime.block_on(answer(address, &four_leaves(LARGE)));
    assert_eq!(
        answered, constant,
        "the constant is what the subdocument is"
    );
    compare(
        "4 leaves of 40, against a constant without GraphQL",
        "at least 0.40",
        || {
            let subdocument = rate(address, &four_leaves(SMALL), CONNECTIONS, TURN);
            (
                subdocument,
                rate(
                    address,
                    &post_request("/constant", "{\"query\":\"{ constant }\"}"),
                    CONNECTIONS,
                    TURN,
                ),
            )
        },
    );
    compare(
        "4 leaves of 1,000,000, against 4 leaves of 40",
        "at least 0.90",
        || {
            let large = rate(address, &four_leaves(LARGE), CONNECTIONS, TURN);
            (large, rate(address, &four_leaves(SMALL), CONNECTIONS, TURN))
        },
    );
    let whole = graphql("{ document(id: 10000) { value } }", "{}");
    for connections in [1, CONNECTIONS] {
        let what = format!(
            "leaves/s of a whole document of 10,000 on {connections} connections, against one scan of \
             the engine"
        );
        compare(&what, "at least 0.50", || {
            let leaves = rate(address, &whole, connections, TURN) * MIDDLE as f64;
            (leaves, runtime.block_on(scan_rate(&database)))
        });
    }
    let hundred = hundred_paths();
    let one = graphql(
        "{ document(id: 40, path: \"/record0000003\") { value } }",
        "{}",
    );
    compare(
        "100 paths in one request, against 100 requests",
        "at least 8.00",
        || {
            let together = rate(address, &hundred, CONNECTIONS, TURN) * 100.0;
            (together, rate(address, &one, CONNECTIONS, TURN))
        },
    );
}

fn any() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
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
    database
}

async fn listen(application: Router) -> SocketAddr {
    let listener = TcpListener::bind(any()).await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(serve_connections(
        listener,
        None,
        application,
        std::future::pending(),
    ));
    address
}

async fn answer(address: SocketAddr, request: &[u8]) -> String {
    let mut connection = Connection::open(address).await;
    String::from_utf8_lossy(connection.ask(request).await).into_owned()
}

/// 100 different places of a document of 1,000,000 leaves.
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

/// Measures two rates by turns and prints the ratio of the first to the second.
fn compare(what: &str, goal: &str, mut measure: impl FnMut() -> (f64, f64)) {
    measure();
    let pairs: Arc<[(f64, f64)]> = (0..ROUNDS).map(|_| measure()).collect();
    let ratios = pairs.iter().map(|(ours, theirs)| ours / theirs).collect();
    let (ours, ..) = support::median(pairs.iter().map(|pair| pair.0).collect());
    let (theirs, ..) = support::median(pairs.iter().map(|pair| pair.1).collect());
    report(
        what,
        ratios,
        goal,
        &format!("[{ours:.0}/s against {theirs:.0}/s]"),
    );
}
