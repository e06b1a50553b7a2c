//! Queries with filters over HTTP, compared with reads by id. Inserts with indexes, compared with
//! inserts without. Both compared with PostgreSQL with JSONB and equivalent indexes.
//!
//! 100,000 products of a shop (support/products.rs) are stored in a collection with three indexes
//! and in one without. Consecutive requests read different products or categories. PostgreSQL is
//! queried over a Unix socket in its binary protocol, with prepared statements. Phyllo is queried
//! over HTTP on loopback and parses a GraphQL query in each request.
//!
//! `cargo bench --bench queries -- slug` (`category`, `below`, `covered`, `groups`, `inserts`) runs
//! only one of the benchmarks.

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
#[path = "support/shop.rs"]
mod shop;
mod support;

/// The same allocator as in the server.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};

use postgres::{Postgres, texts};
use products::Product;
use serde_json::Value;
use shop::{INDEXED, PLAIN, PRODUCTS, Shelves, fill, fill_table, id, index};
use support::load::{Connection, graphql, rate_of_new};
use support::{TURN, compare, database, seconds, serve};
use tokio::runtime::Runtime;

const CONNECTIONS: usize = 32;
/// The number of different requests of each kind.
const REQUESTS: usize = 512;
const SQL_SLUG: &str =
    "SELECT (document->'price')::text FROM products WHERE document->>'slug' = $1";
const SQL_CATEGORY: &str = "SELECT document->>'name', (document->'price')::text FROM products
    WHERE document->>'category' = $1 ORDER BY (document->>'price')::numeric, id LIMIT 50";
const SQL_BELOW: &str = "SELECT document->>'name', (document->'price')::text FROM products
    WHERE document->'ancestors' @> $1::text::jsonb ORDER BY id LIMIT 50";
/// Like [`SQL_BELOW`], but without an order, so it cannot be paged.
const SQL_BELOW_ANY: &str = "SELECT document->>'name', (document->'price')::text FROM products
    WHERE document->'ancestors' @> $1::text::jsonb LIMIT 50";
const SQL_COMPOUND: &str = "SELECT document->>'category', (document->'price')::text FROM products
    WHERE document->>'category' = ANY(string_to_array($1, ' '))
    ORDER BY (document->>'price')::numeric, id LIMIT 50";
const SQL_GROUPS: &str = "SELECT document->>'category', count(*)::text,
    sum((document->>'price')::numeric)::text FROM products WHERE $1 = $1 GROUP BY 1 ORDER BY 1";
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
    if wanted("covered") {
        bench.covered();
    }
    if wanted("groups") {
        bench.groups();
    }
    if wanted("inserts") {
        bench.inserts();
    }
    if wanted("counts") {
        bench.runtime.block_on(async {
            let directory = tempfile::tempdir().expect("a directory");
            let database = database(directory.path()).await;
            let address = serve(database.clone()).await;
            support::counts::print_times(&database, address).await;
        });
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

        let nothing = in_turn([graphql("{ __typename }", "{}")]);
        self.compare_sql(
            "  HTTP and GraphQL by themselves, { __typename }, against PostgreSQL's answer",
            || self.rate(&nothing),
            SQL_SLUG,
            &slugs,
        );
    }

    fn category(&self) {
        self.pages(
            "a page of 50, one category from the cheapest on, two fields of each",
            "query($id: JSON) { documents(collection: \"products\", where: {at: \"$.category\", eq: $id}, orderBy: {by: \"$.price\"}, first: 50) { nodes { name: value(path: \"/name\") price: value(path: \"/price\") } } }",
            &self.shelves.pages(),
            &[("  against PostgreSQL", SQL_CATEGORY)],
            str::to_owned,
        );
    }

    fn below(&self) {
        self.pages(
            "a page of 50, all below one category by id, two fields of each",
            "query($id: JSON) { documents(collection: \"products\", where: {at: \"$.ancestors[*]._id\", eq: $id}, first: 50) { nodes { name: value(path: \"/name\") price: value(path: \"/price\") } } }",
            &self.shelves.pages_below(),
            &[
                ("  against PostgreSQL", SQL_BELOW),
                ("  against PostgreSQL, where any 50 will do", SQL_BELOW_ANY),
            ],
            |id| format!(r#"[{{"_id":"{id}"}}]"#),
        );
    }

    /// Pages whose values are in the index.
    fn covered(&self) {
        let page = |filter: &str, fields: &str| {
            format!(
                "query($id: JSON) {{ documents(collection: \"products\", where: {{at: \"$.category\", {filter}: $id}}, orderBy: {{by: \"$.price\"}}, first: 50) {{ nodes {{ {fields} }} }} }}"
            )
        };
        let (category, price, name) = (
            "category: value(path: \"/category\")",
            "price: value(path: \"/price\")",
            "name: value(path: \"/name\")",
        );
        let covered = page("eq", &format!("{category} {price}"));
        let read = page("eq", &format!("{name} {price}"));
        let pages = self.shelves.pages();
        let step = pages.len().div_ceil(REQUESTS);
        let ids: Vec<&String> = pages.iter().step_by(step).map(|(id, _)| id).collect();
        let requests = |query: &str| {
            let of_one = |id: &&String| graphql(query, &format!("{{\"id\":\"{id}\"}}"));
            in_turn(ids.iter().map(of_one).collect::<Vec<_>>())
        };
        let (covered, read) = (requests(&covered), requests(&read));
        compare(
            "a page of 50 with two values of the index, against two values of which one is not",
            "at least 2.00",
            || self.rate(&covered),
            || self.rate(&read),
        );
        let several = |ids: &[&String]| {
            let listed: Vec<String> = ids.iter().map(|id| format!("\"{id}\"")).collect();
            format!("{{\"id\":[{}]}}", listed.join(","))
        };
        let compound =
            page("in", &format!("{category} {price}")).replace("$id: JSON", "$id: [JSON]");
        let requests: Vec<_> = ids
            .windows(3)
            .map(|three| graphql(&compound, &several(three)))
            .collect();
        let compound = in_turn(requests);
        let three = ids.windows(3).map(|three| {
            let three: Vec<&str> = three.iter().map(|id| id.as_str()).collect();
            three.join(" ")
        });
        self.compare_sql(
            "  of three categories in one order, against PostgreSQL",
            || self.rate(&compound),
            SQL_COMPOUND,
            &in_turn(three),
        );
    }

    /// Aggregates of all products.
    fn groups(&self) {
        let query = "{ aggregate(collection: \"products\", groupBy: [\"$.category\"], first: 10000) { groups { key count sum(of: \"$.price\") } } }";
        let groups = in_turn([graphql(query, "{}")]);
        self.compare_sql(
            "count and sum of 100,000 products by category, against PostgreSQL",
            || self.rate(&groups),
            SQL_GROUPS,
            &in_turn(["1".to_owned()]),
        );
        let query = "{ aggregate(collection: \"products\", groupBy: [\"$.category\"], first: 10000) { groups { key } } }";
        let distinct = in_turn([graphql(query, "{}")]);
        compare(
            "the categories of 100,000 products without count and sum, against with them",
            "none set",
            || self.rate(&distinct),
            || self.rate(&groups),
        );
    }

    /// Compares pages with single reads and with SQL statements. The first statement must return
    /// the same rows.
    fn pages(
        &self,
        what: &str,
        query: &str,
        pages: &[(String, Vec<u64>)],
        statements: &[(&str, &'static str)],
        parameter: fn(&str) -> String,
    ) {
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
            let theirs = self.sql_rows(statements[0].1, &parameter(id));
            assert_eq!(theirs.unwrap_or(expected.clone()), expected);
        }
        let (found, read) = (in_turn(found), in_turn(read));
        compare(
            &format!("{what}, against 50 reads by id in one request"),
            "at least 0.70",
            || self.rate(&found),
            || self.rate(&read),
        );
        let ids = in_turn(pages.iter().map(|(id, _)| parameter(id)));
        for (what, statement) in statements {
            self.compare_sql(what, || self.rate(&found), statement, &ids);
        }
    }

    fn inserts(&self) {
        let next = Arc::new(AtomicU64::new(PRODUCTS));
        let new = move || Product::new(next.fetch_add(1, Relaxed)).json;
        let insert = |collection: &'static str| {
            let new = new.clone();
            let request = move || {
                graphql(
                    &format!(
                        "mutation($document: JSON) {{ insertDocument(document: $document, collection: \"{collection}\") {{ key }} }}"
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

    /// The selected fields of each document in the response.
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

    /// The rows that PostgreSQL returns, or `None` without PostgreSQL.
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

/// A request for two fields of each of these products.
fn reads(numbers: &[u64]) -> Vec<u8> {
    let reads = numbers.iter().enumerate().map(|(at, number)| {
        let id = id(*number);
        format!(
            "p{at:02}: document(collection: \"products\", id: {id}) {{ name: value(path: \"/name\") price: value(path: \"/price\") }} "
        )
    });
    graphql(
        &format!("{{ {} }}", reads.collect::<Vec<_>>().concat()),
        "{}",
    )
}

/// Cycles through the items.
fn in_turn<T: Into<Arc<A>>, A: ?Sized + Send + Sync + 'static>(
    items: impl IntoIterator<Item = T>,
) -> impl Fn() -> Arc<A> + Clone + Send + 'static {
    let items: Arc<[Arc<A>]> = items.into_iter().map(Into::into).collect();
    let next = Arc::new(AtomicUsize::new(0));
    move || items[next.fetch_add(1, Relaxed) % items.len()].clone()
}
