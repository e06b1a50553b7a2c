//! A shop of 100,000 products, stored in two collections, one of them with indexes, and in a
//! PostgreSQL table.

use std::collections::HashMap;
use std::sync::Arc;

use phyllo::budget::Budget;
use phyllo::database::{Builder, Database, DocumentKey, Existing, create_index, put};
use phyllo::document::filter::Filter;
use phyllo::document::id::DocumentId;
use phyllo::key::Leaves;
use phyllo::store::Decision;

use super::postgres::Postgres;
use super::products::{Category, Product};
use super::support::{deadline, seconds};

/// The number of products.
pub(crate) const PRODUCTS: u64 = 100_000;
/// Products on a page.
pub(crate) const PAGE: usize = 50;
const STORED_AT_ONCE: u64 = 250;
/// The collection with indexes, and the one without.
pub(crate) const INDEXED: &str = "products";
pub(crate) const PLAIN: &str = "plain";
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

/// The product numbers in each category of the lowest level.
pub(crate) struct Shelves(HashMap<Category, Vec<u64>>);

impl Shelves {
    /// Groups all products and prints statistics.
    pub(crate) fn new() -> Self {
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

    /// The categories with at least a page of products, and the first page of each, cheapest first.
    pub(crate) fn pages(&self) -> Vec<(String, Vec<u64>)> {
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
    pub(crate) fn pages_below(&self) -> Vec<(String, Vec<u64>)> {
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

/// The id of this product in Phyllo and in PostgreSQL.
pub(crate) fn id(number: u64) -> i64 {
    i64::try_from(number).expect("small") + 1
}

/// Stores all products in a collection.
pub(crate) async fn fill(database: &Database, collection: &'static str) {
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
                    put(
                        &*transaction,
                        &Budget::of_background(),
                        &document,
                        leaves,
                        Existing::Replace,
                    )
                    .await?;
                }
                Ok(Decision::Commit(()))
            })
        });
        stored.await.expect("stored");
    }
}

/// Creates the indexes and waits until they are built.
pub(crate) async fn index(database: &Database) {
    for (name, on, unique) in INDEXES {
        let created = database.transact(deadline(), move |transaction| {
            Box::pin(async move {
                create_index(&*transaction, INDEXED, name, on, unique, Filter::default())
                    .await
                    .map(Decision::Commit)
            })
        });
        created.await.expect("an index");
    }
    let mut builder = Builder::new(database.clone());
    builder.finish().await.expect("built");
}

/// Stores all products in a table and creates its indexes.
pub(crate) async fn fill_table(postgres: &Postgres) {
    let client = postgres.client().await;
    client.batch_execute(TABLE).await.expect("a table");
    for first in (0..PRODUCTS).step_by(1_000) {
        let products = (first..first + 1_000).map(|number| Product::new(number).json);
        let products: Vec<String> = products.collect();
        client.execute(FILL, &[&products]).await.expect("stored");
    }
    let indexed = async {
        for statement in SQL_INDEXES.split(';') {
            client.batch_execute(statement).await.expect("an index");
        }
    };
    let (built, ()) = seconds(indexed).await;
    println!("PostgreSQL: indexes, statistics and a checkpoint in {built:.1} s");
}
