//! Random queries and mutations of random stores.
//!
//! - No response has a canary that the rules do not allow this caller to read.
//! - The response to a query is the same from a store in which everything that the caller may not read is
//!   different: other values, other members, and hidden documents do not exist. So no count, order, error
//!   or page depends on it.
//! - A mutation changes only leaves that the rules allow to write, and stores and deletes only documents
//!   that they allow.

use std::collections::BTreeMap;
use std::sync::Arc;

use phyllo::database::Severity;
use phyllo::graphql::RulesInForce;
use phyllo::rights::{Principal, RequestRights, Rules};
use phyllo::store::Embedded;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use serde_json::Value;
use tokio::sync::watch;

use super::super::super::support::client_of;
use super::documents::{canaries, canary, dump, new_canary, random_documents, store};
use super::lines::{Lines, expected_export, exported};
use super::oracle::{Caller, Documents, Leaf, Oracle, Step, TestRule, leaves, parsed};
use super::requests::{mutation, query};
use super::{Client, NONE, client};

cases!(
    async [
        no_response_has_or_depends_on_what_the_rules_do_not_allow,
    ]
);

/// 10,000 cases in the long tests.
const CASES_PER_SEQUENCE: usize = 50;

/// So many cases are of all kinds.
const CASES_OF_ALL_KINDS: usize = 1_000;

/// The requests of one store.
const REQUESTS: usize = 20;

async fn no_response_has_or_depends_on_what_the_rules_do_not_allow() {
    let cases = super::cases(CASES_PER_SEQUENCE);
    let first = super::first_seed();
    let mut seen = Seen::default();
    let stores = Stores::new().await;
    for world in 0..cases / REQUESTS {
        let seed = first + world as u64;
        World::new(seed, &stores).await.run(&mut seen).await;
        stores.clear().await;
    }
    println!("{seen:?}");
    if cases < CASES_OF_ALL_KINDS {
        return;
    }
    assert!(
        seen.refused > cases / 10 && seen.answered > cases / 10,
        "{seen:?}"
    );
    assert!(
        seen.changed > cases / 100 && seen.canaries > cases / 15,
        "{seen:?}"
    );
    assert!(seen.hidden > cases / 50, "{seen:?}");
    assert!(seen.exported > cases / 100, "{seen:?}");
    assert!(
        seen.lines_written > cases / 100 && seen.lines_refused > cases / 100,
        "{seen:?}"
    );
}

/// What the cases had.
#[derive(Debug, Default)]
struct Seen {
    refused: usize,
    answered: usize,
    changed: usize,
    canaries: usize,
    /// Requests of which the response has data, in a store with hidden documents.
    hidden: usize,
    /// Exports with documents.
    exported: usize,
    lines_written: usize,
    lines_refused: usize,
}

/// A store and one in which everything hidden is different, with clients of them. All worlds use them, because a
/// service takes longer to build than to answer a world's requests.
struct Stores {
    all: Client,
    limited: Client,
    other: Client,
    other_limited: Client,
    rules: watch::Sender<Arc<Rules>>,
}

impl Stores {
    async fn new() -> Self {
        let (rules, in_force) = watch::channel(parsed(&[]));
        let in_force = RulesInForce::new(in_force);
        let all = client().await;
        // A cluster has one store, so the other one is always embedded.
        let other = client_of(Embedded::in_memory().expect("an empty store")).await;
        let limited = |client: &Client| client.limited(in_force.clone(), Principal::Anonymous);
        Self {
            limited: limited(&all),
            other_limited: limited(&other),
            all,
            other,
            rules,
        }
    }

    /// Asserts that the store is sound, and empties both.
    async fn clear(&self) {
        let mut findings = self.all.check().await;
        findings.retain(|finding| finding.severity != Severity::Information);
        assert!(findings.is_empty(), "{findings:#?}");
        for client in [&self.all, &self.other] {
            // A mutation can have made a collection with the name of a template.
            let stored = client.data("{ collections { name } }", NONE).await;
            let names = stored["collections"].as_array().expect("a list").iter();
            let drops: Vec<String> = names
                .enumerate()
                .map(|(number, of)| {
                    let name = &of["name"];
                    format!("d{number}: dropCollection(collection: {name}, everything: true) {{ documents }}")
                })
                .collect();
            if !drops.is_empty() {
                client.mutate(&drops.join(" ")).await;
            }
        }
    }
}

struct World {
    seed: u64,
    random: StdRng,
    all: Client,
    /// All documents.
    documents: Documents,
    limited: Client,
    /// The same caller of a store in which everything hidden is different.
    other: Client,
    oracle: Oracle,
    rights: RequestRights,
    hides: bool,
}

impl World {
    async fn new(seed: u64, stores: &Stores) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let caller = Caller::random(&mut random);
        let count = random.random_range(2..7);
        let allowed: Vec<TestRule> = (0..count).map(|_| TestRule::random(&mut random)).collect();
        let in_force = parsed(&allowed);
        stores.rules.send_replace(in_force.clone());
        let oracle = Oracle {
            rules: allowed,
            caller,
        };
        let mut next = 0;
        let documents = random_documents(&mut random, &mut next);
        let others = different(&documents, &oracle, &mut random, &mut next);
        store(&stores.all, &documents).await;
        store(&stores.other, &others).await;
        let principal = oracle.caller.principal();
        let rights = RequestRights {
            principal: principal.clone(),
            rules: Some(in_force),
            is_listed: false,
        };
        Self {
            seed,
            rights,
            hides: others.len() < documents.len(),
            random,
            limited: stores.limited.sent_by(principal.clone()),
            other: stores.other_limited.sent_by(principal),
            all: stores.all.clone(),
            documents,
            oracle,
        }
    }

    async fn run(&mut self, seen: &mut Seen) {
        for _ in 0..REQUESTS * 3 / 4 {
            self.query(seen).await;
        }
        for collection in ["c", "d"] {
            self.export(collection, seen).await;
        }
        for number in 0..REQUESTS / 4 {
            if number % 2 == 0 {
                self.mutation(seen).await;
            } else {
                self.lines(seen).await;
            }
        }
    }

    fn context(&self, request: &str) -> String {
        format!(
            "PHYLLO_TEST_SEED={} PHYLLO_CANARY_CASES={REQUESTS}\n{:?}\n{}\n{request}\n",
            self.seed,
            self.oracle.caller,
            TestRule::file(&self.oracle.rules)
        )
    }

    async fn query(&mut self, seen: &mut Seen) {
        let focus = self.oracle.focus("read", &mut self.random);
        let request = query(&mut self.random, &self.documents, focus);
        let text = self.limited.text(&request, NONE).await;
        let context = self.context(&request);
        count(seen, &text, self.hides);
        self.assert_allowed(&text, &[&self.documents], seen, &context);
        let other = self.other.text(&request, NONE).await;
        assert_eq!(
            text, other,
            "the response depends on what is hidden\n{context}"
        );
    }

    async fn mutation(&mut self, seen: &mut Seen) {
        let action = ["write", "write", "create", "delete"].choose(&mut self.random);
        let focus = self.oracle.focus(action.expect("some"), &mut self.random);
        let request = mutation(&mut self.random, &self.documents, focus);
        let text = self.limited.text(&request, NONE).await;
        let after = dump(&self.all).await;
        let before = std::mem::replace(&mut self.documents, after.clone());
        let context = self.context(&request);
        count(seen, &text, self.hides);
        self.assert_allowed(&text, &[&before, &after], seen, &context);
        if text.contains("FORBIDDEN") {
            assert_eq!(before, after, "{context}");
        }
        if before != after {
            seen.changed += 1;
            let changes = self.oracle.forbidden_changes(&before, &after);
            assert!(
                changes.is_empty(),
                "{changes:#?}\n{context}{before:#?}\n{after:#?}"
            );
        }
    }

    /// Exports have what the rules allow to find and read, and nothing else.
    async fn export(&mut self, collection: &str, seen: &mut Seen) {
        let text = exported(&self.all, collection, &self.rights).await;
        let context = self.context(&format!("export of {collection}"));
        let lines = text.as_ref().map(|text| {
            let lines = text
                .lines()
                .map(|line| serde_json::from_str(line).expect("JSON"));
            let mut lines: Vec<Value> = lines.collect();
            lines.sort_by_key(|line| line["id"].to_string());
            lines
        });
        let mut expected = expected_export(&self.oracle, &self.documents, collection);
        if let Some(lines) = &mut expected {
            lines.sort_by_key(|line| line["id"].to_string());
        }
        assert_eq!(lines, expected, "{context}");
        let Some(text) = text else {
            return;
        };
        seen.exported += usize::from(!text.is_empty());
        self.assert_allowed(&text, &[&self.documents], seen, &context);
        let other = exported(&self.other, collection, &self.rights).await;
        assert_eq!(Some(text), other, "it depends on what is hidden\n{context}");
    }

    /// Lines change only what the rules allow.
    async fn lines(&mut self, seen: &mut Seen) {
        let action = ["write", "write", "create"].choose(&mut self.random);
        let focus = self.oracle.focus(action.expect("some"), &mut self.random);
        let lines = Lines::random(&focus, &mut self.random);
        let (text, written) = lines.write(&self.all, &self.rights).await;
        let after = dump(&self.all).await;
        let before = std::mem::replace(&mut self.documents, after.clone());
        let context = self.context(&format!("{lines:?}: {written:?}\n{text}"));
        self.assert_allowed(&text, &[&before, &after], seen, &context);
        seen.lines_refused += text.matches("FORBIDDEN").count();
        if before == after {
            return;
        }
        assert!(written.contains(&true), "{context}");
        seen.lines_written += written.iter().filter(|written| **written).count();
        let changes = self.oracle.forbidden_changes(&before, &after);
        assert!(
            changes.is_empty(),
            "{changes:#?}\n{context}{before:#?}\n{after:#?}"
        );
    }

    /// Asserts that each canary of a response is one that the caller may read in one of the states.
    fn assert_allowed(&self, text: &str, states: &[&Documents], seen: &mut Seen, context: &str) {
        let found = canaries(text);
        if found.is_empty() {
            return;
        }
        seen.canaries += 1;
        // A number that is not stored comes from the request.
        let mut readable: BTreeMap<u64, bool> = BTreeMap::new();
        for ((collection, id), document) in states.iter().copied().flatten() {
            for Leaf { path, value } in leaves(document) {
                if let Some(number) = canary(&value).filter(|number| found.contains(number)) {
                    let reads = self.oracle.reads((collection, id), document, &path);
                    *readable.entry(number).or_default() |= reads;
                }
            }
        }
        let told = readable.iter().find(|(_, reads)| !**reads);
        assert!(
            told.is_none(),
            "a canary is told: {told:?}\n{context}{text}\n{states:#?}"
        );
    }
}

fn count(seen: &mut Seen, text: &str, hides: bool) {
    if text.contains("FORBIDDEN") {
        seen.refused += 1;
    } else if text.starts_with("{\"data\":{") {
        seen.answered += 1;
        seen.hidden += usize::from(hides);
    }
}

/// The documents, with everything different that the caller may not read. Documents that the caller may
/// neither find nor read do not exist.
fn different(
    documents: &Documents,
    oracle: &Oracle,
    random: &mut StdRng,
    next: &mut u64,
) -> Documents {
    let mut others = Documents::new();
    for ((collection, id), document) in documents {
        let place = (&**collection, &**id);
        if !oracle.knows(place, document) {
            continue;
        }
        let mut path = Vec::new();
        let mut other = document.clone();
        change_hidden(
            &mut other,
            &mut path,
            &|path| oracle.reads(place, document, path),
            random,
            next,
        );
        others.insert((collection.clone(), id.clone()), other);
    }
    others
}

/// Changes a value wherever the caller may not read it. What rules compare stays.
fn change_hidden(
    value: &mut Value,
    path: &mut Vec<Step>,
    reads: &dyn Fn(&[Step]) -> bool,
    random: &mut StdRng,
    next: &mut u64,
) {
    if reads(path) {
        return;
    }
    match value {
        Value::Object(members) => {
            let is_root = path.is_empty();
            for (name, member) in &mut *members {
                if is_root && (name == "s" || name == "o") {
                    continue;
                }
                path.push(Step::Name(name.clone()));
                change_hidden(member, path, reads, random, next);
                path.pop();
            }
            let mut gone = Vec::new();
            for name in members.keys() {
                path.push(Step::Name(name.clone()));
                let is_kept = is_root && (name == "s" || name == "o");
                if !is_kept && !has_readable(&members[name], path, reads) && random.random_bool(0.3)
                {
                    gone.push(name.clone());
                }
                path.pop();
            }
            for name in gone {
                members.remove(&name);
            }
            members.insert("hidden".to_owned(), new_canary(random, next));
        }
        Value::Array(elements) => {
            for (index, element) in elements.iter_mut().enumerate() {
                path.push(Step::Index(index));
                change_hidden(element, path, reads, random, next);
                path.pop();
            }
            // What is added must be hidden, too.
            path.push(Step::Index(elements.len()));
            if !reads(path) {
                elements.push(new_canary(random, next));
            }
            path.pop();
        }
        leaf => *leaf = new_canary(random, next),
    }
}

/// Whether the caller may read the value or something that could be in it.
fn has_readable(value: &Value, path: &mut Vec<Step>, reads: &dyn Fn(&[Step]) -> bool) -> bool {
    if reads(path) {
        return true;
    }
    let steps: Vec<Step> = match value {
        Value::Object(members) => members.keys().cloned().map(Step::Name).collect(),
        Value::Array(elements) => (0..elements.len()).map(Step::Index).collect(),
        _ => Vec::new(),
    };
    steps.into_iter().any(|step| {
        let below = match &step {
            Step::Name(name) => &value[name],
            Step::Index(index) => &value[*index],
        };
        path.push(step);
        let readable = has_readable(below, path, reads);
        path.pop();
        readable
    })
}
