//! Documents of collections with types as entities of a federated graph, and subscriptions to them.

use phyllo::limits::Bounds;
use serde_json::{Value, json};

use super::support::{Client, NONE, client, only_error};
use super::typed::{assert_invalid, countries, france, limited, store};
use super::types::set_type;

cases!(
    async [
        typed_documents_are_entities,
        entities_of_both_kinds_are_in_one_list,
        invalid_typed_representations_are_errors,
        entities_are_planned_for_the_types_that_a_query_names,
        the_subgraph_has_a_key_for_each_type,
        a_live_typed_document_sends_its_newest_state,
        a_live_typed_page_sends_its_newest_state,
        typed_subscriptions_are_limited_by_the_rules,
        invalid_typed_subscriptions_are_rejected,
    ]
);

async fn typed() -> Client {
    let client = client().await;
    client.log_changes().await;
    set_type(&client, "countries", &countries()).await;
    store(&client, "FRA", &france()).await;
    client
}

const ENTITIES: &str = "query($r: [_Any!]!) { _entities(representations: $r) { __typename
    ... on Country { key rank name { common } } ... on Document { collection value(path: \"/a\") } } }";

async fn typed_documents_are_entities() {
    let client = typed().await;
    let country = |key: &str| json!({"__typename": "Country", "key": key});
    let representations = json!([country("FRA"), country("nobody"), country("FRA")]);
    let data = client.data(ENTITIES, json!({"r": representations})).await;
    let france =
        json!({"__typename": "Country", "key": "FRA", "rank": 22, "name": {"common": "France"}});
    assert_eq!(data["_entities"], json!([france, null, france]));
    let literal = "{ _entities(representations: [{__typename: \"Country\", key: \"FRA\"}]) { ... on Country { rank } } }";
    let data = client.data(literal, NONE).await;
    assert_eq!(data["_entities"], json!([{"rank": 22}]));
}

async fn entities_of_both_kinds_are_in_one_list() {
    let client = typed().await;
    client.insert("1", r#"{"a": 5}"#).await;
    let representations = json!([
        {"__typename": "Document", "collection": "D", "key": "1"},
        {"__typename": "Country", "key": "FRA"},
        {"__typename": "Document", "collection": "countries", "key": "FRA"},
    ]);
    let data = client.data(ENTITIES, json!({"r": representations})).await;
    let expected = json!([
        {"__typename": "Document", "collection": "D", "value": 5},
        {"__typename": "Country", "key": "FRA", "rank": 22, "name": {"common": "France"}},
        {"__typename": "Document", "collection": "countries", "value": null},
    ]);
    assert_eq!(data["_entities"], expected);
}

async fn entities_are_planned_for_the_types_that_a_query_names() {
    let client = client().await;
    let types = (0..60).map(|at| {
        let members = if at < 10 { "{a: true}" } else { "{}" };
        format!(
            "t{at}: setCollectionType(collection: \"c{at}\", \
             schema: {{type: \"object\", title: \"T{at}\", properties: {members}}}) {{ state }} "
        )
    });
    client.mutate(&types.collect::<String>()).await;
    let client = client.within(Bounds {
        response_fields: 10_000_000,
        ..Bounds::DEFAULT
    });
    client.graphql.refresh_types().await.expect("types");
    for at in [3, 7] {
        let insert = "mutation($c: String!) { insertDocument(id: 1, collection: $c, document: {a: 5}) { key } }";
        client.data(insert, json!({"c": format!("c{at}")})).await;
    }
    // With a plan for each type, there would be too many fields.
    let aliases: String = (0..900).map(|at| format!("n{at}: __typename ")).collect();
    let query = format!(
        "query($r: [_Any!]!) {{ _entities(representations: $r) {{ __typename ...All ... on _Entity {{ {aliases} }} }} }}
         fragment All on _Entity {{ ... on T3 {{ a key }} }}"
    );
    let entity = |ty: &str| json!({"__typename": ty, "key": "1"});
    let representations = json!([entity("T3"), entity("T7"), entity("T9")]);
    let data = client.data(&query, json!({"r": representations})).await;
    for (at, ty, a) in [(0, "T3", json!(5)), (1, "T7", Value::Null)] {
        let found = &data["_entities"][at];
        assert_eq!(found["__typename"], ty);
        assert_eq!(found["n899"], ty);
        assert_eq!(found["a"], a);
    }
    assert_eq!(data["_entities"][2], Value::Null);
}

async fn invalid_typed_representations_are_errors() {
    let client = typed().await;
    for representation in [
        json!({"__typename": "Country"}),
        json!({"__typename": "Country", "key": ""}),
        json!({"__typename": "Country", "key": {"a": 1}}),
        json!({"__typename": "CountryName", "key": "FRA"}),
        json!({"__typename": "Nothing", "key": "FRA"}),
    ] {
        let response = client.ask(ENTITIES, json!({"r": [representation]})).await;
        assert_eq!(response["data"], json!({"_entities": [null]}), "{response}");
        assert_eq!(
            only_error(&response).0,
            "BAD_USER_INPUT",
            "{representation}"
        );
        assert_eq!(response["errors"][0]["path"], json!(["_entities", 0]));
    }
}

async fn the_subgraph_has_a_key_for_each_type() {
    let client = typed().await;
    let sdl = client.data("{ _service { sdl } }", NONE).await;
    let sdl = sdl["_service"]["sdl"].as_str().expect("a text").to_owned();
    assert!(
        sdl.contains("type Country @key(fields: \"key\") {"),
        "{sdl}"
    );
    assert!(sdl.contains("type CountryName {"), "{sdl}");
    let text = client.graphql.schema_text();
    assert!(
        text.contains("union _Entity = Document | Country"),
        "{text}"
    );
    assert!(!text.contains("@key"), "{text}");
}

async fn a_live_typed_document_sends_its_newest_state() {
    let client = typed().await;
    let mut live = client
        .subscribe("subscription { country(key: \"JPN\") { rank name { common } } }")
        .await;
    assert_eq!(live.next().await, json!({"data": {"country": null}}));
    client
        .mutate(r#"createCountry(key: "JPN", country: {name: {common: "Japan"}, region: Asia, rank: 5}) { key }"#)
        .await;
    let japan =
        |rank: u64| json!({"data": {"country": {"rank": rank, "name": {"common": "Japan"}}}});
    assert_eq!(live.next().await, japan(5));
    client
        .mutate(r#"updateCountry(key: "FRA", patch: {rank: 6}) { key }"#)
        .await;
    live.assert_silent().await;
    client
        .mutate(r#"updateCountry(key: "JPN", patch: {rank: 7}) { key }"#)
        .await;
    assert_eq!(live.next().await, japan(7));
    client
        .mutate(r#"deleteCountry(key: "JPN") { deleted }"#)
        .await;
    assert_eq!(live.next().await, json!({"data": {"country": null}}));
}

async fn a_live_typed_page_sends_its_newest_state() {
    let client = typed().await;
    let query = "subscription { countries(where: {rank: {gt: 20}}, orderBy: {rank: DESC}) { nodes { key rank } } }";
    let mut live = client.subscribe(query).await;
    let page =
        |rank: u64| json!({"data": {"countries": {"nodes": [{"key": "FRA", "rank": rank}]}}});
    assert_eq!(live.next().await, page(22));
    client
        .mutate(r#"updateCountry(key: "FRA", patch: {rank: 30}) { key }"#)
        .await;
    assert_eq!(live.next().await, page(30));
    client
        .mutate(r#"updateCountry(key: "FRA", patch: {rank: 3}) { key }"#)
        .await;
    assert_eq!(
        live.next().await,
        json!({"data": {"countries": {"nodes": []}}})
    );
}

async fn typed_subscriptions_are_limited_by_the_rules() {
    let client = typed().await;
    store(&client, "DEU", &france()).await;
    let rules = r#"
        [[allow]]
        who = "anyone"
        actions = ["read"]
        collection = "countries"
        id = "FRA"
    "#;
    let limited = limited(&client, rules).await;
    let mut live = limited
        .subscribe("subscription { country(key: \"FRA\") { rank } }")
        .await;
    assert_eq!(
        live.next().await,
        json!({"data": {"country": {"rank": 22}}})
    );
    let mut refused = limited
        .subscribe("subscription { country(key: \"DEU\") { rank } }")
        .await;
    let response = refused.next().await;
    assert_eq!(only_error(&response).0, "FORBIDDEN", "{response}");
    assert_eq!(response["data"]["country"], Value::Null);
}

async fn invalid_typed_subscriptions_are_rejected() {
    let client = typed().await;
    for query in [
        "subscription { country { rank } }",
        "subscription { countries(where: {rang: {eq: 1}}) { nodes { key } } }",
        "subscription { country(key: 1) { rank } other: country(key: 2) { rank } }",
    ] {
        let response = client.ask(query, NONE).await;
        assert!(response["errors"][0]["message"].is_string(), "{response}");
    }
    assert_invalid(&client, "subscription { country { rank } }").await;
}
