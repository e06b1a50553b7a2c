//! The schema's text at the top of the repository is the server's.

#[test]
fn schema_graphql_is_the_schema_that_the_server_has() {
    let kept = include_str!("../../schema.graphql");
    assert!(
        kept == phyllo::graphql::schema_text(phyllo::graphql::SchemaScope::Full),
        "schema.graphql is out of date: cargo run -- schema > schema.graphql"
    );
}
