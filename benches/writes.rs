//! Durable inserts of small documents over HTTP, compared with group commit of the same pairs by
//! the engine. With `PHYLLO_BENCH_PROGRAMS=OLD,NEW` (paths of two builds of phyllo), also the rates,
//! latencies and written bytes of changes by servers of both, by turns. `PHYLLO_BENCH_DIRECTORY` is
//! where their stores are.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "figures are rounded anyway"
)]

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
use support::load::{graphql, latencies, latencies_under_load, rate};
use support::programs::{Program, programs};
use support::{ROUNDS, compare, database, deadline, document, serve};

const CLIENTS: usize = 32;
const TURN: Duration = Duration::from_secs(3);

fn main() {
    compare_programs(&programs());
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

/// Figures of one program, of all rounds.
#[derive(Default)]
struct Figures {
    rate: Vec<f64>,
    p50: Vec<f64>,
    p99: Vec<f64>,
    p999: Vec<f64>,
    longest: Vec<f64>,
    written: Vec<f64>,
}

impl Figures {
    fn add(&mut self, latencies: &[f64], time: Duration, written: u64) {
        let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize];
        self.rate.push(latencies.len() as f64 / time.as_secs_f64());
        self.p50.push(1e3 * at(0.5));
        self.p99.push(1e3 * at(0.99));
        self.p999.push(1e3 * at(0.999));
        self.longest.push(1e3 * at(1.0));
        self.written
            .push(written as f64 / 1e3 / latencies.len() as f64);
    }
}

fn median(figures: &[f64]) -> f64 {
    let mut figures = figures.to_vec();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

type New = Arc<dyn Fn(usize) -> Arc<[u8]> + Send + Sync>;

fn compare_programs(programs: &[Program]) {
    if programs.is_empty() {
        return;
    }
    let text = document(40);
    let insert: Arc<[u8]> = graphql(
        "mutation($document: JSON) { insertDocument(document: $document) { key } }",
        &format!("{{\"document\":{text}}}"),
    )
    .into();
    let inserts: New = {
        let insert = insert.clone();
        Arc::new(move |_| insert.clone())
    };
    let changes: New = Arc::new(|client| {
        let query = format!(
            "mutation {{ incrementDocument(id: \"{client}\", path: \"/record0000001/count\") \
             {{ version }} }}"
        );
        graphql(&query, "{}").into()
    });
    for program in programs {
        for client in 0..CLIENTS {
            let store = graphql(
                "mutation($id: ID!, $document: JSON) { insertDocument(id: $id, document: $document) { key } }",
                &format!("{{\"id\":\"{client}\",\"document\":{text}}}"),
            );
            support::load::ask_in_order(program.address, &[vec![store]]);
        }
    }
    measure(
        "inserts of 40 leaves, 32 clients",
        programs,
        &inserts,
        CLIENTS,
    );
    measure(
        "changes of one leaf, 32 clients",
        programs,
        &changes,
        CLIENTS,
    );
    let selecting: New = Arc::new(|client| {
        let parts = [0, 1, 2, 3, 4]
            .map(|part| format!("p{part}: value(path: \"/record000000{part}/name\") "))
            .concat();
        let query = format!(
            "mutation {{ incrementDocument(id: \"{client}\", path: \"/record0000001/count\") {{ {parts} }} }}"
        );
        graphql(&query, "{}").into()
    });
    measure(
        "changes of one leaf that select five parts, 32 clients",
        programs,
        &selecting,
        CLIENTS,
    );
    measure("inserts of 40 leaves, one client", programs, &inserts, 1);
    measure_large(programs);
    // An open loop: a stall delays all requests that are due.
    let highest = programs
        .iter()
        .map(|program| rate(program.address, &insert, CLIENTS, TURN))
        .fold(f64::INFINITY, f64::min);
    let per_second = 0.7 * highest;
    let time = TURN * 3;
    let mut figures: Vec<Figures> = programs.iter().map(|_| Figures::default()).collect();
    for _ in 0..ROUNDS {
        for (program, figures) in programs.iter().zip(&mut figures) {
            let before = program.written_bytes();
            let taken = latencies(program.address, &insert, 4 * CLIENTS, per_second, time);
            figures.add(&taken, time, program.written_bytes() - before);
        }
    }
    report_programs(
        "inserts at 70 % of the slower program's highest rate",
        programs,
        &figures,
    );
}

/// Changes of one document by all clients: of leaves far apart in a large one, of leaves side by side, and appends
/// to a long list.
fn measure_large(programs: &[Program]) {
    const LEAVES: usize = 100_000;
    let elements: Vec<String> = (0..LEAVES).map(|element| element.to_string()).collect();
    let list = format!("[{}]", elements.join(","));
    for program in programs {
        for (id, json) in [("large", document(LEAVES)), ("list", list.clone())] {
            let store = graphql(
                "mutation($id: ID!, $document: JSON) { insertDocument(id: $id, document: $document) { key } }",
                &format!("{{\"id\":\"{id}\",\"document\":{json}}}"),
            );
            support::load::ask_in_order(program.address, &[vec![store]]);
        }
    }
    let increment = |step: usize| -> New {
        Arc::new(move |client| {
            let query = format!(
                "mutation {{ incrementDocument(id: \"large\", path: \"/record{:07}/count\") {{ version }} }}",
                client * step
            );
            graphql(&query, "{}").into()
        })
    };
    let append: New = Arc::new(|_| {
        let query =
            "mutation { replaceDocument(id: \"list\", path: \"/-\", document: 7) { version } }";
        graphql(query, "{}").into()
    });
    for (name, new) in [
        ("changes of 32 leaves far apart in 100,000", increment(700)),
        ("changes of 32 leaves side by side in 100,000", increment(1)),
        ("appends of 32 clients to a list of 100,000", append),
    ] {
        measure(name, programs, &new, CLIENTS);
    }
}

fn measure(name: &str, programs: &[Program], new: &New, clients: usize) {
    let mut figures: Vec<Figures> = programs.iter().map(|_| Figures::default()).collect();
    for _ in 0..ROUNDS {
        for (program, figures) in programs.iter().zip(&mut figures) {
            let before = program.written_bytes();
            let new = new.clone();
            let taken = latencies_under_load(program.address, move |at| new(at), clients, TURN);
            figures.add(&taken, TURN, program.written_bytes() - before);
        }
    }
    report_programs(name, programs, &figures);
}

fn report_programs(name: &str, programs: &[Program], figures: &[Figures]) {
    println!("{name}: medians of {ROUNDS}");
    for (program, figures) in programs.iter().zip(figures) {
        let longest = figures.longest.iter().copied().fold(0.0, f64::max);
        println!(
            "  {}: {:.0}/s; p50 {:.1}, p99 {:.1}, p99.9 {:.1}, longest {:.0} (of all {:.0}) ms; \
             {:.1} kB written each",
            program.name,
            median(&figures.rate),
            median(&figures.p50),
            median(&figures.p99),
            median(&figures.p999),
            median(&figures.longest),
            longest,
            median(&figures.written),
        );
    }
}
