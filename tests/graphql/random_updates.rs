//! Compares random `updateDocuments` and `updateDocument` with the same updates on plain JSON values. After each
//! operation the result, the documents and the index entries must agree.
//!
//! A failure prints its seed and the shortest failing sequence.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestError, TestRunner};
use serde_json::{Map, Value, json};

use super::random_changes::INDEXES;
use super::replica::Replica;
use super::support::{Client, client};
use crate::model::updates::{
    OPERATORS, Operand, Segment, Selector, Step, Update, apply_to_all, apply_to_one,
};

cases!(sync[random_updates_equal_those_on_plain_json]);

const DOCUMENTS: usize = 3;
const OPERATIONS_MAX: usize = 12;

const VARIABLES: &str = "
    $set: [DocumentValueUpdate!], $unset: [JSONPath!], $rename: [DocumentRenameUpdate!],
    $increment: [DocumentIncrementUpdate!], $min: [DocumentBoundUpdate!], $max: [DocumentBoundUpdate!],
    $remove: [DocumentRemoveUpdate!], $append: [DocumentAppendUpdate!],
    $add: [DocumentAppendUpdate!], $merge: [DocumentMergeUpdate!]";

const LISTS: &str = "
    set: $set, unset: $unset, rename: $rename, increment: $increment, min: $min, max: $max,
    remove: $remove, append: $append, add: $add, merge: $merge";

/// Updates of some documents.
#[derive(Clone, Debug)]
struct Operation {
    /// The only document; all if there is none.
    only: Option<usize>,
    updates: Vec<Update>,
}

fn random_updates_equal_those_on_plain_json() {
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
    let sequences = (
        vec(document(), DOCUMENTS),
        vec(operation(), 1..OPERATIONS_MAX),
    );
    let run = |(documents, operations): (Vec<Value>, Vec<Operation>)| {
        runtime.block_on(async {
            let client = client().await;
            client.mutate(INDEXES).await;
            let replica = Replica::new(&client).await;
            let mut run = Run {
                client,
                replica,
                documents,
            };
            for (id, document) in run.documents.iter().enumerate() {
                run.client.insert(&id.to_string(), document).await;
            }
            for operation in operations {
                run.step(operation).await?;
            }
            run.replica.finish(0..DOCUMENTS).await;
            Ok(())
        })
    };
    match TestRunner::new(config).run(&sequences, run) {
        Ok(()) => {}
        Err(TestError::Fail(why, sequence)) => panic!("{why}\nafter {sequence:?}"),
        Err(abort) => panic!("{abort}"),
    }
}

struct Run {
    client: Client,
    replica: Replica,
    documents: Vec<Value>,
}

impl Run {
    async fn step(&mut self, operation: Operation) -> Result<(), TestCaseError> {
        let Operation { only, mut updates } = operation;
        updates.sort_by_key(|update| OPERATORS.iter().position(|name| *name == update.operator));
        let variables = variables(&updates);
        let mut after = self.documents.clone();
        let expected = match only {
            Some(only) => apply_to_one(&mut after, only, &updates)
                .map(|_| json!({"updateDocument": {"value": after[only]}})),
            None => apply_to_all(&mut after, &updates).map(|results| {
                let changed = results.iter().filter(|result| result.changed).count();
                let elements = updates.iter().enumerate().map(|(number, update)| {
                    let places: usize = results.iter().map(|result| result.places[number]).sum();
                    let operator = update.operator.to_uppercase();
                    json!({"operator": operator, "at": update.path_text(), "places": places})
                });
                json!({"updateDocuments": {
                    "matched": DOCUMENTS,
                    "changed": changed,
                    "unchanged": DOCUMENTS - changed,
                    "updates": elements.collect::<Vec<_>>(),
                }})
            }),
        };
        let field = match only {
            Some(only) => format!("updateDocument(id: {only}, {LISTS}) {{ value }}"),
            None => format!(
                "updateDocuments(where: {{}}, everything: true, {LISTS}) {{
                    matched changed unchanged updates {{ operator at places }}
                }}"
            ),
        };
        let query = format!("mutation({VARIABLES}) {{ {field} }}");
        let response = self.client.ask(&query, &variables).await;
        let context = format!("{only:?} {variables}\n{:?}\n{response}", self.documents);
        match expected {
            Err(failed) => {
                let code = &response["errors"][0]["extensions"]["code"];
                prop_assert_eq!(code, failed.0, "{}", context);
                prop_assert_eq!(&response["data"], &Value::Null, "{}", context);
            }
            Ok(expected) => {
                prop_assert_eq!(&response["data"], &expected, "{}", &context);
                self.documents = after;
            }
        }
        let documents = self.documents.iter().enumerate();
        let documents = documents.map(|(id, document)| (id.to_string(), document.clone()));
        self.replica.reach(&documents.collect()).await;
        for (id, document) in self.documents.iter().enumerate() {
            let stored = self.client.stored(&id.to_string()).await;
            let stored: Value = serde_json::from_str(&stored).expect("JSON");
            prop_assert_eq!(&stored, document, "{}", &context);
        }
        prop_assert_eq!(self.client.check().await, vec![], "{}", context);
        Ok(())
    }
}

fn variables(updates: &[Update]) -> Value {
    let mut variables = Map::new();
    for update in updates {
        let list = variables.entry(update.operator).or_insert(json!([]));
        let list = list.as_array_mut().expect("a list");
        list.push(update.argument());
    }
    Value::Object(variables)
}

fn operation() -> impl Strategy<Value = Operation> {
    let only = prop_oneof![1 => Just(None), 1 => (0..DOCUMENTS).prop_map(Some)];
    (only, vec(update(), 1..4)).prop_map(|(only, updates)| Operation { only, updates })
}

fn update() -> impl Strategy<Value = Update> {
    let form = prop_oneof![3 => Just(0), 2 => Just(1), 3 => Just(2), 1 => Just(3)];
    let operand = (
        select(OPERATORS.to_vec()),
        value(),
        vec(value(), 0..4),
        -3_i64..4,
        form,
        place(),
        (name(), name()),
    );
    (operand, path()).prop_map(
        |((operator, value, values, number, form, place, names), at)| {
            let operand = match (operator, form) {
                ("increment", 0) | ("min" | "max", 0 | 1) => Operand::One(json!(number)),
                ("increment", _) => {
                    let number = f64::from(i32::try_from(number).expect("small"));
                    Operand::One(json!(number + 0.5))
                }
                ("rename", _) => Operand::Rename(names.0, names.1),
                ("set", 2) | ("remove" | "append" | "add", 0) => Operand::From(place.0, place.1),
                ("set" | "remove" | "append" | "add", 3) => Operand::FromChanged(place.1),
                ("remove", _) | ("append" | "add", 1) => Operand::Each(values),
                _ => Operand::One(value),
            };
            Update {
                operator,
                at,
                operand,
            }
        },
    )
}

/// A place in one of the documents.
fn place() -> impl Strategy<Value = (usize, Vec<Segment>)> {
    let segment = prop_oneof![
        name().prop_map(Segment::Name),
        (0_usize..3).prop_map(Segment::Index),
    ];
    (0..DOCUMENTS, vec(segment, 0..3))
}

fn path() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => selector().prop_map(|only| Step::Child(vec![only])),
        2 => vec(selector(), 2..4).prop_map(Step::Child),
        1 => selector().prop_map(Step::Descendant),
    ];
    vec(step, 0..4)
}

fn selector() -> impl Strategy<Value = Selector> {
    prop_oneof![
        5 => name().prop_map(Selector::Name),
        4 => (-2_i64..4).prop_map(Selector::Index),
        2 => Just(Selector::Each),
    ]
}

fn name() -> impl Strategy<Value = String> {
    select(["a", "a", "b", "a\0", "é"].map(str::to_owned).to_vec())
}

/// Objects and arrays, mostly of numbers, so that most paths and operators fit.
fn document() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => vec((name(), value()), 0..4).prop_map(|members| {
            Value::Object(members.into_iter().collect::<Map<_, _>>())
        }),
        1 => vec(value(), 0..4).prop_map(Value::Array),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => (-3_i64..4).prop_map(|number| json!(number)),
        1 => (-2_i32..3).prop_map(|number| json!(f64::from(number) + 0.5)),
        1 => Just(Value::Null),
        1 => name().prop_map(|text| json!(text)),
        1 => Just(json!({})),
        1 => Just(json!([])),
    ];
    leaf.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::Array),
            vec((name(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}
