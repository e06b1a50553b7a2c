//! `range`: the parts of a value between two paths, on all levels.

use std::collections::BTreeMap;

use phyllo::limits::Bounds;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Map, Value, json};

use super::projecting::{Step, random_path, random_value, value_at};
use super::support::{Client, NONE, client, client_of_within};

cases!(
    damaged("a document is malformed") [
        parts_of_a_malformed_document_are_an_error,
    ]
    async [
        parts_between_two_paths_are_at_their_places,
        tokens_mean_what_the_document_has,
        random_ranges_equal_a_model,
        a_range_is_one_read,
        ranges_work_wherever_documents_are_returned,
        ranges_are_limited,
    ]
);

async fn days() -> Client {
    let client = client().await;
    let document = json!({
        "2025": {"12": {"30": {"sold": 3}, "31": {"sold": 5, "note": "a"}}},
        "2026": {"01": {"01": {"sold": 1}, "02": {"sold": 4}}, "02": {}},
        "about": "sales",
        "list": [0, [10, 11, 12], {"n": 30, "m": 31}, [[40, 41], [42, 43, 44]], 5],
        "none": [],
    });
    client.insert("1", document).await;
    client
}

async fn between(client: &Client, from: &Value, to: &Value) -> Value {
    let query = "query($f: Path, $t: Path) { document(id: 1) { x: range(from: $f, to: $t) } }";
    let data = client.data(query, json!({"f": from, "t": to})).await;
    data["document"]["x"].clone()
}

async fn parts_between_two_paths_are_at_their_places() {
    let client = days().await;
    let whole = client
        .data("{ document(id: 1) { value range } }", NONE)
        .await;
    let whole = &whole["document"];
    assert_eq!(whole["range"], whole["value"]);
    for (from, to, expected) in [
        (
            json!("/2025/12/31"),
            json!("/2026/01/02"),
            json!({"2025": {"12": {"31": {"sold": 5, "note": "a"}}}, "2026": {"01": {"01": {"sold": 1}}}}),
        ),
        // Nothing needs to be stored at the bounds.
        (
            json!("/2025/12/31/sold"),
            json!("/2026/01/01/then"),
            json!({"2025": {"12": {"31": {"sold": 5}}}, "2026": {"01": {"01": {"sold": 1}}}}),
        ),
        (
            json!("/2025/13"),
            json!("/2026/02/01"),
            json!({"2026": {"01": {"01": {"sold": 1}, "02": {"sold": 4}}}}),
        ),
        (
            json!(["2026", "01", "02"]),
            json!("/a"),
            json!({"2026": {"01": {"02": {"sold": 4}}, "02": {}}}),
        ),
        (json!("/about"), json!("/list"), json!({"about": "sales"})),
        (
            json!("/list/3/1/1"),
            json!("/list/4"),
            json!({"list": [[[43, 44]]]}),
        ),
        (
            json!("/list/1/2"),
            json!(["list", 3, 1, -2]),
            json!({"list": [[12], {"m": 31, "n": 30}, [[40, 41], [42]]]}),
        ),
        (json!(["list", -1]), json!("/none"), json!({"list": [5]})),
        (json!(["list", -9]), json!("/list/1"), json!({"list": [0]})),
        (json!("/list/4"), json!("/list/-"), json!({"list": [5]})),
        (json!("/list/-"), json!("/none/0"), json!({"none": []})),
        (json!("/none/0"), json!(""), json!(null)),
        (json!("/none"), json!(null), json!({"none": []})),
        (json!("/2027"), json!("/a"), json!(null)),
        // The bounds are the wrong way round, or the same.
        (json!("/b"), json!("/a"), json!(null)),
        (json!("/about"), json!("/about"), json!(null)),
    ] {
        assert_eq!(between(&client, &from, &to).await, expected, "{from} {to}");
    }
    // Ranges that meet have all parts between them.
    for path in [
        "/2026",
        "/2026/01",
        "/2026/01/02",
        "/2026/02/01",
        "/about/x",
        "/list/3/1",
    ] {
        let lower = between(&client, &json!(null), &json!(path)).await;
        let upper = between(&client, &json!(path), &json!(null)).await;
        let sum = leaves(&lower).len() + leaves(&upper).len();
        assert_eq!(
            sum,
            leaves(&whole["value"]).len(),
            "{path}: {lower} {upper}"
        );
    }
    for (argument, code) in [
        ("from: \"a\"", "INVALID_PATH"),
        ("to: \"/~2\"", "INVALID_PATH"),
    ] {
        let query = format!("{{ document(id: 1) {{ range({argument}) }} }}");
        assert_eq!(client.error(&query, NONE).await.0, code, "{argument}");
    }
}

async fn tokens_mean_what_the_document_has() {
    let client = client().await;
    client
        .insert(
            "1",
            json!({"10": [1, 2, 3], "9": {"0": "a", "1": "b", "-": "c"}}),
        )
        .await;
    for (from, to, expected) in [
        (
            "/10/1",
            "/9/1",
            json!({"10": [2, 3], "9": {"-": "c", "0": "a"}}),
        ),
        ("/10/1", "/10/2", json!({"10": [2]})),
        ("/9/0", "/9/1", json!({"9": {"0": "a"}})),
        ("/10/-", "/9/0", json!({"9": {"-": "c"}})),
    ] {
        assert_eq!(
            between(&client, &json!(from), &json!(to)).await,
            expected,
            "{from} {to}"
        );
    }
    // Indexes are after names. So no name bounds the elements of an array, nor an index the members of
    // an object.
    for (from, to, expected) in [
        (json!(["10", "1"]), json!("/11"), json!({"10": [1, 2, 3]})),
        (
            json!("/9"),
            json!(["9", 0]),
            json!({"9": {"-": "c", "0": "a", "1": "b"}}),
        ),
        (json!(["9", 0]), json!(""), json!(null)),
    ] {
        assert_eq!(between(&client, &from, &to).await, expected, "{from} {to}");
    }
    // A path of many tokens of digits.
    let deep = (0..9).fold(json!([1, 2, 3]), |below, _| json!([0, below]));
    client
        .data(
            "mutation($d: JSON) { replaceDocument(id: 1, document: $d) { key } }",
            json!({"d": deep}),
        )
        .await;
    let from = json!("/1".repeat(10));
    let expected = (0..9).fold(json!([2, 3]), |below, _| json!([below]));
    assert_eq!(between(&client, &from, &json!(null)).await, expected);
}

/// An element of a key. Names are before indexes, and markers of empty containers are negative.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Element {
    Name(String),
    Index(i64),
}

type Leaves = BTreeMap<Vec<Element>, Value>;

fn leaves(value: &Value) -> Leaves {
    fn add(value: &Value, key: &mut Vec<Element>, all: &mut Leaves) {
        let empty = match value {
            Value::Array(elements) if elements.is_empty() => Some(-1),
            Value::Object(members) if members.is_empty() => Some(-2),
            _ => None,
        };
        let below: Vec<(Element, &Value)> = match value {
            Value::Array(elements) => (0..).map(Element::Index).zip(elements).collect(),
            Value::Object(members) => members
                .iter()
                .map(|(name, member)| (Element::Name(name.clone()), member))
                .collect(),
            _ => Vec::new(),
        };
        if let Some(marker) = empty {
            key.push(Element::Index(marker));
        }
        if below.is_empty() {
            all.insert(key.clone(), value.clone());
        }
        if empty.is_some() {
            key.pop();
        }
        for (element, value) in below {
            key.push(element);
            add(value, key, all);
            key.pop();
        }
    }
    let mut all = Leaves::new();
    add(value, &mut Vec::new(), &mut all);
    all
}

/// The value that has these leaves, whose keys share `above` elements.
fn assembled(leaves: &[(&Vec<Element>, &Value)], above: usize) -> Value {
    let (first, value) = leaves[0];
    match first.get(above) {
        None | Some(Element::Index(..0)) => value.clone(),
        Some(element) => {
            let groups = leaves.chunk_by(|(a, _), (b, _)| a[above] == b[above]);
            let below = groups.map(|group| (&group[0].0[above], assembled(group, above + 1)));
            match element {
                Element::Index(_) => below.map(|(_, value)| value).collect(),
                Element::Name(_) => {
                    let member = |(element, value): (&Element, Value)| match element {
                        Element::Name(name) => (name.clone(), value),
                        Element::Index(_) => panic!("an index of a member"),
                    };
                    Value::Object(below.map(member).collect::<Map<_, _>>())
                }
            }
        }
    }
}

/// The key that a path means as a bound.
fn bound(value: &Value, path: &[Step]) -> Vec<Element> {
    let mut at = Some(value);
    let mut key = Vec::new();
    for step in path {
        let length = at.and_then(Value::as_array).map(Vec::len);
        let length = length.map(|length| i64::try_from(length).expect("few"));
        key.push(match (step, length) {
            (Step::Key(name), _) => Element::Name(name.clone()),
            (Step::Index(index @ 0..), _) => Element::Index(*index),
            (Step::Index(index), length) => Element::Index((length.unwrap_or(0) + index).max(0)),
            (Step::Pointer(text), Some(length)) if text == "-" => Element::Index(length),
            (Step::Pointer(text), Some(_)) => match text.parse() {
                Ok(index) => Element::Index(index),
                Err(_) => Element::Name(text.clone()),
            },
            (Step::Pointer(text), None) => Element::Name(text.clone()),
        });
        at = match (at, key.last()) {
            (Some(Value::Array(elements)), Some(Element::Index(index))) => {
                elements.get(usize::try_from(*index).expect("small"))
            }
            (Some(Value::Object(members)), Some(Element::Name(name))) => members.get(name),
            _ => None,
        };
    }
    key
}

fn range(value: &Value, from: &[Step], to: &[Step]) -> Value {
    let (from, end) = (bound(value, from), bound(value, to));
    let leaves = leaves(value);
    let leaves = leaves.iter();
    let leaves = leaves.filter(|(key, _)| **key >= from && (to.is_empty() || **key < end));
    match &leaves.collect::<Vec<_>>()[..] {
        [] => Value::Null,
        leaves => assembled(leaves, 0),
    }
}

/// The ranges of one request. They are found in the same rounds.
const RANGES: usize = 5;

async fn random_ranges_equal_a_model() {
    let client = client().await;
    let replace = "mutation($d: JSON) { replaceDocument(id: 1, document: $d) { key } }";
    for seed in 0..5 * u64::from(super::sequences()) {
        let mut random = StdRng::seed_from_u64(seed);
        let document = random_value(&mut random, 4);
        client.data(replace, json!({"d": document})).await;
        for _ in 0..5 {
            let (base, written) = random_path(&mut random, &document);
            let at = value_at(&document, &base);
            let absent = json!(null);
            let mut variables = json!({"b": written});
            let mut expected = Map::new();
            for number in 0..RANGES {
                let mut bound = |name: &str| {
                    let (steps, path) = match random.random_range(0..12) {
                        0 => (Vec::new(), json!(null)),
                        1 => (vec![Step::Pointer("-".to_owned())], json!("/-")),
                        _ => random_path(&mut random, at.unwrap_or(&absent)),
                    };
                    variables[format!("{name}{number}")] = path;
                    steps
                };
                let (from, to) = (bound("f"), bound("t"));
                if let Some(at) = at {
                    expected.insert(format!("r{number}"), range(at, &from, &to));
                }
            }
            let expected = at.map_or(Value::Null, |_| Value::Object(expected));
            // Alone, beside a field that reads the whole value, and in elements of a list.
            let numbers = 0..RANGES;
            let field = |at: usize| format!("r{at}: range(from: $f{at}, to: $t{at}) ");
            let fields: String = numbers.clone().map(field).collect();
            let declared = |at: usize| format!(", $f{at}: Path, $t{at}: Path");
            let declared: String = numbers.map(declared).collect();
            for (query, result) in [
                (
                    format!("document(id: 1, path: $b) {{ {fields} }}"),
                    "/document",
                ),
                (
                    format!("document(id: 1, path: $b) {{ value {fields} }}"),
                    "/document",
                ),
                (
                    format!("document(id: 1, path: $b) {{ {fields} }} collections {{ name }}"),
                    "/document",
                ),
                (
                    format!("documents {{ nodes {{ subdocument(path: $b) {{ {fields} }} }} }}"),
                    "/documents/nodes/0/subdocument",
                ),
                (
                    format!("document(id: 1, path: $b) {{ select(query: \"$\") {{ {fields} }} }}"),
                    "/document/select/0",
                ),
            ] {
                let query = format!("query($b: Path!{declared}) {{ {query} }}");
                let mut data = client.data(&query, &variables).await;
                let context = format!("seed {seed}: {document} {query} {variables}");
                let mut found = data
                    .pointer_mut(result)
                    .map(Value::take)
                    .unwrap_or_default();
                if let Some(found) = found.as_object_mut() {
                    let value = found.remove("value");
                    let whole = at.filter(|_| query.contains("{ value"));
                    assert_eq!(value.as_ref(), whole, "{context}");
                }
                assert_eq!(found, expected, "{context}");
            }
        }
    }
}

async fn a_range_is_one_read() {
    let client = client().await;
    let month = |days: u32| -> Value {
        let days = (1..=days).map(|day| (format!("{day:02}"), json!({"sold": day})));
        Value::Object(days.collect())
    };
    let year = || -> Value {
        let months = (1..=12).map(|number| (format!("{number:02}"), month(28)));
        Value::Object(months.collect())
    };
    client
        .insert(
            "1",
            json!({"2025": year(), "2026": year(), "list": vec![1; 1_000]}),
        )
        .await;
    // The first pair of the document shows that it exists.
    for (bounds, pairs, ranges) in [
        (
            r#"from: ["2025", "12", "28"], to: ["2026", "01", "02"]"#,
            1 + 2,
            2,
        ),
        (
            r#"from: ["2025", "12", "01"], to: ["2026", "02"]"#,
            1 + 56,
            2,
        ),
        (r#"from: ["list", 990], to: ["list", 992]"#, 1 + 2, 2),
        (r#"from: ["2027"], to: ["a"]"#, 1, 2),
        (r#"from: ["a"], to: ["2027"]"#, 1, 1),
        // The last pair of an array has its length. Each container above a token of digits is read, with all
        // that its path can mean.
        (r#"from: ["list", -2]"#, 1 + 1 + 2, 3),
        (r#"from: "/2025/12/28", to: "/2026/01/02""#, 1 + 3 + 2, 9),
    ] {
        let query = format!("{{ document(id: 1) {{ range({bounds}) }} }}");
        let (_, cost) = client.cost(&query, NONE).await;
        assert_eq!(cost.transactions, 1, "{bounds}");
        assert_eq!((cost.pairs, cost.ranges), (pairs, ranges), "{bounds}");
    }
    // A range inside a value that is read has no read of its own, and ranges that overlap have one.
    let range = r#"range(from: ["2025", "12"], to: ["2026", "02"])"#;
    let other = r#"other: range(from: ["2025", "12", "15"], to: ["2026", "03"])"#;
    for (fields, pairs) in [
        (format!("value {range}"), 672 + 1_000),
        (format!("{range} again: {range}"), 1 + 56),
        (format!("{range} {other}"), 1 + 84),
    ] {
        let query = format!("{{ document(id: 1) {{ {fields} }} }}");
        let (_, cost) = client.cost(&query, NONE).await;
        assert_eq!(cost.pairs, pairs, "{fields}");
    }
}

async fn ranges_work_wherever_documents_are_returned() {
    let client = client().await;
    client.log_changes().await;
    let people = json!({"people": {
        "7": {"name": "Ann", "age": 1, "tags": [1, 2, 3]},
        "8": {"name": "Bob", "age": 2, "tags": [4]},
    }});
    client.insert("1", people).await;
    let fields = "range(from: \"/name\", to: [\"tags\", 2])";
    let query = format!(
        "{{ document(id: 1) {{ select(query: \"$.people.*\") {{ {fields} }} subdocument(path: \"/people\") {{ children {{ nodes {{ {fields} }} }} }} }} }}"
    );
    let data = client.data(&query, NONE).await;
    let found = json!([
        {"range": {"name": "Ann", "tags": [1, 2]}},
        {"range": {"name": "Bob", "tags": [4]}},
    ]);
    assert_eq!(data["document"]["select"], found);
    assert_eq!(data["document"]["subdocument"]["children"]["nodes"], found);
    let query = "mutation { mergeDocument(id: 1, patch: {title: \"u\"}) { range(from: \"/people/8/name\") } }";
    let data = client.data(query, NONE).await;
    let expected = json!({"people": {"8": {"name": "Bob", "tags": [4]}}, "title": "u"});
    assert_eq!(data["mergeDocument"]["range"], expected);
    // A subscription sends a response after each change of the document.
    let mut live = client
        .subscribe("subscription { document(id: 1) { range(from: \"/people/8/name\") } }")
        .await;
    let sent = live.next().await;
    assert_eq!(sent["data"]["document"]["range"], expected);
    client
        .mutate("replaceDocument(id: 1, path: \"/title\", document: \"v\") { key }")
        .await;
    let sent = live.next().await;
    assert_eq!(sent["data"]["document"]["range"]["title"], "v");
    client
        .mutate("replaceDocument(id: 1, path: \"/title\", document: \"u\") { key }")
        .await;
    // An index that has all other values does not answer a range.
    client
        .mutate(r#"createIndex(name: "title", on: ["$.title"]) { state }"#)
        .await;
    client.build().await;
    for (fields, covered) in [
        ("value(path: \"/title\")", true),
        ("value(path: \"/title\") range(from: \"/q\")", false),
    ] {
        let query = format!(
            "{{ documents(where: {{at: \"$.title\", eq: \"u\"}}) {{ nodes {{ {fields} }} plan {{ covered }} }} }}"
        );
        let data = client.data(&query, NONE).await;
        let page = &data["documents"];
        assert_eq!(page["plan"]["covered"], covered);
        assert_eq!(page["nodes"][0]["value"], "u");
        if !covered {
            assert_eq!(page["nodes"][0]["range"], json!({"title": "u"}));
        }
    }
}

async fn ranges_are_limited() {
    let bounds = Bounds {
        response_bytes: 100_000,
        ..Bounds::DEFAULT
    };
    let client = client_of_within(super::empty_store().await, bounds).await;
    client.insert("1", json!(vec![1; 100_000])).await;
    client.insert("2", json!(vec![12_345; 20_000])).await;
    let before = client.counts();
    for (id, range, limit) in [
        (1, "range(from: [1])", "400000 bytes"),
        (2, "range(from: [1])", "100000 bytes"),
    ] {
        let query = format!("{{ document(id: {id}) {{ {range} }} }}");
        let (code, message) = client.error(&query, NONE).await;
        assert_eq!(code, "TOO_LARGE");
        assert!(message.contains(limit), "{message}");
    }
    let read = client.counts().pairs - before.pairs;
    // What the limits allow, and the rest of one batch.
    assert!(read < 80_000, "{read} pairs, of 120,000");
    let query = "{ document(id: 1) { range(from: [99998]) } }";
    let data = client.data(query, NONE).await;
    assert_eq!(data["document"]["range"], json!([1, 1]));
    // A key that no part can have.
    let query = "query($p: Path) { document(id: 1) { range(from: $p) } }";
    let (code, message) = client
        .error(query, json!({"p": ["x".repeat(10_000)]}))
        .await;
    assert_eq!(code, "TOO_LARGE");
    assert!(message.contains("10000 bytes"), "{message}");
    // Each field counts the value and both bounds as places.
    let many = |count: usize| {
        let fields = (0..count).map(|at| format!("r{at}: range(from: [{at}], to: [{}]) ", at + 1));
        format!("{{ document(id: 1) {{ {} }} }}", fields.collect::<String>())
    };
    client.data(&many(300), NONE).await;
    client.assert_serves().await;
    assert_eq!(client.graphql.pool().held(), 0, "all is given back");
}

async fn parts_of_a_malformed_document_are_an_error() {
    let client = client().await;
    // An array that lacks an element, and one that has a member.
    client
        .plant(
            1,
            &[
                (json!(["a", 0]), "1"),
                (json!(["a", 2]), "3"),
                (json!(["b", "x"]), "1"),
                (json!(["b", 1]), "2"),
            ],
        )
        .await;
    for (bounds, expected) in [
        (r#"from: "/a/2", to: "/b""#, Some(json!({"a": [3]}))),
        (r#"from: "/a", to: "/b""#, None),
        (r#"from: "/b""#, None),
    ] {
        let query = format!("{{ document(id: 1) {{ range({bounds}) }} }}");
        match expected {
            Some(expected) => {
                let data = client.data(&query, NONE).await;
                assert_eq!(data["document"]["range"], expected);
            }
            None => assert_eq!(client.error(&query, NONE).await.0, "INTERNAL", "{bounds}"),
        }
    }
}
