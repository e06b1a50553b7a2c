//! The update operators of `updateDocument` and `updateDocuments`, on plain JSON values. The operator `now` is not
//! one of them.

use std::cmp::Ordering;
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
    pub(crate) operand: Operand,
}

/// The operand of an operator.
#[derive(Clone, Debug)]
pub(crate) enum Operand {
    One(Value),
    /// The array in `values`.
    Each(Vec<Value>),
    /// The value at a place of the document with this number, as it is before the operation.
    From(usize, Vec<Segment>),
    /// The value at a place of the changed document, as it is before the document changes.
    FromChanged(Vec<Segment>),
    /// A member, and its new name.
    Rename(String, String),
}

/// The operators, in the order in which they are applied.
pub(crate) const OPERATORS: [&str; 10] = [
    "set",
    "unset",
    "rename",
    "increment",
    "min",
    "max",
    "remove",
    "append",
    "add",
    "merge",
];

/// What updates did to a document.
#[derive(Debug, PartialEq)]
pub(crate) struct Updated {
    pub(crate) changed: bool,
    pub(crate) places: Vec<usize>,
}

/// Why nothing is changed: the code of the error.
#[derive(Debug)]
pub(crate) struct Failed(pub(crate) &'static str);

/// The update does not fit a value.
const MISFIT: Failed = Failed("BAD_USER_INPUT");

/// A member or an element.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Segment {
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
        let one = match self.operator {
            "increment" => "by",
            "merge" => "patch",
            _ => "value",
        };
        match &self.operand {
            _ if self.operator == "unset" => json!(at),
            Operand::One(value) => json!({"at": at, one: value}),
            Operand::Each(values) => json!({"at": at, "values": values}),
            Operand::From(document, path) => {
                json!({"at": at, "from": {"id": document, "path": path_list(path)}})
            }
            Operand::FromChanged(path) => json!({"at": at, "from": {"path": path_list(path)}}),
            Operand::Rename(member, to) => json!({"at": at, "member": member, "to": to}),
        }
    }

    fn is_bound(&self) -> bool {
        matches!(self.operator, "min" | "max")
    }

    /// Fails if an argument is not of its type, which is found before anything is read: no bound is null.
    fn check_types(&self) -> Result<(), Failed> {
        if self.is_bound() && self.value().is_null() {
            return Err(MISFIT);
        }
        Ok(())
    }

    /// The update with the value in place of its place. A place in the changed document is resolved only if
    /// that is known.
    fn resolved(&self, documents: &[Value], changed: Option<&Value>) -> Result<Self, Failed> {
        if self.operator == "unset" && self.at.is_empty() {
            return Err(MISFIT);
        }
        if self.is_bound() && matches!(self.value(), Value::Array(_) | Value::Object(_)) {
            return Err(MISFIT);
        }
        let mut update = self.clone();
        let source = match (&self.operand, changed) {
            (Operand::From(document, path), _) => Some((&documents[*document], path)),
            (Operand::FromChanged(path), Some(changed)) => Some((changed, path)),
            _ => None,
        };
        if let Some((document, path)) = source {
            let found = path.iter().try_fold(document, child);
            let value = found.ok_or(Failed("NOT_FOUND"))?.clone();
            update.operand = match (self.operator, value) {
                ("set", value) => Operand::One(value),
                (_, Value::Array(elements)) => Operand::Each(elements),
                _ => return Err(MISFIT),
            };
        }
        Ok(update)
    }

    /// Whether it appends to the arrays from which the update before it removes.
    fn appends_behind(&self, before: &Self) -> bool {
        let operators = (before.operator, self.operator);
        operators == ("remove", "append") && before.path_text() == self.path_text()
    }

    /// The operand as one value.
    fn value(&self) -> Value {
        match &self.operand {
            Operand::One(value) => value.clone(),
            Operand::Each(values) => json!(values),
            Operand::From(..) | Operand::FromChanged(_) | Operand::Rename(..) => {
                unreachable!("it is no value")
            }
        }
    }

    /// The elements to add, each once.
    fn distinct(&self) -> Vec<Value> {
        let mut distinct: Vec<Value> = Vec::new();
        for element in self.elements() {
            if !distinct.iter().any(|other| equal(other, &element)) {
                distinct.push(element);
            }
        }
        distinct
    }

    /// The operand as elements to append or remove.
    fn elements(&self) -> Vec<Value> {
        match &self.operand {
            Operand::Each(values) => values.clone(),
            _ => vec![self.value()],
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

fn path_list(path: &[Segment]) -> Vec<Value> {
    let path = path.iter().map(|segment| match segment {
        Segment::Name(name) => json!(name),
        Segment::Index(index) => json!(index),
    });
    path.collect()
}

/// Applies updates in this order to all documents. After an error they are partly changed.
pub(crate) fn apply_to_all(
    documents: &mut [Value],
    updates: &[Update],
) -> Result<Vec<Updated>, Failed> {
    let updates = resolved(updates, documents, None)?;
    let applied = documents.iter_mut();
    applied
        .map(|document| {
            let updates = resolved(&updates, &[], Some(&*document))?;
            apply(document, &updates)
        })
        .collect()
}

/// As [`apply_to_all`], to one document.
pub(crate) fn apply_to_one(
    documents: &mut [Value],
    changed: usize,
    updates: &[Update],
) -> Result<Updated, Failed> {
    let updates = resolved(updates, documents, Some(&documents[changed]))?;
    apply(&mut documents[changed], &updates)
}

fn resolved(
    updates: &[Update],
    documents: &[Value],
    changed: Option<&Value>,
) -> Result<Vec<Update>, Failed> {
    updates.iter().try_for_each(Update::check_types)?;
    let resolved = updates
        .iter()
        .map(|update| update.resolved(documents, changed));
    resolved.collect()
}

fn apply(document: &mut Value, updates: &[Update]) -> Result<Updated, Failed> {
    let mut updated = Updated {
        changed: false,
        places: Vec::new(),
    };
    let mut before = document.clone();
    for (number, update) in updates.iter().enumerate() {
        updated.places.push(apply_one(document, update)?);
        // Elements that are removed from the end of an array and appended again do not change it.
        let next = updates.get(number + 1);
        if next.is_some_and(|next| next.appends_behind(update)) {
            continue;
        }
        updated.changed |= *document != before;
        before.clone_from(document);
    }
    Ok(updated)
}

fn apply_one(document: &mut Value, update: &Update) -> Result<usize, Failed> {
    let selected = select(document, &update.at);
    let outermost: Vec<_> = selected
        .iter()
        .filter(|place| (0..place.len()).all(|above| !selected.contains(&place[..above])))
        .collect();
    let creates = !matches!(update.operator, "unset" | "rename" | "remove");
    if outermost.is_empty() && update.is_singular() && creates {
        return Ok(usize::from(create(document, update)));
    }
    for place in &outermost {
        let value = at(document, place);
        match (update.operator, &mut *value) {
            ("set", value) => *value = update.value(),
            ("unset", _) if place.is_empty() => return Err(MISFIT),
            ("unset", value) => *value = removed(),
            ("increment", value) => *value = sum(value, &update.value()).ok_or(MISFIT)?,
            ("remove", Value::Array(elements)) => {
                let removed = update.elements();
                elements.retain(|element| !removed.iter().any(|other| equal(element, other)));
            }
            ("append", Value::Array(elements)) => elements.extend(update.elements()),
            ("add", Value::Array(elements)) => {
                let mut missing = update.distinct();
                missing.retain(|element| !elements.iter().any(|other| equal(other, element)));
                elements.extend(missing);
            }
            ("min" | "max", value) => {
                let new = update.value();
                let order = order(&new, value).ok_or(MISFIT)?;
                if order.is_lt() && update.operator == "min"
                    || order.is_gt() && update.operator == "max"
                {
                    *value = new;
                }
            }
            ("rename", Value::Object(members)) => {
                if let Operand::Rename(member, to) = &update.operand
                    && let Some(value) = members.remove(member)
                {
                    members.insert(to.clone(), value);
                }
            }
            ("merge", value) => json_patch::merge(value, &update.value()),
            _ => return Err(MISFIT),
        }
    }
    sweep_out(document);
    Ok(outermost.len())
}

/// Stores a value at the missing place of a singular path. Returns whether there is such a place.
fn create(document: &mut Value, update: &Update) -> bool {
    let mut value = Value::Null;
    match update.operator {
        "append" => value = json!(update.elements()),
        "add" => value = json!(update.distinct()),
        "merge" => json_patch::merge(&mut value, &update.value()),
        _ => value = update.value(),
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

/// The order of two values of one type that is not null.
fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64()?.partial_cmp(&b.as_f64()?),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Bool(a), Value::Bool(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

/// Whether two values are equal, with numbers compared by value.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let same = |(name, a)| b.get(name).is_some_and(|b| equal(a, b));
            a.len() == b.len() && a.iter().all(same)
        }
        _ => a == b,
    }
}

fn child<'v>(value: &'v Value, segment: &Segment) -> Option<&'v Value> {
    match (value, segment) {
        (Value::Object(members), Segment::Name(name)) => members.get(name),
        (Value::Array(elements), Segment::Index(index)) => elements.get(*index),
        _ => None,
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
