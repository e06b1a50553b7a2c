//! Documents found by what they contain, over HTTP: against reading them by id, inserts with
//! indexes against inserts without, and the same on PostgreSQL with JSONB and indexes to match.
//!
//! 100,000 products of a shop (support/products.rs) stand in a collection with three indexes and
//! in one without. Every request asks for another product or category than the one before it.
//! PostgreSQL is asked over a socket of this machine, by its own binary protocol, with prepared
//! statements; Phyllo over HTTP on loopback, with a GraphQL query to parse in each request.
//!
//! `cargo bench --bench queries -- slug` (`category`, `below`, `inserts`) measures one of the four
//! alone.

#![expect(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

#[path = "support/postgres.rs"]
mod postgres;
#[path = "support/products.rs"]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "prices and shares are small and positive"
)]
mod products;
mod support;

/// As in the server.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use phyllo::database::{Builder, Database, DocumentKey, Existing, create_index, put};
use phyllo::document::id::DocumentId;
use phyllo::key::Leaves;
use phyllo::store::Outcome;
use postgres::{Postgres, texts};
use products::{Category, Product};
use serde_json::Value;
use support::load::{Connection, graphql, rate_of_new};
use support::{TURN, compare, database, deadline, seconds, serve};
use tokio::runtime::Runtime;

const CONNECTIONS: usize = 32;
const PRODUCTS: u64 = 100_000;
const STORED_AT_ONCE: u64 = 250;
const PAGE: usize = 50;
/// Different requests of a kind.
const REQUESTS: usize = 512;
/// The collection with indexes, and the one without.
const INDEXED: &str = "products";
const PLAIN: &str = "plain";
const INDEXES: [(&str, &[&str], bool); 3] = [
    ("slug", &["$.slug"], true),
    ("category", &["$.category", "$.price"], false),
    ("below", &["$.ancestors[*]._id"], false),
];

const TABLE: &str = "CREATE TABLE products (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, document jsonb NOT NULL)";
const FILL: &str =
    "INSERT INTO products (document) SELECT text::jsonb FROM unnest($1::text[]) text";
const SQL_INDEXES: &str = "
    CREATE UNIQUE INDEX slug ON products ((document->>'slug'));
    CREATE INDEX category ON products
        ((document->>'category'), ((document->>'price')::numeric), id);
    CREATE INDEX below ON products USING gin ((document->'ancestors') jsonb_path_ops);
    VACUUM ANALYZE products;
    CHECKPOINT";
const SQL_SLUG: &str =
    "SELECT (document->'price')::text FROM products WHERE document->>'slug' = $1";
const SQL_CATEGORY: &str = "SELECT document->>'name', (document->'price')::text FROM products
    WHERE document->>'category' = $1 ORDER BY (document->>'price')::numeric, id LIMIT 50";
const SQL_BELOW: &str = "SELECT document->>'name', (document->'price')::text FROM products
    WHERE document->'ancestors' @> jsonb_build_array(jsonb_build_object('_id', $1::text))
    ORDER BY id LIMIT 50";
const SQL_INSERT: &str =
    "INSERT INTO products (document) VALUES ($1::text::jsonb) RETURNING id::text";

fn main() {
    let runtime = Runtime::new().expect("a runtime");
    let directory = tempfile::tempdir().expect("a directory");
    let shelves = Shelves::new();
    let address = runtime.block_on(async {
        let database = database(directory.path()).await;
        fill(&database, INDEXED).await;
        fill(&database, PLAIN).await;
        let (built, ()) = seconds(index(&database)).await;
        println!("three indexes on {PRODUCTS} documents: built in {built:.1} s");
        serve(database).await
    });
    let postgres = Postgres::start();
    if let Some(postgres) = &postgres {
        runtime.block_on(fill_table(postgres));
    }
    let bench = Bench {
        runtime,
        address,
        postgres,
        shelves,
    };
    let asked = std::env::args().skip(1).find(|name| !name.starts_with('-'));
    let wanted = |name: &str| asked.as_ref().is_none_or(|asked| asked == name);
    if wanted("slug") {
        bench.slug();
    }
    if wanted("category") {
        bench.category();
    }
    if wanted("below") {
        bench.below();
    }
    if wanted("inserts") {
        bench.inserts();
    }
}

/// The numbers of the products in each category of the lowest level.
struct Shelves(HashMap<Category, Vec<u64>>);

impl Shelves {
    fn new() -> Self {
        let mut shelves: HashMap<Category, Vec<u64>> = HashMap::new();
        let (mut leaves, mut bytes) = (0, 0);
        for number in 0..PRODUCTS {
            let product = Product::new(number);
            let shelf = shelves.entry(product.category).or_default();
            shelf.push(number);
            bytes += product.json.len();
            leaves += Leaves::from_json(&product.json)
                .expect("JSON")
                .iter()
                .count();
        }
        let each = |total: usize| total as f64 / PRODUCTS as f64;
        println!(
            "{PRODUCTS} products: {:.1} leaves and {:.0} bytes of JSON each",
            each(leaves),
            each(bytes)
        );
        Self(shelves)
    }

    /// The categories with a page of products, and the first page of each, cheapest first.
    fn pages(&self) -> Vec<(String, Vec<u64>)> {
        let full = Category::all().filter_map(|category| Some((category, self.0.get(&category)?)));
        let full = full.filter(|(_, numbers)| numbers.len() >= PAGE);
        let page = full.map(|(category, numbers)| {
            let mut numbers = numbers.clone();
            numbers.sort_by_key(|number| (Product::new(*number).cents, *number));
            numbers.truncate(PAGE);
            (category.id(), numbers)
        });
        page.collect()
    }

    /// The categories one level above, and the first page of all products below each, by id.
    fn pages_below(&self) -> Vec<(String, Vec<u64>)> {
        let mut above: HashMap<String, Vec<u64>> = HashMap::new();
        for (category, numbers) in &self.0 {
            above
                .entry(category.parent_id())
                .or_default()
                .extend(numbers);
        }
        let pages = above.into_iter().map(|(id, mut numbers)| {
            numbers.sort_unstable();
            numbers.truncate(PAGE);
            (id, numbers)
        });
        pages.filter(|(_, page)| page.len() == PAGE).collect()
    }
}

struct Bench {
    runtime: Runtime,
    address: SocketAddr,
    postgres: Option<Postgres>,
    shelves: Shelves,
}

impl Bench {
    fn slug(&self) {
        let products: Vec<_> = (0..REQUESTS as u64)
            .map(|at| at * (PRODUCTS / REQUESTS as u64))
            .map(|number| (number, Product::new(number)))
            .collect();
        let found = products.iter().map(|(_, product)| {
            graphql(
                "query($slug: JSON) { documents(collection: \"products\", where: {at: \"$.slug\", eq: $slug}) { nodes { price: value(path: \"/price\") } } }",
                &format!("{{\"slug\":\"{}\"}}", product.slug),
            )
        });
        let found: Vec<_> = found.collect();
        let read = products.iter().map(|(number, _)| {
            graphql(
                "query($id: ID!) { document(collection: \"products\", id: $id) { price: value(path: \"/price\") } }",
                &format!("{{\"id\":{}}}", id(*number)),
            )
        });
        let read: Vec<_> = read.collect();
        for (at, (_, product)) in products.iter().enumerate() {
            let expected = vec![vec![product.price()]];
            assert_eq!(self.rows(&found[at]), expected, "found by its slug");
            assert_eq!(self.rows(&read[at]), expected, "read by its id");
            assert_eq!(
                self.sql_rows(SQL_SLUG, &product.slug)
                    .unwrap_or(expected.clone()),
                expected
            );
        }
        let (found, read) = (in_turn(found), in_turn(read));
        compare(
            "one leaf of a document found by a unique index, against read by id",
            "at least 0.50",
            || self.rate(&found),
            || self.rate(&read),
        );
        let slugs = in_turn(products.into_iter().map(|(_, product)| product.slug));
        self.compare_sql(
            "  against PostgreSQL",
            || self.rate(&found),
            SQL_SLUG,
            &slugs,
        );
    }

    fn category(&self) {
        self.pages(
            "a page of 50, one category from the cheapest on, two fields of each",
            "query($id: JSON) { documents(collection: \"products\", where: {at: \"$.category\", eq: $id}, orderBy: {by: \"$.price\"}, first: 50) { nodes { name: value(path: \"/name\") price: value(path: \"/price\") } } }",
            SQL_CATEGORY,
            &self.shelves.pages(),
        );
    }

    fn below(&self) {
        self.pages(
            "a page of 50, all below one category by id, two fields of each",
            "query($id: JSON) { documents(collection: \"products\", where: {at: \"$.ancestors[*]._id\", eq: $id}, first: 50) { nodes { name: value(path: \"/name\") price: value(path: \"/price\") } } }",
            SQL_BELOW,
            &self.shelves.pages_below(),
        );
    }

    fn pages(&self, what: &str, query: &str, sql: &'static str, pages: &[(String, Vec<u64>)]) {
        let step = pages.len().div_ceil(REQUESTS);
        let pages: Vec<_> = pages.iter().step_by(step).collect();
        let found = pages
            .iter()
            .map(|(id, _)| graphql(query, &format!("{{\"id\":\"{id}\"}}")));
        let found: Vec<_> = found.collect();
        let read: Vec<_> = pages.iter().map(|(_, numbers)| reads(numbers)).collect();
        for (at, (id, numbers)) in pages.iter().enumerate() {
            let products = numbers.iter().map(|number| Product::new(*number));
            let expected = products.map(|product| vec![product.name.clone(), product.price()]);
            let expected: Vec<_> = expected.collect();
            assert_eq!(self.rows(&found[at]), expected, "found in {id}");
            assert_eq!(self.rows(&read[at]), expected, "read by their ids");
            assert_eq!(self.sql_rows(sql, id).unwrap_or(expected.clone()), expected);
        }
        let (found, read) = (in_turn(found), in_turn(read));
        compare(
            &format!("{what}, against 50 reads by id in one request"),
            "at least 0.70",
            || self.rate(&found),
            || self.rate(&read),
        );
        let ids = in_turn(pages.iter().map(|(id, _)| id.clone()));
        self.compare_sql("  against PostgreSQL", || self.rate(&found), sql, &ids);
    }

    fn inserts(&self) {
        let next = Arc::new(AtomicU64::new(PRODUCTS));
        let new = move || Product::new(next.fetch_add(1, Relaxed)).json;
        let insert = |collection: &'static str| {
            let new = new.clone();
            let request = move || {
                graphql(
                    &format!(
                        "mutation($document: JSON) {{ insertDocument(document: $document, collection: \"{collection}\") {{ id }} }}"
                    ),
                    &format!("{{\"document\":{}}}", new()),
                )
            };
            self.rate(&request)
        };
        compare(
            "inserts with three indexes, against without",
            "at least 0.40",
            || insert(INDEXED),
            || insert(PLAIN),
        );
        self.compare_sql("  against PostgreSQL", || insert(INDEXED), SQL_INSERT, &new);
    }

    fn rate<R: AsRef<[u8]> + Send>(
        &self,
        request: &(impl Fn() -> R + Clone + Send + 'static),
    ) -> f64 {
        rate_of_new(self.address, request.clone(), CONNECTIONS, TURN)
    }

    fn compare_sql<P: AsRef<str> + Send + Sync>(
        &self,
        what: &str,
        ours: impl FnMut() -> f64,
        statement: &'static str,
        parameter: &(impl Fn() -> P + Clone + Send + 'static),
    ) {
        let Some(postgres) = &self.postgres else {
            return;
        };
        let theirs = || postgres.rate(statement, parameter.clone(), CONNECTIONS, TURN);
        compare(what, "more than 1.00", ours, theirs);
    }

    /// What is asked for of each document of an answer.
    fn rows(&self, request: &[u8]) -> Vec<Vec<String>> {
        self.runtime.block_on(async {
            let mut connection = Connection::open(self.address).await;
            let answer: Value =
                serde_json::from_slice(connection.ask(request).await).expect("JSON");
            let found = answer["data"]["documents"]["nodes"].as_array();
            let read = answer["data"].as_object().expect("no error");
            let nodes: Vec<&Value> =
                found.map_or_else(|| read.values().collect(), |nodes| nodes.iter().collect());
            let row = |node: &&Value| {
                let fields = node.as_object().expect("a document");
                fields.values().map(text).collect()
            };
            nodes.iter().map(row).collect()
        })
    }

    /// What PostgreSQL has; none without it.
    fn sql_rows(&self, statement: &str, parameter: &str) -> Option<Vec<Vec<String>>> {
        let postgres = self.postgres.as_ref()?;
        self.runtime.block_on(async {
            let client = postgres.client().await;
            let rows = client.query(statement, &[&parameter]).await.expect("rows");
            Some(rows.iter().map(texts).collect())
        })
    }
}

fn text(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// The products of these numbers, two fields of each, in one request.
fn reads(numbers: &[u64]) -> Vec<u8> {
    let reads = numbers.iter().map(|number| {
        let id = id(*number);
        format!(
            "p{id}: document(collection: \"products\", id: {id}) {{ name: value(path: \"/name\") price: value(path: \"/price\") }} "
        )
    });
    graphql(
        &format!("{{ {} }}", reads.collect::<Vec<_>>().concat()),
        "{}",
    )
}

/// One after the other, and from the first again.
fn in_turn<T: Into<Arc<A>>, A: ?Sized + Send + Sync + 'static>(
    items: impl IntoIterator<Item = T>,
) -> impl Fn() -> Arc<A> + Clone + Send + 'static {
    let items: Arc<[Arc<A>]> = items.into_iter().map(Into::into).collect();
    let next = Arc::new(AtomicUsize::new(0));
    move || items[next.fetch_add(1, Relaxed) % items.len()].clone()
}

/// The id that the product of this number is stored under, on both sides.
fn id(number: u64) -> i64 {
    i64::try_from(number).expect("small") + 1
}

async fn fill(database: &Database, collection: &'static str) {
    for first in (0..PRODUCTS).step_by(usize::try_from(STORED_AT_ONCE).expect("small")) {
        let products = (first..first + STORED_AT_ONCE).map(|number| {
            let leaves = Leaves::from_json(&Product::new(number).json).expect("JSON");
            (DocumentId::Integer(id(number)), leaves)
        });
        let products: Arc<[_]> = products.collect();
        let stored = database.transact(deadline(), move |transaction| {
            let products = products.clone();
            Box::pin(async move {
                for (id, leaves) in &*products {
                    let document = DocumentKey::new(collection, id.clone())?;
                    put(&*transaction, &document, leaves, Existing::Replace).await?;
                }
                Ok(Outcome::Commit(()))
            })
        });
        stored.await.expect("stored");
    }
}

/// Makes the indexes, and builds them.
async fn index(database: &Database) {
    for (name, on, unique) in INDEXES {
        let created = database.transact(deadline(), move |transaction| {
            Box::pin(async move {
                create_index(&*transaction, INDEXED, name, on, unique)
                    .await
                    .map(Outcome::Commit)
            })
        });
        created.await.expect("an index");
    }
    let mut builder = Builder::new(database.clone());
    builder.finish().await.expect("built");
}

async fn fill_table(postgres: &Postgres) {
    let client = postgres.client().await;
    client.batch_execute(TABLE).await.expect("a table");
    for first in (0..PRODUCTS).step_by(1_000) {
        let products = (first..first + 1_000).map(|number| Product::new(number).json);
        let products: Vec<String> = products.collect();
        client.execute(FILL, &[&products]).await.expect("stored");
    }
    let begin = std::time::Instant::now();
    for statement in SQL_INDEXES.split(';') {
        client.batch_execute(statement).await.expect("an index");
    }
    println!(
        "PostgreSQL: indexes and statistics in {:.1} s",
        begin.elapsed().as_secs_f64()
    );
}
