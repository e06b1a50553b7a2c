//! Endpoints, methods, media types and status codes.

use serde_json::json;

use crate::support::{JSON, Server, insertion};

const GRAPHQL: (&str, &str) = ("accept", "application/graphql-response+json");

#[test]
fn every_endpoint_responds() {
    let server = Server::start();
    for (path, status, content_type, body) in [
        ("/healthz", 200, "text/plain; charset=utf-8", Some("ok\n")),
        ("/readyz", 200, "text/plain; charset=utf-8", Some("ready\n")),
        (
            "/schema.graphql",
            200,
            "text/plain; charset=utf-8",
            Some(include_str!("../../schema.graphql")),
        ),
        ("/", 200, "text/html; charset=utf-8", None),
        (
            "/graphql?query={__typename}",
            200,
            "application/json; charset=utf-8",
            Some(r#"{"data":{"__typename":"Query"}}"#),
        ),
    ] {
        let response = server.ask("GET", path, &[], "");
        assert_eq!(response.status, status, "{path}");
        assert_eq!(
            response.header("content-type"),
            Some(content_type),
            "{path}"
        );
        assert!(
            body.is_none_or(|body| body == response.body),
            "{path}: {response:?}"
        );
        let head = server.ask("HEAD", path, &[], "");
        assert_eq!((head.status, head.body.as_str()), (status, ""), "{path}");
        assert_eq!(
            head.header("content-length"),
            response.header("content-length"),
            "{path}"
        );
    }
    for path in [
        "/nothing",
        "/graphql/",
        "/graphq",
        "//graphql",
        "/healthz/x",
        "/.%2e/graphql",
    ] {
        assert_eq!(server.ask("GET", path, &[], "").status, 404, "{path}");
    }
}

#[test]
fn graphql_accepts_only_get_head_post_and_options() {
    let server = Server::start();
    for method in ["PUT", "PATCH", "DELETE", "TRACE", "QUERY"] {
        let response = server.ask(method, "/graphql", &[JSON], "{}");
        assert_eq!(response.status, 405, "{method}");
        let allow = response.header("allow").expect("the methods that are");
        assert!(allow.contains("GET") && allow.contains("POST"), "{allow}");
    }
    let response = server.ask("OPTIONS", "/graphql", &[], "");
    assert_eq!((response.status, response.body.as_str()), (204, ""));
    assert_eq!(response.list("allow"), ["get", "head", "options", "post"]);
    for path in ["/healthz", "/readyz", "/schema.graphql"] {
        assert_eq!(server.ask("POST", path, &[], "").status, 405, "{path}");
    }
    server.assert_serves();
}

#[test]
fn mutations_by_get_are_rejected() {
    let server = Server::start();
    for query in [
        "mutation{insertDocument(id:1,document:1){id}}",
        "query%20A{__typename}mutation%20B{insertDocument(id:1,document:1){id}}&operationName=B",
    ] {
        for headers in [&[][..], &[GRAPHQL], &[JSON]] {
            for method in ["GET", "HEAD"] {
                let response = server.ask(method, &format!("/graphql?query={query}"), headers, "");
                assert_eq!(
                    (response.status, response.header("allow")),
                    (405, Some("POST"))
                );
            }
        }
    }
    let found = server.query("{ document(id: 1) { kind } collections { name } }");
    assert_eq!(
        found,
        json!({"data": {"document": null, "collections": []}})
    );
    let a = server.ask("GET", "/graphql?query=query%20A{__typename}mutation%20B{insertDocument(id:1,document:1){id}}&operationName=A", &[], "");
    assert_eq!(a.json(), json!({"data": {"__typename": "Query"}}));
}

#[test]
fn get_accepts_variables_and_an_operation_name() {
    let server = Server::start();
    server.ask(
        "POST",
        "/graphql",
        &[JSON],
        insertion("a b", r#"{"ä": [1.0]}"#),
    );
    let path = concat!(
        "/graphql?query=query+A(%24id:ID!,%24p:Path){document(id:%24id){value(path:%24p)}}query%20B{__typename}",
        "&variables=%7B%22id%22:%22a%20b%22,%22p%22:%22/%C3%A4/0%22%7D&operationName=A&extensions=%7B%7D&more=1",
    );
    let response = server.ask("GET", path, &[GRAPHQL], "");
    assert_eq!(response.body, r#"{"data":{"document":{"value":1.0}}}"#);
    for (path, status) in [
        ("/graphql", 400),
        ("/graphql?", 400),
        ("/graphql?variables={}", 400),
        ("/graphql?query=", 400),
        ("/graphql?query={", 400),
        ("/graphql?query={__typename}&variables=[]", 400),
        ("/graphql?query={__typename}&variables={", 400),
        ("/graphql?query={__typename}&variables={}x", 400),
        ("/graphql?query={__typename}&extensions=1", 400),
        ("/graphql?query={__typename}&operationName=A", 400),
        ("/graphql?query={__typename}&variables=&operationName=", 200),
        ("/graphql?query=%ff{__typename}", 400),
    ] {
        let response = server.ask("GET", path, &[GRAPHQL], "");
        assert_eq!(response.status, status, "{path}");
    }
    server.assert_serves();
}

#[test]
fn rejected_requests_are_400_for_graphql_responses_and_200_for_json() {
    let server = Server::start();
    for (body, plain) in [
        // The request could not be parsed: 400 for every media type.
        ("", 400),
        ("not JSON", 400),
        ("{\"query\": \"{ __typename }\"", 400),
        ("[]", 400),
        ("[{\"query\": \"{ __typename }\"}]", 400),
        ("1", 400),
        ("null", 400),
        ("{}", 400),
        (r#"{"query": null}"#, 400),
        (r#"{"query": 1}"#, 400),
        (r#"{"query": {}}"#, 400),
        (r#"{"q": "{ __typename }"}"#, 400),
        (r#"{"query": "{ __typename }", "variables": []}"#, 400),
        (r#"{"query": "{ __typename }", "variables": "x"}"#, 400),
        (r#"{"query": "{ __typename }", "operationName": 1}"#, 400),
        (r#"{"query": "{ __typename }", "extensions": 1}"#, 400),
        (r#"{"query": "{ __typename }"} more"#, 400),
        (r#"{"query": "\ud800"}"#, 400),
        // The request was parsed, but rejected before execution.
        (r#"{"query": ""}"#, 200),
        (r#"{"query": "{"}"#, 200),
        (r#"{"query": "{ nothing }"}"#, 200),
        (r#"{"query": "{ __typename }", "operationName": "A"}"#, 200),
        (
            r#"{"query": "query($id: ID!) { document(id: $id) { kind } }"}"#,
            200,
        ),
        (
            r#"{"query": "query($id: ID!) { document(id: $id) { kind } }", "variables": {"id": null}}"#,
            200,
        ),
        (r#"{"query": "subscription { x }"}"#, 200),
    ] {
        for (accept, status, content_type) in [
            (
                "application/graphql-response+json",
                400,
                "application/graphql-response+json; charset=utf-8",
            ),
            ("application/json", plain, "application/json; charset=utf-8"),
            ("*/*", plain, "application/json; charset=utf-8"),
        ] {
            let response = server.ask("POST", "/graphql", &[JSON, ("accept", accept)], body);
            assert_eq!(response.status, status, "{accept}: {body}");
            assert_eq!(response.header("content-type"), Some(content_type));
            assert_eq!(response.code(), "BAD_USER_INPUT", "{body}");
            assert!(response.json().get("data").is_none(), "{body}");
        }
    }
    server.assert_serves();
}

#[test]
fn executed_requests_are_200_even_with_errors() {
    let server = Server::start();
    for body in [
        r#"{"query": "{ __typename }"}"#,
        r#"{"query": "{ __typename }", "variables": null, "operationName": null, "extensions": null}"#,
        r#"{"query": "{ document(id: \"\") { kind } }"}"#,
        r#"{"query": "mutation { insertDocument(id: \"\", document: 1) { key } }"}"#,
        " \n{\t\"query\" : \"{ __typename }\" }\r\n ",
        r#"{"query": "{ nothing }", "query": "{ __typename }", "unknown": [{"a": [1]}]}"#,
    ] {
        for accept in ["application/graphql-response+json", "application/json"] {
            let response = server.ask("POST", "/graphql", &[JSON, ("accept", accept)], body);
            assert_eq!(response.status, 200, "{body}");
            assert!(response.json().get("data").is_some(), "{body}");
        }
    }
}

#[test]
fn response_media_type_is_the_preferred_one() {
    let server = Server::start();
    let (graphql, json) = (
        "application/graphql-response+json; charset=utf-8",
        "application/json; charset=utf-8",
    );
    for (accept, expected) in [
        (
            "application/graphql-response+json, application/json;q=0.9",
            Some(graphql),
        ),
        (
            "application/json;q=0.9, application/graphql-response+json",
            Some(graphql),
        ),
        (
            "application/graphql-response+json;q=0.1, application/json",
            Some(json),
        ),
        (
            "application/graphql-response+json; charset=utf-8, application/json; charset=utf-8",
            Some(graphql),
        ),
        ("APPLICATION/GRAPHQL-RESPONSE+JSON", Some(graphql)),
        ("application/*", Some(json)),
        ("text/html, */*;q=0.1", Some(json)),
        ("text/html", None),
        ("application/json;q=0", None),
        ("", None),
    ] {
        let response = server.ask(
            "POST",
            "/graphql",
            &[JSON, ("accept", accept)],
            r#"{"query": "{ __typename }"}"#,
        );
        assert_eq!(
            response.status,
            if expected.is_some() { 200 } else { 406 },
            "{accept}"
        );
        assert_eq!(
            response.header("content-type"),
            Some(expected.unwrap_or(json)),
            "{accept}"
        );
    }
}

#[test]
fn bodies_without_a_json_content_type_are_rejected() {
    let server = Server::start();
    let body = insertion("1", "1");
    for content_type in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/graphql",
        "application/jsonp",
        "application/json; charset=utf-16",
        "text/json",
        "",
    ] {
        let response = server.ask("POST", "/graphql", &[("content-type", content_type)], &body);
        assert_eq!(response.status, 415, "{content_type}");
    }
    assert_eq!(
        server.ask("POST", "/graphql", &[], &body).status,
        415,
        "no content type"
    );
    assert_eq!(
        server.query("{ document(id: 1) { kind } }"),
        json!({"data": {"document": null}})
    );
    for (at, content_type) in [
        "application/json",
        "Application/JSON",
        "application/json; charset=utf-8",
        "application/json;charset=\"UTF-8\"",
    ]
    .iter()
    .enumerate()
    {
        let response = server.ask(
            "POST",
            "/graphql",
            &[("content-type", content_type)],
            insertion(&at.to_string(), "1"),
        );
        assert_eq!(
            response.json()["data"]["insertDocument"]["key"],
            json!(at.to_string()),
            "{content_type}"
        );
    }
}

#[test]
fn integers_and_markers_are_unchanged_by_http() {
    let server = Server::start();
    let digits = "9".repeat(300);
    for (id, document) in [
        ("digits", format!(r#"{{"n":{digits}}}"#)),
        (
            "marker",
            r#"{"$serde_json::private::RawValue":"x","a":[{"$serde_json::private::Number":"1"}]}"#
                .to_owned(),
        ),
    ] {
        let response = server.ask("POST", "/graphql", &[JSON], insertion(id, &document));
        assert_eq!(
            response.body,
            format!(r#"{{"data":{{"insertDocument":{{"key":"{id}"}}}}}}"#)
        );
        let query =
            json!({"query": format!("{{ document(id: \"{id}\") {{ value }} }}")}).to_string();
        let response = server.ask("POST", "/graphql", &[JSON], &query);
        let expected = if id == "marker" {
            r#"{"$serde_json::private::RawValue":"x","a":[{"$serde_json::private::Number":"1"}]}"#
                .to_owned()
        } else {
            document
        };
        assert_eq!(
            response.body,
            format!(r#"{{"data":{{"document":{{"value":{expected}}}}}}}"#)
        );
    }
}
