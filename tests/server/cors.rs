//! Requests from pages of other origins.

use serde_json::json;

use crate::support::{JSON, Response, Server, command, head};

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

/// The headers of a handshake that is otherwise valid.
fn handshake(server: &Server, origin: &str) -> u16 {
    let headers = [
        ("connection", "upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("sec-websocket-protocol", "graphql-transport-ws"),
        ("origin", origin),
    ];
    let mut connection = server.connect();
    connection.send(head("GET", "/graphql", &headers, 0));
    connection.response(false).status
}

#[test]
fn a_flag_allows_the_origins_of_this_machine() {
    let server = Server::logged(&["--cors-localhost", "--cors-origin", APP]);
    let line = server.wait_for_log("--cors-localhost");
    assert!(line.contains("WARN"), "{line}");
    for (origin, allowed) in [
        (APP, true),
        ("http://localhost:5173", true),
        ("https://localhost:3000", true),
        ("http://127.0.0.1:1234", true),
        ("http://[::1]:8000", true),
        ("http://localhost", true),
        ("https://attacker.example", false),
        ("http://localhost.attacker.example", false),
        ("http://192.168.0.1:5173", false),
        ("null", false),
    ] {
        let expected = allowed.then_some(origin);
        let response = preflight(&server, origin);
        assert_eq!(allowing(&response)[0], ("origin", expected), "{origin}");
        let headers = [JSON, ("origin", origin)];
        let response = server.ask("POST", "/graphql", &headers, QUERY);
        assert_eq!(allowing(&response)[0], ("origin", expected), "{origin}");
        let status = if allowed { 101 } else { 403 };
        assert_eq!(handshake(&server, origin), status, "{origin}");
    }
    // The host is still checked.
    let mut connection = server.connect();
    connection.send("GET /graphql?query={__typename} HTTP/1.1\r\nhost: attacker.example\r\n\r\n");
    assert_eq!(connection.response(false).status, 421);
}

#[test]
fn local_origins_cannot_be_allowed_on_other_addresses() {
    let directory = tempfile::tempdir().expect("a directory");
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let arguments = ["--cors-localhost", "--insecure", "--listen", listen];
        let output = command(&directory, &arguments).output();
        let output = output.expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{said}");
        for part in ["--cors-localhost", listen, "127.0.0.1", "--cors-origin"] {
            assert!(said.contains(part), "{said}");
        }
    }
}

#[test]
fn refused_origins_are_log_lines_that_name_the_flag() {
    for flags in [&[][..], &["--cors-origin", "https://other.example"]] {
        let server = Server::logged(flags);
        let own = format!("http://{}", server.address);
        let host = ("host", &*server.address);
        // Requests of no page, and of the server's own pages.
        server.ask("POST", "/graphql", &[JSON], QUERY);
        let mut connection = server.connect();
        connection.send(format!(
            "GET /graphql?query={{__typename}} HTTP/1.1\r\nhost: {}\r\norigin: {own}\r\n\r\n",
            host.1
        ));
        assert_eq!(connection.response(true).status, 200);
        let same = [
            JSON,
            ("origin", "https://proxy.example"),
            ("sec-fetch-site", "same-origin"),
        ];
        server.ask("POST", "/graphql", &same, QUERY);
        assert!(!server.log().contains("refused"), "{}", server.log());
        for _ in 0..3 {
            preflight(&server, APP);
            server.ask("POST", "/graphql", &[JSON, ("origin", APP)], QUERY);
            assert_eq!(handshake(&server, APP), 403);
        }
        let remedy = "--cors-origin https://app.example allows it";
        let line = server.wait_for_log("a request from a page of \"https://app.example\"");
        assert!(line.contains("WARN") && line.contains(remedy), "{line}");
        let line =
            server.wait_for_log("a WebSocket handshake from a page of \"https://app.example\"");
        assert!(line.contains("WARN") && line.contains(remedy), "{line}");
        // A flood has few lines.
        for port in 1..100 {
            preflight(&server, &format!("http://localhost:{port}"));
        }
        let log = server.log();
        assert_eq!(log.matches("app.example").count(), 4, "{log}");
        assert_eq!(log.matches("was refused").count(), 10, "{log}");
    }
}
