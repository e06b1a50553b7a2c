//! Compares schema.graphql with the schema of the server.

#[test]
fn schema_graphql_matches_the_server() {
    let kept = include_str!("../../schema.graphql");
    assert!(
        kept == phyllo::graphql::schema_text(phyllo::graphql::SchemaScope::Full),
        "schema.graphql is out of date: cargo run -- schema > schema.graphql"
    );
}
