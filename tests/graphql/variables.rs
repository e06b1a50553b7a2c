//! Variables: coerced to their declared types, or rejected by name.

use serde_json::{Value, json};

use super::support::{NONE, client};

cases!(
    async [
        missing_null_or_mistyped_variables_are_rejected_by_name,
        variables_must_be_a_json_object,
        undeclared_variables_are_ignored,
        the_last_of_duplicate_variables_wins,
        json_variables_are_allowed_anywhere_in_a_literal,
        json_lists_accept_a_single_value,
        defaults_apply_to_omitted_variables_but_not_to_null,
        arguments_with_an_omitted_variable_use_their_default,
        mutations_reject_paths_in_variables_without_a_value,
        mutations_reject_keys_and_filters_in_variables_without_a_value,
        mutations_reject_null_paths,
        targets_of_skipped_fields_need_no_value,
        many_variables_are_matched_in_one_pass,
        variables_of_unknown_types_are_rejected,
    ]
);

async fn missing_null_or_mistyped_variables_are_rejected_by_name() {
    let client = client().await;
    for (ty, given) in [
        ("ID!", "{}"),
        ("ID!", r#"{"v": null}"#),
        ("ID!", r#"{"w": 1}"#),
        ("ID!", r#"{"v": 1.5}"#),
        ("ID!", r#"{"v": 1e3}"#),
        ("ID!", r#"{"v": true}"#),
        ("ID!", r#"{"v": [1]}"#),
        ("Int", r#"{"v": "1"}"#),
        ("Int", r#"{"v": 1.5}"#),
        ("Int", r#"{"v": 2147483648}"#),
        ("Int", r#"{"v": -2147483649}"#),
        ("Int", r#"{"v": true}"#),
        ("String!", r#"{"v": 1}"#),
        ("String!", r#"{"v": {}}"#),
        ("Boolean!", r#"{"v": "true"}"#),
        ("Boolean!", r#"{"v": 0}"#),
        ("JSON!", "{}"),
        ("JSON!", r#"{"v": null}"#),
        ("[JSON!]", r#"{"v": [1, null]}"#),
        ("[JSON]!", r#"{"v": null}"#),
    ] {
        let used = match ty {
            "ID!" => "{ document(id: $v) { kind } }",
            "Int" => "{ document(id: 1) { children(first: $v) { nodes { kind } } } }",
            "String!" => "{ document(id: 1, collection: $v) { kind } }",
            "Boolean!" => "{ document(id: 1) { kind @skip(if: $v) path } }",
            _ => "{ insertDocument(document: $v) { key } }",
        };
        let operation = if ty.contains("JSON") {
            "mutation"
        } else {
            "query"
        };
        let query = format!("{operation}($v: {ty}) {used}");
        let (executed, text) = client.named(&query, None, given).await;
        assert!(!executed, "{ty} {given}");
        let error = &super::support::parse(&text)["errors"][0];
        assert_eq!(error["extensions"]["code"], json!("BAD_USER_INPUT"));
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|message| message.contains("$v")),
            "{error}"
        );
    }
    client.assert_serves().await;
}

async fn variables_must_be_a_json_object() {
    let client = client().await;
    for variables in ["[]", "1", "\"x\"", "true"] {
        let (code, message) = client.error("{ __typename }", variables).await;
        assert_eq!(code, "BAD_USER_INPUT");
        assert!(message.contains("`variables`"), "{message}");
    }
    assert_eq!(
        client.data("{ __typename }", "null").await["__typename"],
        json!("Query")
    );
}

async fn undeclared_variables_are_ignored() {
    let client = client().await;
    let data = client.data(
        "query($id: ID!) { document(id: $id) { kind } }",
        r#"{"id": 1, "more": {"x": [1]}, "": null}"#,
    );
    assert_eq!(data.await["document"], Value::Null);
}

async fn the_last_of_duplicate_variables_wins() {
    let client = client().await;
    client.insert("1", "1").await;
    client.insert("2", "2").await;
    let query = "query($id: ID!) { document(id: $id) { value } }";
    let data = client.data(query, r#"{"id": 1, "\u0069d": 2}"#).await;
    assert_eq!(data["document"]["value"], json!(2));
}

async fn json_variables_are_allowed_anywhere_in_a_literal() {
    let client = client().await;
    let query = r#"mutation($x: JSON, $gone: JSON, $list: [JSON], $int: Int, $s: String, $b: Boolean, $set: JSON = {a: [1.0, null]}) {
        insertDocument(document: {
            x: $x, nested: [{deep: {x: $x}}, $x], gone: $gone, goneToo: [$gone], list: $list, int: $int, s: $s, b: $b, set: $set
        }) { value }
    }"#;
    let variables = r#"{"x": {"é": [1e1, -0, {}]}, "list": [1, {"a": "b"}, null], "int": 7, "s": "q\"", "b": false}"#;
    let text = client.text(query, variables).await;
    let stored = concat!(
        r#"{"b":false,"goneToo":[null],"int":7,"list":[1,{"a":"b"},null],"#,
        r#""nested":[{"deep":{"x":{"é":[10.0,0,{}]}}},{"é":[10.0,0,{}]}],"s":"q\"","set":{"a":[1.0,null]},"x":{"é":[10.0,0,{}]}}"#,
    );
    assert_eq!(
        text,
        format!(r#"{{"data":{{"insertDocument":{{"value":{stored}}}}}}}"#)
    );
}

async fn json_lists_accept_a_single_value() {
    let client = client().await;
    let query = "mutation($l: [JSON]) { insertDocument(document: {l: $l}) { value } }";
    for (given, stored) in [
        ("[]", "[]"),
        ("[[1], {}, null]", "[[1],{},null]"),
        ("{\"a\": 1}", "[{\"a\":1}]"),
        ("null", "null"),
    ] {
        let text = client.text(query, format!(r#"{{"l": {given}}}"#)).await;
        assert_eq!(
            text,
            format!(r#"{{"data":{{"insertDocument":{{"value":{{"l":{stored}}}}}}}}}"#)
        );
    }
}

async fn defaults_apply_to_omitted_variables_but_not_to_null() {
    let client = client().await;
    client.insert("1", r#"{"a": {"b": 1}}"#).await;
    let query =
        r#"query($p: Path = ["a", "b"], $id: ID! = 1) { document(id: $id) { value(path: $p) } }"#;
    for (given, value) in [
        ("{}", json!(1)),
        (r#"{"p": null}"#, json!({"a": {"b": 1}})),
        (r#"{"p": "/a"}"#, json!({"b": 1})),
    ] {
        assert_eq!(
            client.data(query, given).await["document"]["value"],
            value,
            "{given}"
        );
    }
}

async fn arguments_with_an_omitted_variable_use_their_default() {
    let client = client().await;
    client.insert("1", r#"{"a": [1]}"#).await;
    let query = "query($c: String, $p: Path, $f: Int, $after: String) {
        document(id: 1, collection: $c, path: $p) { ...Rest }
    }
    fragment Rest on Subdocument { value(path: $p) children(first: $f, after: $after) { nodes { kind } } }";
    let data = client.data(query, NONE).await;
    let expected = json!({"value": {"a": [1]}, "children": {"nodes": [{"kind": "ARRAY"}]}});
    assert_eq!(data["document"], expected);
    let (code, _) = client
        .error(
            "query($c: String) { document(id: 1, collection: $c) { kind } }",
            r#"{"c": null}"#,
        )
        .await;
    assert_eq!(code, "BAD_USER_INPUT", "null is not a collection");
    let query = "mutation($c: String, $id: ID) { insertDocument(id: $id, document: 1, collection: $c) { collection } }";
    assert_eq!(
        client.data(query, NONE).await["insertDocument"]["collection"],
        json!("D")
    );
}

/// A document and a copy of it, which mutations in which a variable has no value must not change.
async fn unchanged(cases: &[(&str, &str, &str)]) {
    let client = client().await;
    let document = r#"{"a":[1,2],"b":{"c":3}}"#;
    client.insert("1", document).await;
    client.insert("2", document).await;
    for (query, variables, told) in cases {
        let (code, message) = client.error(query, variables).await;
        assert_eq!(code, "BAD_USER_INPUT", "{query} {variables}: {message}");
        assert!(message.contains(told), "{query} {variables}: {message}");
        for id in ["1", "2"] {
            assert_eq!(client.stored(id).await, document, "{query} {variables}");
        }
        let data = client.data("{ collections { name count } }", NONE).await;
        assert_eq!(data["collections"], json!([{"name": "D", "count": 2}]));
    }
}

async fn mutations_reject_paths_in_variables_without_a_value() {
    for given in ["{}", r#"{"p": null}"#] {
        unchanged(&[
            (
                "mutation($p: Path) { deleteDocument(id: 1, path: $p) { deleted } }",
                given,
                "`$p` in the argument `path` of `deleteDocument`",
            ),
            (
                "mutation($p: Path) { replaceDocument(id: 1, path: $p, document: 0) { key } }",
                given,
                "`$p` in the argument `path` of `replaceDocument`",
            ),
            (
                "mutation($p: Path) { mergeDocument(id: 1, path: $p, patch: null) { key } }",
                given,
                "$p",
            ),
            (
                "mutation($p: Path) { patchDocument(id: 1, path: $p, patch: [{op: \"remove\", path: \"/a\"}]) { key } }",
                given,
                "$p",
            ),
            (
                "mutation($p: Path) { copyDocument(id: 3, from: {id: 1, path: $p}) { key } }",
                given,
                "`$p` in the argument `from` of `copyDocument`",
            ),
            (
                "mutation($p: Path) { copyDocument(id: 2, path: $p, from: {id: 1, path: \"/a\"}) { key } }",
                given,
                "$p",
            ),
            (
                "mutation($p: Path) { updateDocuments(where: {}, everything: true, set: [{at: \"$.a\", from: {id: 1, path: $p}}]) { changed } }",
                given,
                "`$p` in the argument `set` of `updateDocuments`",
            ),
            (
                "mutation($p: JSON) { deleteDocument(id: 1, path: [\"b\", $p]) { deleted } }",
                given,
                "$p",
            ),
            (
                "mutation($p: Path) { ...F } fragment F on Mutation { ... on Mutation { deleteDocument(id: 1, path: $p) { deleted } } }",
                given,
                "$p",
            ),
            (
                "mutation($p: Path, $no: Boolean!) { a: deleteDocument(id: 3) { deleted } deleteDocument(id: 1, path: $p) @skip(if: $no) { deleted } }",
                &given.replace('{', r#"{"no": false,"#).replace(",}", "}"),
                "$p",
            ),
        ])
        .await;
    }
    let client = client().await;
    client.insert("1", r#"{"a":1,"b":2}"#).await;
    // The default of a variable is a value, and the fields of the result only read.
    let query = "mutation($p: Path = \"/a\", $read: Path) {
        deleteDocument(id: 1, path: $p) { document { value(path: $read) } }
    }";
    let data = client.data(query, NONE).await;
    let document = json!({"document": {"value": {"b": 2}}});
    assert_eq!(data["deleteDocument"], document);
    let (_, message) = client.error(query, r#"{"p": null}"#).await;
    assert!(message.contains("$p"), "{message}");
    let whole = client.mutate("deleteDocument(id: 1) { deleted }").await;
    assert_eq!(whole["deleteDocument"]["deleted"], json!(true));
}

async fn mutations_reject_keys_and_filters_in_variables_without_a_value() {
    for given in ["{}", r#"{"v": null}"#] {
        unchanged(&[
            (
                "mutation($v: DocumentKeyFilter) { takeDocuments(first: 9, keys: $v) { key } }",
                given,
                "`$v` in the argument `keys` of `takeDocuments`",
            ),
            (
                "mutation($v: ID) { deleteDocuments(where: {}, keys: {gte: 1, lt: $v}) { changed } }",
                given,
                "`$v` in the argument `keys` of `deleteDocuments`",
            ),
            (
                "mutation($v: [ID!]) { deleteDocuments(where: {}, keys: {gte: 1, in: $v}) { changed } }",
                given,
                "$v",
            ),
            (
                "mutation($v: DocumentFilter) { deleteDocuments(where: {at: \"$.b.c\", eq: 3, not: $v}) { changed } }",
                given,
                "`$v` in the argument `where` of `deleteDocuments`",
            ),
            (
                "mutation($v: String) { updateDocuments(where: {all: [{at: \"$.b.c\", gt: 0, startsWith: $v}]}, unset: [\"$.a\"]) { changed } }",
                given,
                "$v",
            ),
        ])
        .await;
    }
    unchanged(&[(
        "mutation($v: JSON) { deleteDocuments(where: {at: \"$.b.c\", gt: 0, lt: $v}) { changed } }",
        "{}",
        "$v",
    )])
    .await;
    // A test with null compares with null.
    let client = client().await;
    client.insert("1", r#"{"a":null}"#).await;
    client.insert("2", r#"{"a":1}"#).await;
    let query = "mutation($v: JSON) { deleteDocuments(where: {at: \"$.a\", eq: $v}) { changed } }";
    let data = client.data(query, r#"{"v": null}"#).await;
    assert_eq!(data["deleteDocuments"]["changed"], json!(1));
    assert_eq!(client.stored("2").await, r#"{"a":1}"#);
}

async fn mutations_reject_null_paths() {
    let place = "mutation($from: DocumentPlace!) { copyDocument(id: 3, from: $from) { key } }";
    unchanged(&[
        (
            "mutation { deleteDocument(id: 1, path: null) { deleted } }",
            NONE,
            "`path` is null",
        ),
        (
            "mutation { replaceDocument(id: 1, path: null, document: 0) { key } }",
            NONE,
            "`path` is null",
        ),
        (
            "mutation { incrementDocument(id: 1, path: null) { key } }",
            NONE,
            "`path` is null",
        ),
        (
            "mutation { copyDocument(id: 3, from: {id: 1, path: null}) { key } }",
            NONE,
            "the argument `from`",
        ),
        (
            place,
            r#"{"from": {"id": 1, "path": null}}"#,
            "the argument `from`",
        ),
    ])
    .await;
    let client = client().await;
    client.insert("1", "{\"a\":1}").await;
    let data = client.data(place, r#"{"from": {"id": 1}}"#).await;
    assert_eq!(data["copyDocument"]["key"], json!("3"));
    let read = "{ document(id: 1, path: null) { value(path: \"/a\") } }";
    assert_eq!(client.data(read, NONE).await["document"]["value"], json!(1));
}

async fn targets_of_skipped_fields_need_no_value() {
    let client = client().await;
    client.insert("1", r#"{"a":1}"#).await;
    let query = "mutation($p: Path, $all: Boolean!) {
        deleteDocument(id: 1, path: $p) @include(if: $all) { deleted }
        incrementDocument(id: 1, path: \"/a\") { value }
    }";
    let data = client.data(query, r#"{"all": false}"#).await;
    assert_eq!(data, json!({"incrementDocument": {"value": {"a": 2}}}));
}

async fn many_variables_are_matched_in_one_pass() {
    let client = client().await;
    let declared: String = (0..1_000).map(|at| format!("$v{at}: JSON ")).collect();
    let used: String = (0..1_000).map(|at| format!("$v{at} ")).collect();
    let query = format!("mutation({declared}) {{ insertDocument(document: [{used}]) {{ kind }} }}");
    // With a search for each variable, this would take 100 million comparisons.
    let given: Vec<String> = (0..100_000)
        .rev()
        .map(|at| format!(r#""v{at}":{at}"#))
        .collect();
    let data = client
        .data(&query, format!("{{{}}}", given.join(",")))
        .await;
    assert_eq!(data["insertDocument"]["kind"], json!("ARRAY"));
}

async fn variables_of_unknown_types_are_rejected() {
    let client = client().await;
    for query in [
        "query($v: Nope) { document(id: $v) { kind } }",
        "query($v: Nope = 1) { __typename }",
        "query($v: [Nope] = [1]) { __typename }",
        "query($v: [[Nope!]]! = 1) { __typename }",
        "query($v: Subdocument) { __typename }",
        "query($v: Int) { __typename }",
        "query($v: Int, $v: Int) { document(id: $v) { kind } }",
        "query { document(id: $v) { kind } }",
    ] {
        let (executed, text) = client.named(query, None, NONE).await;
        assert!(!executed, "{query}");
        let error = &super::support::parse(&text)["errors"][0];
        assert_eq!(
            error["extensions"]["code"],
            json!("BAD_USER_INPUT"),
            "{query}"
        );
    }
    client.assert_serves().await;
}
