//! The queries of the tabs of the page, on the data of `phyllo sample`.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::server::Server;

const EXAMPLES: &str = "web/src/graphiql/sampleExamples.ts";

/// The queries of the tabs, in order, by their names.
fn queries() -> Vec<(String, String)> {
    let text = fs::read_to_string(EXAMPLES).expect(EXAMPLES);
    let texts = text.split("= `\\\n").skip(1);
    let texts = texts.map(|text| text.split("`;").next().expect("an end").to_owned());
    let named = texts.filter_map(|query| {
        let mut words = query
            .lines()
            .filter(|line| !line.starts_with('#'))
            .flat_map(|line| line.split([' ', '(']));
        let kinds = ["query", "mutation", "subscription"];
        words.by_ref().find(|word| kinds.contains(word))?;
        Some((words.next()?.to_owned(), query.clone()))
    });
    named.collect()
}

/// Whether a part of the data is null: a place at which nothing is stored.
fn has_null(data: &Value) -> bool {
    match data {
        Value::Null => true,
        Value::Array(elements) => elements.iter().any(has_null),
        Value::Object(members) => members.values().any(has_null),
        _ => false,
    }
}

#[tokio::test]
async fn the_queries_of_the_tabs_find_the_sample_data() {
    let directory = tempfile::tempdir().expect("a directory");
    let store = directory.path().join("store");
    let sample = Command::new(env!("CARGO_BIN_EXE_phyllo"))
        .args(["sample", "--store"])
        .arg(&store)
        .output();
    assert!(sample.expect("it runs").status.success());
    let server = Server::start(&store);
    let client = reqwest::Client::new();
    let queries = queries();
    let names: Vec<&str> = queries.iter().map(|(name, _)| &**name).collect();
    assert_eq!(
        names,
        [
            "OneCountry",
            "BigDocument",
            "SeveralCountries",
            "FindCountries",
            "Collections",
            "InsertNote",
            "ChangeNote",
            "Live"
        ]
    );
    for (name, query) in &queries {
        if name == "Live" {
            continue;
        }
        let variables = match &**name {
            "SeveralCountries" => json!({"id": "CHE"}),
            _ => json!({}),
        };
        let body = json!({"query": query, "variables": variables});
        let url = format!("{}/graphql", server.url());
        let answer = client.post(url).json(&body).send().await;
        let answer: Value = answer.expect("it answers").json().await.expect("JSON");
        assert_eq!(answer.get("errors"), None, "{name}: {answer}");
        let mut data = answer["data"].clone();
        if name == "SeveralCountries" {
            assert_eq!(data["nowhere"].take(), Value::Null);
            data["nowhere"] = json!("nowhere");
        }
        if name == "FindCountries" {
            // No index serves the query.
            data["documents"]["plan"] = json!({});
        }
        assert!(!has_null(&data), "{name}: {data}");
    }
}
