//! Suites and examples that others wrote: JSON Patch (RFC 6902), JSON Merge Patch (RFC 7396) and
//! JSONPath (RFC 9535).

use std::fs;
use std::path::Path;

use phyllo::document::tree::{Tree, equal};
use serde_json::{Value, json};

use super::support::{Client, client, only_error};
use crate::skip::skipped;

cases!(
    async [
        the_public_suite_of_json_patch,
        the_examples_of_rfc_7396,
        the_compliance_suite_of_jsonpath,
    ]
);

/// Where the files of public suites are looked for, from the repository's root: `./check` puts them
/// into the second folder if the first does not have them.
const FOLDERS: [&str; 2] = ["../shared/suites", "target/suites"];

/// A file of a public suite, if there is one.
fn suite_file(file: &str) -> Option<Value> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = FOLDERS.iter().map(|folder| root.join(folder).join(file));
    let Some(text) = paths.find_map(|path| fs::read_to_string(path).ok()) else {
        let what = format!("the public suite {file}");
        skipped(&what, "it was not found; ./check downloads it");
        return None;
    };
    Some(serde_json::from_str(&text).expect("JSON"))
}

/// The cases of one file of the public JSON Patch suite.
fn cases(file: &str) -> Option<Vec<Value>> {
    let cases = suite_file(file)?;
    Some(cases.as_array().expect("a JSON array").clone())
}

async fn patched(client: &Client, patch: &Value) -> Value {
    let query = "mutation($p: JSON) { patchDocument(id: 1, patch: $p) { value } }";
    client.ask(query, json!({"p": patch})).await
}

async fn the_public_suite_of_json_patch() {
    for (file, cases_min) in [
        ("json-patch-tests.json", 75),
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
        let query = "mutation($p: JSON) { mergeDocument(id: 1, patch: $p) { key } }";
        client.data(query, format!(r#"{{"p":{patch}}}"#)).await;
        assert_eq!(client.stored("1").await, result, "{original} with {patch}");
    }
}

async fn the_compliance_suite_of_jsonpath() {
    let Some(suite) = suite_file("jsonpath-cts.json") else {
        return;
    };
    let cases = suite["tests"].as_array().expect("a list of cases");
    assert_eq!(cases.len(), 703);
    let client = client().await;
    let query =
        "query($id: ID!, $q: JSONPath!) { document(id: $id) { select(query: $q) { value path } } }";
    let (mut selected, mut refused) = (0, 0);
    for (id, case) in cases.iter().enumerate() {
        let (id, name) = (id.to_string(), &case["name"]);
        client.insert(&id, &case["document"]).await;
        let variables = json!({"id": id, "q": case["selector"]});
        let response = client.ask(query, variables).await;
        if case["invalid_selector"] == json!(true) {
            let (code, message) = only_error(&response);
            assert_eq!(code, "BAD_USER_INPUT", "{name}: {message}");
            assert!(message.contains(" at line "), "{name}: {message}");
            refused += 1;
            continue;
        }
        assert_eq!(response.get("errors"), None, "{name}: {response}");
        let nodes = response["data"]["document"]["select"].as_array();
        let nodes = nodes.expect("a list");
        let paths: Vec<_> = nodes.iter().map(|it| normalized(&it["path"])).collect();
        let values: Vec<_> = nodes.iter().map(|it| &it["value"]).collect();
        assert!(
            allows(case, &json!(values), &json!(paths)),
            "{name}: {response}"
        );
        selected += 1;
    }
    assert_eq!((selected, refused), (456, 247));
}

/// Whether a case allows the values, and for them the places.
fn allows(case: &Value, values: &Value, paths: &Value) -> bool {
    let tree = |value: &Value| Tree::from_json(&value.to_string()).expect("JSON");
    let (results, places) = if let Some(result) = case.get("result") {
        (vec![result], vec![&case["result_paths"]])
    } else {
        let list = |name: &str| case[name].as_array().expect("a list").iter().collect();
        (list("results"), list("results_paths"))
    };
    let same = |result: &&Value| equal(&tree(result), &tree(values));
    let mut allowed = results.iter().zip(places);
    allowed.any(|(result, places)| same(result) && places == paths)
}

/// A path in list form as RFC 9535 §2.7 writes it.
fn normalized(path: &Value) -> String {
    let segment = |segment: &Value| match segment {
        Value::String(name) => {
            let escaped = |character: char| match character {
                '\u{8}' => "\\b".to_owned(),
                '\u{c}' => "\\f".to_owned(),
                '\'' | '\\' | '\n' | '\r' | '\t' => character.escape_default().to_string(),
                '\0'..'\u{20}' => format!("\\u{:04x}", u32::from(character)),
                _ => character.to_string(),
            };
            format!("['{}']", name.chars().map(escaped).collect::<String>())
        }
        index => format!("[{index}]"),
    };
    let segments = path.as_array().expect("a list").iter().map(segment);
    format!("${}", segments.collect::<String>())
}
