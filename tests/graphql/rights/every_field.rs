//! Without a rule, every root field is refused before anything is read. A new field fails these tests until it
//! is added here.

use serde_json::{Value, json};

use super::{Client, NONE, client, rules, user};

cases!(
    async [
        every_field_of_queries_is_refused_or_open,
        every_field_of_mutations_is_refused,
        every_field_of_subscriptions_is_refused,
    ]
);

/// Requests of each field of `Query` that uses documents.
const QUERIES: [&str; 9] = [
    r#"document(id: "a") { id }"#,
    r#"document(id: "a") { version }"#,
    r#"node(id: "D/a") { id }"#,
    r#"nodes(ids: ["D/a"]) { id }"#,
    r#"_entities(representations: [{__typename: "Document", id: "D/a"}]) { ... on Document { key } }"#,
    r#"documents { nodes { key } }"#,
    r#"documents(first: 0) { totalCount }"#,
    r#"documents { pageInfo { hasNextPage } }"#,
    r#"aggregate { groups { count } }"#,
];

/// The fields of `Query` that tell nothing of documents, and their result without rules that allow anything.
const OPEN: [(&str, &str); 3] = [
    ("collections", "collections { name }"),
    ("changesCursor", "changesCursor"),
    ("_service", "_service { __typename }"),
];

const MUTATIONS: [&str; 26] = [
    r#"insertDocument(id: "b", document: 1) { key }"#,
    r#"insertDocument(document: 1) { key }"#,
    r#"replaceDocument(id: "a", document: 1) { key }"#,
    r#"copyDocument(id: "b", from: {id: "a"}) { key }"#,
    r#"testDocument(id: "a", matches: {}) { key }"#,
    r#"mergeDocument(id: "a", patch: {}) { key }"#,
    r#"patchDocument(id: "a", patch: []) { key }"#,
    r#"incrementDocument(id: "a", path: "/n") { key }"#,
    r#"deleteDocument(id: "a") { deleted }"#,
    r#"appendDocument(document: 1) { key }"#,
    r#"insertDocument(id: "b", document: 1, ifAbsent: true) { key }"#,
    r#"replaceDocument(id: "a", document: 1, ifAbsent: true) { key }"#,
    r#"replaceDocument(id: "b", path: "/x/y", document: 1, createParents: true) { key }"#,
    r#"replaceDocument(idFrom: {id: "a", path: "/n"}, document: 1) { key }"#,
    r#"updateDocument(id: "a", unset: ["$.n"]) { key }"#,
    r#"updateDocument(idFrom: {id: "a", path: "/n"}, unset: ["$.n"]) { key }"#,
    r#"writeDocuments(operations: [{insert: {document: 1}}]) { key }"#,
    r#"updateDocuments(where: {}, everything: true, unset: ["$.n"]) { matched }"#,
    r#"deleteDocuments(where: {}, everything: true) { matched }"#,
    r#"takeDocuments { key }"#,
    r#"createIndex(name: "n", on: ["$.n"]) { name }"#,
    r#"dropIndex(name: "n")"#,
    r#"setCollectionType(collection: "D", schema: {}) { state }"#,
    r#"setCollectionType(collection: "D", schema: {}, dryRun: true) { state }"#,
    r#"dropCollectionType(collection: "D")"#,
    r#"dropCollection(collection: "D", everything: true) { documents }"#,
];

const SUBSCRIPTIONS: [&str; 4] = [
    r#"document(id: "a") { id }"#,
    r#"documents { nodes { key } }"#,
    r#"changes { key }"#,
    r#"changes(id: "a", path: "/n") { kind }"#,
];

/// A client of a store with a document, whose requests no rule allows.
async fn refused_client() -> Client {
    let all = client().await;
    all.log_changes().await;
    all.mutate(r#"insertDocument(id: "a", document: {n: 1}) { key }"#)
        .await;
    all.limited(rules(""), user(json!({"sub": "a"})))
}

/// The names of the fields of a root type, without those that introspect the schema.
async fn fields_of(client: &Client, root: &str) -> Vec<String> {
    let query = format!("{{ __schema {{ type: {root}Type {{ fields {{ name }} }} }} }}");
    let data = client.data(&query, NONE).await;
    let fields = data["__schema"]["type"]["fields"]
        .as_array()
        .expect("fields");
    let names = fields
        .iter()
        .map(|field| field["name"].as_str().expect("a name"));
    sorted(names)
}

fn sorted<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    let mut names: Vec<String> = names.map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

/// The names of the fields of these requests.
fn names<'r>(requests: &'r [&'r str]) -> impl Iterator<Item = &'r str> {
    let end = |letter: char| !letter.is_alphanumeric() && letter != '_';
    requests
        .iter()
        .map(move |request| request.split(end).next().unwrap_or_default())
}

async fn every_field_of_queries_is_refused_or_open() {
    let client = refused_client().await;
    let open = OPEN.iter().map(|(name, _)| *name);
    assert_eq!(
        fields_of(&client, "query").await,
        sorted(names(&QUERIES).chain(open))
    );
    for field in QUERIES {
        client.refused(&format!("{{ {field} }}")).await;
    }
    for (name, field) in OPEN {
        let data = client.data(&format!("{{ {field} }}"), NONE).await;
        if name == "collections" {
            assert_eq!(data[name], Value::Array(Vec::new()));
        }
    }
}

async fn every_field_of_mutations_is_refused() {
    let client = refused_client().await;
    assert_eq!(
        fields_of(&client, "mutation").await,
        sorted(names(&MUTATIONS))
    );
    for field in MUTATIONS {
        client.refused(&format!("mutation {{ {field} }}")).await;
    }
}

async fn every_field_of_subscriptions_is_refused() {
    let client = refused_client().await;
    assert_eq!(
        fields_of(&client, "subscription").await,
        sorted(names(&SUBSCRIPTIONS))
    );
    for field in SUBSCRIPTIONS {
        let query = format!("subscription {{ {field} }}");
        if field.starts_with("changes") {
            assert_eq!(client.rejected(&query).await, "FORBIDDEN");
            continue;
        }
        let mut refused = client.subscribe(&query).await;
        let told = refused.next().await;
        assert_eq!(told["errors"][0]["extensions"]["code"], json!("FORBIDDEN"));
        assert_eq!(told["data"], Value::Null);
        refused.assert_ended().await;
    }
}
