//! Documents as entities of a federated graph.

use serde_json::{Value, json};

use super::support::{NONE, client, only_error};

cases!(
    async [
        a_thousand_entities_are_read_in_one_transaction,
        too_many_entities_are_rejected_without_reads,
        unknown_entities_are_null,
        malformed_representations_are_errors_at_their_position,
        entities_are_found_by_either_key_and_by_both,
        representations_in_literals_equal_those_in_variables,
        impossible_entities_are_errors_at_their_position,
    ]
);

const ENTITIES: &str = "query($r: [_Any!]!) { _entities(representations: $r) { __typename ... on Document { key value version } } }";

fn representation(id: &Value) -> Value {
    json!({"__typename": "Document", "collection": "D", "key": id})
}

async fn a_thousand_entities_are_read_in_one_transaction() {
    let client = client().await;
    let documents: String = (0..500)
        .map(|id| format!("d{id}: insertDocument(id: {id}, document: [{id}]) {{ key }} "))
        .collect();
    client
        .data(&format!("mutation {{ {documents} }}"), NONE)
        .await;
    let representations: Vec<Value> = (0..1_000)
        .map(|id| representation(&json!((id % 750).to_string())))
        .collect();
    let query =
        "query($r: [_Any!]!) { _entities(representations: $r) { ... on Document { key value } } }";
    let (data, cost) = client.cost(query, json!({"r": representations})).await;
    assert_eq!((cost.transactions, cost.ranges, cost.gets), (1, 750, 0));
    let entities = data["_entities"].as_array().expect("entities");
    assert_eq!(entities.len(), 1_000);
    for (at, entity) in entities.iter().enumerate() {
        let id = at % 750;
        let expected = if id < 500 {
            json!({"key": id.to_string(), "value": [id]})
        } else {
            Value::Null
        };
        assert_eq!(*entity, expected);
    }
}

async fn too_many_entities_are_rejected_without_reads() {
    let client = client().await;
    let representations: Vec<Value> = (0..1_001)
        .map(|id| representation(&json!(id.to_string())))
        .collect();
    let before = client.counts();
    let response = client.ask(ENTITIES, json!({"r": representations})).await;
    let (code, message) = only_error(&response);
    assert_eq!(code, "TOO_COMPLEX");
    assert!(message.contains("1000"), "{message}");
    assert_eq!(client.counts(), before, "none of them is read");
}

async fn unknown_entities_are_null() {
    let client = client().await;
    client.insert("1", r#"{"a": 1}"#).await;
    client.insert("x", "2").await;
    let known = [
        representation(&json!("1")),
        representation(&json!("nobody")),
        representation(&json!(1)),
        representation(&json!("x")),
    ];
    let data = client.data(ENTITIES, json!({"r": known})).await;
    let entities = &data["_entities"];
    assert_eq!(entities[0]["value"], json!({"a": 1}));
    assert_eq!(entities[0]["__typename"], json!("Document"));
    assert_eq!((&entities[1], &entities[2]), (&Value::Null, &entities[0]));
    assert_eq!(entities[3]["value"], json!(2));
}

async fn malformed_representations_are_errors_at_their_position() {
    let client = client().await;
    client.insert("1", "1").await;
    for stranger in [
        json!({"__typename": "Nope", "id": "D/1"}),
        json!({"__typename": "Subdocument", "id": "D/1#"}),
        json!({"__typename": "Document", "id": "1"}),
        json!({"__typename": "Document", "id": "D/1#"}),
        json!({"__typename": "Document", "id": "D/%31"}),
        json!({"__typename": "Document", "id": "D/1", "collection": "D", "key": "2"}),
        json!({"__typename": "Document", "id": "D/", "collection": "D", "key": "1"}),
        json!({"__typename": "Document", "key": "1"}),
        json!({"__typename": "Document", "collection": "D"}),
        json!({"__typename": "Document"}),
        json!({"__typename": "Document", "collection": "", "key": "1"}),
        json!({"__typename": "Document", "collection": "D", "key": null}),
        json!({"__typename": 1}),
        json!([]),
        json!(1),
    ] {
        let response = client
            .ask(
                ENTITIES,
                json!({"r": [stranger, representation(&json!("1"))]}),
            )
            .await;
        let (code, message) = only_error(&response);
        assert_eq!(code, "BAD_USER_INPUT", "{stranger}: {message}");
        if stranger["__typename"] == "Nope" || stranger["id"] == "D/1#" {
            assert!(
                message.contains("not an entity of this graph"),
                "{stranger}: {message}"
            );
        }
        assert_eq!(response["errors"][0]["path"], json!(["_entities", 0]));
        let entities = &response["data"]["_entities"];
        assert_eq!(entities[0], Value::Null, "{stranger}");
        assert_eq!(entities[1]["value"], json!(1));
    }
}

async fn entities_are_found_by_either_key_and_by_both() {
    let client = client().await;
    client.insert(r#""42""#, "1").await;
    for known in [
        json!({"__typename": "Document", "id": "D/%2242%22"}),
        json!({"__typename": "Document", "collection": "D", "key": "\"42\""}),
        json!({"__typename": "Document", "id": "D/%2242%22", "collection": "D", "key": "\"42\"", "more": [1]}),
        json!({"__typename": "Document", "id": "D/%2242%22", "collection": "D"}),
    ] {
        let data = client.data(ENTITIES, json!({"r": [known]})).await;
        assert_eq!(data["_entities"][0]["value"], json!(1), "{known}");
    }
}

async fn representations_in_literals_equal_those_in_variables() {
    let client = client().await;
    client.insert("1", "1").await;
    let one = r#"{__typename: "Document", collection: "D", key: "1"}"#;
    for stranger in [
        r#"{__typename: "Nope", id: "1"}"#,
        r#"{__typename: "Document", id: "1"}"#,
        r#"{__typename: "Document", collection: "D", key: null}"#,
        r#"{__typename: "Document", collection: "D", key: "nobody"}"#,
        r#"{__typename: "Document", collection: "D", key: $absent}"#,
        r#"{__typename: $nope, collection: "D", key: "1"}"#,
        "{}",
        "[]",
        "1",
        "Document",
    ] {
        let entities = format!(
            "_entities(representations: [{stranger}, {one}]) {{ ... on Document {{ value }} }}"
        );
        for query in [
            format!("{{ {entities} }}"),
            format!("{{ ... on Query {{ {entities} }} }}"),
            format!("{{ ...all }} fragment all on Query {{ {entities} }}"),
        ] {
            let declared = ["$absent: ID", "$nope: String"];
            let declared = declared.iter().filter(|it| query.contains(&it[..5]));
            let declared: Vec<&str> = declared.copied().collect();
            let query = match &declared[..] {
                [] => query,
                declared => format!("query({}) {query}", declared.join(", ")),
            };
            let response = client.ask(&query, json!({"nope": "Nope"})).await;
            let entities = &response["data"]["_entities"];
            assert_eq!(*entities, json!([null, {"value": 1}]), "{query}");
            let nobody = query.contains("nobody");
            assert_eq!(response.get("errors").is_none(), nobody, "{query}");
        }
    }
    let query = format!(
        "query($r: [_Any!]! = [{{__typename: \"Nope\"}}, {one}], $one: _Any! = {one}) {{
            all: _entities(representations: $r) {{ ... on Document {{ value }} }}
            same: _entities(representations: [$one, {{}}, $one]) {{ ... on Document {{ value }} }}
            single: _entities(representations: {one}) {{ ... on Document {{ value }} }}
        }}"
    );
    let expected = json!({
        "all": [null, {"value": 1}],
        "same": [{"value": 1}, null, {"value": 1}],
        "single": [{"value": 1}],
    });
    assert_eq!(client.ask(&query, NONE).await["data"], expected);
}

async fn impossible_entities_are_errors_at_their_position() {
    let client = client().await;
    client.insert("1", "1").await;
    let response = client
        .ask(
            ENTITIES,
            json!({"r": [representation(&json!("")), representation(&json!("1"))]}),
        )
        .await;
    assert_eq!(only_error(&response).0, "BAD_USER_INPUT");
    assert_eq!(response["data"]["_entities"][0], Value::Null);
    assert_eq!(response["data"]["_entities"][1]["value"], json!(1));
}
