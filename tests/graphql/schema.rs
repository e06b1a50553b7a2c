//! Compares schema.graphql with the schema of the server.

#[test]
fn schema_graphql_has_the_form_in_which_it_is_printed() {
    let source = include_str!("../../schema.graphql");
    assert!(
        source == phyllo::graphql::schema_text(phyllo::graphql::SchemaScope::Full),
        "cargo run -- schema prints schema.graphql with other spaces or in another order"
    );
}
