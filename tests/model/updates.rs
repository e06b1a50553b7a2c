//! The update operators of `updateDocuments`, on plain JSON values.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// A segment of a JSONPath.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Child(Vec<Selector>),
    Descendant(Selector),
}

#[derive(Clone, Debug)]
pub(crate) enum Selector {
    Name(String),
    Index(i64),
    Each,
}

/// One element of an operator list. An operand of `unset` is ignored.
#[derive(Clone, Debug)]
pub(crate) struct Update {
    pub(crate) operator: &'static str,
    pub(crate) at: Vec<Step>,
    pub(crate) operand: Value,
}

/// The operators, in the order in which they are applied.
pub(crate) const OPERATORS: [&str; 5] = ["set", "unset", "increment", "append", "merge"];

/// What updates did to a document.
#[derive(Debug, PartialEq)]
pub(crate) struct Updated {
    pub(crate) changed: bool,
    pub(crate) places: Vec<usize>,
}

/// The update does not fit a value: nothing is changed.
#[derive(Debug)]
pub(crate) struct Misfit;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Segment {
    Name(String),
    Index(usize),
}

impl Update {
    pub(crate) fn path_text(&self) -> String {
        let selector = |selector: &Selector| match selector {
            Selector::Name(name) => json!(name).to_string(),
            Selector::Index(index) => index.to_string(),
            Selector::Each => "*".to_owned(),
        };
        let step = |step: &Step| match step {
            Step::Child(selectors) => {
                let selectors: Vec<_> = selectors.iter().map(selector).collect();
                format!("[{}]", selectors.join(","))
            }
            Step::Descendant(only) => format!("..[{}]", selector(only)),
        };
        let steps: String = self.at.iter().map(step).collect();
        format!("${steps}")
    }

    /// The element as GraphQL takes it.
    pub(crate) fn argument(&self) -> Value {
        let at = self.path_text();
        match self.operator {
            "unset" => json!(at),
            "increment" => json!({"at": at, "by": self.operand}),
            "merge" => json!({"at": at, "patch": self.operand}),
            _ => json!({"at": at, "value": self.operand}),
        }
    }

    fn is_singular(&self) -> bool {
        self.at.iter().all(|step| match step {
            Step::Child(selectors) => {
                matches!(&selectors[..], [Selector::Name(_) | Selector::Index(_)])
            }
            Step::Descendant(_) => false,
        })
    }
}

/// Applies updates in this order. After an error the document is partly changed.
pub(crate) fn apply(document: &mut Value, updates: &[Update]) -> Result<Updated, Misfit> {
    let mut updated = Updated {
        changed: false,
        places: Vec::new(),
    };
    for update in updates {
        let before = document.clone();
        updated.places.push(apply_one(document, update)?);
        updated.changed |= *document != before;
    }
    Ok(updated)
}

fn apply_one(document: &mut Value, update: &Update) -> Result<usize, Misfit> {
    let selected = select(document, &update.at);
    let outermost: Vec<_> = selected
        .iter()
        .filter(|place| (0..place.len()).all(|above| !selected.contains(&place[..above])))
        .collect();
    if outermost.is_empty() && update.is_singular() && update.operator != "unset" {
        return Ok(usize::from(create(document, update)));
    }
    for place in &outermost {
        let value = at(document, place);
        match (update.operator, &mut *value) {
            ("set", value) => *value = update.operand.clone(),
            ("unset", _) if place.is_empty() => return Err(Misfit),
            ("unset", value) => *value = removed(),
            ("increment", value) => *value = sum(value, &update.operand).ok_or(Misfit)?,
            ("append", Value::Array(elements)) => elements.push(update.operand.clone()),
            ("merge", value) => json_patch::merge(value, &update.operand),
            _ => return Err(Misfit),
        }
    }
    sweep_out(document);
    Ok(outermost.len())
}

/// Stores a value at the missing place of a singular path. Returns whether there is such a place.
fn create(document: &mut Value, update: &Update) -> bool {
    let mut value = Value::Null;
    match update.operator {
        "append" => value = json!([update.operand]),
        "merge" => json_patch::merge(&mut value, &update.operand),
        _ => value = update.operand.clone(),
    }
    let Some((Step::Child(last), above)) = update.at.split_last() else {
        return false;
    };
    let Some(parent) = select(document, above).pop_first() else {
        return false;
    };
    match (at(document, &parent), &last[0]) {
        (Value::Object(members), Selector::Name(name)) => {
            members.insert(name.clone(), value);
            true
        }
        (Value::Array(elements), Selector::Index(index))
            if usize::try_from(*index) == Ok(elements.len()) =>
        {
            elements.push(value);
            true
        }
        _ => false,
    }
}

fn sum(a: &Value, b: &Value) -> Option<Value> {
    match (a.as_i64(), b.as_i64()) {
        (Some(a), Some(b)) => Some(json!(a + b)),
        _ => Some(json!(a.as_f64()? + b.as_f64()?)),
    }
}

/// Marks a removed value. No test stores it.
fn removed() -> Value {
    json!("\u{7}removed")
}

fn sweep_out(value: &mut Value) {
    let gone = removed();
    match value {
        Value::Array(elements) => {
            elements.retain(|element| *element != gone);
            elements.iter_mut().for_each(sweep_out);
        }
        Value::Object(members) => {
            members.retain(|_, member| *member != gone);
            members.values_mut().for_each(sweep_out);
        }
        _ => {}
    }
}

fn at<'v>(value: &'v mut Value, place: &[Segment]) -> &'v mut Value {
    place.iter().fold(value, |value, segment| match segment {
        Segment::Name(name) => &mut value[name],
        Segment::Index(index) => &mut value[*index],
    })
}

fn select(document: &Value, steps: &[Step]) -> BTreeSet<Vec<Segment>> {
    let mut nodes = vec![(Vec::new(), document)];
    for step in steps {
        let mut selected = Vec::new();
        for (place, value) in nodes {
            match step {
                Step::Child(selectors) => {
                    for selector in selectors {
                        children(&place, value, selector, &mut selected);
                    }
                }
                Step::Descendant(selector) => descend(&place, value, selector, &mut selected),
            }
        }
        nodes = selected;
    }
    nodes.into_iter().map(|(place, _)| place).collect()
}

type Nodes<'v> = Vec<(Vec<Segment>, &'v Value)>;

fn descend<'v>(place: &[Segment], value: &'v Value, selector: &Selector, found: &mut Nodes<'v>) {
    children(place, value, selector, found);
    let mut below = Vec::new();
    children(place, value, &Selector::Each, &mut below);
    for (place, value) in below {
        descend(&place, value, selector, found);
    }
}

fn children<'v>(place: &[Segment], value: &'v Value, selector: &Selector, found: &mut Nodes<'v>) {
    let mut push = |segment, value| found.push(([place, &[segment]].concat(), value));
    match (value, selector) {
        (Value::Object(members), Selector::Name(name)) => {
            if let Some(member) = members.get(name) {
                push(Segment::Name(name.clone()), member);
            }
        }
        (Value::Object(members), Selector::Each) => {
            for (name, member) in members {
                push(Segment::Name(name.clone()), member);
            }
        }
        (Value::Array(elements), Selector::Index(index)) => {
            let from_end = i64::try_from(elements.len()).expect("short") + index;
            let index = if *index < 0 { from_end } else { *index };
            let index = usize::try_from(index).unwrap_or(usize::MAX);
            if let Some(element) = elements.get(index) {
                push(Segment::Index(index), element);
            }
        }
        (Value::Array(elements), Selector::Each) => {
            for (index, element) in elements.iter().enumerate() {
                push(Segment::Index(index), element);
            }
        }
        _ => {}
    }
}
