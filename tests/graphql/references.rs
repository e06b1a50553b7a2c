//! Fields that follow references: what they lead to, what they cost, and what they hide.

use phyllo::limits::{Bounds, FOLLOWED_DOCUMENTS_MAX};
use serde_json::{Value, json};

use super::support::{Client, NONE, client, only_error};
use super::typed::{assert_invalid, limited};
use super::types::set_type;

cases!(
    async [
        a_reference_leads_to_the_document_with_its_key,
        lists_of_references_keep_their_order_and_length,
        the_schema_follows_the_type_of_the_other_collection,
        a_page_reads_each_document_once,
        references_of_references_are_one_round_more,
        pages_of_a_thousand_cost_what_their_documents_cost,
        values_that_are_no_keys_are_errors,
        results_of_mutations_follow_references,
        hidden_documents_are_null_as_absent_ones,
        rules_for_keys_are_asked_for_each_document,
        fields_behind_references_are_counted,
        a_chain_leads_to_the_root,
        chains_are_finite,
        chains_of_nested_members_are_refused,
        hidden_documents_end_a_chain,
    ]
);

fn reference(members: &Value) -> Value {
    json!({"type": ["string", "null"], "x-reference": members})
}

fn products() -> Value {
    json!({
        "title": "Product",
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string"},
            "category": reference(&json!({"collection": "categories", "as": "ofCategory"})),
            "maker": {"type": "integer", "x-reference": {"collection": "makers", "as": "madeBy"}},
            "similar": {"type": "array", "items":
                {"type": "string", "x-reference": {"collection": "products", "as": "similarProducts"}}},
            "parts": {"type": "array", "items": {"type": "object", "properties": {
                "of": reference(&json!({"collection": "products", "as": "product"}))}}},
            "roles": {"type": "object", "additionalProperties":
                reference(&json!({"collection": "products", "as": "product"}))}
        }
    })
}

fn categories() -> Value {
    json!({
        "title": "Category",
        "type": "object",
        "required": ["title"],
        "properties": {
            "title": {"type": "string"},
            "public": {"type": "boolean"},
            "parent": reference(&json!({"collection": "categories", "as": "above", "chain": "ancestors"}))
        }
    })
}

async fn store(client: &Client, collection: &str, key: &str, document: &Value) {
    let query = "mutation($c: String, $k: ID, $d: JSON) { insertDocument(collection: $c, id: $k, document: $d) { key } }";
    let variables = json!({"c": collection, "k": key, "d": document});
    client.data(query, variables).await;
}

/// Two products, the categories `a` below `b` below `c`, and a maker without a type.
async fn shop() -> Client {
    let client = client().await;
    set_type(&client, "products", &products()).await;
    set_type(&client, "categories", &categories()).await;
    for (key, category) in [
        ("a", json!({"title": "A", "public": true, "parent": "b"})),
        ("b", json!({"title": "B", "public": false, "parent": "c"})),
        ("c", json!({"title": "C", "public": true})),
    ] {
        store(&client, "categories", key, &category).await;
    }
    store(&client, "makers", "7", &json!({"name": "M"})).await;
    let one = json!({
        "name": "One", "category": "a", "maker": 7, "similar": ["2", "nothing", "1", "2"],
        "parts": [{"of": "2"}, {}, {"of": null}], "roles": {"main": "2", "none": null}
    });
    store(&client, "products", "1", &one).await;
    let two = json!({"name": "Two", "category": "nothing", "maker": 8});
    store(&client, "products", "2", &two).await;
    client
}

/// What a selection of a product returns.
async fn product(client: &Client, key: &str, selection: &str) -> Value {
    let query = format!("{{ product(key: {key:?}) {{ {selection} }} }}");
    client.data(&query, NONE).await["product"].take()
}

async fn a_reference_leads_to_the_document_with_its_key() {
    let client = shop().await;
    let selection = "category ofCategory { __typename id key version title above { key title above { above { key } } } }
        maker madeBy { __typename key value document: subdocument(path: \"/name\") { value } }
        parts { of product { name } } roles { key product { name } }";
    let mut found = product(&client, "1", selection).await;
    let version = found["ofCategory"]["version"].take();
    assert!(version.is_string(), "{version}");
    let expected = json!({
        "category": "a",
        "ofCategory": {"__typename": "Category", "id": "categories/a", "key": "a", "version": null, "title": "A",
            "above": {"key": "b", "title": "B", "above": {"above": null}}},
        "maker": 7,
        "madeBy": {"__typename": "Document", "key": "7", "value": {"name": "M"}, "document": {"value": "M"}},
        "parts": [{"of": "2", "product": {"name": "Two"}}, {"of": null, "product": null}, {"of": null, "product": null}],
        "roles": [{"key": "main", "product": {"name": "Two"}}, {"key": "none", "product": null}]
    });
    assert_eq!(found, expected);
    // No document has these keys.
    let found = product(
        &client,
        "2",
        "category ofCategory { title } madeBy { key } similarProducts { key }",
    )
    .await;
    let expected =
        json!({"category": "nothing", "ofCategory": null, "madeBy": null, "similarProducts": null});
    assert_eq!(found, expected);
    // Aliases of one reference, fragments and variables.
    let query = "query($no: Boolean!) { product(key: 1) { x: ofCategory { title } y: ofCategory { ...F key @include(if: $no) } } }
        fragment F on Category { above { title } }";
    let data = client.data(query, json!({"no": false})).await;
    let expected = json!({"product": {"x": {"title": "A"}, "y": {"above": {"title": "B"}}}});
    assert_eq!(data, expected);
    // A string is the text of a key, as `key` has it.
    store(
        &client,
        "products",
        "3",
        &json!({"name": "Three", "category": "\"a\""}),
    )
    .await;
    assert_eq!(
        product(&client, "3", "ofCategory { key }").await,
        json!({"ofCategory": null})
    );
}

async fn lists_of_references_keep_their_order_and_length() {
    let client = shop().await;
    for (arguments, expected) in [
        (
            "",
            json!([{"name": "Two"}, null, {"name": "One"}, {"name": "Two"}]),
        ),
        ("(first: 2)", json!([{"name": "Two"}, null])),
        ("(last: 1)", json!([{"name": "Two"}])),
        ("(from: 1, to: 3)", json!([null, {"name": "One"}])),
        ("(from: 9)", json!([])),
    ] {
        let found = product(
            &client,
            "1",
            &format!("similarProducts{arguments} {{ name }}"),
        )
        .await;
        assert_eq!(found["similarProducts"], expected, "{arguments}");
    }
}

async fn the_schema_follows_the_type_of_the_other_collection() {
    let client = shop().await;
    let title = "{ product(key: 1) { ofCategory { title } } }";
    let value = "{ product(key: 1) { ofCategory { value(path: \"/title\") } } }";
    assert_invalid(&client, value).await;
    client
        .mutate("dropCollectionType(collection: \"categories\")")
        .await;
    assert_invalid(&client, title).await;
    let data = client.data(value, NONE).await;
    assert_eq!(data["product"]["ofCategory"], json!({"value": "A"}));
    set_type(&client, "categories", &categories()).await;
    let data = client.data(title, NONE).await;
    assert_eq!(data["product"]["ofCategory"], json!({"title": "A"}));
    // Two fields cannot have one name.
    let query =
        "mutation($s: JSON!) { setCollectionType(collection: \"products\", schema: $s) { state } }";
    let mut schema = products();
    schema["properties"]["category"]["x-reference"]["as"] = json!("name");
    let (code, message) = client.error(query, json!({"s": schema})).await;
    assert_eq!(code, "BAD_USER_INPUT");
    assert!(message.contains("\"name\""), "{message}");
    let mut schema = products();
    schema["properties"]["roles"]["additionalProperties"]["x-reference"]["as"] = json!("key");
    let (code, message) = client.error(query, json!({"s": schema})).await;
    assert_eq!(code, "BAD_USER_INPUT");
    assert!(
        message.contains("/properties/roles/additionalProperties"),
        "{message}"
    );
}

/// Each document behind a reference is read once, however many lead to it, and only what is selected of it.
async fn a_page_reads_each_document_once() {
    let client = shop().await;
    for key in 10..30 {
        let category = ["a", "b", "c"][key % 3];
        let document = json!({"name": format!("P{key}"), "category": category});
        store(&client, "products", &key.to_string(), &document).await;
    }
    client.renew_snapshot().await;
    let page = "keys: {gte: 10}, first: 20";
    let query = format!("{{ products({page}) {{ nodes {{ name category }} }} }}");
    let (_, alone) = client.cost(&query, NONE).await;
    client.renew_snapshot().await;
    let by_key = r#"{ a: category(key: "a") { title } b: category(key: "b") { title } c: category(key: "c") { title } }"#;
    let (_, referred) = client.cost(by_key, NONE).await;
    client.renew_snapshot().await;
    let query = format!("{{ products({page}) {{ nodes {{ name ofCategory {{ title }} }} }} }}");
    let (data, both) = client.cost(&query, NONE).await;
    let nodes = data["products"]["nodes"].as_array().expect("a list");
    assert_eq!(nodes.len(), 20);
    for (node, key) in nodes.iter().zip(10..) {
        let title = ["A", "B", "C"][key % 3];
        assert_eq!(
            *node,
            json!({"name": format!("P{key}"), "ofCategory": {"title": title}})
        );
    }
    assert_eq!(both.ranges, alone.ranges + referred.ranges);
    assert_eq!(both.pairs, alone.pairs + referred.pairs);
    assert_eq!(both.gets, alone.gets.max(referred.gets));
    assert_eq!(both.transactions, 1);
}

async fn references_of_references_are_one_round_more() {
    let client = shop().await;
    client.renew_snapshot().await;
    let query = "{ product(key: 1) { ofCategory { above { above { title } } } } }";
    let (data, deep) = client.cost(query, NONE).await;
    let expected = json!({"ofCategory": {"above": {"above": {"title": "C"}}}});
    assert_eq!(data["product"], expected);
    client.renew_snapshot().await;
    let (_, flat) = client
        .cost("{ product(key: 1) { ofCategory { key } } }", NONE)
        .await;
    // Each level reads the beginning of one document and its key to the next one, or the title.
    assert_eq!(deep.ranges - flat.ranges, 5, "{deep:?} {flat:?}");
}

/// The cost grows with the documents, and all of them are read in one request with the default limits.
async fn pages_of_a_thousand_cost_what_their_documents_cost() {
    let client = client().await;
    let mut schema = products();
    schema["properties"]["category"]["x-reference"]["inverse"] = json!("productsIn");
    set_type(&client, "products", &schema).await;
    set_type(&client, "categories", &categories()).await;
    for (collection, document) in [
        ("categories", json!({"title": "T"})),
        ("products", json!({"name": "N"})),
    ] {
        let writes = (0..1_000).map(|at| {
            let key = format!("k{at:03}");
            let mut document = document.clone();
            if collection == "products" {
                document["category"] = json!(key);
            }
            json!({"insert": {"collection": collection, "id": key, "document": document}})
        });
        let writes: Vec<Value> = writes.collect();
        let query =
            "mutation($w: [DocumentWrite!]!) { writeDocuments(operations: $w) { __typename } }";
        client.data(query, json!({"w": writes})).await;
    }
    for (page, below) in [
        ("products", "name ofCategory { title }"),
        (
            "categories",
            "title productsIn { totalCount nodes { name } }",
        ),
    ] {
        let cost = async |first: usize| {
            client.renew_snapshot().await;
            let query = format!("{{ {page}(first: {first}) {{ nodes {{ {below} }} }} }}");
            let (data, cost) = client.cost(&query, NONE).await;
            let nodes = data[page]["nodes"].as_array().expect("a list");
            assert_eq!(nodes.len(), first);
            let last = nodes.last().expect("some");
            let expected = if page == "products" {
                json!({"name": "N", "ofCategory": {"title": "T"}})
            } else {
                json!({"title": "T", "productsIn": {"totalCount": 1, "nodes": [{"name": "N"}]}})
            };
            assert_eq!(*last, expected);
            cost
        };
        let (one, ten, all) = (cost(1).await, cost(10).await, cost(1_000).await);
        let each = (ten.ranges - one.ranges).div_ceil(9);
        assert!(each <= 5, "{page}: {one:?} {ten:?}");
        // Further batches of the page itself are ranges, too.
        assert!(
            all.ranges <= one.ranges + 999 * each + 20,
            "{page}: {one:?} {ten:?} {all:?}"
        );
        assert!(all.pairs <= 10 * 1_000, "{page}: {all:?}");
    }
}

async fn values_that_are_no_keys_are_errors() {
    let client = client().await;
    for (key, category) in [
        ("1", json!({"a": 1})),
        ("2", json!(true)),
        ("3", json!(1.5)),
        ("4", json!("")),
    ] {
        store(
            &client,
            "products",
            key,
            &json!({"name": "N", "category": category}),
        )
        .await;
    }
    set_type(&client, "products", &products()).await;
    let query = "{ products { nodes { key name ofCategory { key } } } }";
    let response = client.ask(query, NONE).await;
    let node = |key: &str| json!({"key": key, "name": "N", "ofCategory": null});
    assert_eq!(
        response["data"]["products"]["nodes"],
        json!([node("1"), node("2"), node("3"), node("4")])
    );
    let errors = response["errors"].as_array().expect("errors");
    assert_eq!(errors.len(), 3, "{response}");
    for (at, error) in errors.iter().enumerate() {
        assert_eq!(error["extensions"]["code"], "TYPE_MISMATCH");
        assert_eq!(error["extensions"]["place"], "/category");
        assert_eq!(
            error["path"],
            json!(["products", "nodes", at, "ofCategory"])
        );
    }
}

async fn results_of_mutations_follow_references() {
    let client = shop().await;
    let data = client
        .mutate(r#"updateProduct(key: 2, patch: {category: "c"}) { name ofCategory { title ancestors { key } } }"#)
        .await;
    let expected = json!({"name": "Two", "ofCategory": {"title": "C", "ancestors": []}});
    assert_eq!(data["updateProduct"], expected);
    // What an operation has written before is seen.
    let data = client
        .mutate(
            r#"createCategory(category: {title: "D", parent: "c"}, key: "d") { key }
            updateProduct(key: 2, patch: {category: "d"}) { ofCategory { title above { title } } }"#,
        )
        .await;
    let expected = json!({"ofCategory": {"title": "D", "above": {"title": "C"}}});
    assert_eq!(data["updateProduct"], expected);
}

const READS_PRODUCTS: &str = r#"
    [[allow]]
    who = "anyone"
    actions = ["read", "list"]
    collection = "products"
    "#;

async fn hidden_documents_are_null_as_absent_ones() {
    let client = shop().await;
    let query = "{ products { nodes { name ofCategory { title above { title } } } } }";
    // No rule covers the other collection.
    let none = limited(&client, READS_PRODUCTS).await;
    let response = none.ask(query, NONE).await;
    assert_eq!(only_error(&response).0, "FORBIDDEN");
    let rules = format!(
        r#"{READS_PRODUCTS}
        [[allow]]
        who = "anyone"
        actions = ["read"]
        collection = "categories"
        where = {{ at = "$.public", eq = true }}
        "#
    );
    let some = limited(&client, &rules).await;
    let data = some.data(query, NONE).await;
    let expected = json!([
        {"name": "One", "ofCategory": {"title": "A", "above": null}},
        {"name": "Two", "ofCategory": null}
    ]);
    assert_eq!(data["products"]["nodes"], expected);
    // A rule for a part does not tell whether the document exists.
    let of_title = format!(
        r#"{READS_PRODUCTS}
        [[allow]]
        who = "anyone"
        actions = ["read"]
        collection = "categories"
        path = "/title"
        "#
    );
    let response = limited(&client, &of_title).await.ask(query, NONE).await;
    assert_eq!(only_error(&response).0, "FORBIDDEN");
    // The member with the key is read, too.
    let of_name = r#"
        [[allow]]
        who = "anyone"
        actions = ["read", "list"]
        collection = "products"
        path = "/name"
        [[allow]]
        who = "anyone"
        actions = ["read"]
        collection = "categories"
        "#;
    let response = limited(&client, of_name).await.ask(query, NONE).await;
    let (code, message) = only_error(&response);
    assert_eq!(code, "FORBIDDEN");
    assert!(message.contains("/category"), "{message}");
}

async fn rules_for_keys_are_asked_for_each_document() {
    let client = shop().await;
    store(
        &client,
        "products",
        "3",
        &json!({"name": "Three", "category": "b"}),
    )
    .await;
    store(
        &client,
        "products",
        "4",
        &json!({"name": "Four", "category": "c"}),
    )
    .await;
    let rules = format!(
        r#"{READS_PRODUCTS}
        [[allow]]
        who = "anyone"
        actions = ["read"]
        collection = "categories"
        id = "b"
        [[allow]]
        who = "anyone"
        actions = ["read"]
        collection = "categories"
        where = {{ at = "$.title", eq = "A" }}
        "#
    );
    let limited = limited(&client, &rules).await;
    let query = "{ products { nodes { ofCategory { title } } } }";
    let data = limited.data(query, NONE).await;
    let expected = json!([
        {"ofCategory": {"title": "A"}}, {"ofCategory": null}, {"ofCategory": {"title": "B"}}, {"ofCategory": null}
    ]);
    assert_eq!(data["products"]["nodes"], expected);
}

async fn fields_behind_references_are_counted() {
    let client = shop().await;
    let similar = vec!["2"; 200];
    store(
        &client,
        "products",
        "9",
        &json!({"name": "Nine", "similar": similar}),
    )
    .await;
    let query = "{ product(key: 9) { similarProducts { name category maker } } }";
    let bounds = Bounds {
        response_fields: 500,
        ..Bounds::DEFAULT
    };
    let small = client.within(bounds);
    small.graphql.refresh_types().await.expect("types");
    let response = small.ask(query, NONE).await;
    assert_eq!(only_error(&response).0, "TOO_COMPLEX", "{response}");
    let data = client.data(query, NONE).await;
    assert_eq!(
        data["product"]["similarProducts"].as_array().map(Vec::len),
        Some(200)
    );
}

async fn a_chain_leads_to_the_root() {
    let client = shop().await;
    let query = r#"{ category(key: "a") { title ancestors { key title } } product(key: 1) { ofCategory { ancestors { title } } } }"#;
    let data = client.data(query, NONE).await;
    let expected = json!({
        "category": {"title": "A", "ancestors": [{"key": "b", "title": "B"}, {"key": "c", "title": "C"}]},
        "product": {"ofCategory": {"ancestors": [{"title": "B"}, {"title": "C"}]}}
    });
    assert_eq!(data, expected);
    let schema = client.graphql.schema_text();
    assert!(schema.contains("ancestors: [Category!]!"), "{schema}");
    // A chain ends where the key is that of no document.
    client
        .mutate(r#"updateCategory(key: "b", patch: {parent: "nothing"}) { key }"#)
        .await;
    let data = client
        .data("{ category(key: \"a\") { ancestors { key } } }", NONE)
        .await;
    assert_eq!(data["category"], json!({"ancestors": [{"key": "b"}]}));
}

async fn chains_are_finite() {
    let client = shop().await;
    // Documents that were stored without the type can form circles, and longer chains.
    client
        .mutate(r#"dropCollectionType(collection: "categories")"#)
        .await;
    let path = "path: \"/parent\"";
    client
        .mutate(&format!(
            r#"replaceDocument(collection: "categories", id: "c", {path}, document: "b") {{ key }}"#
        ))
        .await;
    store(
        &client,
        "categories",
        "self",
        &json!({"title": "S", "parent": "self"}),
    )
    .await;
    for at in 0..FOLLOWED_DOCUMENTS_MAX + 5 {
        let document = json!({"title": "T", "parent": format!("n{}", at + 1)});
        store(&client, "categories", &format!("n{at}"), &document).await;
    }
    set_type(&client, "categories", &categories()).await;
    let ancestors = async |key: &str| {
        let query = format!("{{ category(key: {key:?}) {{ ancestors {{ key }} }} }}");
        client.data(&query, NONE).await["category"]["ancestors"].take()
    };
    assert_eq!(ancestors("a").await, json!([{"key": "b"}, {"key": "c"}]));
    assert_eq!(ancestors("b").await, json!([{"key": "c"}]));
    assert_eq!(ancestors("self").await, json!([]));
    let found = ancestors("n0").await;
    assert_eq!(found.as_array().map(Vec::len), Some(FOLLOWED_DOCUMENTS_MAX));
}

async fn chains_of_nested_members_are_refused() {
    let client = client().await;
    let chain = json!({"collection": "D", "as": "above", "chain": "all"});
    let query =
        "mutation($s: JSON!) { setCollectionType(collection: \"D\", schema: $s) { state } }";
    for (schema, at) in [
        (
            json!({"type": "object", "properties": {"a": {"type": "object", "properties": {"b": reference(&chain)}}}}),
            "/properties/a/properties/b",
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "array", "items": reference(&chain)}}}),
            "/properties/a",
        ),
    ] {
        let (code, message) = client.error(query, json!({"s": schema})).await;
        assert_eq!(code, "BAD_USER_INPUT");
        assert!(
            message.contains(at) && message.contains("chain"),
            "{message}"
        );
    }
}

async fn hidden_documents_end_a_chain() {
    let client = shop().await;
    let rules = r#"
        [[allow]]
        who = "anyone"
        actions = ["read"]
        collection = "categories"
        where = { at = "$.public", eq = true }
        "#;
    let limited = limited(&client, rules).await;
    let query = r#"{ category(key: "a") { title ancestors { key } } }"#;
    let data = limited.data(query, NONE).await;
    assert_eq!(data["category"], json!({"title": "A", "ancestors": []}));
    client
        .mutate(r#"updateCategory(key: "b", patch: {public: true}) { key }"#)
        .await;
    let data = limited.data(query, NONE).await;
    assert_eq!(
        data["category"]["ancestors"],
        json!([{"key": "b"}, {"key": "c"}])
    );
}
