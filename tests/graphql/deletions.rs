//! What the deletion of a document does to those that refer to it: `onDelete` of references.

use serde_json::{Value, json};

use super::support::{Client, NONE, client, only_error};
use super::typed::limited;
use super::types::set_type;

cases!(
    async [
        a_restricted_deletion_is_rejected,
        references_are_replaced_with_null,
        documents_are_deleted_with_those_they_refer_to,
        deletions_end_in_circles,
        every_kind_of_deletion_acts,
        what_an_operation_writes_counts,
        the_index_is_made_and_may_be_missing,
        a_type_that_is_set_in_the_operation_acts,
        the_documents_are_limited,
        collections_that_are_referred_to_are_not_dropped,
        what_refers_may_be_hidden,
        a_type_that_acts_on_a_collection_needs_its_right,
        references_to_other_collections_cost_a_deletion_nothing,
    ]
);

/// Documents of `of` that refer to those of `to`, in a member and in a list.
fn referring(title: &str, to: &str, on_delete: &str) -> Value {
    let reference = |field: &str, kind: Value| json!({"type": kind, "x-reference": {"collection": to, "as": field, "onDelete": on_delete}});
    json!({
        "title": title,
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "one": reference("ofOne", json!(["string", "null"])),
            "number": reference("ofNumber", json!(["integer", "null"])),
            "in": {"type": "object", "properties": {"many": {"type": "array", "items": {"type": "object",
                "properties": {"at": reference("ofMany", json!(["string", "null"]))}}}}},
            "by": {"type": "object", "additionalProperties": reference("ofBy", json!(["string", "null"]))}
        }
    })
}

async fn store(client: &Client, collection: &str, key: &str, document: &Value) {
    let query = "mutation($c: String, $k: ID, $d: JSON) { insertDocument(collection: $c, id: $k, document: $d) { key } }";
    let variables = json!({"c": collection, "k": key, "d": document});
    client.data(query, variables).await;
}

/// The targets `a`, `b` and `7`, and documents that refer to them.
async fn stored(on_delete: &str) -> Client {
    let client = client().await;
    set_type(&client, "items", &referring("Item", "targets", on_delete)).await;
    for key in ["a", "b", "7"] {
        store(&client, "targets", key, &json!({"n": key})).await;
    }
    for (key, document) in [
        ("1", json!({"one": "a", "number": 7})),
        (
            "2",
            json!({"in": {"many": [{"at": "a"}, {"at": "b"}, {}, {"at": "a"}]}}),
        ),
        ("3", json!({"by": {"x": "b", "y": null}})),
        ("4", json!({"one": "nothing", "number": 8})),
    ] {
        store(&client, "items", key, &document).await;
    }
    client
}

fn delete(key: &str) -> String {
    format!(r#"deleteDocument(collection: "targets", id: "{key}") {{ deleted }}"#)
}

/// All documents of a collection, by their keys.
async fn all(client: &Client, collection: &str) -> Value {
    let query =
        "query($c: String) { documents(collection: $c, first: 1000) { nodes { key value } } }";
    let data = client.data(query, json!({"c": collection})).await;
    let nodes = data["documents"]["nodes"].as_array().expect("a list");
    let nodes = nodes.iter().map(|node| {
        let key = node["key"].as_str().expect("a key").to_owned();
        (key, node["value"].clone())
    });
    Value::Object(nodes.collect())
}

async fn refused(client: &Client, fields: &str) -> Value {
    let response = client.ask(&format!("mutation {{ {fields} }}"), NONE).await;
    let errors = response["errors"].as_array().expect("errors");
    assert_eq!(errors.len(), 1, "{response}");
    errors[0].clone()
}

async fn a_restricted_deletion_is_rejected() {
    let client = stored("restrict").await;
    let before = (all(&client, "items").await, all(&client, "targets").await);
    let error = refused(&client, &format!("x: {}", delete("a"))).await;
    assert_eq!(
        error,
        json!({
            "message": "the document a of the collection \"targets\" cannot be deleted: the document 2 of the collection \
                \"items\" refers to it at $[\"in\"][\"many\"][*][\"at\"], and its type restricts the deletion",
            "locations": error["locations"],
            "path": ["x"],
            "extensions": {"code": "REFERENCE_VIOLATION"}
        })
    );
    for key in ["b", "7"] {
        let error = refused(&client, &delete(key)).await;
        assert_eq!(error["extensions"]["code"], "REFERENCE_VIOLATION");
    }
    let error = refused(
        &client,
        r#"deleteDocuments(collection: "targets", where: {at: "$.n", in: ["b", "7"]}) { changed }"#,
    )
    .await;
    assert_eq!(error["extensions"]["code"], "REFERENCE_VIOLATION");
    assert_eq!(
        before,
        (all(&client, "items").await, all(&client, "targets").await)
    );
    // A part of the document can be removed.
    client
        .mutate(r#"deleteDocument(collection: "targets", id: "a", path: "/n") { deleted }"#)
        .await;
    client
        .mutate("a: deleteItem(key: 1) { deleted } b: deleteItem(key: 2) { deleted }")
        .await;
    client.mutate(&delete("a")).await;
}

async fn references_are_replaced_with_null() {
    let client = stored("nullify").await;
    client.mutate(&delete("a")).await;
    let expected = json!({
        "1": {"one": null, "number": 7},
        "2": {"in": {"many": [{"at": null}, {"at": "b"}, {}, {"at": null}]}},
        "3": {"by": {"x": "b", "y": null}},
        "4": {"one": "nothing", "number": 8}
    });
    assert_eq!(all(&client, "items").await, expected);
    client
        .mutate(&format!("x: {} y: {}", delete("b"), delete("7")))
        .await;
    let expected = json!({
        "1": {"one": null, "number": null},
        "2": {"in": {"many": [{"at": null}, {"at": null}, {}, {"at": null}]}},
        "3": {"by": {"x": null, "y": null}},
        "4": {"one": "nothing", "number": 8}
    });
    assert_eq!(all(&client, "items").await, expected);
    // The member must have null.
    let mut schema = referring("Item", "targets", "nullify");
    schema["properties"]["one"]["type"] = json!("string");
    let query =
        "mutation($s: JSON!) { setCollectionType(collection: \"items\", schema: $s) { state } }";
    let (code, message) = client.error(query, json!({"s": schema})).await;
    assert_eq!(code, "BAD_USER_INPUT");
    assert!(message.contains("nullify"), "{message}");
}

async fn documents_are_deleted_with_those_they_refer_to() {
    let client = stored("cascade").await;
    set_type(&client, "notes", &referring("Note", "items", "cascade")).await;
    set_type(&client, "marks", &referring("Mark", "notes", "nullify")).await;
    store(&client, "notes", "n", &json!({"one": "2"})).await;
    store(&client, "notes", "m", &json!({"one": "3"})).await;
    store(
        &client,
        "marks",
        "m",
        &json!({"one": "n", "by": {"x": "m"}}),
    )
    .await;
    let data = client.mutate(&delete("a")).await;
    assert_eq!(data["deleteDocument"], json!({"deleted": true}));
    let items = all(&client, "items").await;
    let keys: Vec<&String> = items.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["3", "4"]);
    assert_eq!(all(&client, "notes").await, json!({"m": {"one": "3"}}));
    assert_eq!(
        all(&client, "marks").await,
        json!({"m": {"one": null, "by": {"x": "m"}}})
    );
}

async fn deletions_end_in_circles() {
    let client = client().await;
    set_type(&client, "items", &referring("Item", "items", "cascade")).await;
    for (key, one) in [("a", "b"), ("b", "c"), ("c", "a"), ("d", "d"), ("e", "a")] {
        store(&client, "items", key, &json!({"one": one})).await;
    }
    client.mutate(r#"deleteItem(key: "b") { deleted }"#).await;
    assert_eq!(all(&client, "items").await, json!({"d": {"one": "d"}}));
    client.mutate(r#"deleteItem(key: "d") { deleted }"#).await;
    assert_eq!(all(&client, "items").await, json!({}));
}

async fn every_kind_of_deletion_acts() {
    for fields in [
        delete("a"),
        r#"deleteDocuments(collection: "targets", where: {at: "$.n", eq: "a"}) { changed }"#.to_owned(),
        r#"takeDocuments(collection: "targets", first: 1, keys: {in: ["a"]}) { key }"#.to_owned(),
        r#"writeDocuments(operations: [{delete: {collection: "targets", id: "a"}}]) { __typename }"#.to_owned(),
    ] {
        let client = stored("cascade").await;
        client.mutate(&fields).await;
        let items = all(&client, "items").await;
        let keys: Vec<&String> = items.as_object().expect("an object").keys().collect();
        assert_eq!(keys, ["3", "4"], "{fields}");
    }
}

async fn what_an_operation_writes_counts() {
    let client = stored("restrict").await;
    // Documents that are deleted, or changed, in the same operation do not restrict.
    client
        .mutate(&format!(
            r#"a: {} b: updateItem(key: 1, patch: {{one: "b"}}) {{ key }} c: deleteItem(key: 2) {{ deleted }}"#,
            delete("a")
        ))
        .await;
    // One that is stored again is not deleted.
    client
        .mutate(&format!(
            r#"x: {} y: insertDocument(collection: "targets", id: "b", document: {{}}) {{ key }}"#,
            delete("b")
        ))
        .await;
    // One that refers since is noticed.
    store(&client, "targets", "c", &json!({})).await;
    let error = refused(
        &client,
        &format!(
            r#"x: {} y: createItem(key: 9, item: {{one: "c"}}) {{ key }}"#,
            delete("c")
        ),
    )
    .await;
    assert_eq!(error["extensions"]["code"], "REFERENCE_VIOLATION");
    assert_eq!(error["path"], json!(["x"]));
}

async fn the_index_is_made_and_may_be_missing() {
    let client = stored("nullify").await;
    let query = "{ collections { name indexes { name } } }";
    let names = async || {
        let data = client.data(query, NONE).await;
        let collections = data["collections"].as_array().expect("a list").clone();
        let items = collections.into_iter().find(|it| it["name"] == "items");
        let indexes = items.expect("it is listed")["indexes"].clone();
        let indexes = indexes.as_array().expect("a list").clone();
        let names = indexes
            .iter()
            .map(|it| it["name"].as_str().expect("a name").to_owned());
        names.collect::<Vec<String>>()
    };
    let made = names().await;
    assert_eq!(
        made,
        [
            "reference_by",
            "reference_in_many_at",
            "reference_number",
            "reference_one"
        ]
    );
    for name in &made {
        client
            .mutate(&format!(
                r#"dropIndex(collection: "items", name: "{name}")"#
            ))
            .await;
    }
    client.mutate(&delete("a")).await;
    let items = all(&client, "items").await;
    assert_eq!(items["1"]["one"], json!(null));
    assert_eq!(items["2"]["in"]["many"][3], json!({"at": null}));
    set_type(&client, "items", &referring("Item", "targets", "nullify")).await;
    assert_eq!(names().await, made);
    // The new indexes are not built yet.
    client.mutate(&delete("b")).await;
    assert_eq!(all(&client, "items").await["3"]["by"]["x"], json!(null));
    client.build().await;
}

async fn a_type_that_is_set_in_the_operation_acts() {
    let client = client().await;
    store(&client, "targets", "a", &json!({})).await;
    store(&client, "items", "1", &json!({"one": "a"})).await;
    let schema = referring("Item", "targets", "restrict");
    let query = format!(
        "mutation($s: JSON!) {{ setCollectionType(collection: \"items\", schema: $s) {{ state }} {} }}",
        delete("a")
    );
    let response = client.ask(&query, json!({"s": schema})).await;
    assert_eq!(only_error(&response).0, "REFERENCE_VIOLATION");
    set_type(&client, "items", &schema).await;
    let fields = format!("dropCollectionType(collection: \"items\") {}", delete("a"));
    client.mutate(&fields).await;
}

async fn the_documents_are_limited() {
    let client = client().await;
    set_type(&client, "items", &referring("Item", "targets", "cascade")).await;
    store(&client, "targets", "a", &json!({})).await;
    for from in (0..11_000).step_by(1_000) {
        let writes = (from..from + 1_000).map(
            |at| json!({"insert": {"collection": "items", "id": at, "document": {"one": "a"}}}),
        );
        let writes: Vec<Value> = writes.collect();
        let query =
            "mutation($w: [DocumentWrite!]!) { writeDocuments(operations: $w) { __typename } }";
        client.data(query, json!({"w": writes})).await;
    }
    let error = refused(&client, &delete("a")).await;
    assert_eq!(error["extensions"]["code"], "TOO_LARGE", "{error}");
    assert_eq!(
        error["extensions"]["limitName"], "referringDocuments",
        "{error}"
    );
    let data = client
        .data(
            "{ document(collection: \"targets\", id: \"a\") { kind } }",
            NONE,
        )
        .await;
    assert_eq!(data["document"], json!({"kind": "OBJECT"}));
}

async fn collections_that_are_referred_to_are_not_dropped() {
    let client = stored("cascade").await;
    let fields = "dropCollection(collection: \"targets\", everything: true) { documents }";
    let error = refused(&client, fields).await;
    assert_eq!(error["extensions"]["code"], "BAD_USER_INPUT");
    let message = error["message"].as_str().expect("a message");
    assert!(message.contains("\"items\""), "{message}");
    client
        .mutate("dropCollection(collection: \"items\", everything: true) { documents }")
        .await;
    client.mutate(fields).await;
    set_type(&client, "items", &referring("Item", "items", "cascade")).await;
    client
        .mutate("dropCollection(collection: \"items\", everything: true) { documents }")
        .await;
}

const DELETES_TARGETS: &str = r#"
    [[allow]]
    who = "anyone"
    actions = ["read", "list", "delete", "create", "write"]
    collection = "targets"
    "#;

async fn what_refers_may_be_hidden() {
    let client = stored("restrict").await;
    let restricted = limited(&client, DELETES_TARGETS).await;
    let error = refused(&restricted, &delete("a")).await;
    assert_eq!(error["extensions"]["code"], "REFERENCE_VIOLATION");
    let message = error["message"].as_str().expect("a message");
    assert!(
        !message.contains("items") && !message.contains('1'),
        "{message}"
    );
    // The type acts, and not the caller.
    let client = stored("cascade").await;
    let restricted = limited(&client, DELETES_TARGETS).await;
    restricted.mutate(&delete("a")).await;
    assert_eq!(
        all(&client, "items")
            .await
            .as_object()
            .map(serde_json::Map::len),
        Some(2)
    );
}

async fn a_type_that_acts_on_a_collection_needs_its_right() {
    let client = client().await;
    let rules = r#"
        [[allow]]
        who = "anyone"
        actions = ["index"]
        collection = "items"
        "#;
    let restricted = limited(&client, rules).await;
    let query =
        "mutation($s: JSON!) { setCollectionType(collection: \"items\", schema: $s) { state } }";
    let schema = |on_delete| json!({"s": referring("Item", "targets", on_delete)});
    let response = restricted.ask(query, schema("restrict")).await;
    let (code, message) = only_error(&response);
    assert_eq!(code, "FORBIDDEN", "{message}");
    assert!(message.contains("targets"), "{message}");
    restricted.data(query, schema("ignore")).await;
}

async fn references_to_other_collections_cost_a_deletion_nothing() {
    let client = client().await;
    for key in ["1", "2"] {
        store(&client, "targets", key, &json!({"n": 1})).await;
    }
    // A type, which raises the format of the store. The types are read once after one of them has changed.
    set_type(&client, "elsewhere", &json!({"type": "object"})).await;
    store(&client, "targets", "3", &json!({"n": 1})).await;
    client.mutate(&delete("3")).await;
    let (_, without) = client
        .cost(&format!("mutation {{ {} }}", delete("1")), NONE)
        .await;
    set_type(&client, "items", &referring("Item", "others", "cascade")).await;
    store(&client, "targets", "3", &json!({"n": 1})).await;
    client.mutate(&delete("3")).await;
    let (_, with) = client
        .cost(&format!("mutation {{ {} }}", delete("2")), NONE)
        .await;
    assert_eq!((with.gets, with.ranges), (without.gets, without.ranges));
}
