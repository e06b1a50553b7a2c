//! Rust's `graphql_client`, whose derive macro validates queries with schema.graphql at compile
//! time.

use graphql_client::{GraphQLQuery, QueryBody, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Server;
use super::notes::import;

type DocumentVersion = String;
#[expect(clippy::upper_case_acronyms, reason = "the scalar has this name")]
type JSON = Value;
type Path = Value;

#[derive(GraphQLQuery)]
#[graphql(
    schema_path = "schema.graphql",
    query_path = "tests/clients/rust.graphql",
    response_derives = "Debug, PartialEq"
)]
struct Parts;

#[derive(GraphQLQuery)]
#[graphql(
    schema_path = "schema.graphql",
    query_path = "tests/clients/rust.graphql",
    response_derives = "Debug, PartialEq"
)]
struct Nodes;

#[derive(GraphQLQuery)]
#[graphql(
    schema_path = "schema.graphql",
    query_path = "tests/clients/rust.graphql",
    response_derives = "Debug, PartialEq"
)]
struct Patch;

#[derive(GraphQLQuery)]
#[graphql(
    schema_path = "schema.graphql",
    query_path = "tests/clients/rust.graphql",
    response_derives = "Debug, PartialEq"
)]
struct Delete;

async fn send<D: DeserializeOwned>(
    server: &Server,
    body: &QueryBody<impl Serialize>,
) -> Response<D> {
    let request = reqwest::Client::new().post(format!("{}/graphql", server.url()));
    let response = request.json(body).send().await.expect("an answer");
    response.json().await.expect("of the type of the query")
}

async fn ask<D: DeserializeOwned>(server: &Server, body: &QueryBody<impl Serialize>) -> D {
    let response = send(server, body).await;
    assert_eq!(response.errors, None);
    response.data.expect("data")
}

#[tokio::test]
async fn rust_graphql_client_compiles_and_runs_queries_of_the_schema_file() {
    let store = tempfile::tempdir().expect("a directory");
    import("tests/clients/notes.ndjson".as_ref(), store.path());
    let server = Server::start(store.path());

    let variables = parts::Variables {
        key: "apples".to_owned(),
        path: Some(json!(["tags", 0])),
    };
    let read: parts::ResponseData = ask(&server, &Parts::build_query(variables)).await;
    let document = read.document.expect("it is stored");
    assert_eq!(document.id, "notes/apples#/tags/0");
    assert_eq!(document.path, json!(["tags", 0]));
    assert_eq!(document.kind, parts::JSONKind::STRING);
    assert_eq!(document.value, Some(json!("crisp")));
    assert!(document.version.is_some());
    assert_eq!(document.document.key, "apples");
    // A stored null and a missing value are both null.
    let titles = read.documents.nodes.into_iter().map(|node| node.title);
    let expected = [None, Some(json!("On apples")), Some(json!("On quinces"))];
    assert_eq!(titles.collect::<Vec<_>>(), expected);

    let ids = ["notes/42", "notes/apples#/count", "notes/nobody"];
    let variables = nodes::Variables {
        ids: ids.map(str::to_owned).to_vec(),
    };
    let read: nodes::ResponseData = ask(&server, &Nodes::build_query(variables)).await;
    let [Some(whole), Some(part), None] = &read.nodes[..] else {
        panic!("{read:?}");
    };
    assert_eq!(whole.id, "notes/42");
    let nodes::NodesNodesOn::Subdocument(count) = &part.on else {
        panic!("{part:?}");
    };
    // Integers are exact.
    let count = count.value.as_ref().expect("a number").to_string();
    assert_eq!(count, "12345678901234567890123");

    let patch = |shown: &str| {
        Patch::build_query(patch::Variables {
            key: "42".to_owned(),
            patch: Some(json!([
                {"op": "test", "path": "/title", "value": shown},
                {"op": "replace", "path": "/title", "value": "Von Quitten"},
            ])),
        })
    };
    let changed: patch::ResponseData = ask(&server, &patch("On quinces")).await;
    let title = changed.patch_document.subdocument.expect("it has a title");
    assert_eq!(title.value, Some(json!("Von Quitten")));
    let refused: Response<patch::ResponseData> = send(&server, &patch("On quinces")).await;
    let errors = refused.errors.expect("an error");
    let extensions = errors[0].extensions.as_ref().expect("with a code");
    assert_eq!(extensions["code"], json!("TEST_FAILED"));

    let variables = delete::Variables {
        key: "42".to_owned(),
    };
    let deleted: delete::ResponseData = ask(&server, &Delete::build_query(variables)).await;
    assert_eq!(
        deleted.delete_document.deleted_id.as_deref(),
        Some("notes/42")
    );
}
