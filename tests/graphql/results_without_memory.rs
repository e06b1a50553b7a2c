//! The memory of all requests is used up while the result of a mutation or a change is selected. The
//! response is valid JSON, and the error is that of the field.

use serde_json::{Value, json};

use super::support::{Client, NONE, client};
use super::types::set_type;

cases!(
    async [
        a_mutation_whose_result_takes_too_much_memory_fails_at_its_field,
        a_change_whose_selection_takes_too_much_memory_fails_at_its_field,
        a_chain_of_long_keys_takes_memory_while_it_is_checked,
    ]
);

/// More fields of one object than a request may have without memory of the pool.
const FIELDS: usize = 300;

/// A field of an object under so many names.
fn aliases(count: usize, field: &str) -> String {
    (0..count).map(|at| format!("a{at}: {field} ")).collect()
}

/// Does something while other requests hold the memory of all.
async fn without_memory<T>(client: &Client, work: impl Future<Output = T>) -> T {
    let pool = client.graphql.pool();
    let others = pool.share();
    others.add(2 * pool.bytes_max());
    work.await
}

/// The code and the path of the only error of a response that has no data.
fn only_error(response: &Value) -> (&str, &Value) {
    assert_eq!(response["data"], Value::Null, "{response}");
    let errors = response["errors"].as_array().expect("errors");
    let [error] = &errors[..] else {
        panic!("one error: {response:.1000}");
    };
    let code = error["extensions"]["code"].as_str();
    (code.expect("a code"), &error["path"])
}

async fn a_mutation_whose_result_takes_too_much_memory_fails_at_its_field() {
    let client = client().await;
    for id in 0..5 {
        client.insert(&id.to_string(), r#"{"n": 1}"#).await;
    }
    let update = "updateDocuments(where: {}, everything: true, set: [{at: \"$.m\", value: 1}])";
    for (mutation, path) in [
        (
            format!("takeDocuments(first: 5) {{ {} }}", aliases(FIELDS, "key")),
            json!(["takeDocuments"]),
        ),
        (
            format!("deleteDocument(id: 1) {{ {} }}", aliases(FIELDS, "deleted")),
            json!(["deleteDocument"]),
        ),
        (
            format!("{update} {{ {} }}", aliases(FIELDS, "matched")),
            json!(["updateDocuments"]),
        ),
    ] {
        let (field, below) = mutation.split_once(" { ").expect("a selection");
        let query = format!("mutation($do: Boolean!) {{ {field} @include(if: $do) {{ {below} }}");
        // The prepared query takes memory too, unless it is in the cache.
        let nothing = client.data(&query, json!({"do": false})).await;
        assert_eq!(nothing, json!({}));
        let mutate = client.ask(&query, json!({"do": true}));
        let response = without_memory(&client, mutate).await;
        let expected = ("UNAVAILABLE", &path);
        assert_eq!(only_error(&response), expected, "{mutation:.100}");
        let count = "{ collections { count } }";
        let data = client.data(count, NONE).await;
        assert_eq!(
            data,
            json!({"collections": [{"count": 5}]}),
            "{mutation:.100}"
        );
        let data = client.data("{ document(id: 1) { value } }", NONE).await;
        assert_eq!(data, json!({"document": {"value": {"n": 1}}}));
    }
    assert_eq!(client.graphql.pool().held(), 0);
}

async fn a_change_whose_selection_takes_too_much_memory_fails_at_its_field() {
    let client = client().await;
    client.log_changes().await;
    let query = format!(
        "subscription {{ changes {{ {} }} }}",
        aliases(FIELDS, "key")
    );
    let mut changes = client.subscribe(&query).await;
    client.insert("1", "{}").await;
    let response = without_memory(&client, changes.next()).await;
    assert_eq!(only_error(&response), ("UNAVAILABLE", &json!(["changes"])));
    client.insert("2", "{}").await;
    let response = changes.next().await;
    assert_eq!(response["data"]["changes"]["a0"], json!("2"));
}

/// Documents of a chain whose keys have 4,000 bytes.
async fn a_chain_of_long_keys_takes_memory_while_it_is_checked() {
    let client = client().await;
    let parent = json!({"type": ["string", "null"], "x-reference": {
        "collection": "categories", "as": "above", "chain": "ancestors"}});
    let schema = json!({"title": "Category", "type": "object", "properties": {"parent": parent}});
    set_type(&client, "categories", &schema).await;
    let key = |at: usize| format!("{at:0>4000}");
    let writes = (0..50).map(|at| {
        let parent = (at > 0).then(|| key(at - 1));
        json!({"insert": {"collection": "categories", "id": key(at), "document": {"parent": parent}}})
    });
    let query = "mutation($w: [DocumentWrite!]!) { writeDocuments(operations: $w) { __typename } }";
    client
        .data(query, json!({"w": writes.collect::<Vec<Value>>()}))
        .await;
    let create =
        "mutation($p: String) { createCategory(key: \"x\", category: {parent: $p}) { key } }";
    let variables = json!({"p": key(49)});
    let response = without_memory(&client, client.ask(create, variables.clone())).await;
    assert_eq!(only_error(&response).0, "UNAVAILABLE");
    assert_eq!(client.graphql.pool().held(), 0);
    let data = client.data(create, variables).await;
    assert_eq!(data, json!({"createCategory": {"key": "x"}}));
}
