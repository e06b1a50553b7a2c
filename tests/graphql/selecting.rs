//! `select`: what a JSONPath query selects, what it costs in the store, and what is refused.

use std::fmt::Write;

use serde_json::{Value, json};

use super::support::{Client, Counts, NONE, client, only_error, parse};

cases!(
    async [
        what_is_selected_is_told_with_its_place_kind_and_value,
        below_a_part_the_root_of_a_query_is_that_part,
        whatever_is_asked_of_what_is_selected_costs_no_further_round,
        only_what_a_query_begins_with_is_read,
        where_nothing_stands_nothing_is_selected,
        a_mutation_tells_what_its_result_selects,
        numbers_are_compared_exactly_and_come_back_as_they_are,
        what_is_no_query_is_an_error_of_its_field_with_the_place,
        a_query_past_a_limit_is_refused_and_the_server_goes_on,
        the_work_of_a_request_is_bounded_however_many_queries_it_has,
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

async fn what_is_selected_is_told_with_its_place_kind_and_value() {
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

async fn below_a_part_the_root_of_a_query_is_that_part() {
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

async fn whatever_is_asked_of_what_is_selected_costs_no_further_round() {
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

async fn only_what_a_query_begins_with_is_read() {
    let client = client().await;
    let many: Vec<Value> = (0..500).map(|n| json!({"n": n})).collect();
    client
        .insert("1", json!({"a": many, "b": {"c": [1, 2, 3]}, "d": many}))
        .await;
    let query = "query($q: JSONPath!) { document(id: 1) { select(query: $q) { value } } }";
    // Besides the first pair of the document, which tells that there is one.
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
    // A long one is parsed once it is needed, and then reads no more either.
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

async fn where_nothing_stands_nothing_is_selected() {
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

async fn a_mutation_tells_what_its_result_selects() {
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

async fn numbers_are_compared_exactly_and_come_back_as_they_are() {
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

async fn what_is_no_query_is_an_error_of_its_field_with_the_place() {
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

async fn a_query_past_a_limit_is_refused_and_the_server_goes_on() {
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

async fn the_work_of_a_request_is_bounded_however_many_queries_it_has() {
    let client = client().await;
    let many = vec!["[1]"; 20_000].join(",");
    client.insert("1", format!("[{many}]")).await;
    let selects = |count: usize, query: &str| {
        let mut text = String::from("query($q: JSONPath!) { document(id: 1) { ");
        for at in 0..count {
            write!(text, "s{at}: select(query: {query}) {{ path }} ").expect("a string takes all");
        }
        text + "} }"
    };
    let query = json!({"q": "$..[1]"});
    client.data(&selects(10, "$q"), &query).await;
    let response = parse(&client.text(&selects(500, "$q"), &query).await);
    assert_eq!(only_error(&response).0, "TOO_COMPLEX", "{response:.300}");
    // As many long ones, each of which has to be parsed.
    let long = json!({"q": format!("$[?{}@]", "@ == 1 && ".repeat(1_600))});
    let response = parse(&client.text(&selects(50, "$q"), &long).await);
    assert_eq!(only_error(&response).0, "TOO_COMPLEX");
    client.assert_serves().await;
}
