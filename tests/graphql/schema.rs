//! The schema: its text, and its replacement.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;

use phyllo::graphql::{SchemaScope, SchemaSource};
use serde_json::{Value, json};

use crate::support::{Client, NONE, client};

const REPLACE: &str = "mutation { replaceDocument(id: 1, document: {a: 1}) { key } }";

#[test]
fn schema_graphql_has_the_form_in_which_it_is_printed() {
    let source = include_str!("../../schema.graphql");
    assert!(
        source
            == SchemaSource::of(SchemaScope::Full)
                .text()
                .expect("a schema"),
        "cargo run -- schema prints schema.graphql with other spaces or in another order"
    );
}

/// The text describes the schema in a comment (see `comment` in src/graphql/schema/text.rs).
#[tokio::test]
async fn introspection_describes_the_schema_as_its_text_does() {
    let client = client().await;
    let query = "query($no: Boolean = false) {
        __schema { description }
        again: __schema { ...Schema }
        left: __schema { __typename description @include(if: $no) }
        type: __type(name: \"__Schema\") { description }
    }
    fragment Schema on __Schema { of: description queryType { description } }";
    for scope in [SchemaScope::Full, SchemaScope::ReadOnly] {
        let source = SchemaSource::of(scope);
        client.graphql.replace_schema(&source).expect("a schema");
        let data = client.data(query, NONE).await;
        let description = data["__schema"]["description"].as_str().expect("a text");
        assert!(description.starts_with("Phyllo stores JSON documents"));
        assert!(description.contains("`{ collections { name count } }`"));
        assert!(description.contains("docs/reference.md"));
        assert_eq!(data["again"]["of"], description);
        assert_eq!(data["left"], json!({"__typename": "__Schema"}));
        let others = [&data["again"]["queryType"], &data["type"]];
        assert!(others.iter().all(|it| it["description"] != description));

        let text = client.graphql.schema_text();
        let comment: Vec<&str> = text
            .lines()
            .map_while(|line| line.strip_prefix('#'))
            .collect();
        let words =
            |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
        assert_eq!(words(&comment.join(" ")), words(description));
    }
    let sdl = client.data("{ _service { sdl } }", NONE).await;
    let sdl = sdl["_service"]["sdl"].as_str().expect("a text");
    assert!(
        sdl.contains("\nextend schema @link("),
        "an extension has no description"
    );
    assert!(!sdl.contains("Phyllo stores JSON documents"));
}

#[tokio::test]
async fn queries_are_valid_against_the_current_schema() {
    let client = client().await;
    let executed = json!({"data": {"replaceDocument": {"key": "1"}}});
    for scope in [SchemaScope::Full, SchemaScope::ReadOnly, SchemaScope::Full] {
        let source = SchemaSource::of(scope);
        client.graphql.replace_schema(&source).expect("a schema");
        assert_eq!(
            &*client.graphql.schema_text(),
            source.text().expect("a schema")
        );
        // The second time, the query is in the cache.
        for _ in 0..2 {
            let response = client.ask(REPLACE, NONE).await;
            if scope == SchemaScope::Full {
                assert_eq!(response, executed);
            } else {
                assert_eq!(code(&response), "FORBIDDEN");
            }
        }
    }
}

#[tokio::test]
async fn a_source_that_is_no_schema_replaces_nothing() {
    let client = client().await;
    let before = client.graphql.schema_text();
    let without_queries = SchemaSource::default();
    let of_unknown = SchemaSource::of(SchemaScope::Full)
        .extended("extend type Query { person: Person }")
        .expect("definitions");
    for source in [without_queries, of_unknown] {
        let error = client.graphql.replace_schema(&source).expect_err("none");
        assert_eq!(error.kind().code(), "BAD_USER_INPUT");
        assert_eq!(client.graphql.schema_text(), before);
    }
}

#[tokio::test]
async fn a_field_that_no_plan_reads_is_an_internal_error() {
    let client = client().await;
    let source = SchemaSource::of(SchemaScope::Full)
        .extended("extend type Query { people: Int }")
        .expect("definitions");
    client.graphql.replace_schema(&source).expect("a schema");
    assert_eq!(code(&client.ask("{ people }", NONE).await), "INTERNAL");
    let name = r#"{ __type(name: "Query") { fields { name } } }"#;
    let fields = client.data(name, NONE).await["__type"]["fields"].take();
    let fields = fields.as_array().expect("a list");
    assert_eq!(fields.last(), Some(&json!({"name": "people"})));
    client.assert_serves().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn each_request_uses_one_schema_while_schemas_are_replaced() {
    const REPLACEMENTS: usize = 40;
    let client = client().await;
    client.insert("1", r#"{"a": 1}"#).await;
    let replaced = &AtomicUsize::new(0);
    let answered = &AtomicUsize::new(0);
    let requests = (0..4).map(|_| async {
        let mut seen = [0, 0];
        while replaced.load(SeqCst) < REPLACEMENTS {
            seen[usize::from(request(&client).await)] += 1;
            answered.fetch_add(1, SeqCst);
            tokio::task::yield_now().await;
        }
        seen
    });
    let replacing = async {
        for number in 0..REPLACEMENTS {
            let scope = [SchemaScope::ReadOnly, SchemaScope::Full][number % 2];
            let source = SchemaSource::of(scope);
            client.graphql.replace_schema(&source).expect("a schema");
            let before = answered.load(SeqCst);
            while answered.load(SeqCst) < before + 4 {
                tokio::task::yield_now().await;
            }
            replaced.fetch_add(1, SeqCst);
        }
    };
    let (seen, ()) = futures::join!(futures::future::join_all(requests), replacing);
    let sum = |at: usize| seen.iter().map(|seen| seen[at]).sum::<usize>();
    assert!(sum(0) > 0 && sum(1) > 0, "both schemas answered: {seen:?}");
}

/// Sends a request of each kind. Returns whether the schema had mutations when it was introspected.
async fn request(client: &Client) -> bool {
    let schema = "{ __schema { mutationType { name } types { name } } }";
    let schema = client.data(schema, NONE).await["__schema"].take();
    let types = schema["types"].as_array().expect("a list");
    let has = types.iter().any(|ty| ty["name"] == "Mutation");
    assert_eq!(has, !schema["mutationType"].is_null());

    let sdl = client.data("{ _service { sdl } }", NONE).await;
    let sdl = sdl["_service"]["sdl"].as_str().expect("a text");
    let parts = ["type Mutation {", "input DocumentPlace {"].map(|part| sdl.contains(part));
    assert_eq!(parts[0], parts[1]);

    let read = client.data("{ document(id: 1) { value } }", NONE).await;
    assert_eq!(read, json!({"document": {"value": {"a": 1}}}));

    let written = client.ask(REPLACE, NONE).await;
    let executed = written == json!({"data": {"replaceDocument": {"key": "1"}}});
    assert!(executed || code(&written) == "FORBIDDEN", "{written}");
    has
}

fn code(response: &Value) -> &str {
    let code = response["errors"][0]["extensions"]["code"].as_str();
    code.unwrap_or_default()
}
