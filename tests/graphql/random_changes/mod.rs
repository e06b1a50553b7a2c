//! Compares long random sequences of changes through GraphQL with the same changes on plain JSON
//! values, using the crate `json-patch`. After each operation, the documents, their parts, kinds,
//! children, versions, raw keys and index entries must agree.
//!
//! A failure prints its seed and the shortest failing sequence.

mod generate;

use std::collections::BTreeMap;
use std::fmt::Write;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestError, TestRunner};
use serde_json::{Map, Value, json};

use self::generate::{Operation, operations};
use super::changing::assert_stored;
use super::replica::Replica;
use super::support::{Client, client};
use crate::model::change::{Change, Kind};
use crate::model::documents::{self, Decision, Documents};

cases!(sync[random_changes_equal_those_on_plain_json]);

/// Operations of each sequence, some thousands in total on the embedded engine.
const OPERATIONS_MAX: usize = 60;

fn random_changes_equal_those_on_plain_json() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a runtime");
    let config = Config {
        cases: super::sequences(),
        failure_persistence: None,
        ..Config::default()
    };
    let mut runner = TestRunner::new(config);
    let run = |sequence: Vec<Operation>| {
        runtime.block_on(async {
            let mut run = Run::new(client().await).await;
            for operation in &sequence {
                run.step(operation).await?;
            }
            run.replica
                .finish(sequence.iter().map(|it| it.0[0].pick))
                .await;
            Ok(())
        })
    };
    match runner.run(&operations(OPERATIONS_MAX), run) {
        Ok(()) => {}
        Err(TestError::Fail(why, sequence)) => panic!("{why}\nafter {sequence:?}"),
        Err(abort) => panic!("{abort}"),
    }
}

/// Indexes that every change must maintain: on the whole document, on parts at several levels, and
/// on several paths together.
pub(super) const INDEXES: &str = r#"
    whole: createIndex(name: "whole", on: ["$"]) { state }
    each: createIndex(name: "each", on: ["$[*]"]) { state }
    member: createIndex(name: "member", on: ["$.a"]) { state }
    element: createIndex(name: "element", on: ["$[0]"]) { state }
    below: createIndex(name: "below", on: ["$.a[*]"]) { state }
    behind: createIndex(name: "behind", on: ["$[*].a"]) { state }
    first: createIndex(name: "first", on: ["$[*][0]"]) { state }
    deep: createIndex(name: "deep", on: ["$.a[*].b"]) { state }
    nul: createIndex(name: "nul", on: ["$['a\\u0000']"]) { state }
    several: createIndex(name: "several", on: ["$.b", "$.a[*]", "$.a.b"]) { state }
    names: createIndex(name: "names", on: ["$.*~"]) { state }
    namesBelow: createIndex(name: "names below", on: ["$.b", "$.a.*~"]) { state }
    partial: createIndex(name: "partial", on: ["$.a"], where: {at: "$.b", exists: true}) { state }
    partialEach: createIndex(name: "partial each", on: ["$[*]"],
        where: {any: [{at: "$.a.b", gte: 0}, {not: {at: "$.a", exists: true}}]}) { state }
    partialNames: createIndex(name: "partial names", on: ["$.a.*~"], where: {at: "$[0]", ne: null}) { state }
"#;

/// A store and its model.
struct Run {
    client: Client,
    replica: Replica,
    documents: Documents,
    versions: BTreeMap<i64, String>,
}

impl Run {
    async fn new(client: Client) -> Self {
        client.mutate(INDEXES).await;
        Self {
            replica: Replica::new(&client).await,
            client,
            documents: Documents::default(),
            versions: BTreeMap::new(),
        }
    }

    async fn step(&mut self, operation: &Operation) -> Result<(), TestCaseError> {
        let mut expected = self.documents.clone();
        // Hints of the generator are resolved with the data stored before each operation.
        let mut changes = Vec::new();
        let mut outcomes = Vec::new();
        for draft in &operation.0 {
            let change = draft.exact(&expected);
            let outcome = expected.apply(&change);
            let failed = matches!(outcome, Decision::Refused(_));
            changes.push(change);
            outcomes.push(outcome);
            if failed {
                break;
            }
        }
        let (query, variables) = request(&changes);
        let response = self
            .client
            .ask(&query, Value::Object(variables.clone()))
            .await;
        let told = format!("{query}\n{}\n{response}", Value::Object(variables));
        if let Some(Decision::Refused(codes)) = outcomes.last() {
            prop_assert_eq!(&response["data"], &Value::Null, "{}", told);
            let error = &response["errors"][0];
            let code = error["extensions"]["code"].as_str().unwrap_or_default();
            prop_assert!(codes.contains(&code), "not one of {:?}: {}", codes, told);
            let field = format!("f{}", outcomes.len() - 1);
            prop_assert_eq!(&error["path"][0], &json!(field), "{}", told);
        } else {
            prop_assert_eq!(response.get("errors"), None, "{}", &told);
            for (at, outcome) in outcomes.iter().enumerate() {
                let answer = &response["data"][format!("f{at}")];
                match outcome {
                    Decision::Deleted(deleted) => {
                        prop_assert_eq!(answer, &json!({"deleted": deleted}), "{}", &told);
                    }
                    Decision::Document(document) => {
                        prop_assert_eq!(&answer["value"], document, "{}", &told);
                    }
                    Decision::Refused(_) => {}
                }
            }
            self.check_versions(&expected).await?;
            self.documents = expected;
        }
        self.replica.reach(&self.documents.by_key()).await;
        self.check_documents(operation).await
    }

    /// A changed document has a new version, greater than all earlier ones.
    async fn check_versions(&mut self, after: &Documents) -> Result<(), TestCaseError> {
        let newest = self.versions.values().max().cloned().unwrap_or_default();
        for id in Documents::IDS {
            let query = format!("{{ document(id: {id}) {{ version }} }}");
            let data = self.client.data(&query, json!({})).await;
            let Some(version) = data["document"]["version"].as_str() else {
                prop_assert!(after.get(id).is_none(), "a document without a version");
                self.versions.remove(&id);
                continue;
            };
            let before = self.versions.insert(id, version.to_owned());
            if after.get(id) != self.documents.get(id) {
                prop_assert!(version > newest.as_str(), "{version} after {newest}");
            } else if let Some(before) = before {
                prop_assert!(version >= before.as_str(), "{version} after {before}");
            }
        }
        Ok(())
    }

    async fn check_documents(&self, operation: &Operation) -> Result<(), TestCaseError> {
        let mut count = 0;
        for id in Documents::IDS {
            let Some(document) = self.documents.get(id) else {
                let query = format!("{{ document(id: {id}) {{ kind }} }}");
                let data = self.client.data(&query, json!({})).await;
                prop_assert_eq!(&data["document"], &Value::Null);
                continue;
            };
            count += 1;
            assert_stored(&self.client, id, &document.to_string()).await;
            let path = documents::some_path(document, operation.0[0].pick);
            let part = documents::at(document, &path).expect("a path of the document");
            let query = format!(
                "query($p: Path) {{ document(id: {id}, path: $p) {{ kind value children(first: 1000) {{ nodes {{ path kind value }} }} }} }}"
            );
            let data = self.client.data(&query, json!({"p": path})).await;
            prop_assert_eq!(&data["document"], &seen(part, &path));
        }
        let data = self
            .client
            .data("{ collections { count } }", json!({}))
            .await;
        prop_assert_eq!(&data["collections"], &json!([{"count": count}]));
        prop_assert_eq!(self.client.check().await, vec![]);
        Ok(())
    }
}

/// The expected result for a part in the query of `check_documents`.
fn seen(part: &Value, path: &[Value]) -> Value {
    let child = |segment: Value, value: &Value| {
        let path = [path, &[segment]].concat();
        json!({"path": path, "kind": kind(value), "value": value})
    };
    let children: Vec<Value> = match part {
        Value::Object(members) => {
            let mut names: Vec<&String> = members.keys().collect();
            names.sort_by(|a, b| a.as_bytes().cmp(b.as_bytes()));
            names
                .into_iter()
                .map(|name| child(json!(name), &members[name]))
                .collect()
        }
        Value::Array(elements) => {
            let elements = elements.iter().enumerate();
            elements
                .map(|(index, element)| child(json!(index), element))
                .collect()
        }
        _ => Vec::new(),
    };
    json!({"kind": kind(part), "value": part, "children": {"nodes": children}})
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Object(_) => "OBJECT",
        Value::Array(_) => "ARRAY",
        Value::String(_) => "STRING",
        Value::Number(_) => "NUMBER",
        Value::Bool(_) => "BOOLEAN",
        Value::Null => "NULL",
    }
}

/// One mutation operation with a field for each change.
fn request(changes: &[Change]) -> (String, Map<String, Value>) {
    let mut declared = String::new();
    let mut fields = String::new();
    let mut variables = Map::new();
    for (at, change) in changes.iter().enumerate() {
        let id = change.id;
        let (field, argument, ty) = match change.kind {
            Kind::Insert => ("insertDocument", "document", "JSON"),
            Kind::Replace => ("replaceDocument", "document", "JSON"),
            Kind::Merge => ("mergeDocument", "patch", "JSON"),
            Kind::Patch => ("patchDocument", "patch", "JSON"),
            Kind::Increment => ("incrementDocument", "by", "JSON!"),
            Kind::Delete => ("deleteDocument", "", ""),
        };
        let mut arguments = format!("id: {id}");
        if !argument.is_empty() {
            write!(declared, "$d{at}: {ty} ").expect("a string");
            write!(arguments, " {argument}: $d{at}").expect("a string");
            variables.insert(format!("d{at}"), change.document.clone());
        }
        if change.kind != Kind::Insert {
            write!(declared, "$p{at}: Path ").expect("a string");
            write!(arguments, " path: $p{at}").expect("a string");
            variables.insert(format!("p{at}"), change.written_path());
        }
        if matches!(change.kind, Kind::Replace | Kind::Increment) && change.create_parents {
            arguments.push_str(" createParents: true");
        }
        let selection = if change.kind == Kind::Delete {
            "{ deleted }"
        } else {
            "{ value version }"
        };
        write!(fields, "f{at}: {field}({arguments}) {selection} ").expect("a string");
    }
    let declared = if declared.is_empty() {
        String::new()
    } else {
        format!("({declared})")
    };
    (format!("mutation{declared} {{ {fields} }}"), variables)
}
