//! Durable inserts of small documents over HTTP, compared with group commit of the same pairs by
//! the engine.

#![expect(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

mod support;

/// The same allocator as in the server.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use phyllo::document::id::DocumentId;
use phyllo::document::path::Place;
use phyllo::key::{Family, Leaves, Version};
use phyllo::store::{Decision, Store, transact};
use support::load::{graphql, rate};
use support::{compare, database, deadline, document, serve};

const CLIENTS: usize = 32;
const TURN: Duration = Duration::from_secs(3);

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let directory = tempfile::tempdir().expect("a directory");
    let database = runtime.block_on(database(directory.path()));
    let address = runtime.block_on(serve(database.clone()));
    let text = document(40);
    let insert = graphql(
        "mutation($document: JSON) { insertDocument(document: $document) { key } }",
        &format!("{{\"document\":{text}}}"),
    );
    let leaves = Arc::new(Leaves::from_json(&text).expect("valid"));
    compare(
        "durable inserts of 40 leaves from 32 clients, against the engine's group commit",
        "at least 0.60",
        || rate(address, &insert, CLIENTS, TURN),
        || runtime.block_on(engine_rate(database.store(), &leaves)),
    );
}

/// Commits the pairs of the same documents from the same number of tasks, directly on the engine.
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
            Ok(Decision::Commit(()))
        })
    });
    committed.await.expect("committed");
}
