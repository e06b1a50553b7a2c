//! Fields that lead back, from a document to those that refer to it.

use serde_json::{Value, json};

use super::support::{Client, NONE, client, only_error};
use super::typed::limited;
use super::types::set_type;

cases!(
    async [
        an_inverse_is_a_page_of_the_documents_that_refer,
        setting_the_type_creates_the_index,
        pages_of_pages_read_their_documents_together,
        keys_can_be_integers_and_in_lists,
        the_rules_of_the_other_collection_apply,
        names_that_are_taken_are_refused,
    ]
);

fn products() -> Value {
    json!({
        "title": "Product",
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "price": {"type": "integer"},
            "category": {"type": "string",
                "x-reference": {"collection": "categories", "as": "inCategory", "inverse": "products"}},
            "tags": {"type": "array", "items": {"type": "integer",
                "x-reference": {"collection": "tags", "as": "tagged", "inverse": "products"}}}
        }
    })
}

fn titled(title: &str) -> Value {
    json!({"title": title, "type": "object", "properties": {"title": {"type": "string"}}})
}

async fn store(client: &Client, collection: &str, key: &str, document: &Value) {
    let query = "mutation($c: String, $k: ID, $d: JSON) { insertDocument(collection: $c, id: $k, document: $d) { key } }";
    let variables = json!({"c": collection, "k": key, "d": document});
    client.data(query, variables).await;
}

async fn shop() -> Client {
    let client = client().await;
    set_type(&client, "categories", &titled("Category")).await;
    set_type(&client, "tags", &titled("Tag")).await;
    set_type(&client, "products", &products()).await;
    for key in ["a", "b", "7"] {
        store(&client, "categories", key, &json!({"title": key})).await;
        store(&client, "tags", key, &json!({"title": key})).await;
    }
    for (key, category, price, tags) in [
        ("1", "a", 3, json!([7, 8])),
        ("2", "b", 2, json!([])),
        ("3", "a", 1, json!([7])),
        ("4", "7", 4, json!([8])),
    ] {
        let document =
            json!({"name": format!("P{key}"), "price": price, "category": category, "tags": tags});
        store(&client, "products", key, &document).await;
    }
    client
}

async fn an_inverse_is_a_page_of_the_documents_that_refer() {
    let client = shop().await;
    let query = r#"{ category(key: "a") { title products(first: 1, orderBy: {price: ASC}) {
        nodes { name inCategory { title } } edges { cursor node { key } } pageInfo { hasNextPage } plan { index } } } }"#;
    let data = client.data(query, NONE).await;
    let page = &data["category"]["products"];
    assert_eq!(
        page["nodes"],
        json!([{"name": "P3", "inCategory": {"title": "a"}}])
    );
    assert_eq!(page["pageInfo"], json!({"hasNextPage": true}));
    assert_eq!(page["plan"], json!({"index": "reference_category"}));
    let cursor = &page["edges"][0]["cursor"];
    let query = r#"query($c: String) { category(key: "a") { products(first: 1, after: $c, orderBy: {price: ASC}) { nodes { name } } } }"#;
    let data = client.data(query, json!({"c": cursor})).await;
    assert_eq!(
        data["category"]["products"]["nodes"],
        json!([{"name": "P1"}])
    );
    // A cursor is a position in the order, and not one of other orders.
    let other = query.replace("\"a\"", "\"b\"");
    let data = client.data(&other, json!({"c": cursor})).await;
    assert_eq!(
        data["category"]["products"]["nodes"],
        json!([{"name": "P2"}])
    );
    let other = query.replace("ASC", "DESC");
    let response = client.ask(&other, json!({"c": cursor})).await;
    assert_eq!(only_error(&response).0, "BAD_USER_INPUT");
    let query = r#"{ category(key: "nothing") { products { nodes { name } } }
        a: category(key: "a") { products(where: {price: {gt: 2}}) { nodes { name } } }
        b: category(key: "a") { products(first: 1) { totalCount nodes { name } } } }"#;
    let data = client.data(query, NONE).await;
    let expected = json!({
        "category": null,
        "a": {"products": {"nodes": [{"name": "P1"}]}},
        "b": {"products": {"totalCount": 2, "nodes": [{"name": "P1"}]}}
    });
    assert_eq!(data, expected);
}

async fn setting_the_type_creates_the_index() {
    let client = shop().await;
    let indexes = "{ collections { name indexes { name on } } }";
    let found = async || {
        let data = client.data(indexes, NONE).await;
        let collections = data["collections"].as_array().expect("a list").clone();
        let products = collections.into_iter().find(|it| it["name"] == "products");
        products.expect("it is listed")["indexes"].clone()
    };
    let made = found().await;
    assert_eq!(made.as_array().map(Vec::len), Some(2), "{made}");
    // An index that serves is enough.
    client
        .mutate(
            r#"dropIndex(collection: "products", name: "reference_category")
            createIndex(collection: "products", name: "mine", on: ["$.category", "$.price"]) { name }"#,
        )
        .await;
    set_type(&client, "products", &products()).await;
    let names: Vec<Value> = found()
        .await
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| it["name"].clone())
        .collect();
    assert_eq!(names.len(), 2, "{names:?}");
    assert!(names.contains(&json!("mine")), "{names:?}");
}

async fn pages_of_pages_read_their_documents_together() {
    let client = shop().await;
    let query = "{ categories { nodes { title products { nodes { name } } } } }";
    let data = client.data(query, NONE).await;
    let expected = json!([
        {"title": "a", "products": {"nodes": [{"name": "P1"}, {"name": "P3"}]}},
        {"title": "b", "products": {"nodes": [{"name": "P2"}]}},
        {"title": "7", "products": {"nodes": [{"name": "P4"}]}}
    ]);
    assert_eq!(data["categories"]["nodes"], expected);
}

async fn keys_can_be_integers_and_in_lists() {
    let client = shop().await;
    let query = "{ tags { nodes { title products { nodes { name } } } } }";
    let data = client.data(query, NONE).await;
    let expected = json!([
        {"title": "a", "products": {"nodes": []}},
        {"title": "b", "products": {"nodes": []}},
        {"title": "7", "products": {"nodes": [{"name": "P1"}, {"name": "P3"}]}}
    ]);
    assert_eq!(data["tags"]["nodes"], expected);
}

async fn the_rules_of_the_other_collection_apply() {
    let client = shop().await;
    let categories = r#"
        [[allow]]
        who = "anyone"
        actions = ["read"]
        collection = "categories"
        "#;
    let query = "{ category(key: \"a\") { products { nodes { name } } } }";
    let response = limited(&client, categories).await.ask(query, NONE).await;
    assert_eq!(only_error(&response).0, "FORBIDDEN");
    let some = format!(
        r#"{categories}
        [[allow]]
        who = "anyone"
        actions = ["read", "list"]
        collection = "products"
        where = {{ at = "$.price", eq = 1 }}
        "#
    );
    let data = limited(&client, &some).await.data(query, NONE).await;
    assert_eq!(
        data["category"]["products"]["nodes"],
        json!([{"name": "P3"}])
    );
    // The keys are used, too.
    let of_name = format!(
        r#"{categories}
        [[allow]]
        who = "anyone"
        actions = ["read", "list"]
        collection = "products"
        path = "/name"
        "#
    );
    let response = limited(&client, &of_name).await.ask(query, NONE).await;
    assert_eq!(only_error(&response).0, "FORBIDDEN");
}

async fn names_that_are_taken_are_refused() {
    let client = shop().await;
    let set = "mutation($c: String!, $s: JSON!) { setCollectionType(collection: $c, schema: $s) { state } }";
    let mut schema = products();
    schema["properties"]["category"]["x-reference"]["inverse"] = json!("title");
    let (code, message) = client
        .error(set, json!({"c": "products", "s": schema}))
        .await;
    assert_eq!(code, "BAD_USER_INPUT");
    assert!(message.contains("\"title\""), "{message}");
    let mut schema = titled("Category");
    schema["properties"]["products"] = json!({"type": "string"});
    let (code, message) = client
        .error(set, json!({"c": "categories", "s": schema}))
        .await;
    assert_eq!(code, "BAD_USER_INPUT");
    assert!(message.contains("\"products\""), "{message}");
    let mut schema = products();
    schema["$defs"] = json!({"list": {"type": "array", "items": {"type": "array", "items":
        {"type": "string", "x-reference": {"collection": "tags", "as": "a", "inverse": "b"}}}}});
    schema["properties"]["lists"] = json!({"$ref": "#/$defs/list"});
    let (code, message) = client
        .error(set, json!({"c": "products", "s": schema}))
        .await;
    assert_eq!(code, "BAD_USER_INPUT");
    assert!(message.contains("a list inside a list"), "{message}");
}
