//! The `extensions` of errors, as documented in docs/errors.md.

use std::time::Duration;

use phyllo::limits::Bounds;
use serde_json::{Value, json};

use super::support::{Client, NONE, client, client_of_within};

cases!(
    async [
        version_mismatch_errors_have_both_versions,
        errors_at_a_path_have_the_place_and_the_patch_operation,
        overlong_places_are_omitted,
        errors_of_fixed_limits_have_the_limit,
        errors_of_configurable_limits_have_the_limit,
        budget_errors_have_the_limit,
        argument_range_errors_have_the_limit,
    ]
);

/// The `extensions` of the only error of a response.
async fn extensions(client: &Client, query: &str, variables: &Value) -> Value {
    let response = client.ask(query, variables).await;
    let errors = response["errors"].as_array();
    let errors = errors.unwrap_or_else(|| panic!("{query:.200}: {response:.300}"));
    assert_eq!(errors.len(), 1, "{query:.200}: {response:.300}");
    errors[0]["extensions"].clone()
}

fn past(code: &str, name: &str, limit: u64) -> Value {
    json!({"code": code, "limit": limit, "limitName": name})
}

async fn version_mismatch_errors_have_both_versions() {
    let client = client().await;
    client.insert("1", "1").await;
    let version = async || {
        let data = client.data("{ document(id: 1) { version } }", NONE).await;
        data["document"]["version"].clone()
    };
    let first = version().await;
    client.mutate("incrementDocument(id: 1) { key }").await;
    let second = version().await;
    for (id, current) in [(1, &second), (2, &Value::Null)] {
        let query = format!(
            "mutation($v: DocumentVersion) {{ replaceDocument(id: {id}, document: 1, ifVersion: $v) {{ key }} }}"
        );
        let found = extensions(&client, &query, &json!({"v": first})).await;
        let expected = json!({
            "code": "VERSION_MISMATCH",
            "expectedVersion": first,
            "currentVersion": current,
        });
        assert_eq!(found, expected);
    }
}

async fn errors_at_a_path_have_the_place_and_the_patch_operation() {
    let client = client().await;
    client
        .insert("1", r#"{"o": {"n": 1, "a~/b": [1, 2]}}"#)
        .await;
    let patch = "mutation($p: JSON) { patchDocument(id: 1, path: \"/o\", patch: $p) { key } }";
    let replace = "mutation($p: Path) { replaceDocument(id: 1, path: $p, document: 1) { key } }";
    let increment = "mutation($p: Path) { incrementDocument(id: 2, path: $p) { key } }";
    let merge = "mutation($p: Path) { mergeDocument(id: 1, path: $p, patch: {}) { key } }";
    for (query, given, expected) in [
        (
            patch,
            json!([{"op": "test", "path": "/n", "value": 1}, {"op": "test", "path": "/n", "value": 2}]),
            json!({"code": "TEST_FAILED", "place": "/o/n", "operation": 1}),
        ),
        (
            patch,
            json!([{"op": "test", "path": "/x", "value": 2}]),
            json!({"code": "TEST_FAILED", "place": "/o/x", "operation": 0}),
        ),
        (
            patch,
            json!([{"op": "remove", "path": "/n"}, {"op": "copy", "from": "/n", "path": "/m"}]),
            json!({"code": "NOT_FOUND", "place": "/o/n", "operation": 1}),
        ),
        (
            patch,
            json!([{"op": "add", "path": "/a~0~1b/7", "value": 1}]),
            json!({"code": "INVALID_PATH", "place": "/o/a~0~1b", "operation": 0}),
        ),
        (
            patch,
            json!([{"op": "remove", "path": ""}]),
            json!({"code": "BAD_USER_INPUT", "operation": 0}),
        ),
        (
            patch,
            json!([{"op": "remove", "path": "/n"}, {"op": "add", "path": "/n"}]),
            json!({"code": "BAD_USER_INPUT", "operation": 1}),
        ),
        (
            patch,
            json!([{"op": "remove", "path": "n"}]),
            json!({"code": "INVALID_PATH", "operation": 0}),
        ),
        (
            replace,
            json!("/o/n/x"),
            json!({"code": "INVALID_PATH", "place": "/o/n"}),
        ),
        (
            replace,
            json!(["o", 0]),
            json!({"code": "INVALID_PATH", "place": "/o"}),
        ),
        (
            replace,
            json!("/none/x"),
            json!({"code": "NOT_FOUND", "place": "/none"}),
        ),
        (replace, json!("x"), json!({"code": "INVALID_PATH"})),
        (
            increment,
            json!("/x/y"),
            json!({"code": "NOT_FOUND", "place": "/x"}),
        ),
        (
            merge,
            json!(["o", "x", 3]),
            json!({"code": "INVALID_PATH", "place": "/o/x/3"}),
        ),
    ] {
        let found = extensions(&client, query, &json!({"p": given})).await;
        assert_eq!(found, expected, "{query} {given}");
    }
    let query = "mutation { patchDocument(id: 3, patch: []) { key } }";
    let found = extensions(&client, query, &json!({})).await;
    assert_eq!(found, json!({"code": "NOT_FOUND", "place": ""}));
}

async fn overlong_places_are_omitted() {
    let client = client().await;
    client.insert("1", "{}").await;
    let query = "mutation($p: JSON) { patchDocument(id: 1, patch: $p) { key } }";
    for (bytes, told) in [(999, true), (1_000, false)] {
        let path = format!("/{}", "x".repeat(bytes));
        let patch = json!({"p": [{"op": "remove", "path": path}]});
        let found = extensions(&client, query, &patch).await;
        assert_eq!(found.get("place").is_some(), told, "{bytes}");
        assert_eq!(found["operation"], json!(0));
    }
}

async fn errors_of_fixed_limits_have_the_limit() {
    let client = client().await;
    client.insert("1", "[1]").await;
    let read = "query($p: Path) { document(id: 1, path: $p) { value } }";
    let select = "query($q: JSONPath!) { document(id: 1) { select(query: $q) { path } } }";
    let find = "query($w: DocumentFilter) { documents(where: $w) { nodes { key } } }";
    let insert = "mutation($d: JSON) { insertDocument(document: $d) { key } }";
    let nested = |levels: usize| -> Value { (0..levels).fold(json!(1), |inner, _| json!([inner])) };
    let not = (0..16).fold(json!({}), |inner, _| json!({"not": inner}));
    for (query, variables, expected) in [
        (
            // Executed from its plan.
            read,
            json!({"p": ["x".repeat(10_000)]}),
            past("TOO_LARGE", "keyBytes", 10_000),
        ),
        (
            insert,
            json!({"d": {"x".repeat(10_000): 1}}),
            past("TOO_LARGE", "keyBytes", 10_000),
        ),
        (
            insert,
            json!({"d": nested(129)}),
            past("TOO_LARGE", "documentLevels", 128),
        ),
        (
            insert,
            serde_json::from_str(&format!("{{\"d\": {}}}", "9".repeat(700))).expect("JSON"),
            past("TOO_LARGE", "integerBytes", 255),
        ),
        (
            select,
            json!({"q": format!("$.{}", "x".repeat(16 << 10))}),
            past("TOO_LARGE", "jsonPathBytes", 16 << 10),
        ),
        (
            select,
            json!({"q": format!("${}{}", "[?@".repeat(33), "]".repeat(33))}),
            past("TOO_COMPLEX", "jsonPathBrackets", 32),
        ),
        (
            select,
            json!({"q": format!("$[?match(@, '{}')]", "a".repeat(5_000))}),
            past("TOO_COMPLEX", "regexpBytes", 4 << 10),
        ),
        (
            find,
            json!({"w": {"any": vec![json!({"at": "$.a", "eq": 1}); 1_000]}}),
            past("TOO_COMPLEX", "filters", 1_000),
        ),
        (
            find,
            json!({"w": {"at": "$.a", "in": (0..1_001).collect::<Vec<_>>()}}),
            past("TOO_COMPLEX", "filterValues", 1_000),
        ),
        (
            find,
            json!({"w": not}),
            past("TOO_COMPLEX", "filterLevels", 16),
        ),
    ] {
        let found = extensions(&client, query, &variables).await;
        assert_eq!(found, expected, "{query}");
    }
    for id in 2..4 {
        client.insert(&id.to_string(), "1").await;
    }
    let query = "{ documents(where: {at: \"$.x\", exists: true}, scanLimit: 2) { nodes { key } } }";
    let found = extensions(&client, query, &json!({})).await;
    assert_eq!(found, past("TOO_COMPLEX", "scannedDocuments", 2));
}

async fn errors_of_configurable_limits_have_the_limit() {
    let bounds = Bounds {
        query_bytes: 2_000,
        query_tokens: 400,
        query_operations: 2,
        query_brackets: 20,
        query_directives: 3,
        query_levels: 5,
        query_fields: 30,
        query_aliases: 10,
        query_values: 40,
        query_paths: 4,
        variable_values: 5,
        variable_levels: 4,
        variable_string_bytes: 50,
        argument_bytes: 400,
        response_fields: 12,
        ..Bounds::DEFAULT
    };
    let client = client_of_within(super::empty_store().await, bounds).await;
    client
        .insert("1", r#"{"a": [1, 2, 3, 4, 5, 6], "b": 1}"#)
        .await;
    let aliases = |count: usize, field: &str| -> String {
        (0..count).map(|at| format!("a{at}: {field} ")).collect()
    };
    let words = " a".repeat(500);
    for (query, variables, name, limit) in [
        (format!("{{ a #{}", " ".repeat(2_000)), json!({}), "queryBytes", 2_000),
        (format!("{{{words} }}"), json!({}), "queryTokens", 400),
        ("\n".repeat(500), json!({}), "queryLines", 400),
        ("query A { a } query B { b } query C { c }".to_owned(), json!({}), "queryOperations", 2),
        ("[".repeat(30), json!({}), "queryBrackets", 20),
        ("{ a @b @c @d @e }".to_owned(), json!({}), "queryDirectives", 3),
        (format!("{{ {} }}", aliases(11, "__typename")), json!({}), "queryAliases", 10),
        (format!("{{ {} }}", "__typename ".repeat(31)), json!({}), "queryFields", 30),
        (
            "{ document(id: 1) { document { document { document { document { document { key } } } } } } }".to_owned(),
            json!({}),
            "queryLevels",
            5,
        ),
        (
            format!("{{ document(id: 1) {{ {} }} }}", aliases(5, "value(path: \"/a\")")),
            json!({}),
            "queryPaths",
            4,
        ),
        (
            "{ document(id: 1, path: \"/a\") { children { nodes { path kind } } } }".to_owned(),
            json!({}),
            "responseFields",
            12,
        ),
    ] {
        let found = extensions(&client, &query, &variables).await;
        assert_eq!(found, past("TOO_COMPLEX", name, limit), "{query:.200}");
    }
    let narrow = client.within(Bounds {
        entities: 2,
        places: 2,
        ..Bounds::DEFAULT
    });
    let of_three = "query($n: [_Any!]!) { _entities(representations: $n) { __typename } }";
    let three =
        json!({"n": vec![json!({"__typename": "Document", "id": "1", "collection": "D"}); 3]});
    let found = extensions(&narrow, of_three, &three).await;
    assert_eq!(found, past("TOO_COMPLEX", "entities", 2));
    let values = "{ document(id: 1) { a: value(path: \"/a\") b: value(path: \"/b\") c: value(path: \"/c\") } }";
    let found = extensions(&narrow, values, &json!({})).await;
    assert_eq!(found, past("TOO_COMPLEX", "places", 2));
    let by_id = "query($id: ID!) { document(id: $id) { kind } }";
    let long = json!({"id": "x".repeat(51)});
    let found = extensions(&client, by_id, &long).await;
    assert_eq!(found, past("TOO_LARGE", "variableStringBytes", 50));
    let insert = "mutation($d: JSON) { insertDocument(id: 2, document: $d) { key } }";
    let found = extensions(&client, insert, &json!({"d": "x".repeat(400)})).await;
    assert_eq!(found, past("TOO_LARGE", "argumentBytes", 400));
}

async fn budget_errors_have_the_limit() {
    let insert = "mutation($d: JSON) { insertDocument(id: 2, document: $d) { key } }";
    let read = "{ document(id: 1) { value } }";
    let generally = "{ document(id: 1) { value select(query: \"$..*\") { path } } }";
    let default = Bounds::DEFAULT;
    for (bounds, query, expected) in [
        (
            Bounds {
                steps: 100,
                ..default
            },
            generally,
            past("TOO_COMPLEX", "steps", 100),
        ),
        (
            Bounds {
                read_bytes: 100,
                ..default
            },
            read,
            past("TOO_LARGE", "readBytes", 100),
        ),
        (
            Bounds {
                write_bytes: 100,
                ..default
            },
            insert,
            past("TOO_LARGE", "writeBytes", 100),
        ),
        (
            Bounds {
                response_bytes: 150,
                ..default
            },
            "{ document(id: 1) { value(path: \"/s\") } }",
            past("TOO_LARGE", "responseBytes", 150),
        ),
        (
            Bounds {
                response_bytes: 100,
                ..default
            },
            read,
            past("TOO_LARGE", "readBytesAtOnce", 400),
        ),
        (
            Bounds {
                held_bytes: 10,
                ..default
            },
            generally,
            past("UNAVAILABLE", "heldBytes", 10),
        ),
        (
            Bounds {
                request_time: Duration::ZERO,
                ..default
            },
            read,
            past("TIMEOUT", "requestMilliseconds", 0),
        ),
        (
            Bounds {
                request_time: Duration::ZERO,
                ..default
            },
            generally,
            past("TIMEOUT", "requestMilliseconds", 0),
        ),
        (
            Bounds {
                request_time: Duration::ZERO,
                ..default
            },
            insert,
            past("TIMEOUT", "requestMilliseconds", 0),
        ),
    ] {
        let plain = client().await;
        let elements: Vec<u64> = (10_000..12_000).collect();
        plain
            .insert("1", json!({"a": elements, "s": "x".repeat(200)}))
            .await;
        let client = plain.within(bounds);
        let found = extensions(&client, query, &json!({"d": elements})).await;
        assert_eq!(found, expected, "{query}");
    }
}

async fn argument_range_errors_have_the_limit() {
    let client = client().await;
    for (arguments, name, limit) in [
        ("first: 10001", "pageSize", 10_000),
        ("last: -1", "pageSize", 10_000),
    ] {
        let query = format!("{{ documents({arguments}) {{ nodes {{ key }} }} }}");
        let found = extensions(&client, &query, &json!({})).await;
        assert_eq!(found, past("BAD_USER_INPUT", name, limit), "{arguments}");
    }
}
