//! Small requests with large effects: fields multiplied by stored lists, and variables that are
//! used repeatedly.

use phyllo::limits::{Bounds, PAGES_AT_ONCE};
use serde_json::{Value, json};

use super::support::{NONE, client, client_of_within, only_error, parse};

cases!(
    async [
        paths_of_all_entities_are_counted_before_any_is_read,
        fields_are_counted_for_each_element_of_a_page,
        names_are_counted_for_each_element_of_a_page,
        nested_pages_are_counted_even_without_element_fields,
        collections_are_counted_with_their_names,
        data_held_for_one_response_is_limited,
        variables_count_for_each_use,
        values_and_strings_in_typed_variables_are_limited,
        number_of_variables_is_limited_and_the_last_duplicate_wins,
        nested_list_variables_are_read_once,
        private_number_markers_have_no_meaning_in_variables,
        variables_are_allowed_where_their_type_fits,
        variables_of_the_wrong_type_are_rejected,
    ]
);

async fn paths_of_all_entities_are_counted_before_any_is_read() {
    let client = client().await;
    let representation =
        |id: usize| json!({"__typename": "Document", "collection": "D", "key": id});
    let representations: Vec<Value> = (0..1_000).map(representation).collect();
    let values: String = (0..101)
        .map(|at| format!("v{at}: value(path: \"/p{at}\") "))
        .collect();
    let query = format!(
        "query($r: [_Any!]!) {{ _entities(representations: $r) {{ ... on Document {{ {values} }} }} }}"
    );
    let before = client.counts();
    let response = client.ask(&query, json!({"r": representations})).await;
    let (code, message) = only_error(&response);
    assert_eq!(code, "TOO_COMPLEX");
    assert!(message.contains("100000 places"), "{message}");
    assert_eq!(client.counts(), before);
    let few = json!({"r": representations[..900]});
    let data = client.data(&query, few).await;
    assert_eq!(data["_entities"].as_array().map(Vec::len), Some(900));
}

/// An array of this many numbers.
fn numbers(elements: usize) -> Value {
    json!((0..elements).collect::<Vec<_>>())
}

async fn fields_are_counted_for_each_element_of_a_page() {
    let client = client().await;
    client.insert("1", numbers(10_000)).await;
    let page = |fields: usize| {
        let kinds: String = (0..fields).map(|at| format!("k{at}: kind ")).collect();
        format!("{{ document(id: 1) {{ children(first: 10000) {{ nodes {{ {kinds} }} }} }} }}")
    };
    let before = client.counts();
    let (code, message) = client.error(&page(500), NONE).await;
    assert_eq!(code, "TOO_COMPLEX");
    assert!(
        message.contains("250000 fields in the response"),
        "{message}"
    );
    let read = client.counts().pairs - before.pairs;
    assert!(read <= 10_002, "one page is read: {read} pairs");
    let data = client.data(&page(20), NONE).await;
    let nodes = data["document"]["children"]["nodes"].as_array();
    assert_eq!(nodes.map(Vec::len), Some(10_000));
}

async fn names_are_counted_for_each_element_of_a_page() {
    let client = client().await;
    client.insert("1", numbers(10_000)).await;
    let alias = "x".repeat(10_000);
    let query = format!(
        "{{ document(id: 1) {{ children(first: 10000) {{ nodes {{ {alias}: kind }} }} }} }}"
    );
    let (code, message) = client.error(&query, NONE).await;
    assert_eq!(code, "TOO_LARGE");
    assert!(message.contains("67108864 bytes"), "{message}");
}

async fn nested_pages_are_counted_even_without_element_fields() {
    let client = client().await;
    client.insert("1", json!(vec![numbers(400); 400])).await;
    let query = "{ document(id: 1) { children(first: 10000) { nodes {
        a: children(first: 10000) { pageInfo { hasNextPage } }
        b: children(first: 10000) { pageInfo { hasNextPage } }
    } } } }";
    let before = client.counts();
    let (code, message) = client.error(query, NONE).await;
    assert_eq!(code, "TOO_COMPLEX");
    assert!(
        message.contains("250000 fields in the response"),
        "{message}"
    );
    // Each element of an inner page counts two fields, so at most half as many elements are read,
    // plus the reads in flight. The outer page itself has 160,000 pairs.
    let inside = 250_000 / 2 + PAGES_AT_ONCE as u64 * 400;
    let read = client.counts().pairs - before.pairs;
    assert!(read <= 160_000 + inside, "{read} pairs, of 3 * 160,000");
}

async fn collections_are_counted_with_their_names() {
    let bounds = Bounds {
        response_bytes: 10_000,
        ..Bounds::DEFAULT
    };
    let client = client_of_within(super::empty_store().await, bounds).await;
    for at in 0..30 {
        let collection = format!("{at}{}", "c".repeat(500));
        let query = "mutation($c: String!) { insertDocument(document: 1, collection: $c) { key } }";
        client.data(query, json!({"c": collection})).await;
    }
    let (code, message) = client.error("{ collections { name } }", NONE).await;
    assert_eq!(code, "TOO_LARGE");
    assert!(message.contains("10000 bytes"), "{message}");
}

async fn data_held_for_one_response_is_limited() {
    let bounds = Bounds {
        response_bytes: 100_000,
        ..Bounds::DEFAULT
    };
    let client = client_of_within(super::empty_store().await, bounds).await;
    client.insert("1", numbers(100_000)).await;
    client.insert("2", numbers(30_000)).await;
    let before = client.counts();
    let (code, message) = client.error("{ document(id: 1) { value } }", NONE).await;
    assert_eq!(code, "TOO_LARGE");
    assert!(message.contains("400000 bytes"), "{message}");
    let read = client.counts().pairs - before.pairs;
    assert!(read < 50_000, "{read} pairs, of 100,000");
    let (code, message) = client.error("{ document(id: 2) { value } }", NONE).await;
    assert_eq!(code, "TOO_LARGE");
    assert!(message.contains("100000 bytes"), "{message}");
    // The same limit applies to many concurrently read documents.
    for id in 10..40 {
        client.insert(&id.to_string(), numbers(1_000)).await;
    }
    let many: String = (10..40)
        .map(|id| format!("d{id}: document(id: {id}) {{ value }} "))
        .collect();
    let (code, message) = client.error(&format!("{{ {many} }}"), NONE).await;
    assert_eq!(code, "TOO_LARGE");
    assert!(message.contains("100000 bytes"), "{message}");
    client.assert_serves().await;
    let held = client.graphql.pool().held();
    assert_eq!(held, 0, "all is given back");
}

async fn variables_count_for_each_use() {
    let client = client().await;
    let text = json!("x".repeat(1 << 20));
    let uses = "$x ".repeat(100);
    let before = client.counts();
    for query in [
        format!("mutation($x: JSON) {{ insertDocument(id: 1, document: [{uses}]) {{ key }} }}"),
        "mutation($x: JSON) { ".to_owned()
            + &(0..100)
                .map(|at| format!("a{at}: insertDocument(document: $x) {{ key }} "))
                .collect::<String>()
            + "}",
        "mutation($x: JSON) { insertDocument(document: [[$x]]) { ...F } }
            fragment F on Document { key @skip(if: false) }"
            .replace("[[$x]]", &format!("{{a: [{uses}]}}")),
    ] {
        let (code, message) = client.error(&query, format!("{{\"x\":{text}}}")).await;
        assert_eq!(code, "TOO_LARGE");
        assert!(message.contains("67108864 bytes of variables"), "{message}");
    }
    assert_eq!(client.counts(), before);
    let path: Vec<usize> = vec![1; 50_000];
    let reading = |values: usize| {
        let values = "value(path: $p) ".repeat(values);
        format!("query($p: Path) {{ document(id: 1) {{ {values} }} }}")
    };
    let (code, _) = client.error(&reading(900), json!({"p": path})).await;
    assert_eq!(code, "TOO_LARGE");
    assert_eq!(client.counts(), before);
    client.data(&reading(900), json!({"p": [1, 1]})).await;
}

async fn values_and_strings_in_typed_variables_are_limited() {
    let client = client().await;
    let before = client.counts();
    let path = "query($p: Path) { document(id: 1, path: $p) { kind } }";
    let list = "mutation($x: [JSON]) { insertDocument(document: [$x]) { key } }";
    let ones = format!("[{}1]", "1,".repeat(2_000_000));
    for (query, variables) in [
        (path, format!("{{\"p\":{ones}}}")),
        (
            path,
            format!("{{\"p\":[{}]}}", "{\"a\":[]},".repeat(50_000) + "1"),
        ),
        (list, format!("{{\"x\":{ones}}}")),
    ] {
        let (code, message) = client.error(query, variables).await;
        assert_eq!(code, "TOO_COMPLEX");
        assert!(message.contains("100000 values in variables"), "{message}");
    }
    // Nulls and empty lists use memory too.
    let lists = "mutation($x: [[Int]]) { insertDocument(document: [$x]) { key } }";
    for element in ["null,", "[],", "[null],"] {
        let variables = format!("{{\"x\":[{}null]}}", element.repeat(100_001));
        let (code, message) = client.error(lists, variables).await;
        assert_eq!(code, "TOO_COMPLEX");
        assert!(message.contains("100000 values in variables"), "{message}");
    }
    let long = "x".repeat((64 << 10) + 1);
    let id = "query($i: ID!) { document(id: $i) { kind } }";
    for (query, variables) in [
        (id, json!({"i": long})),
        (path, json!({"p": long})),
        (path, json!({"p": [long]})),
        (path, json!({"p": {&long: 1}})),
    ] {
        let (code, message) = client.error(query, variables).await;
        assert_eq!(code, "TOO_LARGE");
        assert!(message.contains("65536 bytes"), "{message}");
    }
    let digits = format!("{{\"i\":{}}}", "1".repeat((64 << 10) + 1));
    assert_eq!(client.error(id, digits).await.0, "TOO_LARGE");
    assert_eq!(client.counts(), before);
    client.assert_serves().await;
}

async fn number_of_variables_is_limited_and_the_last_duplicate_wins() {
    let client = client().await;
    client.insert("1", r#"{"a": [1]}"#).await;
    let query = "query($p: Path) { document(id: 1) { value(path: $p) } }";
    let others = |count: usize| "\"q\":[{}],".repeat(count);
    let variables = format!("{{\"p\":\"/b\",{}\"p\":[\"\\u0061\"]}}", others(99_998));
    let data = client.data(query, variables).await;
    assert_eq!(data["document"]["value"], json!([1]));
    let variables = format!("{{{}\"p\":\"/a\"}}", others(100_000));
    let before = client.counts();
    let (code, message) = client.error(query, variables).await;
    assert_eq!(code, "TOO_COMPLEX");
    assert!(message.contains("100000 variables"), "{message}");
    assert_eq!(client.counts(), before);
}

async fn nested_list_variables_are_read_once() {
    let client = client().await;
    let (open, close) = ("[".repeat(60), "]".repeat(60));
    let query = format!(
        "mutation($x: {open}JSON{close}) {{ insertDocument(id: 1, document: [$x]) {{ key }} }}"
    );
    let list = format!("{open}1,{{\"a\":[null]}}{close}");
    client.data(&query, format!("{{\"x\":{list}}}")).await;
    assert_eq!(client.stored("1").await, format!("[{list}]"));
    // A single value is coerced to a list at any level.
    let query = query.replace("id: 1", "id: 2");
    client
        .data(&query, format!("{{\"x\":{}7]]}}", "[".repeat(2)))
        .await;
    assert_eq!(client.stored("2").await, format!("[{open}7{close}]"));
    let ints = query.replace("JSON", "Int");
    let (code, message) = client.error(&ints, r#"{"x":[[2, {"a": [true]} ]]}"#).await;
    assert_eq!(code, "BAD_USER_INPUT");
    assert!(
        message.contains("{\"a\": [true]} is not of the type Int"),
        "{message}"
    );
}

async fn private_number_markers_have_no_meaning_in_variables() {
    let client = client().await;
    for marker in ["RawValue", "Number"] {
        let document = format!(r#"{{"$serde_json::private::{marker}":"[1,{{"}}"#);
        let query = "mutation($d: JSON) { replaceDocument(id: 1, document: $d) { key } }";
        client.data(query, format!(r#"{{"d":{document}}}"#)).await;
        assert_eq!(client.stored("1").await, document);
        for (ty, field, code) in [
            ("Path", "document(id: 1, path: $v) { kind }", "INVALID_PATH"),
            ("ID!", "document(id: $v) { kind }", "BAD_USER_INPUT"),
            (
                "String!",
                "document(id: 1, collection: $v) { kind }",
                "BAD_USER_INPUT",
            ),
        ] {
            let query = format!("query($v: {ty}) {{ {field} }}");
            let found = client.error(&query, format!(r#"{{"v":{document}}}"#)).await;
            assert_eq!(found.0, code, "{ty}");
        }
    }
}

async fn variables_are_allowed_where_their_type_fits() {
    let client = client().await;
    client.insert("1", r#"{"a": [1]}"#).await;
    for (query, variables) in [
        (
            "query($id: ID!) { document(id: $id) { kind } }",
            r#"{"id": 1}"#,
        ),
        ("query($id: ID = 1) { document(id: $id) { kind } }", NONE),
        (
            "query($c: String) { document(id: 1, collection: $c) { kind } }",
            NONE,
        ),
        (
            "query($b: Boolean = true) { document(id: 1) @include(if: $b) { kind } }",
            NONE,
        ),
        (
            "query($r: [_Any!]!) { _entities(representations: $r) { __typename } }",
            r#"{"r": []}"#,
        ),
        (
            "query($k: String) { document(id: 1, path: [$k]) { kind } }",
            r#"{"k": "a"}"#,
        ),
    ] {
        client.data(query, variables).await;
    }
}

async fn variables_of_the_wrong_type_are_rejected() {
    let client = client().await;
    for (query, variables, expecting) in [
        (
            "query($id: Int) { document(id: $id) { kind } }",
            r#"{"id": 1}"#,
            "\"ID!\"",
        ),
        (
            "query($id: Int!) { document(id: $id) { kind } }",
            r#"{"id": 1}"#,
            "\"ID!\"",
        ),
        (
            "query($id: ID) { document(id: $id) { kind } }",
            r#"{"id": 1}"#,
            "\"ID!\"",
        ),
        (
            "query($id: ID = null) { document(id: $id) { kind } }",
            r#"{"id": 1}"#,
            "\"ID!\"",
        ),
        (
            "query($p: String) { document(id: 1, path: $p) { kind } }",
            r#"{"p": ""}"#,
            "\"Path\"",
        ),
        (
            "query($b: Boolean) { document(id: 1) @skip(if: $b) { kind } }",
            r#"{"b": true}"#,
            "\"Boolean!\"",
        ),
        (
            "query($b: Boolean) { document(id: 1) { ...F } } fragment F on Subdocument { kind @include(if: $b) }",
            r#"{"b": true}"#,
            "\"Boolean!\"",
        ),
        (
            "query($f: [Int]) { document(id: 1) { children(first: $f) { nodes { kind } } } }",
            r#"{"f": [1]}"#,
            "\"Int\"",
        ),
        (
            "query($r: [_Any]!) { _entities(representations: $r) { __typename } }",
            r#"{"r": []}"#,
            "\"[_Any!]!\"",
        ),
        (
            "query($r: _Any) { _entities(representations: [$r]) { __typename } }",
            r#"{"r": {}}"#,
            "\"_Any!\"",
        ),
        (
            "query($n: String) { __type(name: $n) { name } }",
            r#"{"n": "Query"}"#,
            "\"String!\"",
        ),
        (
            "mutation($d: [JSON]) { insertDocument(document: $d) { key } }",
            r#"{"d": [1]}"#,
            "\"JSON\"",
        ),
        (
            "mutation($v: Int) { deleteDocument(id: 1, ifVersion: $v) { deleted } }",
            r#"{"v": 1}"#,
            "\"DocumentVersion\"",
        ),
    ] {
        let (executed, text) = client.named(query, None, variables).await;
        assert!(!executed, "{query}");
        let (code, message) = only_error(&parse(&text));
        assert_eq!(code, "BAD_USER_INPUT");
        let told = format!("used in position expecting type {expecting}");
        assert!(message.contains(&told), "{query}: {message}");
    }
}
