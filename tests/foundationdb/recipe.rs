//! The same documents through Phyllo and through the recipe's Python code.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::cluster::{Cluster, Redundancy, phyllo};
use super::model::json::Json;
use super::servers::{Server, run};

#[path = "recipe/python.rs"]
mod python;

cases!(
    threads [
        phyllo_reads_documents_of_the_recipe,
        the_recipe_reads_documents_of_phyllo,
        the_recipe_sees_changes_by_phyllo,
    ]
);

/// Only objects without split strings, because the recipe cannot store other documents.
const DOCUMENTS: [(&str, &str); 6] = [
    (
        "-5",
        r#"{"user": {"jones": {"friendOf": "smith", "group": ["sales", "service"]},
            "smith": {"friendOf": "jones", "group": ["dev", "research"]}}}"#,
    ),
    ("0", r#"{"zero": [0, [1, [2, {"three": [3]}]]]}"#),
    (
        "modal-jazz",
        r#"{"": {"": ""}, "a\u0000b": "\u0000", "é🎷": "🎷\n", "0": {"0": 0}}"#,
    ),
    (
        "4294967296",
        r#"{"e": {}, "a": [], "deep": [{}, [], [[]], {"e": {}}], "null": null, "no": false}"#,
    ),
    (
        "\"42\"",
        r#"{"big": 123456789012345678901234567890, "least": -9223372036854775808, "half": 0.5,
            "minus": -0.0, "small": 5e-324, "huge": 1.7976931348623157e308, "one": 1.0, "yes": true}"#,
    ),
    ("7", r#"{"eleven": [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, "ten"]}"#),
];

/// The recipe's code in its own process.
struct Recipe {
    process: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl Recipe {
    /// Starts it. If Python or its FoundationDB package cannot be installed, a line reports that.
    fn start(cluster_file: &Path) -> Option<Self> {
        let python = match python::environment() {
            Ok(python) => python,
            Err(why) => {
                crate::skip::skipped("the recipe's Python code", why);
                return None;
            }
        };
        let mut process = Command::new(python)
            .arg("tests/foundationdb/recipe/answer.py")
            .arg(cluster_file)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python runs");
        Some(Self {
            stdin: process.stdin.take().expect("a pipe"),
            stdout: BufReader::new(process.stdout.take().expect("a pipe")),
            process,
        })
    }

    fn ask(&mut self, command: &str, argument: &str) -> Json {
        let line = argument.replace('\n', " ");
        writeln!(self.stdin, "{command} {line}").expect("it reads");
        let mut answer = String::new();
        self.stdout.read_line(&mut answer).expect("it answers");
        Json::parse(&answer)
    }

    /// The result of `get_doc` at a path.
    fn get(&mut self, id: &str, path: &[Value]) -> Json {
        let mut argument = vec![id_value(id)];
        argument.extend_from_slice(path);
        self.ask("get", &Value::Array(argument).to_string())
    }
}

impl Drop for Recipe {
    fn drop(&mut self) {
        // A process that has ended cannot be killed.
        let _killed = self.process.kill();
        let _status = self.process.wait();
    }
}

/// An id in the form of the recipe.
fn id_value(id: &str) -> Value {
    match id.parse::<i64>() {
        Ok(integer) => integer.into(),
        Err(_) => serde_json::from_str(id).unwrap_or_else(|_| id.into()),
    }
}

/// Every path of a value, its own first, with the value there.
fn places(value: &Json) -> Vec<(Vec<Value>, Json)> {
    let below: Vec<(Value, &Json)> = match value {
        Json::Object(members) => members.iter().map(|(k, v)| (json!(k), v)).collect(),
        Json::Array(elements) => (0..)
            .zip(elements)
            .map(|(k, v): (u64, _)| (json!(k), v))
            .collect(),
        _ => Vec::new(),
    };
    let mut found = vec![(Vec::new(), value.clone())];
    for (segment, value) in below {
        for (path, value) in places(value) {
            found.push(([std::slice::from_ref(&segment), &path[..]].concat(), value));
        }
    }
    found
}

/// Phyllo's response for a path, and whether anything is stored there.
async fn read(server: &Server, id: &str, path: &[Value]) -> (Json, bool) {
    let query = "query($id: ID!, $path: Path!) { document(id: $id, path: $path) { value } }";
    let data = server.data(query, json!({"id": id, "path": path})).await;
    let found = &data["document"];
    (Json::parse(&found["value"].to_string()), !found.is_null())
}

async fn mutate(server: &Server, mutation: &str) {
    server
        .data(&format!("mutation {{ {mutation} }}"), json!({}))
        .await;
}

/// A document with the id that the recipe gives it, also as its member `doc_id`.
fn with_id(id: &str, json: &str) -> Json {
    let Json::Object(mut members) = Json::parse(json) else {
        panic!("the recipe stores objects");
    };
    members.insert("doc_id".to_owned(), Json::parse(&id_value(id).to_string()));
    Json::Object(members)
}

async fn phyllo_reads_documents_of_the_recipe() {
    let cluster = Cluster::start(Redundancy::Single);
    let Some(mut recipe) = Recipe::start(&cluster.file()) else {
        return;
    };
    let server = Server::start(&cluster.file());
    for (id, json) in DOCUMENTS {
        let document = with_id(id, json);
        let stored = recipe.ask("insert", &document.text());
        assert_eq!(stored.text(), id_value(id).to_string());
        for (path, expected) in places(&document) {
            assert_eq!(
                read(&server, id, &path).await,
                (expected, true),
                "{id} {path:?}"
            );
        }
        let (_, found) = read(&server, id, &[json!("nothing")]).await;
        assert!(!found);
    }
    let Json::Integer(id) = recipe.ask("insert", r#"{"its": "own id"}"#) else {
        panic!("it makes up an integer");
    };
    let id = id.to_string();
    let expected = with_id(&id, r#"{"its": "own id"}"#);
    assert_eq!(read(&server, &id, &[]).await, (expected, true));
    let version = "query($id: ID!) { document(id: $id) { version } }";
    let data = server.data(version, json!({"id": id})).await;
    assert_eq!(data["document"]["version"], Value::Null);
}

async fn the_recipe_reads_documents_of_phyllo() {
    let cluster = Cluster::start(Redundancy::Single);
    let Some(mut recipe) = Recipe::start(&cluster.file()) else {
        return;
    };
    let server = Server::start(&cluster.file());
    let others = [
        ("1", "[[1], {}]"),
        ("2", "\"a leaf\""),
        ("3", "null"),
        ("4", "[]"),
    ];
    for (id, json) in DOCUMENTS.into_iter().chain(others) {
        let document = Json::parse(json);
        let insert =
            "mutation($id: ID!, $d: JSON) { insertDocument(id: $id, document: $d) { key } }";
        let argument: Value = serde_json::from_str(json).expect("JSON");
        server.data(insert, json!({"id": id, "d": argument})).await;
        for (path, expected) in places(&document) {
            assert_eq!(recipe.get(id, &path), expected, "{id} {path:?}");
        }
    }
}

async fn the_recipe_sees_changes_by_phyllo() {
    let cluster = Cluster::start(Redundancy::Single);
    let file = cluster.file();
    let Some(mut recipe) = Recipe::start(&file) else {
        return;
    };
    let server = Server::start(&file);
    for (id, json) in DOCUMENTS {
        recipe.ask("insert", &with_id(id, json).text());
    }
    let count = || run(&mut phyllo(&file, "collections")).expect("it runs");
    assert_eq!(count(), "");
    run(phyllo(&file, "adopt").arg("D")).expect("it runs");
    assert_eq!(count(), "D\t6\n");

    mutate(
        &server,
        r#"replaceDocument(id: "-5", path: "/user/jones", document: [{}]) { key }"#,
    )
    .await;
    let jones = [json!("user"), json!("jones")];
    assert_eq!(recipe.get("-5", &jones), Json::parse("[{}]"));
    let smith = [json!("user"), json!("smith"), json!("group"), json!(1)];
    assert_eq!(recipe.get("-5", &smith), Json::parse("\"research\""));

    mutate(
        &server,
        r#"deleteDocument(id: "7", path: "/eleven/0") { deleted }"#,
    )
    .await;
    let rest = Json::parse(r#"{"eleven": [1, 2, 3, 4, 5, 6, 7, 8, 9, "ten"], "doc_id": 7}"#);
    assert_eq!(recipe.get("7", &[]), rest);

    mutate(&server, r#"deleteDocument(id: "modal-jazz") { deleted }"#).await;
    assert_eq!(recipe.get("modal-jazz", &[]), Json::parse("{}"));
    assert_eq!(count(), "D\t5\n");
    // The document that the recipe stores instead is not in the catalog.
    recipe.ask("insert", &with_id("modal-jazz", "{}").text());
    assert_eq!(count(), "D\t5\n");
    run(phyllo(&file, "adopt").arg("D")).expect("it runs");
    assert_eq!(count(), "D\t6\n");
}
