//! The cost of types over HTTP: typed selections compared with the same reads without types, pages
//! with a reference compared with two requests that a client makes by hand, and a change of one
//! leaf in a large document with a type compared with one without.
//!
//! Responses are not cached.

mod support;

/// The same allocator as in the server.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

use std::net::SocketAddr;

use support::load::{answer, ask_in_order, graphql, rate, rate_of_new};
use support::{TURN, compare, database, serve};
use tokio::runtime::Runtime;

const CONNECTIONS: usize = 32;
const PRODUCTS: usize = 2_000;
const MAKERS: usize = 500;
const PAGE: usize = 50;
/// Members of the map of a large document.
const STOCK: usize = 1_000_000;

fn main() {
    let runtime = Runtime::new().expect("a runtime");
    let directory = tempfile::tempdir().expect("a directory");
    let database = runtime.block_on(database(directory.path()));
    let address = runtime.block_on(serve(database));
    fill(&runtime, address);
    let read = |request: &[u8]| rate(address, request, CONNECTIONS, TURN);

    let typed = graphql(
        "{ product(key: \"77\") { name price state size { width } } }",
        "{}",
    );
    let untyped = graphql(
        "{ document(collection: \"products\", id: 77) { a: value(path: \"/name\") b: value(path: \"/price\") \
         c: value(path: \"/state\") d: value(path: \"/size/width\") } }",
        "{}",
    );
    for request in [&typed, &untyped] {
        let answer = runtime.block_on(answer(address, request));
        assert!(answer.contains("Name of 77"), "{answer}");
    }
    compare(
        "4 leaves by a type, against 4 paths",
        "at least 0.95",
        || read(&typed),
        || read(&untyped),
    );

    let typed = graphql(
        &format!(
            "{{ products(first: {PAGE}) {{ nodes {{ key name price state size {{ width }} madeBy {{ name }} }} }} }}"
        ),
        "{}",
    );
    let page = graphql(
        &format!(
            "{{ documents(collection: \"products\", first: {PAGE}) {{ nodes {{ key name: value(path: \"/name\") \
             price: value(path: \"/price\") state: value(path: \"/state\") width: value(path: \"/size/width\") \
             maker: value(path: \"/maker\") }} }} }}"
        ),
        "{}",
    );
    let makers: Vec<String> = (0..PAGE)
        .map(|id| {
            format!(
                "{{__typename: \"Document\", collection: \"makers\", key: \"{}\"}}",
                maker(id)
            )
        })
        .collect();
    let makers = graphql(
        &format!(
            "{{ _entities(representations: [{}]) {{ ... on Document {{ name: value(path: \"/name\") }} }} }}",
            makers.join(", ")
        ),
        "{}",
    );
    for (request, expected) in [(&typed, "Maker 21"), (&page, "m-21"), (&makers, "Maker 21")] {
        let answer = runtime.block_on(answer(address, request));
        assert!(answer.contains(expected), "{answer}");
    }
    compare(
        "a page of 50 with five fields and a reference each, against a page and its 50 documents in two requests",
        "at least 0.80",
        || read(&typed),
        || 1.0 / (1.0 / read(&page) + 1.0 / read(&makers)),
    );

    let change = |collection: &'static str| {
        let new = move || {
            let query = format!(
                "mutation {{ incrementDocument(collection: \"{collection}\", id: \"stock\", \
                 path: \"/stock/item{:07}\") {{ version }} }}",
                rand::random_range(0..STOCK)
            );
            graphql(&query, "{}")
        };
        rate_of_new(address, new, CONNECTIONS, TURN)
    };
    compare(
        "changes of one leaf of 1,000,000 with a type, against without",
        "at least 0.87",
        || change("typed_stock"),
        || change("plain_stock"),
    );
}

fn maker(product: usize) -> String {
    format!("m-{}", product * 7 % MAKERS)
}

fn fill(runtime: &Runtime, address: SocketAddr) {
    let insert = |collection: &str, id: &str, json: &str| {
        let query = format!(
            "mutation($document: JSON) {{ insertDocument(collection: \"{collection}\", id: {id}, \
             document: $document) {{ key }} }}"
        );
        graphql(&query, &format!("{{\"document\":{json}}}"))
    };
    let set = |collection: &str, schema: &str| {
        let query = format!(
            "mutation($schema: JSON!) {{ setCollectionType(collection: \"{collection}\", schema: $schema) {{ state }} }}"
        );
        graphql(&query, &format!("{{\"schema\":{schema}}}"))
    };
    let maker_schema = r#"{"title":"Maker","type":"object","properties":{"name":{"type":"string"},
        "city":{"type":"string"}},"required":["name"]}"#;
    let product_schema = r#"{"title":"Product","type":"object","properties":{"name":{"type":"string"},
        "price":{"type":"number"},"state":{"enum":["draft","published"]},
        "size":{"type":"object","properties":{"width":{"type":"integer","minimum":0,"maximum":1000},
        "height":{"type":"integer","minimum":0,"maximum":1000}}},
        "tags":{"type":"array","items":{"type":"string"}},
        "maker":{"type":"string","x-reference":{"collection":"makers","as":"madeBy"}}},
        "required":["name","price"]}"#;
    let stock_schema = r#"{"title":"Stock","type":"object","properties":{"stock":{"type":"object",
        "additionalProperties":{"type":"integer"}}},"additionalProperties":false}"#;
    let types = [
        set("makers", maker_schema),
        set("products", product_schema),
        set("typed_stock", stock_schema),
    ];
    for request in types {
        let answer = runtime.block_on(answer(address, &request));
        assert!(answer.contains("ENFORCED"), "{answer}");
    }
    let makers = (0..MAKERS).map(|id| {
        let json = format!("{{\"name\":\"Maker {id}\",\"city\":\"City {}\"}}", id % 40);
        insert("makers", &format!("\"m-{id}\""), &json)
    });
    let products = (0..PRODUCTS).map(|id| {
        let json = format!(
            "{{\"name\":\"Name of {id}\",\"price\":{}.25,\"state\":\"published\",\
             \"size\":{{\"width\":{},\"height\":3}},\"tags\":[\"a\",\"b\"],\"maker\":\"{}\"}}",
            id * 7 % 1_000,
            id % 100,
            maker(id)
        );
        insert("products", &id.to_string(), &json)
    });
    let requests: Vec<Vec<u8>> = makers.chain(products).collect();
    let sequences: Vec<Vec<Vec<u8>>> = requests.chunks(125).map(<[_]>::to_vec).collect();
    ask_in_order(address, &sequences);
    let stock: Vec<String> = (0..STOCK)
        .map(|item| format!("\"item{item:07}\":{item}"))
        .collect();
    let stock = format!("{{\"stock\":{{{}}}}}", stock.join(","));
    for collection in ["typed_stock", "plain_stock"] {
        let answer = runtime.block_on(answer(address, &insert(collection, "\"stock\"", &stock)));
        assert!(answer.contains("\"key\""), "{answer}");
    }
}
