//! Every request limit can be set by its flag and is named in its error. The limits on connections
//! are tested in `hostile_connections`.

use serde_json::json;

use crate::support::{JSON, Response, Server};

/// A flag with its value, a query that exceeds the limit with its variables, and the expected text
/// of the error.
type Case = (
    &'static str,
    &'static str,
    String,
    &'static str,
    [&'static str; 2],
);

fn ask(server: &Server, query: &str, variables: &str) -> Response {
    let body = format!(r#"{{"query":{},"variables":{variables}}}"#, json!(query));
    server.ask("POST", "/graphql", &[JSON], body)
}

fn of(path: &str) -> String {
    format!("{{ document(id: 1) {{ {path} }} }}")
}

/// Limits on the query.
fn of_queries() -> Vec<Case> {
    vec![
        (
            "--body-bytes-max",
            "1KiB",
            format!("{{ __typename }} #{}", "x".repeat(1_000)),
            "{}",
            ["TOO_LARGE", "1024 bytes"],
        ),
        (
            "--query-bytes-max",
            "100",
            format!("{{ __typename }} #{}", "x".repeat(100)),
            "{}",
            ["TOO_COMPLEX", "100 bytes"],
        ),
        (
            "--query-tokens-max",
            "5",
            "{ a b c d }".to_owned(),
            "{}",
            ["TOO_COMPLEX", "5 tokens"],
        ),
        (
            "--query-brackets-max",
            "2",
            of("kind").replace('1', "[1]"),
            "{}",
            ["TOO_COMPLEX", "2 nested brackets"],
        ),
        (
            "--query-directives-max",
            "1",
            "{ __typename @skip(if: false) @skip(if: false) }".to_owned(),
            "{}",
            ["TOO_COMPLEX", "1 directives"],
        ),
        (
            "--query-levels-max",
            "2",
            of("subdocument(path: []) { kind }"),
            "{}",
            ["TOO_COMPLEX", "2 levels"],
        ),
        (
            "--query-fields-max",
            "3",
            "{ ...F ...F } fragment F on Query { __typename }".to_owned(),
            "{}",
            ["TOO_COMPLEX", "3 fields"],
        ),
        (
            "--query-aliases-max",
            "1",
            "{ ...F ...F } fragment F on Query { a: __typename }".to_owned(),
            "{}",
            ["TOO_COMPLEX", "1 aliases"],
        ),
        (
            "--query-values-max",
            "2",
            of("value(path: [1, 2])"),
            "{}",
            ["TOO_COMPLEX", "2 values"],
        ),
        (
            "--query-paths-max",
            "1",
            of("a: value(path: []) b: value(path: [])"),
            "{}",
            ["TOO_COMPLEX", "1 paths"],
        ),
    ]
}

/// Limits on variables and on responses.
fn of_variables_and_answers() -> Vec<Case> {
    let entities = "query($r: [_Any!]!) { _entities(representations: $r) { __typename } }";
    let two = r#"{"r":[{"__typename":"Document","collection":"D","id":1},{"__typename":"Document","collection":"D","id":2}]}"#;
    let by_path = "query($p: Path) { document(id: 1, path: $p) { kind } }".to_owned();
    let by_id = "query($i: ID!) { document(id: $i) { kind } }".to_owned();
    let insert = "mutation($d: JSON) { insertDocument(document: [$d, $d]) { key } }".to_owned();
    vec![
        (
            "--variable-levels-max",
            "2",
            by_path.clone(),
            r#"{"p":[[[1]]]}"#,
            ["TOO_COMPLEX", "2 levels"],
        ),
        (
            "--variable-values-max",
            "3",
            by_path.clone(),
            r#"{"p":[1,2,3,4]}"#,
            ["TOO_COMPLEX", "3 values"],
        ),
        (
            "--variable-string-bytes-max",
            "4",
            by_id,
            r#"{"i":"abcde"}"#,
            ["TOO_LARGE", "4 bytes"],
        ),
        (
            "--argument-bytes-max",
            "9",
            insert,
            r#"{"d":"abc"}"#,
            ["TOO_LARGE", "9 bytes"],
        ),
        (
            "--entities-max",
            "1",
            entities.to_owned(),
            two,
            ["TOO_COMPLEX", "1 entities"],
        ),
        (
            "--places-max",
            "2",
            of("a: value(path: \"/a\") b: value(path: \"/b\") c: value(path: \"/c\")"),
            "{}",
            ["TOO_COMPLEX", "2 places"],
        ),
        (
            "--response-fields-max",
            "5",
            of("subdocument(path: [\"rows\"]) { children { nodes { kind path } } }"),
            "{}",
            ["TOO_COMPLEX", "5 fields"],
        ),
        (
            "--response-bytes-max",
            "200",
            of(&["a", "b", "c"]
                .map(|name| format!("{name}: value(path: [\"rows\", 0]) "))
                .concat()),
            "{}",
            ["TOO_LARGE", "200 bytes"],
        ),
        (
            "--request-time-max",
            "1ms",
            of(
                "subdocument(path: [\"rows\"]) { children(first: 200) { nodes { children { nodes { value } } } } }",
            ),
            "{}",
            ["TIMEOUT", "1ms"],
        ),
    ]
}

#[test]
fn every_limit_has_a_flag_and_is_named_in_its_error() {
    for (flag, amount, query, variables, told) in
        of_queries().into_iter().chain(of_variables_and_answers())
    {
        // A server without low limits stores the data.
        let server = Server::start();
        let rows = vec![vec![1; 40]; 200];
        let insert = "mutation($d: JSON) { insertDocument(id: 1, document: $d) { key } }";
        let stored = ask(&server, insert, &json!({"d": {"rows": rows}}).to_string());
        assert_eq!(stored.json()["data"]["insertDocument"]["key"], "1");
        server.signal("TERM");
        let server = Server::on(server.stopped(), &[flag, amount]);
        let response = ask(&server, &query, variables);
        for told in told {
            assert!(response.body.contains(told), "{flag}: {}", response.body);
        }
        let others = ask(&server, "{__typename}", "{}");
        assert_eq!(others.status, 200, "{flag}");
    }
}
