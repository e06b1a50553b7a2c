//! Reads and inserts over HTTP on a FoundationDB cluster of one process, which this benchmark
//! starts. It compares them with the bare client in the same process and with the recipe's Python
//! code.
//!
//! The recipe's code runs in four processes of eight threads each, so that its number of concurrent
//! calls equals the number of connections.
//!
//! `cargo bench --features foundationdb --bench foundationdb -- reads` (`paths`, `pages`,
//! `inserts`, `patches`, `appends`, `changes`, `counts`) runs only one of them.

#![expect(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

#[path = "../tests/foundationdb/cluster.rs"]
#[allow(dead_code, reason = "only the tests do harm to clusters")]
mod cluster;
#[path = "../tests/foundationdb/recipe/python.rs"]
mod python;
#[path = "support/recipe.rs"]
mod recipe;
mod support;

/// The same allocator as in the server.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use cluster::{Cluster, Programs, Redundancy};
use foundationdb::options::StreamingMode;
use foundationdb::{Database as Client, RangeOption, Transaction};
use futures::future::join_all;
use phyllo::database::Database;
use phyllo::document::id::DocumentId;
use phyllo::document::path::{Place, Segment};
use phyllo::key::{Family, Leaves};
use phyllo::store::{Network, NetworkOptions};
use recipe::Recipe;
use support::load::{Connection, graphql, rate};
use support::{ROUNDS, TURN, compare, deadline, document, median, report, serve, store_document};
use tokio::runtime::Runtime;

const CONNECTIONS: usize = 32;
const SMALL: i64 = 40;
const MIDDLE: i64 = 1_000;
const LARGE: i64 = 10_000;
/// The first of 100 documents with consecutive ids.
const SHORT: i64 = 20_000;
const PYTHON_PROCESSES: usize = 4;
/// The number of requests in one latency measurement.
const ASKED: usize = 100;

fn main() {
    if let Err(missing) = Programs::find() {
        println!("skipped: FoundationDB benchmarks: {missing} not found");
        return;
    }
    let cluster = Cluster::start(Redundancy::Single);
    let network = Network::start(NetworkOptions::default()).expect("the client starts");
    let runtime = Runtime::new().expect("a runtime");
    let store = Arc::new(network.open(Some(&cluster.file())).expect("a cluster file"));
    let database = runtime.block_on(async {
        let database = Database::open(store, deadline()).await;
        let database = database.expect("an empty store");
        for leaves in [SMALL, MIDDLE, LARGE] {
            let size = usize::try_from(leaves).expect("small");
            store_document(&database, leaves, &document(size)).await;
        }
        for number in 0..100 {
            let size = usize::try_from(SMALL).expect("small");
            for id in [SHORT + number, spread(number)] {
                store_document(&database, id, &document(size)).await;
            }
        }
        database
    });
    let bench = Bench {
        address: runtime.block_on(serve(database.clone())),
        client: Arc::new(open_bare(&cluster.file())),
        recipe: Recipe::find(&cluster.file()),
        runtime,
    };
    let asked = std::env::args().skip(1).find(|name| !name.starts_with('-'));
    let wanted = |name: &str| asked.as_ref().is_none_or(|asked| asked == name);
    if wanted("reads") {
        bench.reads();
    }
    if wanted("paths") {
        bench.hundred_paths(MIDDLE, 2);
        bench.hundred_paths(LARGE, 8);
        bench.hundred_paths(LARGE, 25);
        bench.hundred_documents("one after the other", |number| SHORT + number);
        bench.hundred_documents("of any ids", spread);
    }
    if wanted("pages") {
        bench.page();
    }
    if wanted("inserts") {
        bench.inserts();
    }
    if wanted("patches") {
        bench.patches();
    }
    if wanted("appends") {
        support::appends::compare_collections(bench.address);
    }
    if wanted("changes") {
        support::catch_up::compare_with_patches(&bench.runtime, &database, bench.address);
    }
    if wanted("counts") {
        let counts = support::counts::print_times(&database, bench.address);
        bench.runtime.block_on(counts);
    }
    // The last user of the client stops its thread.
    drop((bench, database, network));
}

/// In seconds.
struct Latencies {
    hundred: f64,
    one: f64,
    bare_hundred: f64,
    bare_one: f64,
    recipe: Option<f64>,
}

struct Bench {
    address: SocketAddr,
    client: Arc<Client>,
    recipe: Option<Recipe>,
    runtime: Runtime,
}

impl Bench {
    fn reads(&self) {
        let request = graphql(
            "query($id: ID!) { document(id: $id, path: \"/record0000003\") { value } }",
            "{\"id\":40}",
        );
        let key: Arc<[u8]> = record_key(SMALL, 3).into();
        let pairs = self.runtime.block_on(read_bare(&self.client, &key));
        assert_eq!(pairs, 4, "the bare client reads the leaves of the record");
        self.compare(
            "document(id, path) of 4 leaves, 32 in flight",
            "at least 0.50",
            || rate(self.address, &request, CONNECTIONS, TURN),
            || {
                let key = key.clone();
                self.bare_rate(move |client| {
                    let key = key.clone();
                    async move {
                        std::hint::black_box(read_bare(&client, &key).await);
                    }
                })
            },
            &["read", "40", "record0000003"],
        );
    }

    fn inserts(&self) {
        let text = document(usize::try_from(SMALL).expect("small"));
        let request = graphql(
            "mutation($document: JSON) { insertDocument(document: $document) { key } }",
            &format!("{{\"document\":{text}}}"),
        );
        let leaves = Arc::new(Leaves::from_json(&text).expect("valid JSON"));
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), text).expect("a file");
        self.compare(
            "inserts of 40 leaves from 32 clients",
            "at least 0.60",
            || rate(self.address, &request, CONNECTIONS, TURN),
            || {
                let leaves = leaves.clone();
                self.bare_rate(move |client| {
                    let leaves = leaves.clone();
                    async move { commit_bare(&client, &leaves).await }
                })
            },
            &["insert", &file.path().display().to_string()],
        );
    }

    /// Changes ten leaves of a document with one JSON Patch.
    fn patches(&self) {
        let request = |number: usize, operations: usize| {
            let operation = |at: usize| {
                format!(
                    "{{\"op\":\"add\",\"path\":\"/record{:07}/new\",\"value\":{number}}}",
                    7 * at
                )
            };
            let operations: Vec<_> = (0..operations).map(operation).collect();
            let query = "mutation($id: ID!, $patch: JSON) {\
                patchDocument(id: $id, patch: $patch) { key } }";
            let patch = operations.join(",");
            graphql(query, &format!("{{\"id\":{MIDDLE},\"patch\":[{patch}]}}"))
        };
        let latency = |operations: usize| {
            let requests: Vec<_> = (0..2).map(|number| request(number, operations)).collect();
            self.runtime.block_on(latency(self.address, &requests))
        };
        compare(
            "patches of 10 leaves of a document of 1,000, one client, against patches of 1 leaf",
            "-",
            || 1.0 / latency(10),
            || 1.0 / latency(1),
        );
    }

    /// Reads 100 records of a document with this many leaves, `apart` records from one another.
    fn hundred_paths(&self, id: i64, apart: usize) {
        let records = (0..100).map(|at| (id, at * apart)).collect::<Vec<_>>();
        let what = format!("100 paths of {id} leaves, {} apart", 4 * apart);
        self.hundred(
            &what,
            &records,
            &["hundred", &id.to_string(), &apart.to_string()],
        );
    }

    /// Reads one record of each of 100 documents of 40 leaves.
    fn hundred_documents(&self, ids: &str, id: impl Fn(i64) -> i64) {
        let records = (0..100).map(|number| (id(number), 3)).collect::<Vec<_>>();
        self.hundred(
            &format!("a path of each of 100 documents {ids}"),
            &records,
            &[],
        );
    }

    /// Reads one record of each document of a page. Nearly all ids are [`spread`].
    fn page(&self) {
        let query = "{ documents(last: 99) { nodes { value(path: [\"record0000003\"]) } } }";
        let request = [graphql(query, "{}")];
        let keys: Vec<_> = (0..99)
            .map(|number| record_key(spread(number), 3))
            .collect();
        compare(
            "pages of 99 documents of any ids, a path of each, one client, against as many ranges of \
             the bare client",
            "-",
            || 1.0 / self.runtime.block_on(latency(self.address, &request)),
            || 1.0 / self.runtime.block_on(latency_bare(&self.client, &keys)),
        );
    }

    /// Compares reading several records in one request with reading one. The recipe is only
    /// measured if it has arguments.
    fn hundred(&self, what: &str, records: &[(i64, usize)], recipe: &[&str]) {
        let document = |(id, record): (i64, usize)| {
            format!("document(id: {id}, path: [\"record{record:07}\"])")
        };
        let fields = records.iter().enumerate();
        let fields =
            fields.map(|(at, record)| format!("p{at}: {} {{ value }} ", document(*record)));
        let hundred = graphql(&format!("{{ {} }}", fields.collect::<String>()), "{}");
        let one = format!("{{ {} {{ value }} }}", document(records[7]));
        let one = graphql(&one, "{}");
        let latency = |request: &Vec<u8>| {
            let requests = std::slice::from_ref(request);
            self.runtime.block_on(latency(self.address, requests))
        };
        let keys: Vec<_> = records
            .iter()
            .map(|(id, at)| record_key(*id, *at))
            .collect();
        let bare = |count: usize| {
            let asked = latency_bare(&self.client, &keys[..count]);
            self.runtime.block_on(asked)
        };
        let code = self.recipe.as_ref().filter(|_| !recipe.is_empty());
        let mut turns = Vec::new();
        for round in 0..=ROUNDS {
            let turn = Latencies {
                hundred: latency(&hundred),
                one: latency(&one),
                bare_hundred: bare(100),
                bare_one: bare(1),
                recipe: code.map(|code| 1.0 / code.rate(1, recipe)),
            };
            if round > 0 {
                turns.push(turn);
            }
        }
        let of = |figure: fn(&Latencies) -> f64| turns.iter().map(figure).collect::<Vec<_>>();
        let milliseconds = |figure| 1e3 * median(of(figure)).0;
        let detail = |first, second| {
            let (first, second) = (milliseconds(first), milliseconds(second));
            format!("[{first:.2} ms against {second:.2} ms]")
        };
        report(
            &format!("{what}, latency against one path"),
            of(|turn| turn.hundred / turn.one),
            "at most 3.00",
            &detail(|turn| turn.hundred, |turn| turn.one),
        );
        report(
            "  the bare client's: 100 ranges in one transaction against one",
            of(|turn| turn.bare_hundred / turn.bare_one),
            "-",
            &detail(|turn| turn.bare_hundred, |turn| turn.bare_one),
        );
        report(
            "  100 paths, latency against the bare client's",
            of(|turn| turn.hundred / turn.bare_hundred),
            "-",
            "",
        );
        if code.is_some() {
            report(
                "  100 paths, latency against the recipe's code",
                of(|turn| turn.hundred / turn.recipe.unwrap_or(f64::NAN)),
                "-",
                &detail(|turn| turn.hundred, |turn| turn.recipe.unwrap_or_default()),
            );
        }
    }

    /// Measures a rate, alternating with those of the bare client and the recipe.
    fn compare(
        &self,
        what: &str,
        goal: &str,
        mut ours: impl FnMut() -> f64,
        mut bare: impl FnMut() -> f64,
        recipe: &[&str],
    ) {
        let threads = CONNECTIONS / PYTHON_PROCESSES;
        let recipe = || self.recipe.as_ref().map(|code| code.rate(threads, recipe));
        let mut rates = Vec::new();
        for round in 0..=ROUNDS {
            let turn = (ours(), bare(), recipe());
            if round > 0 {
                rates.push(turn);
            }
        }
        let of = |figure: fn(&(f64, f64, Option<f64>)) -> f64| rates.iter().map(figure).collect();
        let rate = |rates: Vec<f64>| median(rates).0;
        let (own, bare) = (rate(of(|rate| rate.0)), rate(of(|rate| rate.1)));
        let detail = format!("[{own:.0}/s against {bare:.0}/s]");
        report(
            &format!("{what}, against the bare client"),
            of(|rate| rate.0 / rate.1),
            goal,
            &detail,
        );
        if self.recipe.is_some() {
            let ratios = of(|rate| rate.0 / rate.2.unwrap_or(f64::NAN));
            let detail = format!("[{:.0}/s]", rate(of(|rate| rate.2.unwrap_or_default())));
            report("  against the recipe's code", ratios, "-", &detail);
        }
    }

    /// Runs one task per connection and returns their operations per second.
    fn bare_rate<W: Future<Output = ()> + Send>(
        &self,
        work: impl Fn(Arc<Client>) -> W + Clone + Send + 'static,
    ) -> f64 {
        let done = Arc::new(AtomicU64::new(0));
        let begin = Instant::now();
        self.runtime.block_on(async {
            let tasks = (0..CONNECTIONS).map(|_| {
                let (work, client, done) = (work.clone(), self.client.clone(), done.clone());
                tokio::spawn(async move {
                    while begin.elapsed() < TURN {
                        work(client.clone()).await;
                        done.fetch_add(1, Relaxed);
                    }
                })
            });
            for task in tasks.collect::<Vec<_>>() {
                task.await.expect("it worked");
            }
        });
        done.load(Relaxed) as f64 / begin.elapsed().as_secs_f64()
    }
}

/// The mean latency of the requests, sent in turn.
async fn latency(address: SocketAddr, requests: &[Vec<u8>]) -> f64 {
    let mut connection = Connection::open(address).await;
    let begin = Instant::now();
    for request in requests.iter().cycle().take(ASKED) {
        connection.ask(request).await;
    }
    begin.elapsed().as_secs_f64() / ASKED as f64
}

/// Maps consecutive numbers to distant ids.
fn spread(number: i64) -> i64 {
    number.wrapping_mul(0x1E37_79B9_7F4A_7C15).abs()
}

fn record_key(id: i64, number: usize) -> Vec<u8> {
    let place = Place(vec![Segment::Key(format!("record{number:07}"))]);
    let key = Family::Document("D", &DocumentId::Integer(id), &place).key();
    key.expect("short")
}

/// Reads the same ranges as the requests, concurrently in one transaction.
async fn latency_bare(client: &Client, keys: &[Vec<u8>]) -> f64 {
    let begin = Instant::now();
    for _ in 0..ASKED {
        let transaction = client.create_trx().expect("a transaction");
        let reads = keys.iter().map(|key| read_in(&transaction, key));
        let pairs: usize = join_all(reads).await.into_iter().sum();
        assert_eq!(pairs, 4 * keys.len(), "each record has four leaves");
    }
    begin.elapsed().as_secs_f64() / ASKED as f64
}

fn open_bare(cluster_file: &Path) -> Client {
    Client::from_path(cluster_file.to_str().expect("a plain path")).expect("a cluster file")
}

/// Reads a range in its own transaction and returns the number of pairs.
async fn read_bare(client: &Client, key: &[u8]) -> usize {
    let transaction = client.create_trx().expect("a transaction");
    read_in(&transaction, key).await
}

async fn read_in(transaction: &Transaction, key: &[u8]) -> usize {
    let end = [key, &[0xFF]].concat();
    let option = RangeOption {
        mode: StreamingMode::WantAll,
        ..RangeOption::from((key, &end[..]))
    };
    let values = transaction.get_range(&option, 1, true).await;
    values.expect("it can be read").len()
}

/// Commits only the pairs of a document.
async fn commit_bare(client: &Client, leaves: &Leaves) {
    let id = DocumentId::Integer(rand::random_range(1..=i64::MAX));
    let mut key = Family::Document("E", &id, &Place::default())
        .key()
        .expect("short");
    let prefix = key.len();
    let transaction = client.create_trx().expect("a transaction");
    for (relative, value) in leaves.iter() {
        key.truncate(prefix);
        key.extend_from_slice(relative);
        transaction.set(&key, value);
    }
    transaction.commit().await.expect("nobody else writes them");
}
