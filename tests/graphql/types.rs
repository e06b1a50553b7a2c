//! Types of collections: definition, validation of every kind of write, and the check of stored documents.

use phyllo::database::{FORMAT_TYPES, TypeCheckStep, TypeChecker, adopt};
use phyllo::document::id::DocumentId;
use phyllo::document::leaf::Leaf;
use phyllo::document::path::Place;
use phyllo::graphql::RulesInForce;
use phyllo::key::{Family, pack_leaf};
use phyllo::limits::TYPE_VIOLATIONS_MAX;
use phyllo::rights::{Principal, Rules};
use serde_json::{Value, json};

use super::support::{Client, NONE, client};

cases!(
    async [
        a_type_of_another_collection_costs_nothing,
        a_change_of_one_leaf_costs_the_same_with_a_type,
        the_cost_of_a_change_does_not_grow_with_the_document,
        a_new_document_that_does_not_fit_is_rejected,
        every_mutation_is_validated,
        an_error_has_the_place_the_keyword_and_the_value,
        an_array_can_be_corrected_step_by_step,
        a_simulation_sees_what_its_operation_wrote,
        appended_elements_have_at_most_a_hundred_violations,
        the_value_of_a_violation_is_json,
        an_error_of_a_document_without_an_id_names_none,
        a_patch_may_pass_through_states_that_do_not_fit,
        touched_elements_are_validated_where_they_are_at_the_end,
        a_rejected_write_changes_nothing,
        stored_documents_are_checked_in_the_background,
        a_failed_type_lists_at_most_a_hundred_places,
        a_document_that_is_corrected_while_it_is_checked_fits,
        a_compatible_type_needs_no_check,
        a_type_on_an_empty_collection_is_enforced_at_once,
        collections_by_name_reads_one_type,
        a_simulation_changes_nothing,
        a_dropped_type_is_not_validated,
        a_dropped_collection_has_no_type,
        a_type_that_another_server_changes_is_noticed_by_the_next_write,
        adopted_documents_are_checked,
        a_document_that_another_program_stored_is_validated_as_a_whole_without_its_values,
        invalid_schemas_are_rejected,
        a_large_schema_is_stored_in_pieces,
        the_first_type_raises_the_format,
        what_a_caller_may_not_read_is_not_told,
    ]
);

/// Set a type, with the schema as a variable.
pub(super) async fn set_type(client: &Client, collection: &str, schema: &Value) -> Value {
    let query = "mutation($c: String!, $s: JSON!) { setCollectionType(collection: $c, schema: $s) \
                 { effect state examined complete violations { key } } }";
    let data = client
        .data(query, json!({"c": collection, "s": schema}))
        .await;
    data["setCollectionType"].clone()
}

/// The type of the first collection that has one.
pub(super) async fn stored_type(client: &Client) -> Value {
    let query = "{ collections { type { schema state checked violations { key place keyword expected value } } } }";
    let data = client.data(query, NONE).await;
    let collections = data["collections"].as_array().expect("a list");
    let mut types = collections.iter().map(|collection| &collection["type"]);
    types
        .find(|found| !found.is_null())
        .cloned()
        .unwrap_or_default()
}

fn schema() -> Value {
    json!({
        "type": "object",
        "required": ["name"],
        "additionalProperties": false,
        "properties": {
            "name": {"type": "string", "minLength": 1},
            "age": {"type": ["integer", "null"], "minimum": 0, "maximum": 100},
            "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 3},
            "names": {"type": "object", "additionalProperties": {"type": "object",
                "required": ["common"], "properties": {"common": {"type": "string"}}}},
            "points": {"type": "array", "items": {"type": "object", "required": ["x"],
                "properties": {"x": {"type": "number"}}}},
            "open": {}
        }
    })
}

async fn typed() -> Client {
    let client = client().await;
    let set = set_type(&client, "D", &schema()).await;
    assert_eq!(set["state"], "ENFORCED");
    client
}

/// The facts of the only error: the places with their keywords.
async fn violations(client: &Client, fields: &str) -> Vec<(String, String)> {
    let response = client.ask(&format!("mutation {{ {fields} }}"), NONE).await;
    let error = &response["errors"][0];
    assert_eq!(
        error["extensions"]["code"], "TYPE_MISMATCH",
        "{fields}: {response}"
    );
    let violations = error["extensions"]["violations"]
        .as_array()
        .expect("a list");
    let text = |value: &Value| value.as_str().expect("a string").to_owned();
    let found = violations.iter();
    found
        .map(|it| (text(&it["place"]), text(&it["keyword"])))
        .collect()
}

const UNTYPED: &str = r#"collection: "U", "#;

async fn a_type_of_another_collection_costs_nothing() {
    let client = client().await;
    // The first type raises the format, after which writes also read the settings of the change log.
    set_type(&client, "D", &schema()).await;
    client
        .mutate(r#"dropCollectionType(collection: "D")"#)
        .await;
    client
        .mutate(r#"insertDocument(collection: "U", id: 9, document: 1) { key }"#)
        .await;
    let writes = [
        r#"insertDocument(collection: "U", id: 1, document: {a: {b: 1, c: 2}, l: [1, 2]}) { key }"#,
        r#"replaceDocument(collection: "U", id: 1, path: "/a/b", document: 2) { key }"#,
        r#"deleteDocument(collection: "U", id: 1, path: "/a/c") { deleted }"#,
        r#"patchDocument(collection: "U", id: 1, patch: [{op: "add", path: "/l/0", value: 0}]) { key }"#,
    ];
    let mut before = Vec::new();
    for write in writes {
        before.push(
            client
                .cost(&format!("mutation {{ {write} }}"), NONE)
                .await
                .1,
        );
    }
    client
        .mutate(r#"deleteDocument(collection: "U", id: 1) { deleted }"#)
        .await;
    set_type(&client, "D", &schema()).await;
    for (write, before) in writes.iter().zip(before) {
        let (_, after) = client.cost(&format!("mutation {{ {write} }}"), NONE).await;
        assert_eq!(after, before, "{write}");
    }
}

/// A document of many leaves in a typed collection and in one without a type.
async fn large_documents(leaves: usize) -> Client {
    let client = client().await;
    let schema = json!({"type": "object", "required": ["list"], "additionalProperties": false,
    "properties": {
        "list": {"type": "array", "items": {"type": "integer"}, "maxItems": 1_000_000},
        "map": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}}
    }});
    set_type(&client, "D", &schema).await;
    let list: Vec<usize> = (0..leaves).collect();
    let map: serde_json::Map<String, Value> = (0..leaves)
        .map(|at| (format!("m{at}"), json!(at)))
        .collect();
    let document = json!({"list": list, "map": map});
    for collection in ["D", "U"] {
        let query = "mutation($c: String!, $d: JSON) { insertDocument(collection: $c, id: 1, document: $d) { key } }";
        client
            .data(query, json!({"c": collection, "d": document}))
            .await;
    }
    client
}

async fn a_change_of_one_leaf_costs_the_same_with_a_type() {
    let client = large_documents(2_000).await;
    // So that the type is parsed.
    client
        .mutate(r#"replaceDocument(id: 1, path: "/map/m1", document: 0) { key }"#)
        .await;
    // On a cluster, one of some runs counts one more write, of an unknown origin. A cost of the type differs
    // each time.
    for collection in ["", UNTYPED] {
        let mut differing = Vec::new();
        for value in 7..10 {
            let write = format!(
                "mutation {{ replaceDocument({collection}id: 1, path: \"/map/m1000\", document: {value}) {{ version }} }}"
            );
            let (_, cost) = client.cost(&write, NONE).await;
            let write = format!(
                "mutation {{ replaceDocument({UNTYPED}id: 1, path: \"/map/m1001\", document: {value}) {{ version }} }}"
            );
            let (_, untyped) = client.cost(&write, NONE).await;
            // The head of the type is one more pair of the range of definitions.
            let pairs = untyped.pairs + u64::from(collection.is_empty());
            let expected = (pairs, untyped.gets, untyped.ranges, untyped.writes);
            let found = (cost.pairs, cost.gets, cost.ranges, cost.writes);
            if found == expected {
                differing.clear();
                break;
            }
            differing.push((found, expected));
        }
        assert!(differing.is_empty(), "{differing:?}");
        client.mutate(r#"replaceDocument(collection: "U", id: 1, path: "/map/m1001", document: 0) { key }"#).await;
    }
}

async fn the_cost_of_a_change_does_not_grow_with_the_document() {
    let changes = [
        r#"replaceDocument(id: 1, path: "/map/m7", document: 1) { key }"#,
        r#"deleteDocument(id: 1, path: "/map/m8") { deleted }"#,
        r#"replaceDocument(id: 1, path: "/map/new", document: 1) { key }"#,
        r#"updateDocuments(where: {}, everything: true, append: [{at: "$.list", value: 5}]) { matched }"#,
        r#"patchDocument(id: 1, patch: [{op: "add", path: "/list/-", value: 1}]) { key }"#,
        r#"mergeDocument(id: 1, patch: {map: {m1: 5, m2: null}}) { key }"#,
        r#"incrementDocument(id: 1, path: "/list/0") { key }"#,
    ];
    // One after the other, because a cluster is one store. There, one of five runs counted one more write, of
    // an unknown origin. A cost that grows differs each time.
    let mut differing = Vec::new();
    for _ in 0..3 {
        let mut costs = Vec::new();
        for leaves in [300, 3_000] {
            let client = large_documents(leaves).await;
            for change in changes {
                let query = format!("mutation {{ {change} }}");
                costs.push((change, client.cost(&query, NONE).await.1));
            }
        }
        let (of_small, of_large) = costs.split_at(changes.len());
        if of_large == of_small {
            return;
        }
        differing.push((of_large.to_vec(), of_small.to_vec()));
    }
    panic!("{differing:#?}");
}

async fn a_new_document_that_does_not_fit_is_rejected() {
    let client = typed().await;
    for (document, expected) in [
        ("{}", vec![("", "required")]),
        (r#"{name: ""}"#, vec![("/name", "minLength")]),
        (r#"{name: 1}"#, vec![("/name", "type")]),
        (r#"{name: "a", age: -1}"#, vec![("/age", "minimum")]),
        (
            r#"{name: "a", other: 1}"#,
            vec![("/other", "additionalProperties")],
        ),
        (r#"{name: "a", tags: []}"#, vec![("/tags", "minItems")]),
        (
            r#"{name: "a", tags: [1, "b", 2]}"#,
            vec![("/tags/0", "type"), ("/tags/2", "type")],
        ),
        (
            r#"{name: "a", names: {x: {}}}"#,
            vec![("/names/x", "required")],
        ),
        ("[]", vec![("", "type")]),
        ("null", vec![("", "type")]),
    ] {
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(place, keyword)| (place.to_owned(), keyword.to_owned()))
            .collect();
        for write in [
            "insertDocument(id: 1, document:",
            "replaceDocument(id: 1, document:",
            "insertDocument(document:",
        ] {
            let fields = format!("{write} {document}) {{ key }}");
            assert_eq!(violations(&client, &fields).await, expected, "{fields}");
        }
        let fields = format!("appendDocument(document: {document}) {{ key }}");
        assert_eq!(violations(&client, &fields).await, expected, "{fields}");
        let fields = format!("mergeDocument(id: 1, patch: {document}) {{ key }}");
        if document != "null" {
            assert_eq!(violations(&client, &fields).await, expected, "{fields}");
        }
    }
    client
        .insert("1", r#"{"name":"a","age":null,"open":[{}],"tags":["b"]}"#)
        .await;
    assert_eq!(client.check().await, []);
}

/// A document that fits, at which changes are tried.
const ANN: &str = r#"{"name":"Ann","age":30,"tags":["a","b"],"names":{"deu":{"common":"Anna"}},
    "points":[{"x":1},{"x":2}],"open":{"x":1}}"#;

/// Fields of mutations of the document [`ANN`], and a place that does not fit then, with the keyword.
const REJECTED: &[(&str, &str, &str)] = &[
    (
        r#"replaceDocument(id: 1, path: "/name", document: 5) { key }"#,
        "/name",
        "type",
    ),
    (
        r#"replaceDocument(id: 1, path: "/other", document: 5) { key }"#,
        "/other",
        "additionalProperties",
    ),
    (
        r#"replaceDocument(id: 1, path: "/tags/0", document: null) { key }"#,
        "/tags/0",
        "type",
    ),
    (
        r#"replaceDocument(id: 1, path: "/tags", document: ["a", "b", "c", "d"]) { key }"#,
        "/tags",
        "maxItems",
    ),
    (
        r#"replaceDocument(id: 1, path: "/names/fra", document: {}) { key }"#,
        "/names/fra",
        "required",
    ),
    (
        r#"incrementDocument(id: 1, path: "/age", by: 71) { key }"#,
        "/age",
        "maximum",
    ),
    (
        r#"incrementDocument(id: 1, path: "/age", by: 0.5) { key }"#,
        "/age",
        "type",
    ),
    (
        r#"mergeDocument(id: 1, patch: {name: null}) { key }"#,
        "",
        "required",
    ),
    (
        r#"mergeDocument(id: 1, patch: {names: {deu: {common: null}}}) { key }"#,
        "/names/deu",
        "required",
    ),
    (
        r#"mergeDocument(id: 1, patch: {names: {ita: {common: 1}}}) { key }"#,
        "/names/ita/common",
        "type",
    ),
    (
        r#"mergeDocument(id: 1, path: ["names", "ita", "common"], patch: 1) { key }"#,
        "/names/ita/common",
        "type",
    ),
    (
        r#"patchDocument(id: 1, patch: [{op: "add", path: "/tags/0", value: 1}]) { key }"#,
        "/tags/0",
        "type",
    ),
    (
        r#"patchDocument(id: 1, patch: [{op: "add", path: "/tags/-", value: 1}]) { key }"#,
        "/tags/2",
        "type",
    ),
    (
        r#"patchDocument(id: 1, patch: [{op: "remove", path: "/name"}]) { key }"#,
        "",
        "required",
    ),
    (
        r#"patchDocument(id: 1, patch: [{op: "move", from: "/age", path: "/name"}]) { key }"#,
        "/name",
        "type",
    ),
    (
        r#"patchDocument(id: 1, patch: [{op: "copy", from: "/age", path: "/tags/1"}]) { key }"#,
        "/tags/1",
        "type",
    ),
    (
        r#"patchDocument(id: 1, patch: [{op: "add", path: "/tags/-", value: "c"}, {op: "add", path: "/tags/0", value: "d"}]) { key }"#,
        "/tags",
        "maxItems",
    ),
    (
        r#"deleteDocument(id: 1, path: "/name") { deleted }"#,
        "",
        "required",
    ),
    (
        r#"deleteDocument(id: 1, path: "/points/0/x") { deleted }"#,
        "/points/0",
        "required",
    ),
    (
        r#"copyDocument(id: 1, path: "/name", from: {collection: "U", id: 1, path: "/a"}) { key }"#,
        "/name",
        "type",
    ),
    (
        r#"copyDocument(id: 2, from: {collection: "U", id: 1}) { key }"#,
        "/a",
        "additionalProperties",
    ),
    (
        r#"updateDocuments(where: {}, everything: true, set: [{at: "$.name", value: ""}]) { matched }"#,
        "/name",
        "minLength",
    ),
    (
        r#"updateDocuments(where: {}, everything: true, set: [{at: "$.points[*].x", value: "1"}]) { matched }"#,
        "/points/0/x",
        "type",
    ),
    (
        r#"updateDocuments(where: {}, everything: true, unset: ["$.points[1].x"]) { matched }"#,
        "/points/1",
        "required",
    ),
    (
        r#"updateDocuments(where: {}, everything: true, increment: [{at: "$.age", by: 100}]) { matched }"#,
        "/age",
        "maximum",
    ),
    (
        r#"updateDocuments(where: {}, everything: true, append: [{at: "$.tags", values: ["c", 4]}]) { matched }"#,
        "/tags/3",
        "type",
    ),
    (
        r#"updateDocuments(where: {}, everything: true, append: [{at: "$.tags", values: ["c", "d"]}]) { matched }"#,
        "/tags",
        "maxItems",
    ),
    (
        r#"updateDocuments(where: {}, everything: true, remove: [{at: "$.tags", values: ["a", "b"]}]) { matched }"#,
        "/tags",
        "minItems",
    ),
    (
        r#"updateDocuments(where: {}, everything: true, merge: [{at: "$.names.deu", patch: {common: null}}]) { matched }"#,
        "/names/deu",
        "required",
    ),
];

async fn every_mutation_is_validated() {
    let client = typed().await;
    client.insert("1", ANN).await;
    client
        .mutate(r#"insertDocument(collection: "U", id: 1, document: {a: 1, s: "s"}) { key }"#)
        .await;
    let before = client.stored("1").await;
    for (fields, place, keyword) in REJECTED {
        let found = violations(&client, fields).await;
        let expected = ((*place).to_owned(), (*keyword).to_owned());
        assert!(found.contains(&expected), "{fields}: {found:?}");
        assert_eq!(client.stored("1").await, before, "{fields}");
    }
    for fields in [
        r#"replaceDocument(id: 1, path: "/open/x", document: {any: [1]}) { key }"#,
        r#"mergeDocument(id: 1, patch: {age: null, tags: null}) { key }"#,
        r#"patchDocument(id: 1, patch: [{op: "remove", path: "/points/0"}]) { key }"#,
        r#"deleteDocument(id: 1, path: "/names/deu") { deleted }"#,
        r#"updateDocuments(where: {}, everything: true, unset: ["$.points"]) { matched }"#,
        r#"replaceDocument(id: 1, document: {name: "Ben"}) { key }"#,
        r#"takeDocuments(first: 1) { key }"#,
        r#"insertDocument(id: 2, document: {name: "Eve"}) { key }"#,
        r#"deleteDocuments(where: {}, everything: true) { matched }"#,
    ] {
        client.mutate(fields).await;
    }
    assert_eq!(client.check().await, []);
}

async fn an_error_has_the_place_the_keyword_and_the_value() {
    let client = typed().await;
    client.insert("1", ANN).await;
    let long = "x".repeat(5_000);
    let query =
        "mutation($v: JSON) { replaceDocument(id: 1, path: \"/age\", document: $v) { key } }";
    let response = client.ask(query, json!({"v": long})).await;
    let error = &response["errors"][0];
    let extensions = &error["extensions"];
    assert_eq!(extensions["code"], "TYPE_MISMATCH");
    assert_eq!(extensions["place"], "/age");
    let violation = &extensions["violations"][0];
    assert_eq!(violation["place"], "/age");
    assert_eq!(violation["keyword"], "type");
    assert!(
        violation["expected"]
            .as_str()
            .expect("a string")
            .contains("integer"),
        "{violation}"
    );
    let value = violation["value"].as_str().expect("a string");
    assert!(value.contains("xxx") && value.len() < 200, "{value}");
    let message = error["message"].as_str().expect("a string");
    for part in ["\"/age\"", "\"D\"", "document 1", "`type`"] {
        assert!(message.contains(part), "{message}");
    }
    // The first hundred places are listed.
    let points: Vec<Value> = (0..300).map(|_| json!({})).collect();
    let query =
        "mutation($v: JSON) { replaceDocument(id: 1, path: \"/points\", document: $v) { key } }";
    let response = client.ask(query, json!({"v": points})).await;
    let violations = response["errors"][0]["extensions"]["violations"].as_array();
    assert_eq!(violations.map(Vec::len), Some(TYPE_VIOLATIONS_MAX));
}

async fn an_array_can_be_corrected_step_by_step() {
    let client = client().await;
    client
        .insert("1", r#"{"list":[1,2,3,4,5],"more":[]}"#)
        .await;
    let schema = json!({"properties": {"list": {"maxItems": 3}, "more": {"minItems": 2}}});
    set_type(&client, "D", &schema).await;
    let fits = async |fields: &str| {
        let response = client.ask(&format!("mutation {{ {fields} }}"), NONE).await;
        response.get("errors").is_none()
    };
    for (fields, is_accepted) in [
        (
            r#"patchDocument(id: 1, patch: [{op: "add", path: "/list/-", value: 6}]) { key }"#,
            false,
        ),
        (
            r#"patchDocument(id: 1, patch: [{op: "add", path: "/list/0", value: 0}, {op: "remove", path: "/list/1"}]) { key }"#,
            false,
        ),
        (
            r#"deleteDocument(id: 1, path: "/list/4") { deleted }"#,
            true,
        ),
        (
            r#"deleteDocument(id: 1, path: "/list/0") { deleted }"#,
            true,
        ),
        (
            r#"patchDocument(id: 1, patch: [{op: "add", path: "/list/0", value: 0}]) { key }"#,
            false,
        ),
        (
            r#"patchDocument(id: 1, patch: [{op: "add", path: "/more/-", value: 1}]) { key }"#,
            true,
        ),
        (
            r#"deleteDocument(id: 1, path: "/more/0") { deleted }"#,
            false,
        ),
        (
            r#"updateDocuments(where: {}, everything: true, append: [{at: "$.more", values: [2]}]) { matched }"#,
            true,
        ),
        (
            r#"deleteDocument(id: 1, path: "/more/0") { deleted }"#,
            false,
        ),
    ] {
        assert_eq!(fits(fields).await, is_accepted, "{fields}");
    }
    assert_eq!(client.stored("1").await, r#"{"list":[2,3,4],"more":[1,2]}"#);
}

async fn a_simulation_sees_what_its_operation_wrote() {
    let client = client().await;
    client.insert("1", r#"{"a":1}"#).await;
    let schema = "{properties: {a: {type: \"integer\"}}}";
    let data = client
        .mutate(&format!(
            "a: replaceDocument(id: 1, document: {{a: \"x\"}}) {{ key }} b: insertDocument(id: 2, document: {{a: 0.5}}) {{ key }} \
             c: setCollectionType(collection: \"D\", schema: {schema}, dryRun: true) {{ violations {{ key value }} }}"
        ))
        .await;
    assert_eq!(
        data["c"]["violations"],
        json!([{"key": "1", "value": "\"x\""}, {"key": "2", "value": "0.5"}])
    );
}

async fn appended_elements_have_at_most_a_hundred_violations() {
    let client = client().await;
    let schema = json!({"properties": {"list": {"items": {"type": "integer"}}}});
    set_type(&client, "D", &schema).await;
    client.insert("1", r#"{"list":[]}"#).await;
    let values = vec![r#""x""#; 3_000].join(" ");
    let fields = format!(
        "updateDocuments(where: {{}}, everything: true, append: [{{at: \"$.list\", values: [{values}]}}]) {{ matched }}"
    );
    let response = client.ask(&format!("mutation {{ {fields} }}"), NONE).await;
    let error = &response["errors"][0];
    let violations = error["extensions"]["violations"].as_array();
    assert_eq!(violations.map(Vec::len), Some(TYPE_VIOLATIONS_MAX));
    let message = error["message"].as_str().expect("a string");
    assert!(message.contains("at least 99 more places"), "{message}");
}

async fn the_value_of_a_violation_is_json() {
    let client = typed().await;
    for (document, value) in [
        ("{}", Value::Null),
        ("[]", json!("[…]")),
        (r#"{name: {a: 1}}"#, json!("{…}")),
        (r#"{name: null}"#, json!("null")),
        (r#"{name: "a", other: 1}"#, Value::Null),
        (r#"{name: "a", tags: []}"#, Value::Null),
    ] {
        let query = format!("mutation {{ insertDocument(document: {document}) {{ key }} }}");
        let response = client.ask(&query, NONE).await;
        let violation = &response["errors"][0]["extensions"]["violations"][0];
        assert_eq!(violation["value"], value, "{response}");
    }
}

async fn an_error_of_a_document_without_an_id_names_none() {
    let client = typed().await;
    let query = "mutation { appendDocument(document: {}) { key } }";
    let (code, message) = client.error(query, NONE).await;
    assert_eq!(code, "TYPE_MISMATCH");
    assert!(
        message.starts_with("the root of a new document does not fit"),
        "{message}"
    );
}

async fn a_patch_may_pass_through_states_that_do_not_fit() {
    let client = typed().await;
    client.insert("1", ANN).await;
    for patch in [
        r#"[{op: "remove", path: "/name"}, {op: "add", path: "/name", value: "Eve"}]"#,
        r#"[{op: "add", path: "/names/ita", value: {}}, {op: "add", path: "/names/ita/common", value: "Italia"}]"#,
        r#"[{op: "add", path: "/other", value: 1}, {op: "remove", path: "/other"}]"#,
        r#"[{op: "remove", path: "/tags/0"}, {op: "remove", path: "/tags/0"}, {op: "add", path: "/tags/0", value: "z"}]"#,
        r#"[{op: "replace", path: "/age", value: "x"}, {op: "replace", path: "/age", value: 4}]"#,
        r#"[{op: "replace", path: "", value: {}}, {op: "add", path: "/name", value: "Tom"}]"#,
    ] {
        client
            .mutate(&format!("patchDocument(id: 1, patch: {patch}) {{ key }}"))
            .await;
    }
    assert_eq!(client.stored("1").await, r#"{"name":"Tom"}"#);
}

async fn touched_elements_are_validated_where_they_are_at_the_end() {
    let client = typed().await;
    client.insert("1", ANN).await;
    let patch = r#"[
        {op: "add", path: "/points/0", value: {x: "bad"}},
        {op: "add", path: "/points/0", value: {x: 0}},
        {op: "add", path: "/points/2", value: {x: 7}}
    ]"#;
    let fields = format!("patchDocument(id: 1, patch: {patch}) {{ key }}");
    assert_eq!(
        violations(&client, &fields).await,
        [("/points/1/x".to_owned(), "type".to_owned())]
    );
    let removed = patch.replace("\n    ]", r#", {op: "remove", path: "/points/1"}]"#);
    client
        .mutate(&format!("patchDocument(id: 1, patch: {removed}) {{ key }}"))
        .await;
    let data = client
        .data(r#"{ document(id: 1) { value(path: "/points") } }"#, NONE)
        .await;
    assert_eq!(
        data["document"]["value"],
        json!([{"x": 0}, {"x": 7}, {"x": 1}, {"x": 2}])
    );
}

async fn a_rejected_write_changes_nothing() {
    let client = typed().await;
    client.insert("1", ANN).await;
    client.insert("2", r#"{"name":"Ben"}"#).await;
    let before = client
        .data("{ documents { nodes { key version value } } }", NONE)
        .await;
    for fields in [
        r#"a: replaceDocument(id: 2, path: "/name", document: "x") { key } b: replaceDocument(id: 1, path: "/name", document: 1) { key }"#,
        r#"updateDocuments(where: {}, everything: true, set: [{at: "$.name", value: "x"}], unset: ["$.points[0].x"]) { matched }"#,
    ] {
        assert!(!violations(&client, fields).await.is_empty());
        let after = client
            .data("{ documents { nodes { key version value } } }", NONE)
            .await;
        assert_eq!(after, before);
    }
}

async fn stored_documents_are_checked_in_the_background() {
    let client = client().await;
    client.insert("1", ANN).await;
    client.insert("2", r#"{"name":5}"#).await;
    client.insert("3", r#"{"other":true,"name":"c"}"#).await;
    let set = set_type(&client, "D", &schema()).await;
    assert_eq!(set["effect"], "NEEDS_CHECK");
    assert_eq!(set["state"], "CHECKING");
    let stored = stored_type(&client).await;
    assert_eq!(
        (&stored["state"], &stored["checked"]),
        (&json!("CHECKING"), &json!(0))
    );
    assert_eq!(stored["schema"], schema());
    // Writes are validated from the definition on.
    violations(&client, r#"insertDocument(id: 4, document: {}) { key }"#).await;
    client.check_types().await;
    let stored = stored_type(&client).await;
    assert_eq!(
        (&stored["state"], &stored["checked"]),
        (&json!("FAILED"), &json!(null))
    );
    let found = stored["violations"].as_array().expect("a list");
    let brief: Vec<_> = found
        .iter()
        .map(|it| (&it["key"], &it["place"], &it["keyword"]))
        .collect();
    assert_eq!(
        brief,
        [
            (&json!("2"), &json!("/name"), &json!("type")),
            (
                &json!("3"),
                &json!("/other"),
                &json!("additionalProperties")
            ),
        ]
    );
    assert_eq!(found[0]["value"], "5");
    // Changes of other places of a document that does not fit are accepted, and corrections.
    client
        .mutate(r#"replaceDocument(id: 2, path: "/age", document: 1) { key }"#)
        .await;
    client
        .mutate(r#"replaceDocument(id: 2, path: "/name", document: "b") { key }"#)
        .await;
    client
        .mutate(r#"deleteDocument(id: 3, path: "/other") { deleted }"#)
        .await;
    let set = set_type(&client, "D", &schema()).await;
    assert_eq!(
        (&set["effect"], &set["state"]),
        (&json!("NEEDS_CHECK"), &json!("CHECKING"))
    );
    client.check_types().await;
    let stored = stored_type(&client).await;
    assert_eq!(
        (&stored["state"], &stored["violations"]),
        (&json!("ENFORCED"), &json!([]))
    );
    assert_eq!(
        set_type(&client, "D", &schema()).await["effect"],
        "UNCHANGED"
    );
    assert_eq!(client.check().await, []);
}

async fn a_failed_type_lists_at_most_a_hundred_places() {
    let client = client().await;
    for id in 1..=60 {
        client
            .insert(&id.to_string(), r#"{"name":1,"age":"x"}"#)
            .await;
    }
    set_type(&client, "D", &schema()).await;
    client.check_types().await;
    let stored = stored_type(&client).await;
    assert_eq!(stored["state"], "FAILED");
    assert_eq!(
        stored["violations"].as_array().map(Vec::len),
        Some(TYPE_VIOLATIONS_MAX)
    );
}

async fn a_document_that_is_corrected_while_it_is_checked_fits() {
    let client = client().await;
    client.insert("1", r#"{"name":1}"#).await;
    set_type(&client, "D", &schema()).await;
    // Each step reads a snapshot and then records in a transaction, so a change before the step is seen.
    client
        .mutate(r#"replaceDocument(id: 1, path: "/name", document: "a") { key }"#)
        .await;
    let mut checker = TypeChecker::new(client.database.clone());
    let step = checker.step().await.expect("a step");
    assert!(matches!(step, TypeCheckStep::Ended(..)), "{step:?}");
    assert_eq!(stored_type(&client).await["state"], "ENFORCED");
}

async fn a_compatible_type_needs_no_check() {
    let client = typed().await;
    client.insert("1", ANN).await;
    let mut wider = schema();
    wider["properties"]["age"]["maximum"] = json!(200);
    wider["properties"]["new"] = json!({"type": "string"});
    wider["additionalProperties"] = json!(false);
    let set = set_type(&client, "D", &wider).await;
    // A new property of objects that allowed no others certainly fits.
    assert_eq!(
        (&set["effect"], &set["state"]),
        (&json!("COMPATIBLE"), &json!("ENFORCED"))
    );
    client
        .mutate(r#"replaceDocument(id: 1, path: "/age", document: 150) { key }"#)
        .await;
    let set = set_type(&client, "D", &schema()).await;
    assert_eq!(
        (&set["effect"], &set["state"]),
        (&json!("NEEDS_CHECK"), &json!("CHECKING"))
    );
    // A wider type while the check has found nothing continues it.
    let set = set_type(&client, "D", &wider).await;
    assert_eq!(
        (&set["effect"], &set["state"]),
        (&json!("COMPATIBLE"), &json!("CHECKING"))
    );
    client.check_types().await;
    assert_eq!(stored_type(&client).await["state"], "ENFORCED");
}

async fn a_type_on_an_empty_collection_is_enforced_at_once() {
    let client = client().await;
    let set = set_type(&client, "D", &schema()).await;
    assert_eq!(
        (&set["effect"], &set["state"]),
        (&json!("COMPATIBLE"), &json!("ENFORCED"))
    );
    assert_eq!(set["examined"], Value::Null);
    let data = client.data("{ collections { name count } }", NONE).await;
    assert_eq!(data["collections"], json!([{"name": "D", "count": 0}]));
}

async fn collections_by_name_reads_one_type() {
    let client = client().await;
    set_type(&client, "D", &schema()).await;
    set_type(
        &client,
        "other",
        &json!({"type": "object", "title": "Other"}),
    )
    .await;
    let query = r#"query($name: String) {
        named: collections(name: $name) { name type { schema } }
        none: collections(name: "nothing") { name }
        all: collections(name: null) { name }
        unnamed: collections { name }
    }"#;
    let data = client.data(query, json!({"name": "other"})).await;
    assert_eq!(
        data["named"],
        json!([{"name": "other", "type": {"schema": {"type": "object", "title": "Other"}}}])
    );
    assert_eq!(data["none"], json!([]));
    assert_eq!(data["all"], json!([{"name": "D"}, {"name": "other"}]));
    assert_eq!(data["unnamed"], data["all"]);
    let all = client.data(query, NONE).await;
    assert_eq!(all["named"].as_array().map(Vec::len), Some(2));
}

async fn a_simulation_changes_nothing() {
    let client = client().await;
    client.insert("1", ANN).await;
    client.insert("2", r#"{"name":5}"#).await;
    let query = "mutation($s: JSON!) { setCollectionType(collection: \"D\", schema: $s, dryRun: true) \
                 { collection effect state examined complete violations { key place keyword expected value } } }";
    let (data, cost) = client.cost(query, json!({"s": schema()})).await;
    let set = &data["setCollectionType"];
    assert_eq!(
        (&set["collection"], &set["effect"]),
        (&json!("D"), &json!("NEEDS_CHECK"))
    );
    assert_eq!(
        (&set["state"], &set["examined"], &set["complete"]),
        (&json!("FAILED"), &json!(2), &json!(true))
    );
    assert_eq!(set["violations"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        (&set["violations"][0]["key"], &set["violations"][0]["place"]),
        (&json!("2"), &json!("/name"))
    );
    assert_eq!(cost.writes, 0);
    assert_eq!(stored_type(&client).await, Value::Null);
    client.insert("3", "{}").await;
}

async fn a_dropped_type_is_not_validated() {
    let client = typed().await;
    let drop = r#"dropCollectionType(collection: "D")"#;
    violations(&client, "insertDocument(id: 1, document: {}) { key }").await;
    assert_eq!(
        client.mutate(drop).await,
        json!({"dropCollectionType": true})
    );
    client.insert("1", "{}").await;
    assert_eq!(
        client.mutate(drop).await,
        json!({"dropCollectionType": false})
    );
    assert_eq!(stored_type(&client).await, Value::Null);
    // Another type, of documents that do not fit the first.
    let set = set_type(&client, "D", &json!({"type": "object"})).await;
    assert_eq!(set["state"], "CHECKING");
    assert_eq!(
        client.mutate(drop).await,
        json!({"dropCollectionType": true})
    );
    client.check_types().await;
    assert_eq!(client.check().await, []);
}

async fn a_dropped_collection_has_no_type() {
    let client = typed().await;
    client.insert("1", ANN).await;
    client
        .mutate(r#"dropCollection(collection: "D", everything: true) { documents }"#)
        .await;
    assert_eq!(stored_type(&client).await, Value::Null);
    client.insert("1", "{}").await;
    client.check_types().await;
    assert_eq!(
        client.data("{ collections { name } }", NONE).await["collections"],
        json!([{"name": "D"}])
    );
    assert_eq!(client.check().await, []);
}

async fn a_type_that_another_server_changes_is_noticed_by_the_next_write() {
    let client = typed().await;
    client.insert("1", ANN).await;
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(30);
    let store = client.database.store().clone();
    let database = phyllo::database::Database::open(store, deadline)
        .await
        .expect("opened");
    let other = client.of_database(database);
    violations(
        &other,
        r#"replaceDocument(id: 1, path: "/age", document: 150) { key }"#,
    )
    .await;
    let mut wider = schema();
    wider["properties"]["age"]["maximum"] = json!(200);
    set_type(&client, "D", &wider).await;
    other
        .mutate(r#"replaceDocument(id: 1, path: "/age", document: 150) { key }"#)
        .await;
    other.mutate(r#"dropCollectionType(collection: "D")"#).await;
    client
        .mutate(r#"replaceDocument(id: 1, path: "/age", document: "old") { key }"#)
        .await;
    set_type(
        &other,
        "D",
        &json!({"properties": {"age": {"type": "string"}}}),
    )
    .await;
    violations(
        &client,
        r#"replaceDocument(id: 1, path: "/age", document: 5) { key }"#,
    )
    .await;
}

/// Stores a member of a document as another program does.
async fn plant(client: &Client, id: i64, member: &str, text: &str) {
    let place = Place(vec![phyllo::document::path::Segment::Key(
        member.to_owned(),
    )]);
    let key = Family::Document("D", &DocumentId::Integer(id), &place)
        .key()
        .expect("short");
    let transaction = client.database.store().begin().await.expect("begun");
    transaction.set(&key, &pack_leaf(&Leaf::String(text.into())));
    transaction.commit().await.expect("committed");
}

async fn adopt_all(client: &Client) {
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(30);
    let adopted = client.database.transact(deadline, |transaction| {
        Box::pin(async move {
            let adopted = adopt(&*transaction, "D", None).await?;
            Ok(phyllo::store::Decision::Commit(adopted.entered))
        })
    });
    adopted.await.expect("adopted");
}

async fn adopted_documents_are_checked() {
    let client = typed().await;
    client.insert("5", ANN).await;
    plant(&client, 7, "name", "fits").await;
    adopt_all(&client).await;
    assert_eq!(stored_type(&client).await["state"], "CHECKING");
    client.check_types().await;
    assert_eq!(stored_type(&client).await["state"], "ENFORCED");
    plant(&client, 8, "other", "x").await;
    plant(&client, 3, "age", "old").await;
    adopt_all(&client).await;
    client.check_types().await;
    let stored = stored_type(&client).await;
    assert_eq!(stored["state"], "FAILED");
    let found = stored["violations"].as_array().expect("a list");
    let keys: Vec<_> = found
        .iter()
        .map(|it| it["key"].as_str().expect("a key"))
        .collect();
    assert_eq!(keys, ["3", "3", "8", "8"]);
}

async fn a_document_that_another_program_stored_is_validated_as_a_whole_without_its_values() {
    let client = typed().await;
    plant(&client, 7, "age", "secret").await;
    for (path, value, place) in [
        ("/name", "\"a\"", ""),
        // What the client writes is told, and nothing else.
        ("/name", "5", "/name"),
        ("/tags", "[]", "/tags"),
    ] {
        let query = format!(
            "mutation {{ replaceDocument(id: 7, path: {path:?}, document: {value}) {{ key }} }}"
        );
        let response = client.ask(&query, NONE).await;
        let error = &response["errors"][0];
        let violations = error["extensions"]["violations"].as_array();
        let violations = violations.expect("a list");
        assert_eq!(violations.len(), 1, "{response}");
        assert_eq!(violations[0]["place"], place, "{response}");
        for hidden in ["secret", "/age"] {
            assert!(!error.to_string().contains(hidden), "{response}");
        }
    }
    client
        .mutate(r#"replaceDocument(id: 7, document: {name: "a"}) { key }"#)
        .await;
    assert_eq!(client.check().await, []);
}

async fn invalid_schemas_are_rejected() {
    let client = client().await;
    let query =
        "mutation($s: JSON!) { setCollectionType(collection: \"D\", schema: $s) { state } }";
    for schema in [
        json!({"type": "objekt"}),
        json!({"oneOf": []}),
        json!({"properties": {"a": {"$ref": "#/$defs/none"}}}),
        json!(5),
    ] {
        let (code, message) = client.error(query, json!({"s": schema})).await;
        assert_eq!(code, "BAD_USER_INPUT", "{message}");
        assert!(message.contains("schema"), "{message}");
    }
    let large = json!({"description": "x".repeat(1 << 20)});
    let (code, message) = client.error(query, json!({"s": large})).await;
    assert_eq!(code, "TOO_LARGE", "{message}");
    assert_eq!(stored_type(&client).await, Value::Null);
    let (code, _) = client
        .error(
            "mutation { setCollectionType(collection: \"\", schema: {}) { state } }",
            NONE,
        )
        .await;
    assert_eq!(code, "BAD_USER_INPUT");
}

async fn a_large_schema_is_stored_in_pieces() {
    let client = client().await;
    let schema = json!({"type": "object", "description": "ü".repeat(40_000),
        "properties": {"a": {"type": "string"}}});
    set_type(&client, "D", &schema).await;
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(30);
    let store = client.database.store().clone();
    let database = phyllo::database::Database::open(store, deadline)
        .await
        .expect("opened");
    let other = client.of_database(database);
    violations(&other, "insertDocument(id: 1, document: {a: 1}) { key }").await;
    assert_eq!(stored_type(&other).await["schema"], schema);
    assert_eq!(client.check().await, []);
}

async fn the_first_type_raises_the_format() {
    let client = client().await;
    client.insert("1", "{}").await;
    let format = async || {
        let snapshot = client.database.snapshot().await.expect("a snapshot");
        let key = Family::Format.key().expect("short");
        let stored = snapshot.get(&key).await.expect("read");
        let stored: (i64,) = foundationdb_tuple::unpack(&stored.expect("a format")).expect("one");
        stored.0
    };
    assert!(format().await < FORMAT_TYPES);
    let dry_run =
        "mutation { setCollectionType(collection: \"D\", schema: {}, dryRun: true) { state } }";
    client.data(dry_run, NONE).await;
    client
        .mutate(r#"dropCollectionType(collection: "D")"#)
        .await;
    assert!(format().await < FORMAT_TYPES);
    set_type(&client, "D", &json!({})).await;
    assert_eq!(format().await, FORMAT_TYPES);
    client
        .mutate(r#"dropCollectionType(collection: "D")"#)
        .await;
    assert_eq!(format().await, FORMAT_TYPES);
}

async fn what_a_caller_may_not_read_is_not_told() {
    let client = typed().await;
    client.insert("1", ANN).await;
    let allowed = |rules: &[(&str, &str)]| {
        let rules = rules.iter().map(|(actions, more)| {
            format!(
                "[[allow]]\nwho = \"anyone\"\ncollection = \"D\"\nactions = {actions}\n{more}\n"
            )
        });
        let rules = Rules::parse(&rules.collect::<Vec<_>>().concat()).expect("rules");
        client.limited(RulesInForce::fixed(rules), Principal::default())
    };
    // The caller may append, and not read how many elements there are.
    let appends = allowed(&[(r#"["write"]"#, r#"path = "/tags""#)]);
    let query = r#"mutation { patchDocument(id: 1, patch: [{op: "add", path: "/tags/-", value: "c"},
        {op: "add", path: "/tags/-", value: "d"}]) { __typename } }"#;
    let response = appends.ask(query, NONE).await;
    let found = &response["errors"][0]["extensions"]["violations"][0];
    assert_eq!(found["keyword"], "maxItems", "{response}");
    assert_eq!(found.get("value"), None);
    assert!(!response.to_string().contains("4 elements"), "{response}");
    // Neither types nor the places that do not fit are listed to whom the collection is not.
    let data = appends
        .ask("{ collections { type { state } } }", NONE)
        .await;
    assert_eq!(data["data"]["collections"], json!([]), "{data}");
    let of_tags = (r#"["read"]"#, r#"path = "/tags""#);
    for (rules, dry_run, is_allowed) in [
        (&[(r#"["write", "read", "list"]"#, "")][..], false, false),
        (&[(r#"["index"]"#, "")], false, true),
        (&[(r#"["index"]"#, "")], true, false),
        (&[(r#"["index"]"#, ""), of_tags], true, false),
        (&[(r#"["index", "read"]"#, "")], true, true),
    ] {
        let caller = allowed(rules);
        let query = format!(
            "mutation {{ setCollectionType(collection: \"D\", schema: {{}}, dryRun: {dry_run}) {{ state }} }}"
        );
        let response = caller.ask(&query, NONE).await;
        assert_eq!(
            response.get("errors").is_none(),
            is_allowed,
            "{rules:?}: {response}"
        );
        if !is_allowed {
            assert_eq!(
                response["errors"][0]["extensions"]["code"], "FORBIDDEN",
                "{response}"
            );
        }
    }
}
