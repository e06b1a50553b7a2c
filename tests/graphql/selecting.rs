//! `select`: results of JSONPath queries, their cost in the store, and errors.

use std::fmt::Write;

use serde_json::{Value, json};

use super::support::{Client, Counts, NONE, client, only_error, parse};

cases!(
    async [
        selected_nodes_have_path_kind_and_value,
        the_root_of_a_query_below_a_part_is_that_part,
        fields_of_selected_nodes_need_no_further_reads,
        only_the_prefix_of_a_query_is_read,
        nothing_is_selected_in_missing_values,
        mutations_return_selections_of_their_result,
        numbers_are_compared_and_returned_exactly,
        invalid_queries_are_field_errors_with_the_position,
        queries_over_a_limit_are_rejected,
        total_work_of_all_queries_in_a_request_is_limited,
    ]
);

const STORE: &str = r#"{
    "books": [
        {"title": "Sayings", "price": 8.95, "tags": ["a", "b"]},
        {"title": "Honour", "price": 12.99, "tags": []},
        {"title": "Moby Dick", "price": 9, "tags": ["b"]}
    ],
    "bicycle": {"price": 19.95, "colour": "red"}
}"#;

async fn store() -> Client {
    let client = client().await;
    client.insert("1", STORE).await;
    client
}

async fn selected_nodes_have_path_kind_and_value() {
    let client = store().await;
    let query = "{ document(id: 1) { select(query: \"$.books[?@.price < 10]['title','tags']\") \
                 { path kind value } } }";
    assert_eq!(
        client.data(query, NONE).await["document"]["select"],
        json!([
            {"path": ["books", 0, "title"], "kind": "STRING", "value": "Sayings"},
            {"path": ["books", 0, "tags"], "kind": "ARRAY", "value": ["a", "b"]},
            {"path": ["books", 2, "title"], "kind": "STRING", "value": "Moby Dick"},
            {"path": ["books", 2, "tags"], "kind": "ARRAY", "value": ["b"]},
        ])
    );
    let query = "query($q: JSONPath!) { document(id: 1) { select(query: $q) { path } } }";
    for (select, paths) in [
        ("$", json!([[]])),
        (
            "$.bicycle['colour','colour']",
            json!([["bicycle", "colour"], ["bicycle", "colour"]]),
        ),
        (
            "$..[?@.tags]",
            json!([["books", 0], ["books", 1], ["books", 2]]),
        ),
        (
            "$.books[-1:0:-1].title",
            json!([["books", 2, "title"], ["books", 1, "title"]]),
        ),
        ("$.books[?@.price > $.bicycle.price]", json!([])),
        ("$.*", json!([["bicycle"], ["books"]])),
    ] {
        let data = client.data(query, json!({"q": select})).await;
        let selected = data["document"]["select"].as_array().expect("a list");
        let found: Vec<&Value> = selected.iter().map(|part| &part["path"]).collect();
        assert_eq!(json!(found), paths, "{select}");
    }
}

async fn the_root_of_a_query_below_a_part_is_that_part() {
    let client = store().await;
    let query = "{ document(id: 1, path: \"/books\") { \
                 select(query: \"$[?@.price > $[0].price]\") { path \
                   subdocument(path: \"/title\") { path value } \
                   value(path: \"/price\") \
                   select(query: \"$.tags[*]\") { path value kind document { key value(path: \"/bicycle/colour\") } } } \
                 subdocument(path: \"/0\") { select(query: \"$['title']\") { path value } } } }";
    assert_eq!(
        client.data(query, NONE).await["document"],
        json!({
            "select": [
                {
                    "path": ["books", 1],
                    "subdocument": {"path": ["books", 1, "title"], "value": "Honour"},
                    "value": 12.99,
                    "select": [],
                },
                {
                    "path": ["books", 2],
                    "subdocument": {"path": ["books", 2, "title"], "value": "Moby Dick"},
                    "value": 9,
                    "select": [{
                        "path": ["books", 2, "tags", 0],
                        "value": "b",
                        "kind": "STRING",
                        "document": {"key": "1", "value": "red"},
                    }],
                },
            ],
            "subdocument": {"select": [{"path": ["books", 0, "title"], "value": "Sayings"}]},
        })
    );
}

async fn fields_of_selected_nodes_need_no_further_reads() {
    let client = store().await;
    for (query, ranges, gets) in [
        (
            "{ document(id: 1) { select(query: \"$.books[*]\") { path kind value } } }",
            2,
            0,
        ),
        (
            "{ document(id: 1) { kind value select(query: \"$..price\") { value } other: select(query: \"$.books\") { value } } }",
            1,
            0,
        ),
        (
            "{ document(id: 1, path: \"/books\") { select(query: \"$[*]\") { kind subdocument(path: \"/tags/0\") { value } select(query: \"$..*\") { value version } } } }",
            1,
            1,
        ),
        (
            "{ document(id: 1) { select(query: \"$.books[*]\") { document { kind version value(path: \"/bicycle\") } } } }",
            3,
            1,
        ),
    ] {
        let (_, cost) = client.cost(query, NONE).await;
        assert_eq!(
            (cost.transactions, cost.ranges, cost.gets),
            (1, ranges, gets),
            "{query}"
        );
    }
}

async fn only_the_prefix_of_a_query_is_read() {
    let client = client().await;
    let many: Vec<Value> = (0..500).map(|n| json!({"n": n})).collect();
    client
        .insert("1", json!({"a": many, "b": {"c": [1, 2, 3]}, "d": many}))
        .await;
    let query = "query($q: JSONPath!) { document(id: 1) { select(query: $q) { value } } }";
    // In addition to the first pair of the document, which shows that it exists.
    for (select, selected, pairs) in [
        ("$.b.c[?@ > 1]", 2, 4),
        ("$.b.c[1]", 1, 2),
        ("$['b']..*", 4, 4),
        ("$.b.c[?@ == $.b.c[0]]", 1, 4),
        ("$.a[7].n", 1, 2),
        ("$.b[?@ == $.a[7].n]", 0, 1003),
    ] {
        let (data, cost) = client.cost(query, json!({"q": select})).await;
        let found = data["document"]["select"].as_array().map(Vec::len);
        assert_eq!((found, cost.pairs), (Some(selected), pairs), "{select}");
    }
    // A long query is parsed when it is needed, and then reads only its prefix too.
    let long = format!("$.b.c[?{}@ > 1]", "@ > 1 || ".repeat(100));
    let (data, cost) = client.cost(query, json!({"q": long})).await;
    assert_eq!(
        data["document"]["select"],
        json!([{"value": 2}, {"value": 3}])
    );
    let expected = Counts {
        transactions: 1,
        ranges: 2,
        pairs: 4,
        ..Counts::default()
    };
    assert_eq!(cost, expected);
}

async fn nothing_is_selected_in_missing_values() {
    let client = store().await;
    let query = "query($q: JSONPath!) { document(id: 1) { select(query: $q) { path } } }";
    for select in [
        "$.nothing",
        "$.nothing[*]",
        "$.books.title",
        "$.bicycle[0]",
        "$.books[3]",
        "$.books['0']",
        "$.books[9007199254740991]",
        "$.bicycle.price.x",
        "$.nothing[?$.books]",
    ] {
        let data = client.data(query, json!({"q": select})).await;
        assert_eq!(data, json!({"document": {"select": []}}), "{select}");
    }
    let nobody = "{ document(id: 2) { select(query: \"$\") { path } } }";
    assert_eq!(client.data(nobody, NONE).await, json!({"document": null}));
}

async fn mutations_return_selections_of_their_result() {
    let client = store().await;
    let query = "mutation { \
                 a: replaceDocument(id: 1, path: \"/books/0/price\", document: 20) { select(query: \"$.books[?@.price == 20]\") { path } } \
                 b: replaceDocument(id: 1, path: \"/books/1/price\", document: 20) { select(query: \"$.books[?@.price == 20]\") { path version } } }";
    let data = client.data(query, NONE).await;
    assert_eq!(data["a"], json!({"select": [{"path": ["books", 0]}]}));
    let selected = data["b"]["select"].as_array().expect("a list");
    assert_eq!(selected.len(), 2);
    assert!(selected.iter().all(|part| part["version"].is_string()));
}

async fn numbers_are_compared_and_returned_exactly() {
    let client = client().await;
    let numbers = "[9007199254740992,9007199254740993,9007199254740993.0,1.0,1]";
    client.insert("1", numbers).await;
    for (select, values) in [
        ("$[?@ == 9007199254740993]", "9007199254740993"),
        ("$[?@ >= 9007199254740993]", "9007199254740993"),
        ("$[?@ == 1]", "1.0,1"),
    ] {
        let query = "query($q: JSONPath!) { document(id: 1) { select(query: $q) { value } } }";
        let text = client.text(query, json!({"q": select})).await;
        let parts = values
            .split(',')
            .map(|value| format!("{{\"value\":{value}}}"));
        let parts = parts.collect::<Vec<_>>().join(",");
        let expected = format!("{{\"data\":{{\"document\":{{\"select\":[{parts}]}}}}}}");
        assert_eq!(text, expected, "{select}");
    }
}

async fn invalid_queries_are_field_errors_with_the_position() {
    let client = store().await;
    let query = "query($q: JSONPath!) { document(id: 1) { select(query: $q) { path } } }";
    for (select, told) in [
        (json!("books"), "line 1, column 1"),
        (
            json!("$.books[?@.price = 1]"),
            "expected `==`, at line 1, column 18",
        ),
        (json!("$.books[?length(@.*) == 1]"), "line 1, column 10"),
        (json!("$\n.books[1,]"), "line 2, column 10"),
    ] {
        let response = client.ask(query, json!({"q": select})).await;
        let (code, message) = only_error(&response);
        assert_eq!(code, "BAD_USER_INPUT", "{select}: {message}");
        assert!(message.contains(told), "{select}: {message}");
        assert_eq!(response["errors"][0]["path"], json!(["document", "select"]));
        assert_eq!(response["data"], json!({"document": null}), "{select}");
    }
    for select in [json!(7), json!(["$"]), json!(null)] {
        let (code, message) = client.error(query, json!({"q": select})).await;
        assert_eq!(code, "BAD_USER_INPUT", "{select}: {message}");
    }
    let literal = "{ document(id: 1) { select(query: 7) { path } } }";
    let (code, message) = only_error(&client.ask(literal, NONE).await);
    assert_eq!(code, "BAD_USER_INPUT");
    assert!(message.contains("JSONPath"), "{message}");
}

async fn queries_over_a_limit_are_rejected() {
    let client = client().await;
    let many = vec!["1"; 20_000].join(",");
    client.insert("1", format!("[{many}]")).await;
    let deep = format!("{}1{}", "[0,".repeat(120), "]".repeat(120));
    client.insert("2", deep).await;
    let query =
        "query($id: ID!, $q: JSONPath!) { document(id: $id) { select(query: $q) { path } } }";
    for (id, select, code, told) in [
        (1, "a".repeat(1 << 20), "TOO_LARGE", "65536"),
        (1, "a".repeat(60 << 10), "TOO_LARGE", "16384"),
        (1, format!("$[?{}", "(".repeat(8_000)), "TOO_COMPLEX", "32"),
        (1, "[".repeat(16_000), "TOO_COMPLEX", "32"),
        (
            1,
            format!("$[?{}@]", "!(".repeat(5_000)),
            "TOO_COMPLEX",
            "32",
        ),
        (1, "$[*]".to_owned(), "TOO_COMPLEX", "10000"),
        (
            1,
            "$[?count($[*]) > 1]".to_owned(),
            "TOO_COMPLEX",
            "20000000",
        ),
        (2, "$..*..*..*..*..*".to_owned(), "TOO_COMPLEX", "1000000"),
        (
            1,
            "$[?match(@, '(a{1,200}){1,200}')]".to_owned(),
            "TOO_COMPLEX",
            "524288",
        ),
    ] {
        let response = client.ask(query, json!({"id": id, "q": select})).await;
        let (found, message) = only_error(&response);
        assert_eq!(found, code, "{select:.40}: {message}");
        assert!(message.contains(told), "{select:.40}: {message}");
        client.assert_serves().await;
    }
    let data = client.data(query, json!({"id": 1, "q": "$[:10000]"})).await;
    assert_eq!(
        data["document"]["select"].as_array().map(Vec::len),
        Some(10_000)
    );
}

async fn total_work_of_all_queries_in_a_request_is_limited() {
    let client = client().await;
    let many = vec!["[1]"; 20_000].join(",");
    client.insert("1", format!("[{many}]")).await;
    // Equal queries are one.
    let selects = |count: usize, query: &dyn Fn(usize) -> String| {
        let (mut declared, mut text) = (String::from("query("), String::new());
        let mut variables = serde_json::Map::new();
        for at in 0..count {
            write!(declared, "$q{at}: JSONPath! ").expect("a string takes all");
            write!(text, "s{at}: select(query: $q{at}) {{ path }} ").expect("a string takes all");
            variables.insert(format!("q{at}"), json!(query(at)));
        }
        let text = format!("{declared}) {{ document(id: 1) {{ {text} }} }}");
        (text, Value::Object(variables))
    };
    let (text, variables) = selects(10, &|at| format!("$..[{}]", at + 1));
    client.data(&text, &variables).await;
    let (text, variables) = selects(500, &|at| format!("$..[{}]", at + 1));
    let response = parse(&client.text(&text, &variables).await);
    assert_eq!(only_error(&response).0, "TOO_COMPLEX", "{response:.300}");
    // Long queries, each of which must be parsed.
    let (text, variables) = selects(50, &|at| {
        format!("$[?{}@ == {at}]", "@ == 1 && ".repeat(1_600))
    });
    let response = parse(&client.text(&text, &variables).await);
    assert_eq!(only_error(&response).0, "TOO_COMPLEX");
    client.assert_serves().await;
}
