//! Queries and rules without a condition.

use std::sync::Arc;

use phyllo::graphql::{GraphQlResponse, Methods, OperationList, RequestStats, Started};
use serde_json::json;

use super::super::replica::Responses;

use super::{Client, NONE, anyone, client, rules, user};

cases!(
    async [
        a_read_needs_a_rule_at_or_above_its_place,
        every_field_of_a_document_uses_its_place,
        places_in_arguments_are_used,
        the_error_is_at_the_field_and_names_the_place,
        nodes_and_entities_need_the_same_rules,
        collections_are_listed_if_all_of_them_may_be_read,
        introspection_and_the_schema_are_open,
        the_operator_is_not_limited,
        responses_have_no_hints,
        claims_name_the_document_and_the_path,
        a_listed_operation_is_allowed_by_its_id_only,
    ]
);

const PROFILES: &str = "actions = [\"read\"]\ncollection = \"users\"\npath = \"/profile\"";

async fn users() -> Client {
    let client = client().await;
    client
        .mutate(
            r#"insertDocument(collection: "users", id: "ann", document: {
                profile: {name: "Ann", tags: ["a", "b"], age: 3}, secret: {pin: 1234}}) { key }
            b: insertDocument(collection: "users", id: "bob", document: {
                profile: {name: "Bob", tags: ["c"], age: 4}, secret: {pin: 5678}}) { key }"#,
        )
        .await;
    client
}

async fn a_read_needs_a_rule_at_or_above_its_place() {
    let limited = users().await.limited(anyone(&[PROFILES]), user(json!({})));
    let data = limited
        .data(
            r#"{ document(collection: "users", id: "ann", path: "/profile") {
                value kind length version path
                tags: value(path: "/tags") pick(paths: ["/name"]) omit(paths: ["/tags"])
                range(from: "/name")
                subdocument(path: "/name") { value }
                select(query: "$.tags[*]") { value }
                children { nodes { path value } }
                document { key collection inner: value(path: "/profile/age") } } }"#,
            NONE,
        )
        .await;
    let found = &data["document"];
    assert_eq!(found["tags"], json!(["a", "b"]));
    assert_eq!(found["document"]["inner"], json!(3));
    assert_eq!(found["length"], json!(3));
    assert!(!data.to_string().contains("1234"), "{data}");
    for (path, field) in [
        ("", "value"),
        ("", "value(path: \"/profile\")"),
        ("/secret", "value"),
        ("/secret/pin", "value"),
        ("/profil", "value"),
        ("/profile", "document { value }"),
        ("/profile", "document { value(path: \"/secret\") }"),
        ("/profile", "document { kind }"),
        ("", "range(from: \"/profile\", to: \"/profile/tags\")"),
        ("", "range(from: \"/secret\")"),
        ("/profile", "document { range(from: \"/profile\") }"),
    ] {
        limited
            .refused(&format!(
                r#"{{ document(collection: "users", id: "ann", path: "{path}") {{ {field} }} }}"#
            ))
            .await;
    }
    // One refused field refuses the request.
    limited
        .refused(
            r#"{ a: document(collection: "users", id: "ann", path: "/profile") { value }
                 b: document(collection: "users", id: "ann", path: "/secret") { value } }"#,
        )
        .await;
    let other = r#"{ document(collection: "other", id: "ann", path: "/profile") { value } }"#;
    limited.refused(other).await;
    // Nothing is allowed without a rule.
    let nobody = limited.limited(rules(""), user(json!({})));
    nobody
        .refused(r#"{ document(collection: "users", id: "ann", path: "/profile") { value } }"#)
        .await;
}

async fn every_field_of_a_document_uses_its_place() {
    let limited = users().await.limited(anyone(&[PROFILES]), user(json!({})));
    for field in [
        "kind",
        "id",
        "path",
        "version",
        "length",
        "value",
        "values(paths: [\"/pin\"])",
        "pick(paths: [\"/pin\"])",
        "omit(paths: [\"/pin\"])",
        "range(from: \"/pin\", to: \"/pin/a\")",
        "subdocument(path: \"/pin\") { value }",
        "select(query: \"$.pin\") { value }",
        "children { edges { cursor } }",
        "document { key }",
        "__typename",
    ] {
        limited
            .refused(&format!(
                r#"{{ document(collection: "users", id: "ann", path: "/secret") {{ {field} }} }}"#
            ))
            .await;
    }
}

async fn places_in_arguments_are_used() {
    let allowed = anyone(&["actions = [\"list\"]\ncollection = \"users\"", PROFILES]);
    let limited = users().await.limited(allowed, user(json!({})));
    let data = limited
        .data(
            r#"{ documents(collection: "users", where: {at: "$.profile.age", gt: 3},
                orderBy: {by: "$.profile.name"}) {
                    totalCount nodes { key version value(path: "/profile/name") } pageInfo { hasNextPage } }
                aggregate(collection: "users", groupBy: ["$.profile.name"]) {
                    groups { key count sum(of: "$.profile.age") } } }"#,
            NONE,
        )
        .await;
    assert_eq!(data["documents"]["nodes"][0]["value"], json!("Bob"));
    assert_eq!(data["documents"]["totalCount"], json!(1));
    for fields in [
        r#"documents(collection: "users", where: {at: "$.secret.pin", gt: 3}) { nodes { key } }"#,
        r#"documents(collection: "users", where: {not: {any: [{at: "$.secret", exists: true}]}}) { nodes { key } }"#,
        r#"documents(collection: "users", where: {eq: 1}) { nodes { key } }"#,
        r#"documents(collection: "users", where: {at: "$.profile[?@ == $.secret.pin]", exists: true}) { nodes { key } }"#,
        r#"documents(collection: "users", where: {at: "$.*.pin", exists: true}) { nodes { key } }"#,
        r#"documents(collection: "users", where: {at: "$..pin", exists: true}) { nodes { key } }"#,
        r#"documents(collection: "users", orderBy: {by: "$.secret.pin"}) { nodes { key } }"#,
        r#"documents(collection: "users") { nodes { kind } }"#,
        r#"documents(collection: "users") { nodes { value(path: "/secret") } }"#,
        r#"documents(collection: "users") { nodes { subdocument(path: "/profile") { document { value } } } }"#,
        r#"documents(collection: "users") { nodes { select(query: "$..pin") { value } } }"#,
        r#"documents(collection: "users") { nodes { select(query: "$.profile[?$.secret]") { value } } }"#,
        r#"documents(collection: "users") { nodes { children { nodes { path } } } }"#,
        r#"documents(collection: "users") { nodes { length } }"#,
        r#"documents(collection: "users") { plan { index } }"#,
        r#"documents(collection: "users") { plan { scanned } }"#,
        r#"documents(collection: "other") { nodes { key } }"#,
        r#"aggregate(collection: "users", groupBy: ["$.secret.pin"]) { groups { key } }"#,
        r#"aggregate(collection: "users") { groups { max(of: "$.secret.pin") } }"#,
        r#"aggregate(collection: "users", where: {at: "$.secret.pin", gt: 3}) { groups { count } }"#,
        r#"aggregate(collection: "users") { plan { examined } }"#,
    ] {
        limited.refused(&format!("{{ {fields} }}")).await;
    }
    // Without the right to list, nothing shows which documents there are.
    let reads_only = limited.limited(anyone(&[PROFILES]), user(json!({})));
    for fields in [
        r#"documents(collection: "users") { nodes { value(path: "/profile") } }"#,
        r#"documents(collection: "users", keys: {in: ["ann"]}) { nodes { key } }"#,
        r#"documents(collection: "users", first: 0) { totalCount }"#,
        r#"aggregate(collection: "users") { groups { count } }"#,
    ] {
        reads_only.refused(&format!("{{ {fields} }}")).await;
    }
}

async fn the_error_is_at_the_field_and_names_the_place() {
    let limited = users().await.limited(anyone(&[PROFILES]), user(json!({})));
    let query = r#"{ a: document(collection: "users", id: "ann", path: "/profile") {
        name: value(path: "/name") document { pin: value(path: "/secret/pin") } } }"#;
    let response = limited.ask(query, NONE).await;
    let error = &response["errors"][0];
    assert_eq!(response["data"], json!(null));
    assert_eq!(error["path"], json!(["a", "document", "pin"]));
    assert_eq!(error["locations"], json!([{"line": 2, "column": 47}]));
    assert_eq!(
        error["message"],
        json!(
            r#"no rule allows this request to read "/secret/pin" of document ann of collection "users""#
        )
    );
    let page = r#"{ b: documents(collection: "users") { nodes { key } } }"#;
    let response = limited.ask(page, NONE).await;
    assert_eq!(response["errors"][0]["path"], json!(["b"]));
}

async fn nodes_and_entities_need_the_same_rules() {
    let limited = users().await.limited(anyone(&[PROFILES]), user(json!({})));
    let node = |id: &str, selection: &str| format!(r#"{{ node(id: "{id}") {{ {selection} }} }}"#);
    let allowed = node(
        "users/ann#/profile",
        "... on Subdocument { value(path: \"/name\") }",
    );
    let data = limited.data(&allowed, NONE).await;
    assert_eq!(data["node"]["value"], json!("Ann"));
    for query in [
        node("users/ann#/secret", "id"),
        node("users/ann", "id"),
        node("users/ann", "... on Document { value(path: \"/profile\") }"),
        r#"{ nodes(ids: ["users/ann#/profile", "users/ann#/secret"]) { id } }"#.to_owned(),
        r#"{ _entities(representations: [{__typename: "Document", id: "users/ann"}]) {
            ... on Document { key } } }"#
            .to_owned(),
    ] {
        limited.refused(&query).await;
    }
    let whole = "actions = [\"read\"]\ncollection = \"users\"\nid = \"ann\"";
    let limited = limited.limited(anyone(&[whole]), user(json!({})));
    let entity = |key: &str| {
        format!(
            r#"{{ _entities(representations: [{{__typename: "Document", id: "users/{key}"}}]) {{
                ... on Document {{ value(path: "/secret/pin") }} }} }}"#
        )
    };
    let data = limited.data(&entity("ann"), NONE).await;
    assert_eq!(data["_entities"][0]["value"], json!(1234));
    limited.refused(&entity("bob")).await;
}

async fn collections_are_listed_if_all_of_them_may_be_read() {
    let all = users().await;
    all.mutate(r#"insertDocument(collection: "other", document: 1) { key }"#)
        .await;
    let query = "{ collections { name count indexes { name } } }";
    for (allowed, expected) in [
        (anyone(&[PROFILES]), json!([])),
        (
            anyone(&[
                "actions = [\"list\", \"read\"]\ncollection = \"users\"\npath = \"/profile\"",
            ]),
            json!([]),
        ),
        (
            anyone(&["actions = [\"list\", \"read\"]\ncollection = \"users\""]),
            json!([{"name": "users", "count": 2, "indexes": []}]),
        ),
        (
            anyone(&[
                "actions = [\"list\", \"read\"]\ncollection = \"users\"\nwhere = { at = \"$.a\", exists = false }",
            ]),
            json!([]),
        ),
    ] {
        let limited = all.limited(allowed, user(json!({})));
        let data = limited.data(query, NONE).await;
        assert_eq!(data["collections"], expected);
    }
}

async fn introspection_and_the_schema_are_open() {
    let limited = users().await.limited(rules(""), user(json!({})));
    let data = limited
        .data(
            "{ __typename __schema { queryType { name } } _service { sdl } changesCursor }",
            NONE,
        )
        .await;
    assert_eq!(data["__schema"]["queryType"]["name"], json!("Query"));
}

async fn the_operator_is_not_limited() {
    let operator = users()
        .await
        .limited(rules(""), phyllo::rights::Principal::Operator);
    let data = operator
        .data(
            r#"{ document(collection: "users", id: "ann") { value(path: "/secret/pin") } }"#,
            NONE,
        )
        .await;
    assert_eq!(data["document"]["value"], json!(1234));
}

async fn responses_have_no_hints() {
    let all = users().await;
    // A global id in place of a key.
    let query = r#"{ document(collection: "users", id: "users/ann", path: "/profile") { value } }"#;
    let response = all.ask(query, NONE).await;
    assert!(response["extensions"]["hints"].is_array(), "{response}");
    let limited = all.limited(anyone(&[PROFILES]), user(json!({})));
    let response = limited.ask(query, NONE).await;
    assert_eq!(response, json!({"data": {"document": null}}));
}

async fn claims_name_the_document_and_the_path() {
    let text =
        "[[allow]]\nwho = \"user\"\nactions = [\"read\"]\ncollection = \"users\"\nid = \"{sub}\"\n";
    let all = users().await;
    let ann = all.limited(rules(text), user(json!({"sub": "ann"})));
    let query = |id: &str| {
        format!(
            r#"{{ document(collection: "users", id: "{id}") {{ value(path: "/secret/pin") }} }}"#
        )
    };
    let data = ann.data(&query("ann"), NONE).await;
    assert_eq!(data["document"]["value"], json!(1234));
    ann.refused(&query("bob")).await;
    let anonymous = all.limited(rules(text), phyllo::rights::Principal::Anonymous);
    anonymous.refused(&query("ann")).await;
}

async fn a_listed_operation_is_allowed_by_its_id_only() {
    let listed = format!("{PROFILES}\noperations = \"listed\"");
    let all = users().await;
    all.log_changes().await;
    let limited = all.limited(anyone(&[&listed]), user(json!({})));
    let query = r#"{ document(collection: "users", id: "ann", path: "/profile/name") { value } }"#;
    let live = format!("subscription {query}");
    let manifest = json!({"own": query, "live": live}).to_string();
    let list = OperationList::read(&[manifest]).expect("a manifest");
    let invalid = limited.graphql.list_operations(Arc::new(list)).await;
    assert!(invalid.is_empty(), "{invalid:?}");
    let request = limited.request(json!({"documentId": "own"}).to_string());
    let answer = limited
        .graphql
        .answer(request.expect("a request"), Methods::All)
        .await;
    let GraphQlResponse::Executed(answer) = answer else {
        panic!("{answer:?}");
    };
    assert_eq!(answer, br#"{"data":{"document":{"value":"Ann"}}}"#);
    limited.refused(query).await;
    // A live query that was sent by its id is not shared with one that was sent as a text.
    let request = limited.request(json!({"documentId": "live"}).to_string());
    let request = request.expect("a request");
    let mut report = RequestStats::default();
    let started = limited
        .graphql
        .start(request, Methods::All, None, &mut report);
    let Started::Responses(responses) = started.await else {
        panic!("it is refused");
    };
    let mut by_id = Responses::of(responses);
    assert_eq!(
        by_id.next().await["data"]["document"]["value"],
        json!("Ann")
    );
    let mut by_text = limited.subscribe(&live).await;
    let refused = by_text.next().await;
    assert_eq!(
        refused["errors"][0]["extensions"]["code"],
        json!("FORBIDDEN")
    );
    by_text.assert_ended().await;
}
