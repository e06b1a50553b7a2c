//! Durable inserts of small documents over HTTP, against the engine's own group commit of the
//! same pairs.

#![expect(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

mod support;

/// As in the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use phyllo::document::id::DocumentId;
use phyllo::document::path::Place;
use phyllo::key::{Family, Leaves, Version};
use phyllo::server::{ServeOptions, router, serve_connections};
use phyllo::store::{Outcome, Store, transact};
use support::load::{graphql, rate};
use support::{ROUNDS, database, deadline, document, report};
use tokio::net::TcpListener;

const CLIENTS: usize = 32;
const TURN: Duration = Duration::from_secs(3);

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let directory = tempfile::tempdir().expect("a directory");
    let database = runtime.block_on(database(directory.path()));
    let address = runtime.block_on(async {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let listener = TcpListener::bind(any).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let application = router(database.clone(), &ServeOptions::on(any));
        tokio::spawn(serve_connections(
            listener,
            None,
            application,
            std::future::pending(),
        ));
        address
    });
    let text = document(40);
    let insert = graphql(
        "mutation($document: JSON) { insertDocument(document: $document) { id } }",
        &format!("{{\"document\":{text}}}"),
    );
    let leaves = Arc::new(Leaves::from_json(&text).expect("valid"));
    let (mut ratios, mut ours, mut engines) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        let documents = rate(address, &insert, CLIENTS, TURN);
        let engine = runtime.block_on(engine_rate(database.store(), &leaves));
        if round > 0 {
            ratios.push(documents / engine);
            ours.push(documents);
            engines.push(engine);
        }
    }
    let (ours, engines) = (support::median(ours).0, support::median(engines).0);
    report(
        "durable inserts of 40 leaves from 32 clients, against the engine's group commit",
        ratios,
        "at least 0.60",
        &format!("[{ours:.0}/s against {engines:.0}/s]"),
    );
}

/// Commits the pairs of the same documents from as many tasks, with nothing in between.
async fn engine_rate(store: &Arc<dyn Store>, leaves: &Arc<Leaves>) -> f64 {
    let commits = Arc::new(AtomicU64::new(0));
    let begin = Instant::now();
    let clients = (0..CLIENTS).map(|_| {
        let (store, leaves, commits) = (store.clone(), leaves.clone(), commits.clone());
        tokio::spawn(async move {
            while begin.elapsed() < TURN {
                commit(&*store, leaves.clone()).await;
                commits.fetch_add(1, Relaxed);
            }
        })
    });
    for client in clients.collect::<Vec<_>>() {
        client.await.expect("committed");
    }
    commits.load(Relaxed) as f64 / begin.elapsed().as_secs_f64()
}

async fn commit(store: &dyn Store, leaves: Arc<Leaves>) {
    let id = DocumentId::Integer(rand::random_range(1..=i64::MAX));
    let committed = transact(store, deadline(), move |transaction| {
        let (leaves, id) = (leaves.clone(), id.clone());
        Box::pin(async move {
            let mut key = Family::Document("E", &id, &Place::default()).key()?;
            let prefix = key.len();
            for (relative, value) in leaves.iter() {
                key.truncate(prefix);
                key.extend_from_slice(relative);
                transaction.set(&key, value);
            }
            transaction.set(&Family::Existence("E", &id).key()?, &[]);
            let version = [&Version::VALUE_PREFIX[..], &Version::PLACEHOLDER].concat();
            transaction.set_versionstamped_value(&Family::Version("E", &id).key()?, &version, 1);
            transaction.add(&Family::Count("E", 0).key()?, 1);
            Ok(Outcome::Commit(()))
        })
    });
    committed.await.expect("committed");
}
