//! JSON values are stored and returned unchanged, both as variables and as literals.

use serde_json::json;

use super::support::{NONE, client};

cases!(
    async [
        numbers_are_exact_in_variables_and_literals,
        numbers_that_cannot_be_stored_are_rejected,
        invalid_json_is_rejected,
        serializer_markers_are_ordinary_member_names,
        any_text_can_be_a_name_and_a_value,
        string_literals_are_unescaped_correctly,
        surrogate_pairs_in_literals_are_one_character,
        long_strings_are_split_and_returned_whole,
        document_levels_have_the_same_limit_in_every_input_form,
    ]
);

/// The largest integer of 255 bytes, in decimal.
fn largest() -> String {
    let mut digits = vec![0_u8; 1];
    for _ in 0..8 * 255 {
        let mut carry = 0;
        for digit in &mut digits {
            let doubled = *digit * 2 + carry;
            (*digit, carry) = (doubled % 10, doubled / 10);
        }
        if carry > 0 {
            digits.push(carry);
        }
        // Doubling 0 and adding 1 each time makes 2^n - 1. No digit overflows, because 2d is even.
        digits[0] += 1;
    }
    digits
        .iter()
        .rev()
        .map(|digit| char::from(b'0' + digit))
        .collect()
}

async fn numbers_are_exact_in_variables_and_literals() {
    let client = client().await;
    let (long, largest) = ("9".repeat(300), largest());
    assert_eq!(largest.len(), 615);
    let negative = |number: &String| format!("-{number}");
    let mut cases: Vec<(String, String)> = [
        ("0", "0"),
        ("-0", "0"),
        ("-1", "-1"),
        ("9223372036854775807", "9223372036854775807"),
        ("9223372036854775808", "9223372036854775808"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("-9223372036854775809", "-9223372036854775809"),
        ("18446744073709551615", "18446744073709551615"),
        ("18446744073709551616", "18446744073709551616"),
        ("9007199254740993", "9007199254740993"),
        ("1.0", "1.0"),
        ("-0.0", "-0.0"),
        ("0.1", "0.1"),
        ("1e2", "100.0"),
        ("1E+2", "100.0"),
        ("1e-7", "1e-7"),
        ("5e-324", "5e-324"),
        ("1e-400", "0.0"),
        ("1.7976931348623157e308", "1.7976931348623157e308"),
        ("0.30000000000000004", "0.30000000000000004"),
    ]
    .map(|(given, stored)| (given.to_owned(), stored.to_owned()))
    .into();
    for exact in [
        long.clone(),
        negative(&long),
        largest.clone(),
        negative(&largest),
    ] {
        cases.push((exact.clone(), exact));
    }
    for (at, (given, stored)) in cases.iter().enumerate() {
        let query = "mutation($id: ID, $d: JSON) { insertDocument(id: $id, document: $d) { key } }";
        client
            .data(
                query,
                format!(r#"{{"id": "v{at}", "d": {{"n": [{given}]}}}}"#),
            )
            .await;
        let query = format!(
            r#"mutation {{ insertDocument(id: "l{at}", document: {{n: [{given}]}}) {{ key }} }}"#
        );
        client.data(&query, NONE).await;
        let expected = format!(r#"{{"n":[{stored}]}}"#);
        assert_eq!(client.stored(&format!("v{at}")).await, expected);
        assert_eq!(client.stored(&format!("l{at}")).await, expected);
        let query = r#"query($id: ID!) { document(id: $id) { value(path: "/n/0") } }"#;
        let text = client.text(query, json!({"id": format!("v{at}")})).await;
        assert_eq!(
            text,
            format!(r#"{{"data":{{"document":{{"value":{stored}}}}}}}"#)
        );
    }
}

async fn numbers_that_cannot_be_stored_are_rejected() {
    let client = client().await;
    let past = format!("{}0", largest());
    for (number, code, told) in [
        ("1e400", "BAD_USER_INPUT", "binary64"),
        ("-1e400", "BAD_USER_INPUT", "binary64"),
        ("1.0e99999999999", "BAD_USER_INPUT", "binary64"),
        (&"7".repeat(700), "TOO_LARGE", "255 bytes"),
        (&past, "TOO_LARGE", "255 bytes"),
    ] {
        let query = "mutation($d: JSON) { insertDocument(id: 1, document: $d) { key } }";
        let variable = client.error(query, format!(r#"{{"d": [{number}]}}"#)).await;
        let query = format!("mutation {{ insertDocument(id: 1, document: [{number}]) {{ key }} }}");
        let literal = client.error(&query, NONE).await;
        for (found, message) in [variable, literal] {
            assert_eq!(found, code, "{number:.50}");
            assert!(
                message.contains(told) && message.contains("`document`"),
                "{message}"
            );
            assert!(message.len() < 400, "{message}");
        }
    }
    client.assert_serves().await;
}

async fn invalid_json_is_rejected() {
    let client = client().await;
    for document in [
        "NaN",
        "Infinity",
        "-Infinity",
        "01",
        "1.",
        ".5",
        "+1",
        "'a'",
        "[1,]",
        "{a:1}",
        r#""\ud800""#,
        r#""\udc00\ud800""#,
        r#""\x""#,
        "\"\u{1}\"",
        "\"\n\"",
    ] {
        let query = "mutation($d: JSON) { insertDocument(id: 1, document: $d) { key } }";
        let (code, message) = client.error(query, format!(r#"{{"d": {document}}}"#)).await;
        assert_eq!(code, "BAD_USER_INPUT", "{document}");
        assert!(message.contains("line 1"), "{message}");
    }
    for literal in [
        "NaN",
        "[Infinity]",
        "{a: OBJECT}",
        r#""\ud800""#,
        r#""\udc00""#,
        "01",
        "1.",
        "1x",
        "'a'",
        "\"a\nb\"",
    ] {
        let query = format!("mutation {{ insertDocument(id: 1, document: {literal}) {{ key }} }}");
        assert_eq!(
            client.error(&query, NONE).await.0,
            "BAD_USER_INPUT",
            "{literal}"
        );
    }
    client.assert_serves().await;
}

async fn serializer_markers_are_ordinary_member_names() {
    let client = client().await;
    let (number, raw) = (
        "$serde_json::private::Number",
        "$serde_json::private::RawValue",
    );
    for (at, document) in [
        format!(r#"{{"{number}":"1"}}"#),
        format!(r#"{{"{raw}":"[1]"}}"#),
        format!(r#"{{"{raw}":"] not JSON"}}"#),
        format!(r#"[{{"{number}":"x"}},{{"a":{{"{raw}":null}}}}]"#),
        format!(r#"{{"{number}":{{"{raw}":["{number}"]}}}}"#),
    ]
    .iter()
    .enumerate()
    {
        for (form, query) in [
            (
                "v",
                "mutation($id: ID, $d: JSON) { insertDocument(id: $id, document: $d) { value } }",
            ),
            (
                "l",
                "mutation($id: ID, $d: JSON) { insertDocument(id: $id, document: [{in: $d}, $d]) { value } }",
            ),
            (
                "ll",
                "mutation($id: ID, $d: [[JSON]]) { insertDocument(id: $id, document: {ll: $d}) { value } }",
            ),
        ] {
            let id = format!("{form}{at}");
            let (given, stored) = match form {
                "v" => (document.clone(), document.clone()),
                "l" => (
                    document.clone(),
                    format!(r#"[{{"in":{document}}},{document}]"#),
                ),
                _ => (
                    format!("[[{document}],[]]"),
                    format!(r#"{{"ll":[[{document}],[]]}}"#),
                ),
            };
            let text = client
                .text(query, format!(r#"{{"id":"{id}","d":{given}}}"#))
                .await;
            assert_eq!(
                text,
                format!(r#"{{"data":{{"insertDocument":{{"value":{stored}}}}}}}"#)
            );
            assert_eq!(client.stored(&id).await, stored);
        }
    }
    let query = "query($p: Path) { document(id: \"v0\", path: $p) { value path } }";
    let text = client.text(query, format!(r#"{{"p":["{number}"]}}"#)).await;
    assert_eq!(
        text,
        format!(r#"{{"data":{{"document":{{"value":"1","path":["{number}"]}}}}}}"#)
    );
}

async fn any_text_can_be_a_name_and_a_value() {
    let client = client().await;
    for (at, (given, stored)) in [
        (r#"{"":{"":""}}"#, r#"{"":{"":""}}"#),
        (
            r#"{"\u0000":"\u0000a\u0000"}"#,
            r#"{"\u0000":"\u0000a\u0000"}"#,
        ),
        (
            r#"{"🎷":"\ud83c\udfb7 é \u2028"}"#,
            "{\"🎷\":\"🎷 é \u{2028}\"}",
        ),
        (
            r#"{"0":1,"1":[0],"-1":2,"1.5":3}"#,
            r#"{"-1":2,"0":1,"1":[0],"1.5":3}"#,
        ),
        (
            r#"{"\"\\/\b\f\n\r\t":"\"\\\/\b\f\n\r\t\u001f"}"#,
            "{\"\\\"\\\\/\\b\\f\\n\\r\\t\":\"\\\"\\\\/\\b\\f\\n\\r\\t\\u001f\"}",
        ),
        (
            r#"{"b":1,"a":2,"é":3,"Z":4}"#,
            r#"{"Z":4,"a":2,"b":1,"é":3}"#,
        ),
        (
            r#"{"__typename":"x","data":null,"errors":[]}"#,
            r#"{"__typename":"x","data":null,"errors":[]}"#,
        ),
        (
            r#"{"a":1,"b":{"c":1,"c":2},"a":{"x":1},"\u0061":3}"#,
            r#"{"a":3,"b":{"c":2}}"#,
        ),
        (
            r#"{"a":{"x":[1,2,3]},"a":[],"a":{"y":null}}"#,
            r#"{"a":{"y":null}}"#,
        ),
    ]
    .iter()
    .enumerate()
    {
        let id = at.to_string();
        client.insert(&id, given).await;
        assert_eq!(client.stored(&id).await, *stored);
    }
}

async fn string_literals_are_unescaped_correctly() {
    let client = client().await;
    for (literal, stored) in [
        (r#""""#, r#""""#),
        (
            r#""\u0000 \u00e9 🎷 \" \\ \/ \n""#,
            "\"\\u0000 é 🎷 \\\" \\\\ / \\n\"",
        ),
        (
            "\"\"\"\n    a\n      \"b\" \\n\n    \"\"\"",
            r#""a\n  \"b\" \\n""#,
        ),
        (r##""# no comment { [ ( @""##, r##""# no comment { [ ( @""##),
        (
            r##"["[", "{", "\"[", """ [[[ """]"##,
            r##"["[","{","\"["," [[[ "]"##,
        ),
        (
            "{a: 1, b: {a: 2}, c: [{}, [], null, true]}",
            r#"{"a":1,"b":{"a":2},"c":[{},[],null,true]}"#,
        ),
        ("[1 2,,3]", "[1,2,3]"),
    ] {
        let query = format!("mutation {{ insertDocument(document: {literal}) {{ value }} }}");
        let text = client.text(&query, NONE).await;
        assert_eq!(
            text,
            format!(r#"{{"data":{{"insertDocument":{{"value":{stored}}}}}}}"#),
            "{literal}"
        );
    }
    let twice = "mutation { insertDocument(document: {a: 1, a: 2}) { value } }";
    let (executed, text) = client.named(twice, None, NONE).await;
    let message = r#"There can only be one input field named \"a\""#;
    assert!(!executed && text.contains(message), "{text}");
}

async fn surrogate_pairs_in_literals_are_one_character() {
    let client = client().await;
    let insert = r#"insertDocument(id: "\uD83D\uDE00", document: {a: "\uD83D\uDE00\u{1F600}"}) { key value }"#;
    for (query, id) in [
        (format!("mutation {{ {insert} }}"), "😀"),
        (
            format!("mutation {{ ...F }} fragment F on Mutation {{ {insert} }}")
                .replace("DE00", "DE01"),
            "😁",
        ),
    ] {
        let found = client.data(&query, NONE).await;
        assert_eq!(found["insertDocument"]["key"], id);
        assert_eq!(found["insertDocument"]["value"]["a"], format!("{id}😀"));
    }
    for lone in [r"\uD83D", r"\uDE00", r"\uDE00\uD83D", r"\u{D83D}"] {
        let query = format!("{{\n  document(id: \"{lone}\") {{ kind }} }}");
        for query in [query.clone(), query + &",".repeat(20_000)] {
            let (executed, text) = client.named(&query, None, NONE).await;
            assert!(!executed && text.contains("syntax error"), "{text}");
            let error = &super::support::parse(&text)["errors"][0];
            assert_eq!(error["extensions"]["code"], "BAD_USER_INPUT");
            assert_eq!(error["locations"][0]["line"], 2, "{lone}: {text}");
        }
    }
}

async fn long_strings_are_split_and_returned_whole() {
    let client = client().await;
    for (id, text) in [
        ("1", "x".repeat(99_990)),
        ("2", "é\u{0}".repeat(60_000)),
        ("3", "\"".repeat(250_000)),
    ] {
        client.insert(id, json!({"text": text})).await;
        assert_eq!(client.stored(id).await, json!({"text": text}).to_string());
    }
}

async fn document_levels_have_the_same_limit_in_every_input_form() {
    let client = client().await;
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    client.insert("1", nested(128)).await;
    assert_eq!(client.stored("1").await, nested(128));
    let wrapped = "mutation($d: JSON) { insertDocument(document: {a: [$d]}) { key } }";
    client
        .data(wrapped, format!(r#"{{"d": {}}}"#, nested(126)))
        .await;
    let plain = "mutation($d: JSON) { insertDocument(document: $d) { key } }";
    for (query, levels, column) in [(plain, 129, 129), (plain, 50_000, 129), (wrapped, 127, 133)] {
        let (code, message) = client
            .error(query, format!(r#"{{"d": {}}}"#, nested(levels)))
            .await;
        assert_eq!(code, "TOO_LARGE");
        let place = format!("line 1, column {column}");
        assert!(
            message.contains("128 levels") && message.contains(&place),
            "{message}"
        );
    }
    client.assert_serves().await;
}
