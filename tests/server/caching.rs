//! Caching and revalidation of responses to GET.

use serde_json::json;

use crate::access::{READER, bearer, token_file};
use crate::support::{JSON, Response, Server, insertion};

const PATH: &str = "/graphql?query={document(id:1){value}}";
const KEPT: Option<&str> = Some("private, no-cache");
const NOT_STORED: Option<&str> = Some("no-store");
const GZIP: (&str, &str) = ("accept-encoding", "gzip");

/// A server with a document that is large enough for compression.
fn with_document() -> Server {
    let server = Server::start();
    store(&server, 1);
    server
}

fn store(server: &Server, n: usize) {
    let replaced = format!(
        "mutation {{ replaceDocument(id: 1, document: {{n: {n}, s: \"{}\"}}) {{ key }} }}",
        "x".repeat(2_000)
    );
    let response = server.query(&replaced);
    assert_eq!(response, json!({"data": {"replaceDocument": {"key": "1"}}}));
}

fn tag(response: &Response) -> String {
    response.header("etag").expect("an entity tag").to_owned()
}

#[test]
fn get_responses_have_an_etag_that_changes_with_the_response() {
    let server = with_document();
    let first = server.ask("GET", PATH, &[], "");
    assert_eq!((first.status, first.header("cache-control")), (200, KEPT));
    let strong = tag(&first);
    assert!(strong.len() == 34 && strong.starts_with('"'), "{strong}");
    assert_eq!(tag(&server.ask("GET", PATH, &[], "")), strong);
    let head = server.ask("HEAD", PATH, &[], "");
    assert_eq!((tag(&head), head.status), (strong.clone(), 200));
    // Small responses, and those executed in another way, have tags too.
    let small = server.ask("GET", "/graphql?query={__typename}", &[], "");
    assert_ne!(tag(&small), strong);
    store(&server, 2);
    assert_ne!(tag(&server.ask("GET", PATH, &[], "")), strong);
    store(&server, 1);
    assert_eq!(tag(&server.ask("GET", PATH, &[], "")), strong);
}

#[test]
fn revalidation_of_an_unchanged_response_returns_304() {
    let server = with_document();
    let strong = tag(&server.ask("GET", PATH, &[], ""));
    let several = format!("\"other\", W/{strong} , \"more\"");
    let weak = format!("W/{strong}");
    for method in ["GET", "HEAD"] {
        for (sent, told) in [
            (&strong, &strong),
            (&weak, &weak),
            (&several, &weak),
            (&"*".to_owned(), &strong),
        ] {
            let mut connection = server.connect();
            let response = connection.ask(method, PATH, &[("if-none-match", sent)], "");
            assert_eq!((response.status, &*response.body), (304, ""), "{sent}");
            assert_eq!(&tag(&response), told);
            assert_eq!(response.header("cache-control"), KEPT);
            assert_eq!(response.list("vary"), ["accept", "accept-encoding"]);
            assert_eq!(response.header("content-type"), None);
            // The connection still works, so no body followed the head.
            assert_eq!(connection.ask("GET", "/healthz", &[], "").body, "ok\n");
        }
        for sent in ["\"other\"", "", strong.trim_matches('"')] {
            let response = server.ask(method, PATH, &[("if-none-match", sent)], "");
            assert_eq!(response.status, 200, "{sent}");
        }
    }
    store(&server, 2);
    let response = server.ask("GET", PATH, &[("if-none-match", &strong)], "");
    assert_eq!(response.status, 200);
    assert_ne!(tag(&response), strong);
}

#[test]
fn compressed_responses_have_a_weak_etag() {
    let server = with_document();
    let strong = tag(&server.ask("GET", PATH, &[], ""));
    let response = server.ask("GET", PATH, &[GZIP], "");
    assert_eq!(response.header("content-encoding"), Some("gzip"));
    assert_eq!(response.list("vary"), ["accept", "accept-encoding"]);
    let weak = tag(&response);
    assert_eq!(weak, format!("W/{strong}"));
    let known = server.ask("GET", PATH, &[GZIP, ("if-none-match", &weak)], "");
    assert_eq!((known.status, tag(&known)), (304, weak));
    assert_eq!(known.header("content-encoding"), None);
    assert_eq!(known.list("vary"), ["accept", "accept-encoding"]);
    // Responses that are too small for compression have the same `Vary`, and a strong tag.
    let small = server.ask("GET", "/graphql?query={__typename}", &[GZIP], "");
    assert_eq!(small.list("vary"), ["accept", "accept-encoding"]);
    assert!(tag(&small).starts_with('"'));
}

#[test]
fn large_responses_have_an_etag_and_are_complete() {
    let server = Server::start();
    let document = json!(vec!["a long text"; 100_000]).to_string();
    server.ask("POST", "/graphql", &[JSON], insertion("1", &document));
    let response = server.ask("GET", PATH, &[], "");
    assert_eq!(
        response.body,
        format!(r#"{{"data":{{"document":{{"value":{document}}}}}}}"#)
    );
    let known = ("if-none-match", &*tag(&response));
    assert_eq!(server.ask("GET", PATH, &[known], "").status, 304);
}

#[test]
fn error_responses_are_not_stored_and_have_no_etag() {
    let server = with_document();
    for path in [
        "/graphql",
        "/graphql?query={",
        "/graphql?query={nothing}",
        "/graphql?query={document(id:1,path:%22x%22){value}}",
        "/graphql?query={a:__typename%20document(id:%22%22){value}}",
        "/graphql?query=mutation{deleteDocument(id:1)}",
    ] {
        for accept in [
            "application/json",
            "application/graphql-response+json",
            "text/html",
        ] {
            let headers = [("accept", accept), ("if-none-match", "*")];
            for method in ["GET", "HEAD"] {
                let response = server.ask(method, path, &headers, "");
                assert_ne!(response.status, 304, "{path}");
                assert_eq!(response.header("etag"), None, "{path}");
                assert_eq!(response.header("cache-control"), NOT_STORED, "{path}");
            }
        }
    }
}

#[test]
fn post_responses_have_no_caching_headers() {
    let server = with_document();
    let body = r#"{"query": "{ document(id: 1) { value } }"}"#;
    let strong = tag(&server.ask("GET", PATH, &[], ""));
    let headers = [JSON, ("if-none-match", &*strong)];
    let response = server.ask("POST", "/graphql", &headers, body);
    assert_eq!(response.status, 200);
    assert_eq!(response.header("etag"), None);
    assert_eq!(response.header("cache-control"), None);
}

#[test]
fn responses_vary_by_authorization_if_tokens_are_required() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::with(&["--token-file", &token_file(directory.path())]);
    let bearer = bearer(READER);
    let path = "/graphql?query={__typename}";
    let response = server.ask("GET", path, &[("authorization", &bearer)], "");
    assert_eq!(response.status, 200);
    assert_eq!(
        response.list("vary"),
        ["accept", "accept-encoding", "authorization"]
    );
    let known = [("authorization", &*bearer), ("if-none-match", "*")];
    let unchanged = server.ask("GET", path, &known, "");
    assert_eq!(unchanged.status, 304);
    assert_eq!(unchanged.list("vary"), response.list("vary"));
    let refused = server.ask("GET", path, &[("if-none-match", "*")], "");
    assert_eq!(
        (refused.status, refused.header("cache-control")),
        (401, NOT_STORED)
    );
}
