//! Types of collections that are large, nested, recursive or changed while they are used.

use std::collections::HashMap;
use std::time::Duration;

use futures::future::join_all;
use phyllo::budget::{Budget, Steps};
use phyllo::limits::{SCHEMA_BUILDS_INTERVAL, SCHEMAS_REPLACED_MAX};
use phyllo::store::Decision;
use phyllo::types::CollectionType;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::support::{Client, NONE, client};
use super::typed::FULL_INTROSPECTION;
use super::types::set_type;

cases!(
    async [
        as_many_types_as_the_limit_allows_can_be_introspected,
        types_with_too_many_fields_are_refused,
        long_descriptions_count_as_fields,
        long_names_are_refused,
        long_chains_of_types_are_served,
        types_that_need_each_other_are_served,
        types_with_many_paths_of_required_objects_are_served,
        deeply_nested_objects_need_short_names,
        requests_that_run_while_types_change_are_answered,
        the_schema_is_not_built_at_each_of_many_changes,
        subscriptions_do_not_keep_replaced_schemas,
        a_typed_filter_has_the_limits_of_an_untyped_one,
    ]
);

const SET: &str =
    "mutation($c: String!, $s: JSON!) { setCollectionType(collection: $c, schema: $s) { state } }";

fn object(properties: impl IntoIterator<Item = (String, Value)>) -> Value {
    let properties: Map<String, Value> = properties.into_iter().collect();
    json!({"type": "object", "properties": properties})
}

async fn refusal(client: &Client, schema: &Value) -> (String, String) {
    let variables = json!({"c": "D", "s": schema});
    client.error(SET, variables).await
}

/// Stores types without the check of the schema, and then follows them.
async fn store_types(client: &Client, types: Vec<(String, Value)>) {
    let deadline = Instant::now() + Duration::from_secs(60);
    let stored = client.database.transact(deadline, move |transaction| {
        let types = types.clone();
        Box::pin(async move {
            let budget = Budget::of_background();
            for (collection, schema) in types {
                let steps = Steps::of(&budget);
                let of = CollectionType::parse(&collection, &schema.to_string(), &steps)?;
                phyllo::database::define_type(&*transaction, &budget, &of).await?;
            }
            Ok(Decision::Commit(()))
        })
    });
    stored.await.expect("stored");
    client.graphql.refresh_types().await.expect("types");
}

async fn as_many_types_as_the_limit_allows_can_be_introspected() {
    let client = client().await;
    // Small types have the most types, and pages, for each field.
    let small = json!({"type": "object", "properties": {"a": {"enum": ["x"]}}});
    let named = (0..200).map(|at| (format!("c{at}"), small.clone()));
    store_types(&client, named.collect()).await;
    let data = client.data(FULL_INTROSPECTION, NONE).await;
    let types = data["__schema"]["types"].as_array().expect("a list");
    let documents = types.iter().filter(|ty| {
        let name = ty["name"].as_str().expect("a name");
        name.strip_suffix("Connection")
            .is_some_and(|name| name.starts_with('C'))
    });
    let served = documents.count();
    assert!((50..200).contains(&served), "{served}");
    // One more is refused when it is set.
    let variables = json!({"c": "more", "s": small});
    let (code, message) = client.error(SET, variables).await;
    assert_eq!(code, "TOO_COMPLEX", "{message}");
}

async fn types_with_too_many_fields_are_refused() {
    let client = client().await;
    let wide = |count: usize| object((0..count).map(|at| (format!("p{at}"), json!(true))));
    for count in [5_000, 10_000, 10_001] {
        let (code, message) = refusal(&client, &wide(count)).await;
        assert_eq!(code, "TOO_COMPLEX", "{count}: {message}");
    }
    let many = object((0..3_000).map(|at| {
        let below = object([("a".to_owned(), json!({"type": "string"}))]);
        (format!("p{at}"), below)
    }));
    let (code, _) = refusal(&client, &many).await;
    assert_eq!(code, "TOO_COMPLEX");
    // As a map, they are data.
    let map = json!({"type": "object", "properties": {
        "all": {"type": "object", "additionalProperties": {"type": "string"}}}});
    set_type(&client, "D", &map).await;
}

async fn long_descriptions_count_as_fields() {
    let client = client().await;
    let described = |bytes: usize| {
        json!({"type": "object", "properties": {
            "a": {"type": "string", "description": "x".repeat(bytes)}}})
    };
    let (code, _) = refusal(&client, &described((1 << 20) - 200)).await;
    assert_eq!(code, "TOO_COMPLEX");
    let (code, _) = refusal(&client, &described(1 << 20)).await;
    assert_eq!(code, "TOO_LARGE");
    set_type(&client, "D", &described(10_000)).await;
}

async fn long_names_are_refused() {
    let client = client().await;
    let long = object([("x".repeat(256), json!(true))]);
    let (code, message) = refusal(&client, &long).await;
    assert_eq!(code, "BAD_USER_INPUT");
    assert!(message.contains("255"), "{message}");
    let renamed = object([(
        "x".repeat(1_001),
        json!({"type": "string", "x-graphql": {"name": "x"}}),
    )]);
    let (code, message) = refusal(&client, &renamed).await;
    assert_eq!(code, "BAD_USER_INPUT");
    assert!(message.contains("1001"), "{message}");
}

/// A chain of types in `$defs`, each with a member of the next one. The first type has them all, the last
/// one first.
async fn long_chains_of_types_are_served() {
    const LENGTH: usize = 300;
    let client = client().await;
    let link = |at: usize| json!({"$ref": format!("#/$defs/d{at}")});
    let definitions = (0..LENGTH).map(|at| {
        let next = if at + 1 < LENGTH {
            link(at + 1)
        } else {
            json!({"type": "integer"})
        };
        (format!("d{at}"), object([("next".to_owned(), next)]))
    });
    let definitions: Map<String, Value> = definitions.collect();
    let mut schema = object((0..LENGTH).rev().map(|at| (format!("p{at:03}"), link(at))));
    schema["$defs"] = definitions.into();
    set_type(&client, "D", &schema).await;
    client
        .insert(
            "1",
            r#"{"p296": {"next": {"next": {"next": {"next": 7}}}}}"#,
        )
        .await;
    let query = "{ d(key: 1) { p296 { next { next { next { next } } } } }
        ds(where: {p296: {next: {next: {next: {next: {eq: 7}}}}}}) { nodes { key } } }";
    let expected = json!({
        "d": {"p296": {"next": {"next": {"next": {"next": 7}}}}},
        "ds": {"nodes": [{"key": "1"}]}
    });
    assert_eq!(client.data(query, NONE).await, expected);
    client.data(FULL_INTROSPECTION, NONE).await;
}

async fn types_that_need_each_other_are_served() {
    let client = client().await;
    let needs = |other: &str| {
        json!({"type": "object", "required": ["other"], "properties": {
            "other": {"$ref": format!("#/$defs/{other}")}, "name": {"type": "string"}}})
    };
    let schema = json!({
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/a"}, "list": {"type": "array", "items": {"$ref": "#/$defs/b"}}},
        "$defs": {"a": needs("b"), "b": needs("a")}
    });
    set_type(&client, "D", &schema).await;
    // No finite document has one, so the inputs do not require it, and the validation rejects it.
    let query = "mutation { createD(key: 1, d: {a: {name: \"x\", other: {name: \"y\"}}}) { key } }";
    let (code, _) = client.error(query, NONE).await;
    assert_eq!(code, "TYPE_MISMATCH");
    client
        .data("mutation { createD(key: 1, d: {list: []}) { key } }", NONE)
        .await;
    client.data(FULL_INTROSPECTION, NONE).await;
}

/// Each type requires two objects of the next one, so that the number of paths doubles with each type.
async fn types_with_many_paths_of_required_objects_are_served() {
    const LENGTH: usize = 40;
    let client = client().await;
    let definitions = (0..=LENGTH).map(|at| {
        let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
        let of = if at < LENGTH {
            json!({"type": "object", "required": ["a", "b"], "properties": {"a": next, "b": next}})
        } else {
            object([("c".to_owned(), json!({"type": "integer"}))])
        };
        (format!("d{at}"), of)
    });
    let definitions: Map<String, Value> = definitions.collect();
    let schema = json!({
        "type": "object", "$defs": definitions, "properties": {
            "top": {"$ref": "#/$defs/d0"}, "middle": {"$ref": "#/$defs/d31"}, "low": {"$ref": "#/$defs/d38"}}
    });
    // A type that an earlier version has stored is served, too.
    store_types(&client, vec![("D".to_owned(), schema.clone())]).await;
    set_type(&client, "D", &schema).await;
    let query = "{ __schema { types { name kind inputFields { name type { kind ofType { name kind } } } } } }";
    let data = client.data(query, NONE).await;
    let types = data["__schema"]["types"].as_array().expect("types");
    let inputs = types.iter().filter(|ty| ty["kind"] == "INPUT_OBJECT");
    let required = inputs.map(|ty| {
        let fields = ty["inputFields"].as_array().expect("fields").iter();
        let required = fields.filter(|field| {
            let ty = &field["type"];
            ty["kind"] == "NON_NULL" && ty["ofType"]["kind"] == "INPUT_OBJECT"
        });
        let required = required.map(|field| field["type"]["ofType"]["name"].as_str());
        let required = required.map(|name| name.expect("a name").to_owned());
        (
            ty["name"].as_str().expect("a name").to_owned(),
            required.collect(),
        )
    });
    let required: HashMap<String, Vec<String>> = required.collect();
    let mut paths = HashMap::new();
    for name in required.keys() {
        assert!(paths_from(name, &required, &mut paths) <= 1_000, "{name}");
    }
    // Members below the limit are required.
    assert!(paths.values().any(|count| *count > 100), "{paths:?}");
    let low = "mutation { createD(key: 1, d: {low: {a: {a: {c: 1}}}}) { key } }";
    assert_eq!(client.error(low, NONE).await.0, "BAD_USER_INPUT");
    // The second member of d31 is over the limit. The type requires it all the same.
    let below = (32..LENGTH).fold(json!({"c": 1}), |below, _| json!({"a": below, "b": below}));
    let create = "mutation($d: DInput!) { createD(key: 1, d: $d) { key } }";
    let one = json!({"d": {"middle": {"a": below}}});
    assert_eq!(client.error(create, one).await.0, "TYPE_MISMATCH");
    let both = json!({"d": {"middle": {"a": below, "b": below}}});
    client.data(create, both).await;
}

fn paths_from(
    name: &str,
    required: &HashMap<String, Vec<String>>,
    known: &mut HashMap<String, u64>,
) -> u64 {
    if let Some(paths) = known.get(name) {
        return *paths;
    }
    let below = required[name].iter();
    let paths = below
        .map(|name| 1 + paths_from(name, required, known))
        .sum();
    known.insert(name.to_owned(), paths);
    paths
}

async fn deeply_nested_objects_need_short_names() {
    let client = client().await;
    let nested = |name: &str, levels: usize| {
        (0..levels).fold(object([("a".to_owned(), json!(true))]), |inner, _| {
            object([(name.to_owned(), inner)])
        })
    };
    set_type(&client, "D", &nested("abc", 50)).await;
    let (code, message) = refusal(&client, &nested("abcdefgh", 50)).await;
    assert!(
        code == "BAD_USER_INPUT" && message.contains("/properties/abc"),
        "{code}: {message}"
    );
}

async fn requests_that_run_while_types_change_are_answered() {
    let client = client().await;
    let schema = |name: &str| {
        json!({"type": "object", "properties": {
            "a": {"type": "integer", "x-graphql": {"name": name}}}})
    };
    set_type(&client, "D", &schema("old")).await;
    client.insert("1", r#"{"a": 7}"#).await;
    let ask = async |field: &'static str| {
        let query = format!("{{ d(key: 1) {{ {field} }} ds {{ nodes {{ {field} }} }} }}");
        let mut answered = 0;
        for _ in 0..100 {
            let response = client.ask(&query, NONE).await;
            if response["errors"].is_null() {
                let data = json!({"d": {field: 7}, "ds": {"nodes": [{field: 7}]}});
                assert_eq!(response["data"], data);
                answered += 1;
            } else {
                // The field is not in the schema of this time.
                let error = &response["errors"][0];
                assert_eq!(error["extensions"]["code"], "BAD_USER_INPUT", "{response}");
                assert!(response["data"].is_null(), "{response}");
            }
            tokio::task::yield_now().await;
        }
        answered
    };
    let change = async {
        for at in 0..20 {
            set_type(&client, "D", &schema(["new", "old"][at % 2])).await;
        }
    };
    let asked = join_all(["old", "new", "old", "new"].map(&ask));
    let (answered, ()) = tokio::join!(asked, change);
    assert!(answered.iter().sum::<usize>() > 0, "{answered:?}");
    // The last type is that of every later request.
    assert_eq!(ask("old").await, 100);
}

async fn the_schema_is_not_built_at_each_of_many_changes() {
    const CHANGES: u32 = 10;
    let client = client().await;
    let begun = Instant::now();
    for at in 0..=CHANGES {
        let name = format!("a{at}");
        let schema = json!({"type": "object", "properties": {
            "a": {"type": "integer", "x-graphql": {"name": name}}}});
        set_type(&client, "D", &schema).await;
        // Each change is in the schema when it is answered.
        client
            .data(&format!("{{ d(key: 1) {{ {name} }} }}"), NONE)
            .await;
    }
    assert!(begun.elapsed() >= CHANGES * SCHEMA_BUILDS_INTERVAL);
    // Changes at one time are in one schema, and all of them are in it.
    let change = async |at: usize| {
        let schema =
            json!({"type": "object", "title": format!("T{at}"), "properties": {"a": true}});
        set_type(&client, &format!("c{at}"), &schema).await;
        let query = format!("{{ __type(name: \"T{at}\") {{ name }} }}");
        let data = client.data(&query, NONE).await;
        assert_eq!(data["__type"]["name"], schema["title"]);
    };
    join_all((0..20).map(change)).await;
}

async fn subscriptions_do_not_keep_replaced_schemas() {
    let client = client().await;
    client.log_changes().await;
    client.insert("1", r#"{"a": 0}"#).await;
    let mut open = Vec::new();
    // With more schemas in use, no other would be served.
    for at in 0..2 * SCHEMAS_REPLACED_MAX {
        let name = format!("a{at}");
        let schema = json!({"type": "object", "properties": {
            "a": {"type": "integer", "x-graphql": {"name": name}}}});
        set_type(&client, "D", &schema).await;
        let query = format!("subscription {{ d(key: 1) {{ {name} }} }}");
        let mut live = client.subscribe(&query).await;
        assert_eq!(live.next().await, json!({"data": {"d": {&name: 0}}}));
        open.push((name, live));
    }
    // Each continues with the names that it was sent with.
    client
        .mutate(r#"replaceDocument(id: 1, path: "/a", document: 5) { key }"#)
        .await;
    for (name, mut live) in open {
        assert_eq!(live.next().await, json!({"data": {"d": {&name: 5}}}));
    }
}

async fn a_typed_filter_has_the_limits_of_an_untyped_one() {
    let client = client().await;
    let schema = object([("a".to_owned(), json!({"type": "string"}))]);
    set_type(&client, "D", &schema).await;
    let test = json!({"a": {"eq": "x"}});
    for (typed, untyped) in [
        (
            json!({"_any": vec![test.clone(); 5_000]}),
            json!({"any": vec![json!({"at": "$.a", "eq": "x"}); 5_000]}),
        ),
        (
            (0..40).fold(test.clone(), |inner, _| json!({"_not": inner})),
            (0..40).fold(
                json!({"at": "$.a", "eq": "x"}),
                |inner, _| json!({"not": inner}),
            ),
        ),
        (
            json!({"a": {"in": vec!["x"; 50_000]}}),
            json!({"at": "$.a", "in": vec!["x"; 50_000]}),
        ),
    ] {
        let query = "query($w: DFilter) { ds(where: $w) { nodes { key } } }";
        let (code, _) = client.error(query, json!({"w": typed})).await;
        let query = "query($w: DocumentFilter) { documents(where: $w) { nodes { key } } }";
        let (of_untyped, _) = client.error(query, json!({"w": untyped})).await;
        assert_eq!(code, of_untyped);
    }
}
