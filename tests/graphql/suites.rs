//! Suites and examples that others wrote: JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7396).

use std::path::Path;

use serde_json::{Value, json};

use super::support::{Client, client, only_error};

cases!(
    async [
        the_public_suite_of_json_patch,
        the_examples_of_rfc_7396,
    ]
);

/// The cases of one file of the public JSON Patch suite; none where the file is not at hand.
fn cases(file: &str) -> Option<Vec<Value>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/suites");
    let path = path.join(file);
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!(
            "skipped: the JSON Patch suite: there is no file {}",
            path.display()
        );
        return None;
    };
    Some(serde_json::from_str(&text).expect("a JSON array"))
}

async fn patched(client: &Client, patch: &Value) -> Value {
    let query = "mutation($p: JSON) { patchDocument(id: 1, patch: $p) { value } }";
    client.ask(query, json!({"p": patch})).await
}

async fn the_public_suite_of_json_patch() {
    for (file, cases_min) in [
        ("json-patch-tests.json", 90),
        ("json-patch-spec-tests.json", 16),
    ] {
        let Some(cases) = cases(file) else { continue };
        let enabled = cases.iter().filter(|case| case["disabled"] != json!(true));
        let mut count = 0;
        for case in enabled.filter(|case| case.get("doc").is_some()) {
            count += 1;
            let client = client().await;
            client.insert("1", &case["doc"]).await;
            let response = patched(&client, &case["patch"]).await;
            if case.get("error").is_some() {
                assert_eq!(response["data"], Value::Null, "{case}");
                only_error(&response);
                let stored: Value = serde_json::from_str(&client.stored("1").await).expect("JSON");
                assert_eq!(stored, case["doc"], "{case}: nothing was changed");
            } else {
                assert_eq!(response.get("errors"), None, "{case}: {response}");
                let expected = case.get("expected").unwrap_or(&case["doc"]);
                assert_eq!(
                    response["data"]["patchDocument"]["value"], *expected,
                    "{case}"
                );
            }
        }
        assert!(count >= cases_min, "{file} has only {count} cases");
    }
}

async fn the_examples_of_rfc_7396() {
    for (original, patch, result) in [
        (r#"{"a":"b"}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
        (r#"{"a":"b"}"#, r#"{"b":"c"}"#, r#"{"a":"b","b":"c"}"#),
        (r#"{"a":"b"}"#, r#"{"a":null}"#, r#"{}"#),
        (r#"{"a":"b","b":"c"}"#, r#"{"a":null}"#, r#"{"b":"c"}"#),
        (r#"{"a":["b"]}"#, r#"{"a":"c"}"#, r#"{"a":"c"}"#),
        (r#"{"a":"c"}"#, r#"{"a":["b"]}"#, r#"{"a":["b"]}"#),
        (
            r#"{"a":{"b":"c"}}"#,
            r#"{"a":{"b":"d","c":null}}"#,
            r#"{"a":{"b":"d"}}"#,
        ),
        (r#"{"a":[{"b":"c"}]}"#, r#"{"a":[1]}"#, r#"{"a":[1]}"#),
        (r#"["a","b"]"#, r#"["c","d"]"#, r#"["c","d"]"#),
        (r#"{"a":"b"}"#, r#"["c"]"#, r#"["c"]"#),
        (r#"{"a":"foo"}"#, r#"null"#, r#"null"#),
        (r#"{"a":"foo"}"#, r#""bar""#, r#""bar""#),
        (r#"{"e":null}"#, r#"{"a":1}"#, r#"{"a":1,"e":null}"#),
        (r#"[1,2]"#, r#"{"a":"b","c":null}"#, r#"{"a":"b"}"#),
        (
            r#"{}"#,
            r#"{"a":{"bb":{"ccc":null}}}"#,
            r#"{"a":{"bb":{}}}"#,
        ),
        (
            // Section 3.
            r#"{"title":"Goodbye!","author":{"givenName":"John","familyName":"Doe"},"tags":["example","sample"],"content":"This will be unchanged"}"#,
            r#"{"title":"Hello!","phoneNumber":"+01-123-456-7890","author":{"familyName":null},"tags":["example"]}"#,
            r#"{"author":{"givenName":"John"},"content":"This will be unchanged","phoneNumber":"+01-123-456-7890","tags":["example"],"title":"Hello!"}"#,
        ),
    ] {
        let client = client().await;
        client.insert("1", original).await;
        let query = "mutation($p: JSON) { mergeDocument(id: 1, patch: $p) { id } }";
        client.data(query, format!(r#"{{"p":{patch}}}"#)).await;
        assert_eq!(client.stored("1").await, result, "{original} with {patch}");
    }
}
