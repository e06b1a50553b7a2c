//! Mutations of places that may not exist, and lists of writes, at their maxima. Each can be sent several
//! times.

use serde_json::{Value, json};

use super::super::requests::repeated;
use super::{Known, Template};

pub(super) fn templates(known: &Known) -> Vec<Template> {
    vec![
        parents(),
        followed_keys(),
        updates(),
        updates_of_many(),
        writes(),
        writes_at_a_version(known),
    ]
}

fn parents() -> Template {
    let path = "/p".repeat(100);
    Template::new(
        "created parents",
        format!(
            "mutation($d: JSON) {{ \
             i: insertDocument(collection: \"scratch\", id: \"o0\", document: $d, ifAbsent: true) {{ created }} \
             p: patchDocument(collection: \"scratch\", id: \"o0\", createParents: true, patch: [{}]) {{ kind }} {} {} {} }}",
            repeated(500, "{op: \"add\", path: \"/l/-/a/#/b/-\", value: 1} "),
            repeated(
                200,
                &format!(
                    "r#: replaceDocument(collection: \"scratch\", id: \"o1\", path: \"{path}/#\", document: $d, \
                     createParents: true, ifAbsent: true) {{ created }} "
                )
            ),
            repeated(
                200,
                "n#: incrementDocument(collection: \"scratch\", id: \"o2\", path: [\"c\", \"#\", \"n\"], \
                 createParents: true) { kind } "
            ),
            repeated(
                20,
                "c#: copyDocument(collection: \"scratch\", id: \"o2\", path: [\"d\", \"#\", \"n\"], \
                 from: {collection: \"scratch\", id: \"o0\"}, createParents: true) { kind } "
            ),
        ),
        json!({"d": {"a": [1, 2, 3]}}),
    )
}

fn followed_keys() -> Template {
    let mut place = "{collection: \"scratch\", id: \"k0\", path: \"/next\"}".to_owned();
    for _ in 0..5 {
        place = format!("{{collection: \"scratch\", idFrom: {place}, path: \"/next\"}}");
    }
    let changes = [
        "replaceDocument(ID, path: \"/a\", document: 1)",
        "copyDocument(ID, path: \"/b\", from: {path: \"/a\"})",
        "testDocument(ID, matches: {})",
        "mergeDocument(ID, patch: {c: 1})",
        "patchDocument(ID, patch: [])",
        "incrementDocument(ID, path: \"/n\")",
        "updateDocument(ID, set: [{at: \"$.d\", from: {path: \"/a\"}}])",
        "deleteDocument(ID, path: \"/a\")",
    ];
    let changes = changes.iter().enumerate().map(|(number, change)| {
        let change = change.replace("ID", &format!("collection: \"scratch\", idFrom: {place}"));
        format!("c{number}: {change} {{ __typename }} ")
    });
    Template::new(
        "documents that are named by keys",
        format!(
            "mutation {{ k: replaceDocument(collection: \"scratch\", id: \"k0\", document: {{next: \"k0\"}}) {{ key }} {} }}",
            changes.collect::<String>()
        ),
        json!({}),
    )
}

fn lists() -> Value {
    let numbers: Vec<usize> = (0..2_000).collect();
    json!({
        "set": [{"at": "$.l", "value": numbers}, {"at": "$.m", "value": {"a": 1}}],
        "unset": ["$.gone"],
        "rename": [{"at": "$.m", "member": "a", "to": "b"}],
        "increment": [{"at": "$.n", "by": 1}],
        "min": [{"at": "$.n", "value": 1_000_000_000}],
        "max": [{"at": "$.n", "value": -1}],
        "remove": [{"at": "$.l", "values": numbers}],
        "append": [{"at": "$.l", "values": numbers}],
        "add": [{"at": "$.l", "values": numbers}, {"at": "$.l", "value": "x"}],
        "merge": [{"at": "$.m", "patch": {"c": null}}],
        "now": ["$.at", "$.m.at"],
    })
}

const OF_LISTS: &str = "set: $set, unset: $unset, rename: $rename, increment: $increment, min: $min, max: $max, \
                        remove: $remove, append: $append, add: $add, merge: $merge, now: $now";

const LISTS: &str = "$set: [DocumentValueUpdate!], $unset: [JSONPath!], $rename: [DocumentRenameUpdate!], \
                     $increment: [DocumentIncrementUpdate!], $min: [DocumentBoundUpdate!], \
                     $max: [DocumentBoundUpdate!], $remove: [DocumentRemoveUpdate!], \
                     $append: [DocumentAppendUpdate!], $add: [DocumentAppendUpdate!], \
                     $merge: [DocumentMergeUpdate!], $now: [JSONPath!]";

fn updates() -> Template {
    Template::new(
        "updates of one document",
        format!(
            "mutation({LISTS}) {{ \
             i: insertDocument(collection: \"scratch\", id: \"u0\", document: {{}}, ifAbsent: true) {{ created }} {} }}",
            repeated(
                20,
                &format!(
                    "u#: updateDocument(collection: \"scratch\", id: \"u0\", {OF_LISTS}) {{ length }} "
                )
            )
        ),
        lists(),
    )
}

fn updates_of_many() -> Template {
    Template::new(
        "new operators on all documents",
        "mutation { updateDocuments(collection: \"small\", where: {}, everything: true, \
         set: [{at: \"$.u\", value: {a: 1}}], rename: [{at: \"$.u\", member: \"a\", to: \"b\"}], \
         min: [{at: \"$.v\", value: 1}], max: [{at: \"$.v\", value: 2}], \
         add: [{at: \"$.t\", from: {path: \"/t\"}}], now: [\"$.u.at\"]) { matched } }"
            .to_owned(),
        json!({}),
    )
}

fn writes() -> Template {
    let writes = (0..2_000).map(|at| {
        let (id, document) = (format!("w{at}"), json!({"n": at, "l": [at]}));
        json!({"replace": {"collection": "scratch", "id": id, "document": document}})
    });
    Template::new(
        "a list of writes",
        "mutation($w: [DocumentWrite!]!) { writeDocuments(operations: $w) { \
         key collection created deleted document { version value } } }"
            .to_owned(),
        json!({"w": writes.collect::<Vec<_>>()}),
    )
}

/// Writes with all arguments.
fn writes_at_a_version(known: &Known) -> Template {
    let numbers = json!({"collection": "arrays", "id": "numbers", "ifVersion": known.version});
    let with = |members: Value| -> Value {
        let mut all = numbers.as_object().expect("an object").clone();
        all.extend(members.as_object().expect("an object").clone());
        json!(all)
    };
    let place = json!({"collection": "scratch", "id": "k0", "path": "/next"});
    let at_key = |members: Value| -> Value {
        let mut all = members.as_object().expect("an object").clone();
        all.insert("idFrom".to_owned(), place.clone());
        json!(all)
    };
    let mut update = lists();
    update["ifVersion"] = json!(known.version);
    let writes = json!([
        {"replace": {"collection": "scratch", "id": "k0", "document": {"next": "k0"}}},
        {"insert": {"collection": "scratch", "id": "v0", "document": 1, "ifAbsent": true}},
        {"append": {"collection": "appended", "document": 1}},
        {"replace": with(json!({"path": "/1", "document": 1, "createParents": true, "ifAbsent": false}))},
        {"copy": with(json!({"path": "/1", "from": place, "createParents": true}))},
        {"merge": with(json!({"path": "/1", "patch": 1}))},
        {"patch": with(json!({"path": "/1", "patch": [], "createParents": true}))},
        {"increment": with(json!({"path": "/2", "by": 1, "createParents": true}))},
        {"update": with(update)},
        {"delete": with(json!({"path": "/none"}))},
        {"test": {"collection": "arrays", "id": "numbers", "matches": {}}},
        {"replace": at_key(json!({"collection": "scratch", "path": "/a", "document": 1}))},
        {"copy": at_key(json!({"collection": "scratch", "path": "/a", "from": place}))},
        {"merge": at_key(json!({"collection": "scratch", "patch": {}}))},
        {"patch": at_key(json!({"collection": "scratch", "patch": []}))},
        {"increment": at_key(json!({"collection": "scratch", "path": "/n"}))},
        {"update": at_key(json!({"collection": "scratch", "unset": ["$.n"]}))},
        {"delete": at_key(json!({"collection": "scratch", "path": "/a"}))},
        {"test": at_key(json!({"collection": "scratch", "matches": {}}))},
    ]);
    Template::new(
        "writes of all kinds",
        format!(
            "mutation($w: [DocumentWrite!]!, $v: DocumentVersion, {LISTS}) {{ \
             w: writeDocuments(operations: $w) {{ key }} \
             u: updateDocument(collection: \"arrays\", id: \"numbers\", ifVersion: $v, {OF_LISTS}) {{ key }} }}"
        ),
        {
            let mut variables = lists();
            variables["w"] = writes;
            variables["v"] = json!(known.version);
            variables
        },
    )
}
