//! `values`, `pick` and `omit`: several parts of a value in one field, or the value without them.

use phyllo::limits::{Bounds, LISTED_PATHS_MAX};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::{Map, Value, json};

use super::support::{Client, NONE, client};

cases!(
    async [
        values_are_in_the_order_of_their_paths,
        picked_parts_are_at_their_places,
        a_value_remains_without_its_omitted_parts,
        random_projections_equal_a_model,
        only_the_parts_are_read_in_one_round,
        projections_work_wherever_documents_are_returned,
        long_lists_of_paths_are_rejected,
    ]
);

async fn notes() -> Client {
    let client = client().await;
    let document = json!({
        "title": "t",
        "none": null,
        "list": [10, [20, 21], {"n": 30, "m": 31}, {}],
        "people": {"7": {"name": "Ann", "age": 1}, "8": {"name": "Bob", "age": 2}},
    });
    client.insert("1", document).await;
    client
}

/// The result of a field of the document.
async fn field_at(client: &Client, field: &str, paths: &Value) -> Value {
    let query = format!("query($p: [Path!]!) {{ document(id: 1) {{ x: {field}(paths: $p) }} }}");
    let data = client.data(&query, json!({"p": paths})).await;
    data["document"]["x"].clone()
}

async fn values_are_in_the_order_of_their_paths() {
    let client = notes().await;
    for (paths, values) in [
        (json!([]), json!([])),
        (
            json!(["/title", "/absent", "/none", "/title"]),
            json!(["t", null, null, "t"]),
        ),
        (
            json!([
                ["list", -4],
                "/list/1/1",
                ["people", "7", "name"],
                "/people/8/age"
            ]),
            json!([10, 21, "Ann", 2]),
        ),
        (
            json!(["/list/1", "/list/1/0", ["list", -9]]),
            json!([[20, 21], 20, null]),
        ),
    ] {
        assert_eq!(field_at(&client, "values", &paths).await, values, "{paths}");
    }
    let query = "{ document(id: 1, path: \"/people/7\") { values(paths: [\"/age\", [\"name\"]]) one: values(paths: \"/age\") } }";
    let data = client.data(query, NONE).await;
    assert_eq!(data["document"], json!({"values": [1, "Ann"], "one": [1]}));
}

async fn picked_parts_are_at_their_places() {
    let client = notes().await;
    for (paths, picked) in [
        (json!([]), json!(null)),
        (json!(["/absent", "/list/9"]), json!(null)),
        (json!(["/none"]), json!({"none": null})),
        (
            json!(["/title", "/people/8/name", "/absent"]),
            json!({"title": "t", "people": {"8": {"name": "Bob"}}}),
        ),
        (
            json!([["list", -1], ["list", 2, "n"], "/list/1/1"]),
            json!({"list": [[21], {"n": 30}, {}]}),
        ),
        (
            json!(["/people/7/age", "/people/7", ["people", "7", "name"]]),
            json!({"people": {"7": {"name": "Ann", "age": 1}}}),
        ),
    ] {
        assert_eq!(field_at(&client, "pick", &paths).await, picked, "{paths}");
    }
    let whole = client.data("{ document(id: 1) { value } }", NONE).await;
    let picked = field_at(&client, "pick", &json!(["/title", ""])).await;
    assert_eq!(picked, whole["document"]["value"]);
    let query = "{ document(id: 1, path: [\"list\", -2]) { pick(paths: [\"/m\"]) } }";
    let data = client.data(query, NONE).await;
    assert_eq!(data["document"]["pick"], json!({"m": 31}));
    // Members are written in the order of their names.
    let query = "{ document(id: 1) { pick(paths: [\"/title\", \"/none\", \"/list/0\"]) } }";
    let text = client.text(query, NONE).await;
    assert!(
        text.contains(r#"{"list":[10],"none":null,"title":"t"}"#),
        "{text}"
    );
}

async fn a_value_remains_without_its_omitted_parts() {
    let client = notes().await;
    let whole = client.data("{ document(id: 1) { value } }", NONE).await;
    let whole = &whole["document"]["value"];
    let without = |change: &dyn Fn(&mut Value)| {
        let mut value = whole.clone();
        change(&mut value);
        value
    };
    let remove = |value: &mut Value, name: &str| {
        value.as_object_mut().expect("an object").remove(name);
    };
    for (paths, expected) in [
        (json!([]), whole.clone()),
        (
            json!(["/absent", "/list/9", ["list", -5], "/title/x"]),
            whole.clone(),
        ),
        (json!([""]), json!(null)),
        (json!(["/title", ""]), json!(null)),
        (json!(["/none"]), without(&|value| remove(value, "none"))),
        (
            json!(["/list", "/list/0", "/people/7/name", "/none"]),
            json!({"title": "t", "people": {"7": {"age": 1}, "8": {"name": "Bob", "age": 2}}}),
        ),
        (
            json!([["list", -4], "/list/1/1", ["list", 2, "n"]]),
            without(&|value| value["list"] = json!([[20], {"m": 31}, {}])),
        ),
        (
            json!(["/list/0", "/list/1", "/list/2", ["list", -1]]),
            without(&|value| value["list"] = json!([])),
        ),
        (
            json!(["/people/7", "/people/8"]),
            without(&|value| value["people"] = json!({})),
        ),
        (json!(["/title", "/none", "/list", "/people"]), json!({})),
    ] {
        assert_eq!(field_at(&client, "omit", &paths).await, expected, "{paths}");
    }
    let query = "{ document(id: 1, path: [\"list\", -2]) { omit(paths: [\"/m\"]) one: omit(paths: \"/n\") } }";
    let data = client.data(query, NONE).await;
    assert_eq!(
        data["document"],
        json!({"omit": {"n": 30}, "one": {"m": 31}})
    );
    let query = "{ document(id: 1, path: \"/title\") { omit(paths: [\"/m\"]) } }";
    let data = client.data(query, NONE).await;
    assert_eq!(data["document"]["omit"], "t");
}

/// A token of a path. A pointer writes each token as text.
#[derive(Clone)]
pub(super) enum Step {
    Key(String),
    Index(i64),
    Pointer(String),
}

const NAMES: [&str; 6] = ["a", "b", "0", "1", "x\0y", "q/~"];

pub(super) fn random_value(random: &mut StdRng, levels: u32) -> Value {
    match random.random_range(0..if levels == 0 { 3 } else { 7 }) {
        0 => json!(random.random_range(0..100)),
        1 => json!("text"),
        2 => json!(null),
        3..5 => {
            let elements = 0..random.random_range(0..5);
            elements.map(|_| random_value(random, levels - 1)).collect()
        }
        _ => {
            let mut members = Map::new();
            for _ in 0..random.random_range(0..5) {
                let name = *NAMES.choose(random).expect("names");
                members.insert(name.to_owned(), random_value(random, levels - 1));
            }
            Value::Object(members)
        }
    }
}

/// A path, usually to a place that is there, and how a client writes it.
pub(super) fn random_path(random: &mut StdRng, document: &Value) -> (Vec<Step>, Value) {
    let pointer = random.random();
    let mut steps = Vec::new();
    let mut at = Some(document);
    for _ in 0..random.random_range(0..5) {
        let (step, below) = match at {
            Some(Value::Array(elements)) => {
                let length = i64::try_from(elements.len()).expect("few");
                let index = random.random_range(if pointer { 0 } else { -length - 1 }..=length);
                let below = if index < 0 { index + length } else { index };
                let below = usize::try_from(below).ok().and_then(|at| elements.get(at));
                (Step::Index(index), below)
            }
            at => {
                let name = *NAMES.choose(random).expect("names");
                (Step::Key(name.to_owned()), at.and_then(|at| at.get(name)))
            }
        };
        steps.push(match step {
            Step::Index(index) if pointer => Step::Pointer(index.to_string()),
            Step::Key(name) if pointer => Step::Pointer(name),
            step => step,
        });
        at = below;
    }
    let text = |step: &Step| match step {
        Step::Pointer(text) => format!("/{}", text.replace('~', "~0").replace('/', "~1")),
        _ => unreachable!("a pointer has only texts"),
    };
    let written = if pointer {
        json!(steps.iter().map(text).collect::<String>())
    } else {
        let step = |step: &Step| match step {
            Step::Key(name) => json!(name),
            Step::Index(index) => json!(index),
            Step::Pointer(text) => json!(text),
        };
        steps.iter().map(step).collect()
    };
    (steps, written)
}

/// Whether a token names the member or element.
fn names(step: &Step, name: Option<&str>, index: i64, length: i64) -> bool {
    match (step, name) {
        (Step::Key(key) | Step::Pointer(key), Some(name)) => key == name,
        (Step::Pointer(digits), None) => *digits == index.to_string(),
        (Step::Index(given), None) => *given == index || given + length == index,
        _ => false,
    }
}

fn below<'s>(
    paths: &[&'s [Step]],
    name: Option<&str>,
    index: usize,
    length: usize,
) -> Vec<&'s [Step]> {
    let int = |number: usize| i64::try_from(number).expect("small");
    let paths = paths.iter().filter_map(|path| path.split_first());
    let named = paths.filter(|(step, _)| names(step, name, int(index), int(length)));
    named.map(|(_, rest)| rest).collect()
}

fn pick(value: &Value, paths: &[&[Step]]) -> Option<Value> {
    if paths.iter().any(|path| path.is_empty()) {
        return Some(value.clone());
    }
    match value {
        Value::Array(elements) => {
            let picked = elements
                .iter()
                .enumerate()
                .filter_map(|(at, element)| pick(element, &below(paths, None, at, elements.len())));
            let picked: Vec<Value> = picked.collect();
            (!picked.is_empty()).then_some(Value::Array(picked))
        }
        Value::Object(members) => {
            let picked = members.iter().filter_map(|(name, member)| {
                let picked = pick(member, &below(paths, Some(name), 0, 0))?;
                Some((name.clone(), picked))
            });
            let picked: Map<String, Value> = picked.collect();
            (!picked.is_empty()).then_some(Value::Object(picked))
        }
        _ => None,
    }
}

fn omit(value: &Value, paths: &[&[Step]]) -> Option<Value> {
    if paths.iter().any(|path| path.is_empty()) {
        return None;
    }
    Some(match value {
        Value::Array(elements) => {
            let length = elements.len();
            let elements = elements.iter().enumerate();
            elements
                .filter_map(|(at, element)| omit(element, &below(paths, None, at, length)))
                .collect()
        }
        Value::Object(members) => {
            let members = members.iter().filter_map(|(name, member)| {
                let rest = omit(member, &below(paths, Some(name), 0, 0))?;
                Some((name.clone(), rest))
            });
            Value::Object(members.collect())
        }
        leaf => leaf.clone(),
    })
}

pub(super) fn value_at<'v>(value: &'v Value, path: &[Step]) -> Option<&'v Value> {
    let Some((_, rest)) = path.split_first() else {
        return Some(value);
    };
    let found = match value {
        Value::Array(elements) => elements
            .iter()
            .enumerate()
            .find(|(at, _)| !below(&[path], None, *at, elements.len()).is_empty())
            .map(|(_, element)| element),
        Value::Object(members) => members
            .iter()
            .find(|(name, _)| !below(&[path], Some(name), 0, 0).is_empty())
            .map(|(_, member)| member),
        _ => None,
    };
    value_at(found?, rest)
}

async fn random_projections_equal_a_model() {
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
            let paths = (0..random.random_range(0..6))
                .map(|_| random_path(&mut random, at.unwrap_or(&absent)));
            let (steps, paths): (Vec<Vec<Step>>, Vec<Value>) = paths.unzip();
            let expected = at.map_or(json!(null), |at| {
                let values = steps.iter().map(|path| value_at(at, path).cloned());
                let values: Vec<Value> = values.map(Option::unwrap_or_default).collect();
                let steps: Vec<&[Step]> = steps.iter().map(|path| &path[..]).collect();
                json!({"values": values, "pick": pick(at, &steps), "omit": omit(at, &steps)})
            });
            let variables = json!({"b": written, "p": paths});
            // Alone, and beside a field that reads the whole value.
            for beside in ["", "value"] {
                for more in ["", "collections { name }"] {
                    let query = format!(
                        "query($b: Path, $p: [Path!]!) {{ document(id: 1, path: $b) {{ {beside} values(paths: $p) pick(paths: $p) omit(paths: $p) }} {more} }}"
                    );
                    let mut data = client.data(&query, &variables).await;
                    let context = format!("seed {seed}: {document} {variables} {beside} {more}");
                    if let Some(found) = data["document"].as_object_mut() {
                        let value = found.remove("value");
                        let whole = at.filter(|_| !beside.is_empty());
                        assert_eq!(value.as_ref(), whole, "{context}");
                    }
                    assert_eq!(data["document"], expected, "{context}");
                }
            }
        }
    }
}

async fn only_the_parts_are_read_in_one_round() {
    let client = client().await;
    let large: Vec<Value> = (0..500).map(|n| json!({"n": n, "m": n})).collect();
    for id in ["1", "2", "3"] {
        client
            .insert(id, json!({"a": large, "b": 1, "c": {"d": 2}}))
            .await;
    }
    let fields = "values(paths: [\"/b\", \"/a/7/n\"]) pick(paths: [\"/c\", \"/a/9\"])";
    for query in [
        format!("{{ document(id: 1) {{ {fields} }} }}"),
        format!("{{ document(id: 1) {{ {fields} length @skip(if: true) }} }}"),
    ] {
        let (data, cost) = client.cost(&query, NONE).await;
        let expected = json!({"values": [1, 7], "pick": {"a": [{"m": 9, "n": 9}], "c": {"d": 2}}});
        assert_eq!(data["document"], expected);
        assert_eq!(cost.transactions, 1);
        assert!(cost.pairs <= 8, "{cost:?}");
    }
    let query = format!("{{ documents(first: 3) {{ nodes {{ {fields} }} }} }}");
    let (_, cost) = client.cost(&query, NONE).await;
    assert_eq!(cost.transactions, 1);
    assert!(cost.pairs < 60, "{cost:?}");
    // Only the first pair of an omitted part is read.
    let fields = "omit(paths: [\"/a\", \"/none\"])";
    for query in [
        format!("{{ document(id: 1) {{ {fields} }} }}"),
        format!("{{ document(id: 1) {{ {fields} length @skip(if: true) }} }}"),
        format!("{{ documents(first: 3) {{ nodes {{ {fields} }} }} }}"),
    ] {
        let (data, cost) = client.cost(&query, NONE).await;
        let rest = json!({"omit": {"b": 1, "c": {"d": 2}}});
        let found = match &data["document"] {
            Value::Null => &data["documents"]["nodes"][2],
            found => found,
        };
        assert_eq!(*found, rest);
        assert_eq!(cost.transactions, 1);
        assert!(cost.pairs < 30, "{cost:?}");
    }
}

async fn projections_work_wherever_documents_are_returned() {
    let client = notes().await;
    let fields = "values(paths: [\"/name\", \"/age\"]) pick(paths: [\"/age\", \"/none\"]) omit(paths: [\"/age\", \"/none\"])";
    let query = format!(
        "{{ document(id: 1) {{ select(query: \"$.people.*\") {{ {fields} }} subdocument(path: \"/people\") {{ children {{ nodes {{ {fields} }} }} }} }} }}"
    );
    let data = client.data(&query, NONE).await;
    let people = json!([
        {"values": ["Ann", 1], "pick": {"age": 1}, "omit": {"name": "Ann"}},
        {"values": ["Bob", 2], "pick": {"age": 2}, "omit": {"name": "Bob"}},
    ]);
    assert_eq!(data["document"]["select"], people);
    let children = &data["document"]["subdocument"]["children"]["nodes"];
    assert_eq!(*children, people);
    let query = "mutation { mergeDocument(id: 1, patch: {title: \"u\"}) { values(paths: [\"/title\"]) pick(paths: [[\"list\", -1]]) omit(paths: [\"/list\", \"/people\"]) } }";
    let data = client.data(query, NONE).await;
    let expected = json!({
        "values": ["u"],
        "pick": {"list": [{}]},
        "omit": {"none": null, "title": "u"},
    });
    assert_eq!(data["mergeDocument"], expected);
}

async fn long_lists_of_paths_are_rejected() {
    let client = notes().await;
    for field in ["values", "pick", "omit"] {
        let query = format!("query($p: [Path!]!) {{ document(id: 1) {{ {field}(paths: $p) }} }}");
        let paths = |count: usize| json!({"p": vec!["/title"; count]});
        client.data(&query, paths(LISTED_PATHS_MAX)).await;
        let (code, message) = client.error(&query, paths(LISTED_PATHS_MAX + 1)).await;
        assert_eq!(code, "TOO_COMPLEX");
        assert!(
            message.contains("1001") && message.contains("1000"),
            "{message}"
        );
        // Each path counts as a field of the response, and as a place that is read.
        for more in ["", "length"] {
            let query = format!(
                "query($p: [Path!]!) {{ document(id: 1) {{ {field}(paths: $p) {more} }} }}"
            );
            let few = client.within(Bounds {
                response_fields: 50,
                ..Bounds::DEFAULT
            });
            let (code, message) = few.error(&query, paths(60)).await;
            assert_eq!(code, "TOO_COMPLEX");
            assert!(message.contains("fields"), "{message}");
            let few = client.within(Bounds {
                places: 50,
                ..Bounds::DEFAULT
            });
            let places: Vec<String> = (0..60).map(|at| format!("/list/x{at}")).collect();
            let (code, message) = few.error(&query, json!({"p": places})).await;
            assert_eq!(code, "TOO_COMPLEX");
            assert!(message.contains("places"), "{message}");
        }
        let query = format!("{{ document(id: 1) {{ {field}(paths: [\"/a\", \"/b\", \"/c\"]) }} }}");
        let few = client.within(Bounds {
            query_paths: 2,
            ..Bounds::DEFAULT
        });
        assert_eq!(few.error(&query, NONE).await.0, "TOO_COMPLEX");
        let query = format!("{{ document(id: 1) {{ {field}(paths: [\"/a\", \"b\"]) }} }}");
        assert_eq!(client.error(&query, NONE).await.0, "INVALID_PATH");
    }
}
