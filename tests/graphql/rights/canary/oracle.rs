//! What rules allow, by brute force. Written from the description of the rules, not from the program.

use std::collections::BTreeMap;
use std::sync::Arc;

use phyllo::rights::Rules;
use rand::Rng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use serde_json::Value;

use super::requests::Focus;

/// The documents of a store, by collection and key.
pub(super) type Documents = BTreeMap<(String, String), Value>;

/// Who sends the requests.
#[derive(Clone, Debug)]
pub(super) enum Caller {
    Anonymous,
    User {
        sub: String,
        team: String,
        scope: String,
    },
}

impl Caller {
    pub(super) fn random(random: &mut StdRng) -> Self {
        if random.random_bool(0.15) {
            return Self::Anonymous;
        }
        let text = |choices: &[&str], random: &mut StdRng| {
            choices.choose(random).expect("some").to_string()
        };
        Self::User {
            sub: text(&["a", "b", "7"], random),
            team: text(&["c", "d"], random),
            scope: text(&["x", "y", "x y", "xy"], random),
        }
    }

    fn sub(&self) -> Option<&str> {
        match self {
            Self::Anonymous => None,
            Self::User { sub, .. } => Some(sub),
        }
    }
}

/// A step of a path to a leaf.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Step {
    Name(String),
    Index(usize),
}

#[derive(Clone, Debug)]
pub(super) struct Leaf {
    pub(super) path: Vec<Step>,
    pub(super) value: Value,
}

/// The leaves of a document. Empty objects and arrays are leaves.
pub(super) fn leaves(document: &Value) -> Vec<Leaf> {
    let mut found = Vec::new();
    add_leaves(document, &mut Vec::new(), &mut found);
    found
}

/// What is stored at a path.
pub(super) fn value_at<'d>(document: &'d Value, path: &[Step]) -> Option<&'d Value> {
    let mut steps = path.iter();
    steps.try_fold(document, |value, step| match (step, value) {
        (Step::Name(name), Value::Object(members)) => members.get(name),
        (Step::Index(index), Value::Array(elements)) => elements.get(*index),
        _ => None,
    })
}

fn add_leaves(value: &Value, path: &mut Vec<Step>, found: &mut Vec<Leaf>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, member) in members {
                path.push(Step::Name(name.clone()));
                add_leaves(member, path, found);
                path.pop();
            }
        }
        Value::Array(elements) if !elements.is_empty() => {
            for (index, element) in elements.iter().enumerate() {
                path.push(Step::Index(index));
                add_leaves(element, path, found);
                path.pop();
            }
        }
        leaf => found.push(Leaf {
            path: path.clone(),
            value: leaf.clone(),
        }),
    }
}

/// A rule of a file.
#[derive(Clone, Debug)]
pub(super) struct TestRule {
    who: &'static str,
    actions: Vec<&'static str>,
    collection: &'static str,
    id: Option<&'static str>,
    path: Option<&'static str>,
    filter: Option<&'static str>,
}

const ACTIONS: [&str; 6] = ["read", "list", "write", "create", "delete", "index"];

impl TestRule {
    pub(super) fn random(random: &mut StdRng) -> Self {
        let filters = [
            None,
            None,
            Some("{ at = \"$.s\", eq = \"p\" }"),
            Some("{ at = \"$.o\", eq = \"{sub}\" }"),
        ];
        let actions = ACTIONS.into_iter().filter(|action| match *action {
            "read" => random.random_bool(0.9),
            "list" | "write" => random.random_bool(0.6),
            _ => random.random_bool(0.3),
        });
        let actions: Vec<&str> = actions.collect();
        let mut rule = Self {
            who: *[
                "\"anyone\"",
                "\"user\"",
                "{ claim = \"scope\", contains = \"x\" }",
            ]
            .choose(random)
            .expect("some"),
            actions,
            collection: *["c", "c", "d", "*", "{team}"].choose(random).expect("some"),
            id: *[
                None,
                None,
                None,
                None,
                None,
                Some("a"),
                Some("7"),
                Some("{sub}"),
            ]
            .choose(random)
            .expect("some"),
            path: *[
                None,
                None,
                None,
                None,
                Some("/a"),
                Some("/b"),
                Some("/a/a"),
                Some("/b/0"),
                Some("/a/{sub}"),
            ]
            .choose(random)
            .expect("some"),
            filter: *filters.choose(random).expect("some"),
        };
        // What a file may not say.
        let (has_id, has_path) = (rule.id.is_some(), rule.path.is_some());
        let has_filter = rule.filter.is_some();
        rule.actions.retain(|action| match *action {
            "list" => !has_id,
            "create" | "delete" => !has_path,
            "index" => !has_id && !has_path && !has_filter,
            _ => true,
        });
        if rule.actions.is_empty() {
            rule.actions.push("read");
        }
        rule
    }

    /// The text of a file of rules.
    pub(super) fn file(rules: &[Self]) -> String {
        rules.iter().map(Self::toml).collect()
    }

    fn toml(&self) -> String {
        let actions: Vec<String> = self
            .actions
            .iter()
            .map(|action| format!("\"{action}\""))
            .collect();
        let mut text = format!(
            "[[allow]]\nwho = {}\nactions = [{}]\ncollection = \"{}\"\n",
            self.who,
            actions.join(", "),
            self.collection
        );
        if let Some(id) = self.id {
            text.extend([format!("id = \"{id}\"\n")]);
        }
        if let Some(path) = self.path {
            text.extend([format!("path = \"{path}\"\n")]);
        }
        if let Some(filter) = self.filter {
            text.extend([format!("where = {filter}\n")]);
        }
        text
    }

    /// Whether the rule is for an action of the caller in a document, or in all documents of a collection.
    fn is_for(&self, caller: &Caller, action: &str, collection: &str, id: Option<&str>) -> bool {
        let of_collection = match (self.collection, caller) {
            ("*", _) => true,
            ("{team}", Caller::User { team, .. }) => team == collection,
            ("{team}", Caller::Anonymous) => false,
            (name, _) => name == collection,
        };
        let of_document = match self.id {
            None => true,
            Some("{sub}") => id.is_some() && caller.sub() == id,
            Some(own) => id == Some(own),
        };
        self.is_by(caller) && of_collection && of_document && self.actions.contains(&action)
    }

    /// Whether the rule is for the caller.
    fn is_by(&self, caller: &Caller) -> bool {
        match (self.who, caller) {
            ("\"anyone\"", _) | ("\"user\"", Caller::User { .. }) => true,
            (_, Caller::Anonymous) => false,
            (_, Caller::User { scope, .. }) => scope.split(' ').any(|word| word == "x"),
        }
    }

    /// Whether the caller has the claim that the condition needs. Otherwise the rule covers nothing.
    fn has_claims_of(&self, caller: &Caller) -> bool {
        let needs_sub = self.filter.is_some_and(|filter| filter.contains("{sub}"));
        !needs_sub || caller.sub().is_some()
    }

    fn passes(&self, caller: &Caller, document: &Value) -> bool {
        match self.filter {
            None => true,
            Some(filter) if filter.contains("$.s") => document["s"] == "p",
            Some(_) => document["o"].is_string() && document["o"].as_str() == caller.sub(),
        }
    }

    /// Whether a path is at or below that of the rule.
    fn covers(&self, caller: &Caller, path: &[Step]) -> bool {
        let own = self.path.unwrap_or_default();
        let own: Vec<&str> = own.split('/').skip(1).collect();
        own.len() <= path.len()
            && own.iter().zip(path).all(|(own, step)| match (*own, step) {
                ("{sub}", Step::Name(name)) => caller.sub() == Some(name),
                ("{sub}", Step::Index(_)) => false,
                (own, Step::Name(name)) => own == name,
                (own, Step::Index(index)) => own == index.to_string(),
            })
    }
}

/// The rules, read by the program.
pub(super) fn parsed(rules: &[TestRule]) -> Arc<Rules> {
    let text = TestRule::file(rules);
    let parsed = Rules::parse(&text);
    Arc::new(parsed.unwrap_or_else(|error| panic!("{error}\n{text}")))
}

/// The rules and the caller.
#[derive(Clone)]
pub(super) struct Oracle {
    pub(super) rules: Vec<TestRule>,
    pub(super) caller: Caller,
}

impl Oracle {
    /// The place of a rule that allows an action to the caller, if there is one.
    pub(super) fn focus(&self, action: &str, random: &mut StdRng) -> Focus {
        let rules = self
            .rules
            .iter()
            .filter(|rule| rule.actions.contains(&action));
        let rules: Vec<&TestRule> = rules.filter(|rule| rule.is_by(&self.caller)).collect();
        let Some(rule) = rules.choose(random) else {
            return Focus::none();
        };
        let sub = self.caller.sub().unwrap_or("a");
        let filled = |text: &str| text.replace("{sub}", sub);
        Focus {
            collection: match (rule.collection, &self.caller) {
                ("*", _) => None,
                ("{team}", Caller::User { team, .. }) => Some(team.clone()),
                (name, _) => Some(name.to_owned()),
            },
            id: rule.id.map(filled),
            path: rule.path.map(filled).unwrap_or_default(),
        }
    }

    fn may(
        &self,
        action: &str,
        (collection, id): (&str, &str),
        document: &Value,
        path: &[Step],
    ) -> bool {
        let cover = self.cover(action, collection, Some(id), path);
        cover.passes(document)
    }

    /// The rules that cover a place in a document, or in all documents of a collection.
    pub(super) fn cover(
        &self,
        action: &str,
        collection: &str,
        id: Option<&str>,
        path: &[Step],
    ) -> Cover<'_> {
        let rules = self.rules.iter().filter(|rule| {
            rule.is_for(&self.caller, action, collection, id)
                && rule.has_claims_of(&self.caller)
                && (action == "list" || rule.covers(&self.caller, path))
        });
        Cover {
            rules: rules.collect(),
            caller: &self.caller,
        }
    }

    /// Whether the caller may read what is at a path.
    pub(super) fn reads(&self, place: (&str, &str), document: &Value, path: &[Step]) -> bool {
        self.may("read", place, document, path)
    }

    /// Whether the caller may know that a document exists: it may find it, or read something that could be
    /// in it.
    pub(super) fn knows(&self, (collection, id): (&str, &str), document: &Value) -> bool {
        self.rules.iter().any(|rule| {
            ["read", "list"]
                .iter()
                .any(|action| rule.is_for(&self.caller, action, collection, Some(id)))
                && rule.passes(&self.caller, document)
        })
    }

    /// The differences between two states that the rules do not allow the caller to make.
    pub(super) fn forbidden_changes(&self, before: &Documents, after: &Documents) -> Vec<String> {
        let mut forbidden = Vec::new();
        for ((collection, id), old) in before {
            let place = (&**collection, &**id);
            let Some(new) = after.get(&(collection.clone(), id.clone())) else {
                if !self.may("delete", place, old, &[]) {
                    forbidden.push(format!("deleted {place:?}"));
                }
                continue;
            };
            for path in changed_paths(old, new) {
                let may = |document| self.may("write", place, document, &path);
                if !may(old) || !may(new) {
                    forbidden.push(format!("changed {place:?} {path:?}"));
                }
            }
        }
        for ((collection, id), new) in after {
            let place = (&**collection, &**id);
            let is_new = !before.contains_key(&(collection.clone(), id.clone()));
            if is_new && !self.may("create", place, new, &[]) {
                forbidden.push(format!("created {place:?}"));
            }
        }
        forbidden
    }
}

/// The rules that cover a place.
pub(super) struct Cover<'o> {
    rules: Vec<&'o TestRule>,
    caller: &'o Caller,
}

impl Cover<'_> {
    /// Whether no rule covers the place, so that requests for it are refused.
    pub(super) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Whether a rule without a condition covers the place.
    pub(super) fn is_always(&self) -> bool {
        self.rules.iter().any(|rule| rule.filter.is_none())
    }

    /// Whether a rule covers the place in this document.
    pub(super) fn passes(&self, document: &Value) -> bool {
        let mut rules = self.rules.iter();
        rules.any(|rule| rule.passes(self.caller, document))
    }
}

/// The paths of the leaves that differ. That an object or array becomes empty, or is not empty any more,
/// follows from what is in it.
fn changed_paths(old: &Value, new: &Value) -> Vec<Vec<Step>> {
    let (old, new) = (leaves(old), leaves(new));
    let by_path = |leaves: &[Leaf]| -> BTreeMap<Vec<Step>, Value> {
        let leaves = leaves.iter();
        leaves
            .map(|leaf| (leaf.path.clone(), leaf.value.clone()))
            .collect()
    };
    let (old, new) = (by_path(&old), by_path(&new));
    let is_empty =
        |value: &Value| *value == serde_json::json!({}) || *value == serde_json::json!([]);
    let has_below = |leaves: &BTreeMap<Vec<Step>, Value>, path: &[Step]| {
        leaves
            .keys()
            .any(|other| other.len() > path.len() && other.starts_with(path))
    };
    let mut changed = Vec::new();
    for (from, to) in [(&old, &new), (&new, &old)] {
        for (path, value) in from {
            let follows = is_empty(value) && has_below(to, path);
            if to.get(path) != Some(value) && !follows && !changed.contains(path) {
                changed.push(path.clone());
            }
        }
    }
    changed
}
