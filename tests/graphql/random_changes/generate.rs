//! Random changes. A draft has a hint for a path. The path depends on the stored data.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use crate::model::change::{Change, Kind, pointer};
use crate::model::documents::{Documents, as_a_pointer_means, at, some_path};

/// The fields of one mutation operation.
#[derive(Clone, Debug)]
pub(super) struct Operation(pub(super) Vec<Draft>);

#[derive(Clone, Debug)]
pub(super) struct Draft {
    kind: Kind,
    id: i64,
    /// Selects one of the existing paths.
    pub(super) pick: usize,
    tail: Tail,
    as_pointer: bool,
    create_parents: bool,
    document: Value,
    steps: Vec<Step>,
}

/// How to continue from an existing path.
#[derive(Clone, Debug)]
enum Tail {
    Here,
    Member(String),
    Behind(u8),
    Far(Vec<Value>),
}

/// An operation of a JSON Patch.
#[derive(Clone, Debug)]
struct Step {
    op: &'static str,
    from: usize,
    to: usize,
    tail: Tail,
    value: Value,
}

pub(super) fn operations(max: usize) -> impl Strategy<Value = Vec<Operation>> {
    vec(vec(draft(), 1..4).prop_map(Operation), 1..max)
}

impl Draft {
    /// The change, given the stored data.
    pub(super) fn exact(&self, documents: &Documents) -> Change {
        let document = documents.get(self.id);
        let mut path = match document {
            Some(document) => path(document, self.pick, &self.tail),
            None => match &self.tail {
                Tail::Far(far) => far.clone(),
                _ => Vec::new(),
            },
        };
        if self.as_pointer {
            path = as_a_pointer_means(document, path);
        }
        let change = match self.kind {
            Kind::Patch => {
                let part = document.and_then(|document| at(document, &path));
                json!(
                    self.steps
                        .iter()
                        .map(|step| step.exact(part))
                        .collect::<Vec<_>>()
                )
            }
            Kind::Increment => json!(i64::try_from(self.pick % 200).unwrap_or(0) - 100),
            _ => self.document.clone(),
        };
        Change {
            kind: self.kind,
            id: self.id,
            as_pointer: self.as_pointer,
            create_parents: self.create_parents,
            path,
            document: change,
        }
    }
}

impl Step {
    fn exact(&self, part: Option<&Value>) -> Value {
        let nothing = Value::Null;
        let part = part.unwrap_or(&nothing);
        let mut to = path(part, self.to, &self.tail);
        let mut from = some_path(part, self.from);
        match self.op {
            // Only Phyllo defines their effect on the whole document.
            "remove" if to.is_empty() => to.push(json!("nothing")),
            "move" if from.is_empty() || to.starts_with(&from) => from = vec![json!("nothing")],
            _ => {}
        }
        let mut path = pointer(&to);
        if self.to.is_multiple_of(7) && matches!(self.tail, Tail::Behind(_)) {
            path = format!("{}/-", pointer(&to[..to.len().saturating_sub(1)]));
        }
        match self.op {
            "remove" => json!({"op": "remove", "path": path}),
            "move" | "copy" => json!({"op": self.op, "from": pointer(&from), "path": path}),
            "test" if self.from.is_multiple_of(2) => {
                let value = at(part, &to).cloned().unwrap_or_default();
                json!({"op": "test", "path": path, "value": value})
            }
            _ => json!({"op": self.op, "path": path, "value": self.value}),
        }
    }
}

fn path(document: &Value, pick: usize, tail: &Tail) -> Vec<Value> {
    let mut path = some_path(document, pick);
    match tail {
        Tail::Here => {}
        Tail::Member(name) => path.push(json!(name)),
        Tail::Behind(distance) => {
            let length = at(document, &path).and_then(Value::as_array);
            path.push(json!(length.map_or(0, Vec::len) + usize::from(*distance)));
        }
        Tail::Far(far) => path.extend(far.iter().cloned()),
    }
    path
}

fn draft() -> impl Strategy<Value = Draft> {
    let kinds = vec![
        (1, Kind::Insert),
        (6, Kind::Replace),
        (5, Kind::Merge),
        (5, Kind::Patch),
        (2, Kind::Increment),
        (3, Kind::Delete),
    ];
    let kinds: Vec<Kind> = kinds
        .into_iter()
        .flat_map(|(weight, kind)| std::iter::repeat_n(kind, weight))
        .collect();
    let ids = select(&Documents::IDS[..]);
    let drafts = (
        select(kinds),
        ids,
        any::<u16>(),
        tail(),
        any::<[bool; 2]>(),
        json_value(),
        vec(step(), 0..5),
    );
    drafts.prop_map(
        |(kind, id, pick, tail, [as_pointer, create_parents], document, steps)| Draft {
            kind,
            id,
            pick: usize::from(pick),
            tail,
            as_pointer,
            create_parents,
            document,
            steps,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let ops = select(vec![
        "add", "add", "remove", "replace", "move", "copy", "test",
    ]);
    (ops, any::<u16>(), any::<u16>(), tail(), json_value()).prop_map(
        |(op, from, to, tail, value)| Step {
            op,
            from: usize::from(from),
            to: usize::from(to),
            tail,
            value,
        },
    )
}

fn tail() -> impl Strategy<Value = Tail> {
    prop_oneof![
        6 => Just(Tail::Here),
        3 => name().prop_map(Tail::Member),
        3 => (0_u8..2).prop_map(Tail::Behind),
        2 => vec(prop_oneof![3 => name().prop_map(|name| json!(name)), 1 => (0_u8..3).prop_map(|index| json!(index))], 1..4).prop_map(Tail::Far),
    ]
}

/// Names that are difficult to encode. None has only digits, because as a pointer token it would be
/// an index if the model has an array.
fn name() -> impl Strategy<Value = String> {
    let names = [
        "", "a", "a\0", "a\u{ff}", "ab", "b", "é", "🍃", "~", "/", "a/b", "~1", "\u{1}", "-1", "01",
    ];
    select(names.map(str::to_owned).to_vec())
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(|value| json!(value)),
        (-300_i64..300).prop_map(|number| json!(number)),
        (-8_i32..8).prop_map(|number| json!(f64::from(number) + 0.5)),
        name().prop_map(|text| json!(text)),
        Just(json!({})),
        Just(json!([])),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::Array),
            vec((name(), inner), 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}
