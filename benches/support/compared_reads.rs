//! The same reads of servers of several programs, such as an older version and this one, by turns.

use std::net::SocketAddr;

use super::load::{ask_in_order, graphql, rate};
use super::programs::Program;
use super::{TURN, compare, document};

const CONNECTIONS: usize = 32;
/// Products, with an index of their categories and prices, and one of their slugs.
const PRODUCTS: usize = 2_000;
const ELEMENTS: usize = 50_000;

/// Prints the ratio of each program's rate to that of the first, for each kind of read.
pub(crate) fn compare_reads(programs: &[Program]) {
    let Some((first, others)) = programs.split_first() else {
        return;
    };
    for program in programs {
        fill(program.address);
    }
    for (what, request) in reads() {
        for other in others {
            let read = |program: &Program| rate(program.address, &request, CONNECTIONS, TURN);
            compare(
                &format!("{what}: {} against {}", other.name, first.name),
                "none",
                || read(other),
                || read(first),
            );
        }
    }
}

fn insert(collection: &str, id: usize, json: &str) -> Vec<u8> {
    let query = format!(
        "mutation($document: JSON) {{ insertDocument(collection: \"{collection}\", id: {id}, \
         document: $document) {{ key }} }}"
    );
    graphql(&query, &format!("{{\"document\":{json}}}"))
}

fn fill(address: SocketAddr) {
    let index = |name: &str, on: &str| {
        let query = format!(
            "mutation {{ createIndex(collection: \"products\", name: \"{name}\", on: [{on}]) \
             {{ state }} }}"
        );
        graphql(&query, "{}")
    };
    let elements: Vec<String> = (0..ELEMENTS).map(|number| number.to_string()).collect();
    let one_by_one = vec![
        index("category", "\"$.category\", \"$.price\""),
        index("slug", "\"$.slug\""),
        insert("D", 40, &document(40)),
        insert("D", 10_000, &document(10_000)),
        insert("D", 7, &format!("[{}]", elements.join(","))),
    ];
    ask_in_order(address, &[one_by_one]);
    let products = (0..PRODUCTS).map(|id| {
        let (category, price) = (id % 20, id * 7 % 1_000);
        let json = format!(
            "{{\"slug\":\"product-{id}\",\"category\":{category},\"price\":{price}.25,\
             \"name\":\"Name of {id}\",\"tags\":[\"a\",\"b\"],\"stock\":{id}}}"
        );
        insert("products", id, &json)
    });
    let products: Vec<Vec<u8>> = products.collect();
    let sequences: Vec<Vec<Vec<u8>>> = products.chunks(125).map(<[_]>::to_vec).collect();
    ask_in_order(address, &sequences);
}

/// The name of each kind of read, and a request.
fn reads() -> Vec<(&'static str, Vec<u8>)> {
    let paths = |id: usize, count: usize, step: usize| {
        let fields = (0..count).map(|at| {
            let record = at * step;
            format!("p{at}: value(path: \"/record{record:07}/count\") ")
        });
        let fields: String = fields.collect();
        graphql(&format!("{{ document(id: {id}) {{ {fields} }} }}"), "{}")
    };
    let one = "query($id: ID!) { document(id: $id, path: \"/record0000003/count\") { value } }";
    let whole = "query($id: ID!) { document(id: $id) { value } }";
    let list = |arguments: &str, fields: &str| {
        let query = format!(
            "{{ documents(collection: \"products\", {arguments}) {{ nodes {{ {fields} }} }} }}"
        );
        graphql(&query, "{}")
    };
    let name_and_price = "name: value(path: \"/name\") price: value(path: \"/price\")";
    vec![
        ("1 leaf of 40", graphql(one, "{\"id\":40}")),
        ("4 leaves of 10,000", paths(10_000, 4, 600)),
        ("20 leaves of 10,000", paths(10_000, 20, 120)),
        ("40 leaves", graphql(whole, "{\"id\":40}")),
        ("10,000 leaves", graphql(whole, "{\"id\":10000}")),
        ("a page of 50", list("first: 50", name_and_price)),
        (
            "a page of 50 by an index, in its order",
            list(
                "first: 50, where: {at: \"$.category\", eq: 3}, orderBy: {by: \"$.price\"}",
                name_and_price,
            ),
        ),
        (
            "a page of 50 that an index covers",
            list(
                "first: 50, where: {at: \"$.category\", eq: 3}, orderBy: {by: \"$.price\"}",
                "price: value(path: \"/price\")",
            ),
        ),
        (
            "a document by an index",
            list("where: {at: \"$.slug\", eq: \"product-777\"}", "value"),
        ),
        (
            "a filter without an index",
            list(
                "first: 5, scanLimit: 10000, where: {at: \"$.stock\", gte: 1000}",
                "key",
            ),
        ),
        (
            "10 elements of 50,000",
            graphql(
                "{ document(id: 7) { select(query: \"$[25000:25010]\") { value } } }",
                "{}",
            ),
        ),
        (
            "count and sum of 20 groups",
            graphql(
                "{ aggregate(collection: \"products\", groupBy: [\"$.category\"]) \
                 { groups { key count sum(of: \"$.price\") } } }",
                "{}",
            ),
        ),
        (
            "100 children of 2,500",
            graphql(
                "{ document(id: 10000) { children(first: 100) { nodes { value } } } }",
                "{}",
            ),
        ),
        (
            "50 documents with 10 children each",
            list("first: 50", "children(first: 10) { nodes { value } }"),
        ),
        (
            "groups beside a page of 50",
            graphql(
                "{ aggregate(collection: \"products\", groupBy: [\"$.category\"]) \
                 { groups { key count } } \
                 documents(collection: \"products\", first: 50) { nodes { key } } }",
                "{}",
            ),
        ),
        ("1,000 entities of one leaf", entities()),
        (
            "the length of an array",
            graphql("{ document(id: 7) { length } }", "{}"),
        ),
        (
            "a document that does not exist",
            graphql(one, "{\"id\":41}"),
        ),
    ]
}

/// One leaf of each of 1,000 products.
fn entities() -> Vec<u8> {
    let representations = (0..1_000).map(|id| {
        format!("{{\"__typename\":\"Document\",\"collection\":\"products\",\"key\":\"{id}\"}}")
    });
    let representations: Vec<String> = representations.collect();
    graphql(
        "query($r: [_Any!]!) { _entities(representations: $r) { ... on Document { value(path: \"/price\") } } }",
        &format!("{{\"r\":[{}]}}", representations.join(",")),
    )
}
