//! Objects by their global ids, however they are reached.

use serde_json::{Value, json};

use super::support::{Client, NONE, client, only_error};

cases!(
    async [
        a_path_has_the_same_id_however_it_is_reached,
        ids_resolve_to_their_path,
        ids_name_a_path_and_not_an_element,
        documents_of_two_collections_never_share_an_id,
        malformed_ids_are_errors_at_their_position,
        nodes_are_read_together_and_limited,
        deletions_return_the_removed_document,
        children_can_be_paged_backwards,
    ]
);

const DOCUMENT: &str = r#"{"name": {"common": "France", "": 1, "a/b~c %#": [true]}, "list": [{"0": "k"}, [2]], "0": {"1": [3]}}"#;

async fn filled() -> Client {
    let client = client().await;
    client.insert("FRA", DOCUMENT).await;
    client
}

async fn a_path_has_the_same_id_however_it_is_reached() {
    let client = filled().await;
    let query = r#"{
        list: document(id: "FRA", path: ["list", 0, "0"]) { ...P }
        pointer: document(id: "FRA", path: "/list/0/0") { ...P }
        below: document(id: "FRA", path: "/list") { subdocument(path: "/0") { subdocument(path: ["0"]) { ...P } } }
        selected: document(id: "FRA") { select(query: "$.list[0]['0']") { ...P } }
        child: document(id: "FRA", path: "/list/0") { children { nodes { ...P } } }
        node(id: "D/FRA#/list/0/0") { ...P }
        documents { nodes { subdocument(path: "/list/0/0") { ...P } } }
    }
    fragment P on Subdocument { id path }"#;
    let data = client.data(query, NONE).await;
    let expected = json!({"id": "D/FRA#/list/0/0", "path": ["list", 0, "0"]});
    for place in [
        &data["list"],
        &data["pointer"],
        &data["below"]["subdocument"]["subdocument"],
        &data["selected"]["select"][0],
        &data["child"]["children"]["nodes"][0],
        &data["node"],
        &data["documents"]["nodes"][0]["subdocument"],
    ] {
        assert_eq!(*place, expected);
    }
}

async fn ids_resolve_to_their_path() {
    let client = filled().await;
    let all = "{ document(id: \"FRA\") { select(query: \"$..*\") { id path value kind } } }";
    let data = client.data(all, NONE).await;
    let places = data["document"]["select"].as_array().expect("places");
    assert_eq!(places.len(), 13);
    let ids: Vec<&Value> = places.iter().map(|place| &place["id"]).collect();
    let query =
        "query($ids: [ID!]!) { nodes(ids: $ids) { ... on Subdocument { id path value kind } } }";
    let found = client.data(query, json!({"ids": ids})).await;
    assert_eq!(found["nodes"], data["document"]["select"]);
    for place in places {
        let query =
            "query($id: ID!) { node(id: $id) { ... on Subdocument { id path value kind } } }";
        let found = client.data(query, json!({"id": place["id"]})).await;
        assert_eq!(found["node"], *place);
    }
    let whole = "{ a: node(id: \"D/FRA\") { __typename id } b: node(id: \"D/FRA#\") { __typename id } c: node(id: \"D/GER\") { id } d: node(id: \"D/FRA#/x\") { id } }";
    let expected = json!({
        "a": {"__typename": "Document", "id": "D/FRA"},
        "b": {"__typename": "Subdocument", "id": "D/FRA#"},
        "c": null,
        "d": null,
    });
    assert_eq!(client.data(whole, NONE).await, expected);
}

async fn ids_name_a_path_and_not_an_element() {
    let client = client().await;
    client.insert("1", r#"["a", "b"]"#).await;
    let second = r#"{ node(id: "D/1#/1") { ... on Subdocument { value } } }"#;
    assert_eq!(client.data(second, NONE).await["node"]["value"], json!("b"));
    let removed = "mutation { deleteDocument(id: 1, path: \"/0\") { deletedId } }";
    let removed = client.data(removed, NONE).await;
    assert_eq!(removed["deleteDocument"]["deletedId"], json!("D/1#/0"));
    let first = r#"{ node(id: "D/1#/0") { ... on Subdocument { value } } gone: node(id: "D/1#/1") { id } }"#;
    let expected = json!({"node": {"value": "b"}, "gone": null});
    assert_eq!(client.data(first, NONE).await, expected);
}

async fn documents_of_two_collections_never_share_an_id() {
    let client = client().await;
    let mutation = r#"mutation {
        a: insertDocument(id: "x/y", collection: "one", document: 1) { id key }
        b: insertDocument(id: "x/y", collection: "two", document: 2) { id key }
        c: insertDocument(id: "y", collection: "one/x", document: 3) { id key }
        d: insertDocument(id: 42, collection: "one", document: 4) { id key }
        e: insertDocument(id: "\"42\"", collection: "one", document: 5) { id key }
    }"#;
    let expected = json!({
        "a": {"id": "one/x%2Fy", "key": "x/y"},
        "b": {"id": "two/x%2Fy", "key": "x/y"},
        "c": {"id": "one%2Fx/y", "key": "y"},
        "d": {"id": "one/42", "key": "42"},
        "e": {"id": "one/%2242%22", "key": "\"42\""},
    });
    assert_eq!(client.data(mutation, NONE).await, expected);
    for (id, value) in [
        ("one/x%2Fy", 1),
        ("two/x%2Fy", 2),
        ("one%2Fx/y", 3),
        ("one/42", 4),
        ("one/%2242%22", 5),
    ] {
        let query = "query($id: ID!) { node(id: $id) { ... on Document { value } } }";
        let data = client.data(query, json!({"id": id})).await;
        assert_eq!(data["node"]["value"], json!(value), "{id}");
    }
}

async fn malformed_ids_are_errors_at_their_position() {
    let client = filled().await;
    for id in [
        "",
        "FRA",
        "D/FRA#name",
        "D/%46RA",
        "D/FRA#/name/~2",
        "D/",
        "/FRA",
    ] {
        let query = "query($ids: [ID!]!) { nodes(ids: $ids) { id } }";
        let response = client.ask(query, json!({"ids": ["D/FRA", id]})).await;
        let (code, message) = only_error(&response);
        assert_eq!(code, "BAD_USER_INPUT", "{id}");
        assert!(
            message.contains("the id of an object") || message.contains("empty"),
            "{message}"
        );
        assert_eq!(response["errors"][0]["path"], json!(["nodes", 1]));
        assert_eq!(response["data"], json!({"nodes": [{"id": "D/FRA"}, null]}));
    }
}

async fn nodes_are_read_together_and_limited() {
    let client = client().await.without_hints();
    for id in ["1", "2", "3"] {
        client.insert(id, "[1, 2]").await;
    }
    let query = "query($ids: [ID!]!) { nodes(ids: $ids) { ... on Document { value } ... on Subdocument { value } } }";
    let ids = ["D/1", "D/2#/0", "D/3", "D/4"];
    let (data, cost) = client.cost(query, json!({"ids": ids})).await;
    assert_eq!(
        data["nodes"],
        json!([{"value": [1, 2]}, {"value": 1}, {"value": [1, 2]}, null])
    );
    assert_eq!(cost.transactions, 1);
    let many = vec!["D/1"; 1_001];
    let response = client.ask(query, json!({"ids": many})).await;
    assert_eq!(only_error(&response).0, "TOO_COMPLEX");
}

async fn deletions_return_the_removed_document() {
    let client = filled().await;
    let delete = |path: &str| {
        format!(
            "mutation {{ deleteDocument(id: \"FRA\", path: {path}) {{ deleted deletedId value document {{ key value }} }} }}"
        )
    };
    let data = client.data(&delete("\"/list/1\""), NONE).await;
    let whole = json!({"name": {"common": "France", "": 1, "a/b~c %#": [true]}, "list": [{"0": "k"}], "0": {"1": [3]}});
    let expected = json!({
        "deleted": true, "deletedId": "D/FRA#/list/1", "value": [2],
        "document": {"key": "FRA", "value": whole},
    });
    assert_eq!(data["deleteDocument"], expected);
    let data = client.data(&delete("\"/nothing\""), NONE).await;
    let expected = json!({
        "deleted": false, "deletedId": null, "value": null,
        "document": {"key": "FRA", "value": whole},
    });
    assert_eq!(data["deleteDocument"], expected);
    let data = client.data(&delete("[]"), NONE).await;
    let expected = json!({"deleted": true, "deletedId": "D/FRA", "value": whole, "document": null});
    assert_eq!(data["deleteDocument"], expected);
    let data = client.data(&delete("[]"), NONE).await;
    let expected = json!({"deleted": false, "deletedId": null, "value": null, "document": null});
    assert_eq!(data["deleteDocument"], expected);
}

/// Pages backwards through the children at `path`, `last` at a time, and compares them with all
/// children.
async fn assert_pages_back(client: &Client, id: &str, path: &str, last: usize) {
    let query = "query($id: ID!, $p: Path, $last: Int, $before: String) {
        document(id: $id, path: $p) {
            value
            all: children(first: 10000) { nodes { path kind value } }
            page: children(last: $last, before: $before) {
                nodes { path kind value }
                pageInfo { hasNextPage hasPreviousPage startCursor }
            }
        }
    }";
    let mut before = Value::Null;
    let mut pages: Vec<Value> = Vec::new();
    loop {
        let variables = json!({"id": id, "p": path, "last": last, "before": before});
        let data = client.data(query, variables).await;
        let page = &data["document"]["page"];
        let nodes = page["nodes"].as_array().expect("nodes");
        assert!(nodes.len() <= last);
        assert_eq!(page["pageInfo"]["hasNextPage"], json!(!before.is_null()));
        pages.splice(0..0, nodes.iter().cloned());
        if page["pageInfo"]["hasPreviousPage"] == json!(false) {
            assert_eq!(
                json!(pages),
                data["document"]["all"]["nodes"],
                "{path} by {last}"
            );
            return;
        }
        assert_eq!(nodes.len(), last);
        before = page["pageInfo"]["startCursor"].clone();
    }
}

async fn children_can_be_paged_backwards() {
    let client = filled().await;
    let large: Vec<Value> = (0..60)
        .map(|at| match at % 7 {
            0 => json!(vec![at; 3 * at]),
            3 => json!("x".repeat(200_000 * usize::from(at == 31))),
            _ => json!(at),
        })
        .collect();
    client
        .insert("1", json!({"large": large, "leaf": 5, "none": []}))
        .await;
    for last in [1, 2, 3, 7, 25, 100] {
        assert_pages_back(&client, "1", "/large", last).await;
        assert_pages_back(&client, "1", "", last).await;
        assert_pages_back(&client, "1", "/leaf", last).await;
        assert_pages_back(&client, "1", "/none", last).await;
        assert_pages_back(&client, "FRA", "", last).await;
        assert_pages_back(&client, "FRA", "/name", last).await;
    }
    let both = "{ document(id: 1) { children(first: 1, last: 1) { nodes { path } } } }";
    let (code, message) = client.error(both, NONE).await;
    assert_eq!(code, "BAD_USER_INPUT");
    assert!(message.contains("one direction"), "{message}");
}
