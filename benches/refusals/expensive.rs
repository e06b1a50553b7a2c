//! Small requests that used to cost seconds to minutes, gigabytes of memory or gigabytes of disk.
//! Each must be rejected, or answered within the budget of a request.

use std::fmt::Write as _;

use super::{post, text_body};

/// Requests that are sent concurrently, each by its own client.
pub(crate) struct Expensive {
    pub(crate) name: &'static str,
    pub(crate) request: Vec<u8>,
    pub(crate) clients: usize,
}

/// The number of filters in a list, close to the limit of 1,000.
const FILTERS: usize = 990;
const NUMBERS: usize = 100_000;
const RENUMBERED: usize = 300_000;
const ELEMENTS: usize = 900_000;
const INDEXED: usize = 3_000_000;
const LONG_IDS: usize = 400;
const PLACES: usize = 9_000;

fn list(count: usize, element: impl Fn(usize) -> String) -> String {
    let elements: Vec<String> = (0..count).map(element).collect();
    format!("[{}]", elements.join(","))
}

fn numbers(count: usize) -> String {
    list(count, |at| at.to_string())
}

fn long_id(number: usize) -> String {
    format!("{number:04}{}", "i".repeat(9_700))
}

/// A long member name.
fn long_name() -> String {
    "m".repeat(9_000)
}

fn graphql(query: &str, variables: &str) -> Vec<u8> {
    post("", text_body(query, variables).as_bytes())
}

/// The requests that store the data for the expensive requests.
pub(crate) fn stored() -> Vec<Vec<u8>> {
    let store = |collection: &str, id: &str, document: &str| {
        let query = "mutation($c: String!, $i: ID!, $d: JSON) { \
                     replaceDocument(collection: $c, id: $i, document: $d) { kind } }";
        let variables = format!("{{\"c\":\"{collection}\",\"i\":\"{id}\",\"d\":{document}}}");
        graphql(query, &variables)
    };
    let texts = format!("{{\"t\":\"{}\",\"a\":[1,2]}}", "t".repeat(16 << 20));
    let long = format!("{{\"{}\":{}}}", long_name(), numbers(10_000));
    let mut stored = vec![
        store("numbers", "1", &numbers(NUMBERS)),
        store("elements", "1", &numbers(ELEMENTS)),
        store("renumbered", "1", &numbers(RENUMBERED)),
        store("indexed", "1", &numbers(INDEXED)),
        store("places", "1", &numbers(PLACES)),
        store("copied", "1", &texts),
        store("doubled", "1", "{\"a\":[1,2]}"),
        store("paths", "1", &long),
    ];
    for id in 0..40 {
        let document = format!("{{\"a\":{}}}", numbers(1_000));
        stored.push(store("points", &id.to_string(), &document));
    }
    for id in 0..24 {
        let text = "x".repeat(12 << 20);
        stored.push(store(
            "large",
            &id.to_string(),
            &format!("{{\"s\":\"{text}\"}}"),
        ));
    }
    for number in 0..LONG_IDS {
        stored.push(store("long", &long_id(number), "{\"n\":1}"));
    }
    let index =
        "mutation { createIndex(collection: \"points\", name: \"a\", on: [\"$.a[*]\"]) { state } }";
    stored.push(graphql(index, "{}"));
    stored
}

/// Reads come before writes, because writes change the data that reads use.
pub(crate) fn expensive() -> Vec<Expensive> {
    let mut all = filters();
    all.extend(responses());
    all.extend(reads());
    all.extend(writes());
    all
}

fn find(collection: &str, filter: &str) -> Vec<u8> {
    let query = format!(
        "query($w: DocumentFilter) {{ documents(collection: \"{collection}\", where: $w) {{ nodes {{ key }} }} }}"
    );
    graphql(&query, &format!("{{\"w\":{filter}}}"))
}

fn filters() -> Vec<Expensive> {
    let repeated = |name, path: &str, list: &str| {
        let filters = vec![format!("{{\"at\":\"{path}\",\"exists\":true}}"); FILTERS].join(",");
        Expensive {
            name,
            request: find("numbers", &format!("{{\"{list}\":[{filters}]}}")),
            clients: 2,
        }
    };
    let by_get = {
        let filters = "{at:\"$[?count($[0:88])>100]\",exists:true},".repeat(60);
        let query = format!(
            "{{documents(collection:\"numbers\",where:{{any:[{filters}]}}){{nodes{{id}}}}}}"
        );
        let query: String = form_urlencoded::byte_serialize(query.as_bytes()).collect();
        format!(
            "GET /graphql?query={query} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
             sec-fetch-site: cross-site\r\n\r\n"
        )
    };
    let values = list(1_000, |at| format!("-{}", at + 1));
    let path = "['a']".repeat(2_600);
    let long = list(FILTERS, |at| {
        format!("{{\"at\":\"${path}[{at}]\",\"exists\":true}}")
    });
    let points = list(FILTERS, |at| format!("{{\"at\":\"$.a[*]\",\"eq\":{at}}}"));
    let other = |name, request| Expensive {
        name,
        request,
        clients: 2,
    };
    vec![
        repeated("990 filters that count", "$[?count($[0:88])>100]", "any"),
        repeated(
            "990 filters with queries inside",
            "$[?count($[?@<88])>100]",
            "any",
        ),
        repeated(
            "990 filters that count in all",
            "$[?count($[0:88])>1]",
            "all",
        ),
        repeated(
            "990 filters on descendants",
            "$..[?count($[0:88])>100]",
            "any",
        ),
        other("60 filters that count, by GET", by_get.into_bytes()),
        other(
            "1,000 values over 900,000 elements",
            find("elements", &format!("{{\"at\":\"$[*]\",\"in\":{values}}}")),
        ),
        other(
            "a union of 990 index points",
            find("points", &format!("{{\"any\":{points}}}")),
        ),
        other(
            "an intersection of 990 index points",
            find("points", &format!("{{\"all\":{points}}}")),
        ),
        other(
            "990 JSONPaths of 13 KB",
            find("numbers", &format!("{{\"any\":{long}}}")),
        ),
    ]
}

fn responses() -> Vec<Expensive> {
    let aliases = |count: usize, field: &str| {
        let mut all = String::new();
        for at in 0..count {
            write!(all, "a{at}: {field} ").expect("a string takes all");
        }
        all
    };
    let one = |name, request| Expensive {
        name,
        request,
        clients: 1,
    };
    let page = |below: String| {
        graphql(
            &format!("{{ documents(collection: \"long\", first: 400) {{ {below} }} }}"),
            "{}",
        )
    };
    let represented = list(1_000, |at| {
        format!(
            "{{\"__typename\":\"Document\",\"collection\":\"long\",\"key\":\"{}\"}}",
            long_id(at % LONG_IDS)
        )
    });
    let entities = format!(
        "query($r: [_Any!]!) {{ _entities(representations: $r) {{ ... on Document {{ {} }} }} }}",
        aliases(100, "id")
    );
    let children = format!(
        "query($p: Path) {{ {} }}",
        aliases(
            9,
            "document(collection: \"paths\", id: 1, path: $p) { children(first: 10000) { nodes { path } } }"
        )
    );
    let alias = format!(
        "{{ document(collection: \"numbers\", id: 1) {{ children(first: 10000) {{ nodes {{ {}: kind }} }} }} }}",
        "x".repeat(12_700)
    );
    vec![
        one(
            "240 aliases of 400 long ids",
            page(format!("nodes {{ {} }}", aliases(240, "id"))),
        ),
        one(
            "240 aliases of 400 cursors",
            page(format!("edges {{ {} }}", aliases(240, "cursor"))),
        ),
        one(
            "100 ids of 1,000 entities",
            graphql(&entities, &format!("{{\"r\":{represented}}}")),
        ),
        one(
            "a long alias in each of 10,000 children",
            graphql(&alias, "{}"),
        ),
        one(
            "long paths of 90,000 children",
            graphql(&children, &format!("{{\"p\":[\"{}\"]}}", long_name())),
        ),
    ]
}

fn reads() -> Vec<Expensive> {
    let query = "{documents(collection:\"large\",where:{at:\"$..*\",eq:-1}){nodes{id}}}";
    let update = "mutation { updateDocuments(collection: \"large\", where: {at: \"$..*\", eq: -1}, \
                  set: [{at: \"$.n\", value: 1}]) { matched } }";
    vec![
        Expensive {
            name: "a filter on large documents, 12 times",
            request: graphql(query, "{}"),
            clients: 12,
        },
        Expensive {
            name: "updateDocuments on large documents",
            request: graphql(update, "{}"),
            clients: 1,
        },
    ]
}

fn writes() -> Vec<Expensive> {
    let one = |name, request| Expensive {
        name,
        request,
        clients: 1,
    };
    let patch = |collection: &str, operations: String| {
        let query = format!(
            "mutation($p: JSON) {{ patchDocument(collection: \"{collection}\", id: 1, patch: $p) {{ kind }} }}"
        );
        graphql(&query, &format!("{{\"p\":{operations}}}"))
    };
    let copies = list(40, |at| {
        format!("{{\"op\":\"copy\",\"from\":\"/t\",\"path\":\"/c{at}\"}}")
    });
    let doubling = list(40, |at| {
        format!("{{\"op\":\"copy\",\"from\":\"\",\"path\":\"/d{at}\"}}")
    });
    let removals = list(200, |_| "{\"op\":\"remove\",\"path\":\"/0\"}".to_owned());
    let update = "mutation($v: JSON) { updateDocuments(collection: \"places\", where: {}, \
                  everything: true, set: [{at: \"$[*]\", value: $v}]) { matched } }";
    let index =
        "mutation { createIndex(collection: \"indexed\", name: \"a\", on: [\"$[*]\"]) { state } }";
    vec![
        one("40 copies of 16 MiB", patch("copied", copies)),
        one("40 copies that double", patch("doubled", doubling)),
        one(
            "200 removals from 300,000 elements",
            patch("renumbered", removals),
        ),
        one(
            "300 KB at 9,000 places",
            graphql(update, &format!("{{\"v\":\"{}\"}}", "v".repeat(300_000))),
        ),
        // The index is built after the response, so the second client is measured for a while.
        one("an index on 3,000,000 elements", graphql(index, "{}")),
    ]
}
