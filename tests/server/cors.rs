//! Requests from pages of other origins.

use serde_json::json;

use crate::support::{JSON, Response, Server, command};

const APP: &str = "https://app.example";
const QUERY: &str = r#"{"query": "{ __typename }"}"#;

fn preflight(server: &Server, origin: &str) -> Response {
    let headers = [
        ("origin", origin),
        ("access-control-request-method", "POST"),
        (
            "access-control-request-headers",
            "content-type,idempotency-key",
        ),
    ];
    server.ask("OPTIONS", "/graphql", &headers, "")
}

/// The CORS headers of a response.
fn allowing(response: &Response) -> Vec<(&str, Option<&str>)> {
    let names = ["origin", "methods", "headers", "credentials"];
    let names = names.map(|name| (name, format!("access-control-allow-{name}")));
    names
        .iter()
        .map(|(short, name)| (*short, response.header(name)))
        .collect()
}

#[test]
fn no_origin_is_allowed_by_default() {
    let server = Server::start();
    for origin in [APP, "null", "http://localhost:3000"] {
        let origin = ("origin", origin);
        for response in [
            preflight(&server, origin.1),
            server.ask("POST", "/graphql", &[JSON, origin], QUERY),
            server.ask("GET", "/graphql?query={__typename}", &[origin], ""),
            server.ask("GET", "/schema.graphql", &[origin], ""),
        ] {
            let none = ["origin", "methods", "headers", "credentials"].map(|name| (name, None));
            assert_eq!(allowing(&response), none, "{response:?}");
        }
    }
}

#[test]
fn only_configured_origins_are_allowed() {
    let server = Server::with(&[
        "--cors-origin",
        APP,
        "--cors-origin",
        "http://localhost:5173",
    ]);
    for origin in [APP, "http://localhost:5173"] {
        let response = preflight(&server, origin);
        assert_eq!((response.status, response.body.as_str()), (200, ""));
        assert_eq!(
            allowing(&response),
            [
                ("origin", Some(origin)),
                ("methods", Some("GET,POST")),
                ("headers", Some("content-type,idempotency-key")),
                ("credentials", None)
            ]
        );
        assert_eq!(response.header("access-control-max-age"), Some("3600"));
        assert!(response.list("vary").contains(&"origin".to_owned()));
        let headers = [JSON, ("origin", origin)];
        let response = server.ask("POST", "/graphql", &headers, QUERY);
        assert_eq!(response.json(), json!({"data": {"__typename": "Query"}}));
        assert_eq!(allowing(&response)[0], ("origin", Some(origin)));
        // Error responses have the headers too, so that the page can read them.
        let response = server.ask("POST", "/graphql", &[("origin", origin)], QUERY);
        assert_eq!(response.status, 415);
        assert_eq!(allowing(&response)[0], ("origin", Some(origin)));
    }
    for origin in [
        "https://app.example.org",
        "https://evil.app.example",
        "http://app.example",
        "https://app.example:8443",
        "null",
        "*",
    ] {
        let response = preflight(&server, origin);
        assert_eq!(allowing(&response)[0], ("origin", None), "{origin}");
        let headers = [JSON, ("origin", origin)];
        let response = server.ask("POST", "/graphql", &headers, QUERY);
        assert_eq!(allowing(&response)[0], ("origin", None), "{origin}");
        // Caches must not serve this response to an allowed origin.
        assert!(response.list("vary").contains(&"origin".to_owned()));
    }
    let response = server.ask("OPTIONS", "/graphql", &[], "");
    assert_eq!(response.list("allow"), ["get", "head", "options", "post"]);
}

#[test]
fn invalid_origins_are_rejected_on_the_command_line() {
    let directory = tempfile::tempdir().expect("a directory");
    for origin in ["*", "app.example", "https://app.example/", "null"] {
        let output = command(&directory, &["--cors-origin", origin]).output();
        let output = output.expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("is not an origin"), "{said}");
    }
}
