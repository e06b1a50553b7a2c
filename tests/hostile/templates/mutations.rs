//! Mutations at their maxima. Each can be sent several times.

use serde_json::{Map, Value, json};

use super::super::requests::repeated;
use super::super::world::{SMALL, numbers};
use super::queries::{filter, keys};
use super::{Known, Template};

const DOCUMENT: &str = "id key version kind value length select(query: \"$..*\") { path } \
                        children(first: 100) { nodes { value } }";

pub(super) fn templates(known: &Known) -> Vec<Template> {
    let mut templates = documents();
    templates.extend(edits());
    templates.extend(versions(known));
    templates.extend(bulk());
    templates.extend(definitions());
    templates
}

/// A large document: an array of numbers, and a text.
fn large() -> Value {
    let array: Value = serde_json::from_str(&numbers(20_000)).expect("JSON");
    json!({"a": array, "s": "s".repeat(300_000), "o": {"x": 1}})
}

fn documents() -> Vec<Template> {
    vec![
        Template::new(
            "a replaced document",
            format!(
                "mutation($d: JSON) {{ replaceDocument(collection: \"scratch\", id: \"t0\", document: $d) {{ {DOCUMENT} }} }}"
            ),
            json!({"d": large()}),
        ),
        Template::new(
            "inserted and taken documents",
            format!(
                "mutation($d: JSON) {{ {} takeDocuments(collection: \"queue\", first: 100, keys: {{gte: \"a\"}}) {{ \
                 key deleted deletedId value document {{ key }} }} }}",
                repeated(
                    20,
                    "a#: insertDocument(collection: \"queue\", id: \"q#\", document: $d) { key } "
                )
            ),
            json!({"d": {"a": [1, 2, 3], "s": "x".repeat(10_000)}}),
        ),
        Template::new(
            "appended documents",
            format!(
                "mutation($d: JSON) {{ {} }}",
                repeated(
                    200,
                    "a#: appendDocument(collection: \"appended\", document: $d) { documentId key collection version } "
                )
            ),
            json!({"d": {"a": [1, 2, 3], "s": "x".repeat(10_000)}}),
        ),
        Template::new(
            "copied documents",
            format!(
                "mutation {{ {} }}",
                repeated(
                    4,
                    "a#: copyDocument(collection: \"scratch\", id: \"t1\", path: \"\", \
                     from: {collection: \"arrays\", id: \"objects\", path: \"\"}) { kind } "
                )
            ),
            json!({}),
        ),
        Template::new(
            "a deleted document",
            "mutation { r: copyDocument(collection: \"scratch\", id: \"t2\", \
             from: {collection: \"arrays\", id: \"objects\"}) { kind } \
             p: deleteDocument(collection: \"scratch\", id: \"t2\", path: \"/0\") { \
             key deleted deletedId value document { length } } \
             deleteDocument(collection: \"scratch\", id: \"t2\") { key deleted deletedId value } }"
                .to_owned(),
            json!({}),
        ),
        Template::new(
            "tested documents",
            format!(
                "mutation($f: DocumentFilter!) {{ {} }}",
                repeated(
                    50,
                    "a#: testDocument(collection: \"arrays\", id: \"objects\", matches: {not: $f}) { kind } "
                )
            ),
            json!({"f": {"at": "$..[?@.k < 0]", "eq": -1}}),
        ),
    ]
}

fn edits() -> Vec<Template> {
    let members: serde_json::Map<String, Value> = (0..5_000)
        .map(|at| (format!("m{at}"), json!({"n": at, "l": [at]})))
        .collect();
    let operations: Vec<Value> = (0..2_000)
        .map(|at| json!({"op": "add", "path": format!("/p{at}"), "value": [at, {"k": at}]}))
        .collect();
    vec![
        Template::new(
            "a merge patch",
            "mutation($p: JSON) { mergeDocument(collection: \"scratch\", id: \"s0\", path: \"/m\", patch: $p) { length } }"
                .to_owned(),
            json!({"p": members}),
        ),
        Template::new(
            "a patch",
            "mutation($p: JSON) { patchDocument(collection: \"scratch\", id: \"s1\", path: \"\", patch: $p) { length } }"
                .to_owned(),
            json!({"p": operations}),
        ),
        Template::new(
            "insertions at the beginning of an array",
            "mutation($p: JSON) { patchDocument(collection: \"arrays\", id: \"objects\", patch: $p) { length } }"
                .to_owned(),
            json!({"p": [
                {"op": "add", "path": "/0", "value": 1},
                {"op": "remove", "path": "/0"},
                {"op": "move", "from": "/1", "path": "/0"},
                {"op": "move", "from": "/0", "path": "/1"},
            ]}),
        ),
        Template::new(
            "increments",
            format!(
                "mutation {{ {} }}",
                repeated(
                    900,
                    "a#: incrementDocument(collection: \"arrays\", id: \"numbers\", path: [#], by: 1) { kind } "
                )
            ),
            json!({}),
        ),
    ]
}

fn versions(known: &Known) -> Vec<Template> {
    let place = "collection: \"arrays\", id: \"numbers\", path: \"/1\", ifVersion: $v";
    [
        (
            "a replacement at a version",
            "replaceDocument",
            "document: 1",
        ),
        (
            "a copy at a version",
            "copyDocument",
            "from: {collection: \"arrays\", id: \"deep\", path: \"/n/1\"}",
        ),
        ("a merge at a version", "mergeDocument", "patch: 1"),
        (
            "a patch at a version",
            "patchDocument",
            "patch: [{op: \"replace\", path: \"\", value: 1}]",
        ),
        ("an increment at a version", "incrementDocument", "by: 1"),
        ("a deletion at a version", "deleteDocument", ""),
    ]
    .into_iter()
    .map(|(name, field, arguments)| {
        let query = format!(
            "mutation($v: DocumentVersion) {{ {field}({place}, {arguments}) {{ __typename }} }}"
        );
        Template::new(name, query, json!({"v": known.version}))
    })
    .collect()
}

fn bulk() -> Vec<Template> {
    let result = "matched changed unchanged examined next updates { operator at places }";
    let numbers: Vec<Value> = (0..2_000).map(|at| json!(at)).collect();
    vec![
        Template::new(
            "updates of all kinds",
            format!(
                "mutation($w: DocumentFilter!, $k: DocumentKeyFilter, $v: JSON) {{ \
                 updateDocuments(collection: \"small\", where: $w, keys: $k, \
                 set: [{{at: \"$.t\", value: $v}}, {{at: \"$.o.y\", from: {{collection: \"small\", id: \"1\", path: \"/n\"}}}}], \
                 unset: [\"$.gone\"], increment: [{{at: \"$.o.x\", by: 1}}], \
                 append: [{{at: \"$.t\", value: 1}}, {{at: \"$.t\", values: [2, 3]}}, \
                 {{at: \"$.t\", from: {{collection: \"small\", id: \"1\", path: \"/tags\"}}}}], \
                 remove: [{{at: \"$.t\", values: [1, 2, 3]}}, \
                 {{at: \"$.t\", from: {{collection: \"small\", id: \"1\", path: \"/tags\"}}}}], \
                 merge: [{{at: \"$.o\", patch: {{z: [1, 2]}}}}]) {{ {result} }} }}"
            ),
            json!({"w": filter(), "k": keys(), "v": [1, 2, 3]}),
        ),
        Template::new(
            "updates of everything",
            format!(
                "mutation($v: JSON) {{ updateDocuments(collection: \"large\", where: {{}}, everything: true, \
                 set: [{{at: \"$.t\", value: $v}}], remove: [{{at: \"$.a\", values: $v}}], \
                 append: [{{at: \"$.a\", values: $v}}]) {{ {result} }} }}"
            ),
            json!({"v": numbers}),
        ),
        Template::new(
            "a portion of updates, and one of removals",
            format!(
                "mutation {{ updateDocuments(collection: \"small\", where: {{}}, everything: true, first: 1000, \
                 after: \"1\", set: [{{at: \"$.t\", value: 1}}]) {{ {result} }} \
                 deleteDocuments(collection: \"gone\", where: {{}}, everything: true, first: 1000, after: \"1\") \
                 {{ {result} }} }}"
            ),
            json!({}),
        ),
        Template::new(
            "removals of everything",
            format!(
                "mutation {{ {} \
                 f: deleteDocuments(collection: \"gone\", where: {{at: \"$.n\", exists: true}}, keys: {{in: [\"g1\", \"g2\"]}}) {{ matched }} \
                 deleteDocuments(collection: \"gone\", where: {{}}, everything: true) {{ {result} }} }}",
                repeated(
                    50,
                    "a#: copyDocument(collection: \"gone\", id: \"g#\", from: {collection: \"small\", id: \"1\"}) { kind } "
                )
            ),
            json!({}),
        ),
    ]
}

/// A schema with as many properties as a value in a variable allows, none of which fits.
fn large_schema() -> Value {
    let properties = (0..9_000).map(|number| {
        let pattern = format!("[a-z]{{1,40}}{number}");
        let of = json!({"type": "string", "maxLength": 10, "pattern": pattern});
        (
            format!("p{number}"),
            if number < 90 {
                of
            } else {
                json!({"type": "integer"})
            },
        )
    });
    let properties: Map<String, Value> = properties.collect();
    json!({"type": "object", "properties": properties, "required": ["p0"], "additionalProperties": false})
}

fn definitions() -> Vec<Template> {
    let index = "name on unique where state indexed error";
    let type_change = "collection effect state examined complete \
                       violations { key place keyword expected value }";
    vec![
        Template::new(
            "indexes",
            format!(
                "mutation($w: DocumentFilter) {{ createIndex(collection: \"large\", name: \"i\", \
                 on: [\"$.n\", \"$.a[*]\"], unique: false, where: $w) {{ {index} }} \
                 dropIndex(collection: \"large\", name: \"i\") }}"
            ),
            json!({"w": {"at": "$.n", "gte": 0}}),
        ),
        Template::new(
            "types",
            format!(
                "mutation($s: JSON!) {{ \
                 a: setCollectionType(collection: \"large\", schema: $s, dryRun: true) {{ {type_change} }} \
                 b: setCollectionType(collection: \"small\", schema: $s) {{ {type_change} }} \
                 dropCollectionType(collection: \"small\") }}"
            ),
            json!({"s": large_schema()}),
        ),
        Template::new(
            "dropped collections",
            format!(
                "mutation {{ {} dropCollection(collection: \"dropped\", everything: true) {{ collection documents }} }}",
                repeated(
                    50,
                    "a#: copyDocument(collection: \"dropped\", id: \"g#\", from: {collection: \"small\", id: \"1\"}) { kind } "
                )
            ),
            json!({}),
        ),
        Template::new(
            "restored documents",
            format!(
                "mutation {{ {} }}",
                repeated(
                    SMALL.min(100),
                    "a#: replaceDocument(collection: \"small\", id: \"#\", path: \"/t\", document: [#]) { kind } "
                )
            ),
            json!({}),
        ),
    ]
}
