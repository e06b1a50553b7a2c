//! Introspection queries.

use serde_json::json;

use crate::support::Server;

#[test]
fn introspection_can_be_disabled() {
    let server = Server::with(&["--no-introspection"]);
    for query in [
        "{ __schema { types { name } } }",
        "{ __type(name: \"Query\") { name } }",
        "{ a: __schema { __typename } }",
        "{ ... { __schema { __typename } } }",
        "{ ...F } fragment F on Query { ... on Query { __schema { __typename } } }",
        "query A { __typename } query B { __schema { __typename } }",
        "mutation { __schema { __typename } }",
    ] {
        let answer = server.query(query);
        let error = &answer["errors"][0];
        assert_eq!(error["extensions"]["code"], "BAD_USER_INPUT", "{query}");
        assert_eq!(answer.get("data"), None, "{query}");
        let message = error["message"].as_str().expect("a message");
        assert!(message.contains("introspection"), "{query}: {message}");
    }
    server.assert_serves();
    let sdl = server.query("{ _service { sdl } }");
    assert!(sdl["data"]["_service"]["sdl"].is_string(), "{sdl}");
    let told = Server::start().query("{ __schema { queryType { name } } }");
    let expected = json!({"data": {"__schema": {"queryType": {"name": "Query"}}}});
    assert_eq!(told, expected);
}
