//! The documents for hostile requests, at their maximum sizes.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::Client;
use super::items::store_items;
use super::referring::store_referring;
use super::server::Server;

/// Elements of a maximum array, close to the limits on the brackets of a JSON body and on the size
/// of a transaction.
pub(crate) const ELEMENTS: usize = 100_000;
/// Documents of `small`, whose indexes are compared with their documents at the end.
pub(crate) const SMALL: usize = 300;
/// Documents of `many`, which are small: more than a page has.
pub(crate) const MANY: usize = 20_000;
/// Documents of `wide`, which have a string nearly as long as a key can be.
pub(crate) const WIDE: usize = 1_000;
/// Documents of `marks`.
pub(crate) const MARKS: usize = 4;
/// Documents of `large`.
pub(crate) const LARGE: usize = 24;
/// Documents of `long`, whose ids are nearly as long as a key can be.
pub(crate) const LONG: usize = 60;
/// Documents of `scratch`, which start as empty objects.
pub(crate) const SCRATCH: usize = 8;
/// The time to build indexes.
const PATIENCE: Duration = Duration::from_secs(120);

/// The ids of `arrays`.
pub(crate) const ARRAYS: [&str; 5] = ["numbers", "members", "objects", "text", "deep"];

/// The ids of `lists`, besides a long one.
pub(crate) const NESTED: [&str; 4] = ["wide", "large", "named", "names"];

/// A document of `lists`: its elements have elements.
fn nested(id: &str) -> String {
    let wide = |elements| {
        list(elements, |at| {
            format!("{{\"a\":[{at},[1,2]],\"m\":{{\"x\":{at},\"y\":[1]}}}}")
        })
    };
    match id {
        // Each element is larger than what is read of it with the others.
        "large" => list(300, |_| numbers(300)),
        "named" => format!("{{\"{}\":{}}}", "m".repeat(2_000), wide(1_000)),
        // Many names that are nearly as long as a key.
        "names" => {
            let member = |at| format!("\"{at:03}{}\":[{at}]", "m".repeat(7_000));
            let members: Vec<String> = (0..400).map(member).collect();
            format!("{{{}}}", members.join(","))
        }
        "wide" => wide(5_000),
        // The others have long ids, which each leaf repeats.
        _ => wide(200),
    }
}

/// A document of `arrays`.
pub(crate) fn array(id: &str) -> String {
    match id {
        "numbers" => numbers(ELEMENTS),
        "members" => format!("{{\"a\":{}}}", numbers(ELEMENTS / 2)),
        "objects" => list(ELEMENTS / 5, |at| {
            format!("{{\"k\":{at},\"name\":\"n{at}\",\"tags\":[\"t\",\"u\"]}}")
        }),
        "text" => format!("{{\"s\":\"{}\"}}", "x".repeat(3 << 20)),
        "deep" => (0..100).fold("[]".to_owned(), |inner, level| {
            format!("{{\"n\":{},\"d{level}\":{inner}}}", numbers(200))
        }),
        other => panic!("no document of arrays: {other}"),
    }
}

/// An array of numbers.
pub(crate) fn numbers(elements: usize) -> String {
    list(elements, |at| at.to_string())
}

/// An array of this many elements, as JSON.
pub(crate) fn list(elements: usize, element: impl Fn(usize) -> String) -> String {
    let elements: Vec<String> = (0..elements).map(element).collect();
    format!("[{}]", elements.join(","))
}

/// An id of `long`.
pub(crate) fn long_id(number: usize) -> String {
    format!("{number:04}{}", "i".repeat(9_500))
}

/// Stores a document.
pub(crate) fn store(client: &mut Client, collection: &str, id: &str, document: &str) {
    let query = "mutation($c: String!, $i: ID!, $d: JSON) {
        replaceDocument(collection: $c, id: $i, document: $d) { kind } }";
    let variables = format!(
        "{{\"c\":\"{collection}\",\"i\":{},\"d\":{document}}}",
        json!(id)
    );
    let request = super::client::post(&super::client::body(query, &variables));
    let answer = client.send(&request).expect("it answers");
    assert!(answer.is_data(), "{id:.50}: {}", answer.json());
}

/// Creates an index and waits until it is built.
pub(crate) fn index(client: &mut Client, collection: &str, name: &str, on: &str, unique: bool) {
    let query = "mutation($c: String!, $n: String!, $on: [JSONPath!]!, $u: Boolean!) {
        createIndex(collection: $c, name: $n, on: $on, unique: $u) { state } }";
    let variables = json!({"c": collection, "n": name, "on": [on], "u": unique});
    client.data(query, &variables);
    wait_for_index(client, collection, name);
}

/// Waits until an index is built.
pub(crate) fn wait_for_index(client: &mut Client, collection: &str, name: &str) {
    let begin = Instant::now();
    loop {
        match &*state(client, collection, name) {
            "READY" => return,
            "BUILDING" => {}
            other => panic!("the index {name} is {other}"),
        }
        assert!(begin.elapsed() < PATIENCE, "the index {name} is not built");
        thread::sleep(Duration::from_millis(20));
    }
}

/// The state of an index, with its error if any.
pub(crate) fn state(client: &mut Client, collection: &str, name: &str) -> String {
    let query = "{ collections { name indexes { name state error } } }";
    let data = client.data(query, &json!({}));
    let collections = data["collections"].as_array().expect("a list");
    let found = collections.iter().find(|it| it["name"] == collection);
    let indexes = found.and_then(|found| found["indexes"].as_array());
    let found = indexes.and_then(|indexes| indexes.iter().find(|it| it["name"] == name));
    found.map_or_else(
        || "nowhere".to_owned(),
        |index| match &index["error"] {
            Value::String(error) => format!("{}: {error}", index["state"].as_str().unwrap_or("")),
            _ => index["state"].as_str().expect("a state").to_owned(),
        },
    )
}

/// Stores the documents of `many`, of which pages are as large as pages can be, and of `wide`, whose index entries
/// are.
pub(crate) fn fill_pages(server: &Server) {
    let line = |id: usize| {
        let (n, word) = (id * 7_919 % MANY, "w".repeat(id % 40));
        format!(
            "{{\"k\":{id},\"n\":{n},\"s\":\"{word}{n}\",\"g\":{}}}\n",
            id % 10
        )
    };
    server.import("many", &(0..MANY).map(line).collect::<String>());
    let line = |id: usize| {
        let (n, s, g) = (id * 7_919 % WIDE, "w".repeat(7_000), id % 200);
        format!("{{\"k\":{id},\"n\":{n},\"s\":\"{id:04}{s}\",\"g\":{g}}}\n")
    };
    server.import("wide", &(0..WIDE).map(line).collect::<String>());
    let mut client = server.client();
    for collection in ["many", "wide"] {
        for (name, on) in [("n", "$.n"), ("s", "$.s")] {
            index(&mut client, collection, name, on, false);
        }
        let query = "mutation($c: String!) {
            createIndex(collection: $c, name: \"gs\", on: [\"$.g\", \"$.s\"]) { state } }";
        client.data(query, &json!({"c": collection}));
        wait_for_index(&mut client, collection, "gs");
    }
}

/// Fills a store.
pub(crate) fn fill(client: &mut Client, clients: usize) {
    for id in ARRAYS {
        store(client, "arrays", id, &array(id));
    }
    for id in NESTED {
        store(client, "lists", id, &nested(id));
    }
    store(client, "lists", &long_id(0), &nested("long"));
    for number in 0..MARKS {
        let filler = numbers(ELEMENTS / 4);
        let items = format!(
            "{{\"items\":[{},\"mark-{number}\"]}}",
            &filler[1..filler.len() - 1]
        );
        store(client, "marks", &format!("mark-{number}"), &items);
    }
    for number in 0..SMALL {
        let document = json!({
            "n": number % 50, "u": number, "o": {"x": number % 7},
            "tags": [format!("t{}", number % 11), format!("t{}", number % 13)],
        });
        store(client, "small", &number.to_string(), &document.to_string());
    }
    for number in 0..LARGE {
        let document = format!(
            "{{\"n\":{number},\"a\":{},\"s\":\"{}\"}}",
            numbers(8_000),
            "s".repeat(100_000)
        );
        store(client, "large", &format!("large-{number}"), &document);
    }
    for number in 0..LONG {
        store(
            client,
            "long",
            &long_id(number),
            "{\"n\":1,\"o\":{\"a\":[1,2]}}",
        );
    }
    for number in 0..SCRATCH {
        store(client, "scratch", &format!("s{number}"), "{}");
    }
    for number in 0..clients {
        store(client, "ledger", &format!("c{number}"), "{\"n\":0}");
    }
    store_items(client);
    store_referring(client);
    index(client, "marks", "items", "$.items[*]", false);
    index(client, "small", "n", "$.n", false);
    index(client, "small", "tags", "$.tags[*]", false);
    index(client, "small", "u", "$.u", true);
}
