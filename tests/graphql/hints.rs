//! Hints: a response with an empty result names the mistakes that can explain it.

use phyllo::limits::Bounds;
use serde_json::{Value, json};

use super::bindings::answer;
use super::support::{Client, NONE, client, parse};
use super::types::set_type;

cases!(
    async [
        unknown_collections_are_named_with_similar_ones,
        global_ids_in_place_of_keys_are_recognized,
        keys_of_another_type_are_recognized,
        keys_of_typed_documents_are_recognized,
        bounds_of_another_type_are_recognized,
        rounded_integers_are_recognized,
        missing_indexes_are_suggested_as_an_operation,
        usual_responses_have_no_hints,
        hints_are_few_and_can_be_switched_off,
        mutations_and_their_stored_responses_have_no_hints,
        hints_keep_within_the_budget_and_never_fail_a_request,
    ]
);

/// Three collections, and documents whose keys are easily confused.
async fn filled() -> Client {
    let client = client().await;
    client
        .mutate(
            r#"
            a: insertDocument(collection: "countries", id: "FRA", document: {name: "France"}) { key }
            b: insertDocument(collection: "countries", id: "DEU", document: {name: "Germany"}) { key }
            c: insertDocument(collection: "years", id: "\"2024\"", document: 1) { key }
            d: insertDocument(collection: "years", id: "2024-07", document: 2) { key }
            e: insertDocument(collection: "numbers", id: 42, document: 3) { key }
            f: insertDocument(collection: "numbers", id: "1234567890123456789", document: 4) { key }
            "#,
        )
        .await;
    client
}

/// The hints of a query.
async fn hints(client: &Client, fields: &str, variables: &Value) -> Vec<Value> {
    let declared = "query($id: ID = \"x\", $ids: [ID!], $c: String, $keys: DocumentKeyFilter)";
    let used = "used: documents(collection: $c, keys: $keys) @skip(if: true) { totalCount } \
                ids: documents(keys: {gte: $id, in: $ids}) @skip(if: true) { totalCount }";
    let query = format!("{declared} {{ {fields} {used} }}");
    let found = parse(&answer(client, &query, &variables.to_string()).await);
    let Some(hints) = found["extensions"]["hints"].as_array() else {
        assert_eq!(found.get("extensions"), None, "{found}");
        return Vec::new();
    };
    hints.clone()
}

/// The code and the suggestion of the only hint, whose message has all of `told`.
async fn only(client: &Client, fields: &str, variables: &Value, told: &[&str]) -> (String, Value) {
    let found = hints(client, fields, variables).await;
    let [hint] = &found[..] else {
        panic!("{fields}: {found:?}");
    };
    let message = hint["message"].as_str().expect("a message");
    for part in told {
        assert!(
            message.contains(part),
            "{part:?} is not told in {message:?}"
        );
    }
    let code = hint["code"].as_str().expect("a code").to_owned();
    (code, hint["suggestion"].clone())
}

const NO_VARIABLES: Value = Value::Null;

async fn unknown_collections_are_named_with_similar_ones() {
    let client = filled().await;
    for fields in [
        "documents(collection: \"country\") { nodes { key } }",
        "documents(collection: \"country\") { ...F } } fragment F on DocumentConnection { edges { cursor }",
        "documents(collection: \"Countries\", first: 1) { totalCount }",
        "a: document(collection: \"contries\", id: \"FRA\") { value }",
        "aggregate(collection: \"country\", groupBy: [\"$.name\"]) { groups { key } }",
        "aggregate(collection: \"country\") { groups { n: count } }",
        "node(id: \"country/FRA\") { id }",
    ] {
        if fields.contains("fragment") {
            // The fields of the comparison would be in the fragment.
            let response = client.ask(&format!("{{ {fields} }}"), NONE).await;
            let hint = &response["extensions"]["hints"][0];
            assert_eq!(hint["suggestion"], json!("countries"), "{response}");
            continue;
        }
        let found = only(
            &client,
            fields,
            &NO_VARIABLES,
            &["similar names", "\"countries\""],
        )
        .await;
        let expected = ("UNKNOWN_COLLECTION".to_owned(), json!("countries"));
        assert_eq!(found, expected, "{fields}");
    }
    let told = [
        "\"D\", which is the default",
        "\"countries\", \"numbers\", \"years\"",
    ];
    let found = only(&client, "documents { nodes { key } }", &NO_VARIABLES, &told).await;
    assert_eq!(found, ("UNKNOWN_COLLECTION".to_owned(), Value::Null));
    let given = json!({"c": "year"});
    let fields = "documents(collection: $c) { nodes { key } }";
    let found = only(&client, fields, &given, &["\"years\""]).await;
    assert_eq!(found.1, json!("years"));
    let response = client.ask("{ b: document(id: 1) { value } }", NONE).await;
    assert_eq!(
        response["extensions"]["hints"][0]["path"],
        json!(["b"]),
        "{response}"
    );
}

async fn global_ids_in_place_of_keys_are_recognized() {
    let client = filled().await;
    let instead = r#"document(collection: "countries", id: "FRA")"#;
    for fields in [
        "document(id: \"countries/FRA\") { value }",
        "document(id: \"countries/FRA\", collection: \"countries\") { value }",
        "document(id: \"countries/FRA#/name\") { value }",
        "documents(collection: \"countries\", keys: {in: [\"countries/FRA\"]}) { nodes { key } }",
        "document(id: $id) { kind }",
    ] {
        let given = json!({"id": "countries/FRA"});
        let found = only(&client, fields, &given, &["global id", "`node`", instead]).await;
        assert_eq!(found, ("GLOBAL_ID".to_owned(), json!(instead)), "{fields}");
    }
    // A key may contain a slash, and nothing is stored under the global id.
    let fields = "document(collection: \"countries\", id: \"countries/XXX\") { value }";
    assert_eq!(
        hints(&client, fields, &NO_VARIABLES).await,
        [] as [Value; 0]
    );
}

async fn keys_of_another_type_are_recognized() {
    let client = filled().await;
    for (fields, suggestion) in [
        (
            "document(collection: \"years\", id: 2024) { value }",
            "\"2024\"",
        ),
        (
            "document(collection: \"years\", id: \"2024\") { value }",
            "\"2024\"",
        ),
        (
            "document(collection: \"numbers\", id: \"\\\"42\\\"\") { value }",
            "42",
        ),
        ("node(id: \"years/2024\") { id }", "\"2024\""),
        (
            "nodes(ids: [\"countries/FRA\", \"years/2024\"]) { id }",
            "\"2024\"",
        ),
        (
            "documents(collection: \"years\", keys: {in: [\"2024\"]}) { nodes { key } }",
            "\"2024\"",
        ),
    ] {
        let found = only(&client, fields, &NO_VARIABLES, &["a string", "an integer"]).await;
        assert_eq!(
            found,
            ("KEY_TYPE".to_owned(), json!(suggestion)),
            "{fields}"
        );
    }
    let response = client
        .ask(
            "{ nodes(ids: [\"countries/FRA\", \"years/2024\"]) { id } }",
            NONE,
        )
        .await;
    assert_eq!(
        response["extensions"]["hints"][0]["path"],
        json!(["nodes", 1])
    );
    // The document exists, and has nothing at the path.
    client
        .mutate("insertDocument(collection: \"years\", id: 2024, document: {}) { key }")
        .await;
    for fields in [
        "document(collection: \"years\", id: 2024, path: \"/a\") { value }",
        "node(id: \"years/2024#/a\") { id }",
    ] {
        let found = hints(&client, fields, &NO_VARIABLES).await;
        assert_eq!(found, [] as [Value; 0], "{fields}");
    }
}

async fn keys_of_typed_documents_are_recognized() {
    let client = filled().await;
    for collection in ["years", "numbers"] {
        set_type(&client, collection, &json!({"type": "object"})).await;
    }
    for (fields, code, suggestion) in [
        ("year(key: 2024) { key }", "KEY_TYPE", "\"2024\""),
        ("year(key: \"2024\") { key }", "KEY_TYPE", "\"2024\""),
        ("number(key: \"\\\"42\\\"\") { key }", "KEY_TYPE", "42"),
        (
            "number(key: 1234567890123456800) { key }",
            "ROUNDED_INTEGER",
            "1234567890123456789",
        ),
    ] {
        let found = only(&client, fields, &NO_VARIABLES, &[]).await;
        assert_eq!(found, (code.to_owned(), json!(suggestion)), "{fields}");
    }
    let global = "year(key: \"years/2024-07\") { key }";
    let told = "this field takes the key";
    let (code, suggestion) = only(&client, global, &NO_VARIABLES, &[told]).await;
    assert_eq!(code, "GLOBAL_ID");
    assert_eq!(suggestion, json!("key: \"2024-07\""));
    let other = "year(key: \"nobody\") { key }";
    assert_eq!(
        hints(&client, other, &NO_VARIABLES).await,
        Vec::<Value>::new()
    );
}

async fn bounds_of_another_type_are_recognized() {
    let client = filled().await;
    let page = |collection: &str, keys: &str| {
        format!("documents(collection: {collection:?}, keys: {keys}) {{ nodes {{ key }} }}")
    };
    for (collection, keys, told) in [
        (
            "years",
            "{gte: \"2024\", lt: \"2025\"}",
            "are strings such as \"\\\"2024\\\"\"",
        ),
        (
            "years",
            "{gt: 2023}",
            "write a string of digits with its quotation marks",
        ),
        (
            "years",
            "{gte: 2024, lt: \"2025-x\"}",
            "the lower bound of `keys` is an integer",
        ),
        (
            "numbers",
            "{gte: \"a\", lt: \"b\"}",
            "are integers such as \"42\"",
        ),
        ("numbers", "{prefix: \"x\"}", "`prefix` selects strings"),
    ] {
        let fields = page(collection, keys);
        let (code, _) = only(&client, &fields, &NO_VARIABLES, &[told]).await;
        assert_eq!(code, "KEY_TYPE", "{keys}");
    }
    let given = json!({"keys": {"gte": "2024", "lt": "2025"}});
    let fields = "documents(collection: \"years\", keys: $keys) { nodes { key } }";
    let (_, suggestion) = only(&client, fields, &given, &[]).await;
    assert_eq!(suggestion, json!("\"2024\""));
    for (collection, keys) in [
        ("years", "{gte: \"2026-01\", lt: \"2027-01\"}"),
        ("years", r#"{prefix: "\"1999\""}"#),
        ("numbers", "{gt: 43, lt: 50}"),
    ] {
        let found = hints(&client, &page(collection, keys), &NO_VARIABLES).await;
        assert_eq!(found, [] as [Value; 0], "{keys}");
    }
}

async fn rounded_integers_are_recognized() {
    let client = filled().await;
    let by_id = "document(collection: \"numbers\", id: $id) { value }";
    // What JavaScript makes of the key 1234567890123456789.
    for given in [
        json!(1_234_567_890_123_456_800_i64),
        json!("1234567890123456800"),
    ] {
        let found = only(
            &client,
            by_id,
            &json!({"id": given}),
            &["2^53", "JavaScript"],
        )
        .await;
        let expected = ("ROUNDED_INTEGER".to_owned(), json!("1234567890123456789"));
        assert_eq!(found, expected);
    }
    let listed =
        "documents(collection: \"numbers\", keys: {in: [1234567890123456800]}) { nodes { key } }";
    let (code, _) = only(&client, listed, &NO_VARIABLES, &[]).await;
    assert_eq!(code, "ROUNDED_INTEGER");
    // No such key is stored, and JavaScript would write the number as it is.
    let given = json!({"id": 8_234_567_890_123_457_000_i64});
    let found = only(&client, by_id, &given, &["may have been rounded"]).await;
    assert_eq!(found, ("ROUNDED_INTEGER".to_owned(), Value::Null));
    for exact in [
        json!("8234567890123457000"),
        json!(8_234_567_890_123_456_789_i64),
        json!(9_007_199_254_740_991_i64),
        json!(-5),
    ] {
        let found = hints(&client, by_id, &json!({"id": exact})).await;
        assert_eq!(found, [] as [Value; 0], "{exact}");
    }
}

async fn missing_indexes_are_suggested_as_an_operation() {
    let client = client().await;
    for at in 0..120 {
        let document = json!({"a": at, "b": {"c": at % 3}});
        let insert =
            "mutation($d: JSON) { insertDocument(collection: \"many\", document: $d) { key } }";
        client.data(insert, json!({"d": document})).await;
    }
    let empty = "documents(collection: \"many\", where: {at: \"$.b.c\", eq: 7}) { nodes { key } }";
    let failing = "documents(collection: \"many\", where: {at: \"$.b.c\", eq: 7}, scanLimit: 50) { nodes { key } }";
    let create = "mutation { createIndex(collection: \"many\", name: \"b_c\", on: [\"$.b.c\"]) { name state } }";
    for fields in [empty, failing] {
        let found = only(&client, fields, &NO_VARIABLES, &["no index serves", create]).await;
        assert_eq!(
            found,
            ("MISSING_INDEX".to_owned(), json!(create)),
            "{fields}"
        );
    }
    let groups =
        "aggregate(collection: \"many\", groupBy: [\"$.a\"], scanLimit: 50) { groups { key } }";
    let (code, suggestion) = only(&client, groups, &NO_VARIABLES, &["createIndex("]).await;
    assert_eq!(code, "MISSING_INDEX");
    // The suggestions are operations.
    for operation in [suggestion, json!(create)] {
        client.data(operation.as_str().expect("a text"), NONE).await;
    }
    for fields in [empty, failing] {
        let found = hints(&client, fields, &NO_VARIABLES).await;
        assert!(found.len() <= 1, "the index is being built: {found:?}");
    }
    client.build().await;
    for fields in [empty, failing] {
        assert_eq!(
            hints(&client, fields, &NO_VARIABLES).await,
            [] as [Value; 0]
        );
    }
    let next = "documents(collection: \"many\", where: {at: \"$.x\", eq: 7}) { nodes { key } }";
    let page = client
        .data(
            "{ documents(collection: \"many\", first: 3) { pageInfo { endCursor } } }",
            NONE,
        )
        .await;
    assert_eq!(hints(&client, next, &NO_VARIABLES).await.len(), 1);
    // The page after the last one is empty.
    let cursor = &page["documents"]["pageInfo"]["endCursor"];
    let after =
        format!("documents(collection: \"many\", before: {cursor}, last: 0) {{ nodes {{ key }} }}");
    assert_eq!(
        hints(&client, &after, &NO_VARIABLES).await,
        [] as [Value; 0]
    );
}

async fn usual_responses_have_no_hints() {
    let client = filled().await;
    for fields in [
        "document(collection: \"countries\", id: \"FRA\") { value }",
        "document(collection: \"countries\", id: \"FRA\") { value(path: \"/none\") }",
        "document(collection: \"countries\", id: \"FRA\", path: \"/none\") { value }",
        "document(collection: \"countries\", id: \"XXX\") { value }",
        "document(collection: \"numbers\", id: 43) { value }",
        "documents(collection: \"countries\") { totalCount nodes { key } }",
        "documents(collection: \"countries\", where: {at: \"$.name\", eq: \"Spain\"}) { nodes { key } }",
        "documents(collection: \"countries\", first: 0) { nodes { key } }",
        "aggregate(collection: \"countries\") { groups { count } }",
        "node(id: \"countries/FRA\") { id }",
        "nodes(ids: []) { id }",
        "changesCursor",
        "__typename",
    ] {
        let found = hints(&client, fields, &NO_VARIABLES).await;
        assert_eq!(found, [] as [Value; 0], "{fields}");
    }
    // In an empty store nothing is wrong.
    let empty = super::support::client().await;
    let text = empty
        .text(
            "{ document(id: 1) { value } documents { nodes { key } } }",
            NONE,
        )
        .await;
    assert_eq!(
        text,
        r#"{"data":{"document":null,"documents":{"nodes":[]}}}"#
    );
}

async fn hints_are_few_and_can_be_switched_off() {
    let client = filled().await;
    let fields: String = (0..20)
        .map(|at| format!("d{at}: document(id: {at}) {{ value }} "))
        .collect();
    let found = client.ask(&format!("{{ {fields} }}"), NONE).await;
    let hints = found["extensions"]["hints"].as_array().expect("hints");
    assert_eq!(hints.len(), 5, "{found}");
    let off = client.without_hints();
    let query = "{ document(id: \"countries/FRA\") { value } documents { nodes { key } } }";
    let text = off.text(query, NONE).await;
    assert_eq!(
        text,
        r#"{"data":{"document":null,"documents":{"nodes":[]}}}"#
    );
    // A long response is not examined.
    client.insert("long", json!("x".repeat(70_000))).await;
    let query =
        "{ none: document(id: \"countries/FRA\") { value } document(id: \"long\") { value } }";
    let found = client.ask(query, NONE).await;
    assert_eq!(found.get("extensions"), None);
}

async fn mutations_and_their_stored_responses_have_no_hints() {
    let client = filled().await;
    let text = client
        .text(
            "mutation { deleteDocument(id: \"countries/FRA\") { deleted document { key } } }",
            NONE,
        )
        .await;
    assert_eq!(
        text,
        r#"{"data":{"deleteDocument":{"deleted":false,"document":null}}}"#
    );
}

async fn hints_keep_within_the_budget_and_never_fail_a_request() {
    let client = filled().await;
    for collection in 0..40 {
        let insert =
            "mutation($c: String!) { insertDocument(collection: $c, document: 1) { key } }";
        client
            .data(insert, json!({"c": format!("collection{collection}")}))
            .await;
    }
    let query = "{ documents(collection: \"collection\") { nodes { key } } }";
    let data = json!({"documents": {"nodes": []}});
    for read_bytes in [1, 100, 1_000, 10_000, 100_000] {
        let bounds = Bounds {
            read_bytes,
            ..Bounds::DEFAULT
        };
        let found = client.within(bounds).ask(query, NONE).await;
        assert_eq!(found["data"], data, "{read_bytes}: {found}");
        assert_eq!(found.get("errors"), None, "{read_bytes}: {found}");
    }
    let bounds = Bounds {
        response_bytes: 60,
        ..Bounds::DEFAULT
    };
    let found = client.within(bounds).ask(query, NONE).await;
    assert_eq!(found, json!({"data": data}), "no room for hints");
    let (_, cost) = client.cost(query, NONE).await;
    assert!(cost.ranges + cost.gets < 30, "{cost:?}");
}
