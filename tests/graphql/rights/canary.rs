//! Random rules, callers, stores and requests, compared with an oracle that knows nothing of the program.
//!
//! Every leaf of a store is a unique canary.
//!
//! - No response has a canary that the rules do not allow this caller to read.
//! - The response to a query is the same from a store in which everything that the caller may not read is
//!   different: other values, other members, and hidden documents do not exist. So no count, order, error
//!   or page depends on it.
//! - A mutation changes only leaves that the rules allow to write, and stores and deletes only documents
//!   that they allow.

use std::collections::BTreeMap;

use phyllo::graphql::RulesInForce;
use phyllo::rights::{Principal, Rules};
use phyllo::store::Embedded;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Map, Value, json};

use super::super::support::client_of;
use super::oracle::{Caller, Documents, Leaf, Oracle, TestRule, leaves};
use super::requests::{mutation, query};
use super::{Client, NONE, client};

cases!(
    async [
        no_response_has_or_depends_on_what_the_rules_do_not_allow,
    ]
);

/// 10,000 cases in the long tests.
const CASES_PER_SEQUENCE: usize = 50;

/// The requests of one store.
const REQUESTS: usize = 20;

async fn no_response_has_or_depends_on_what_the_rules_do_not_allow() {
    let cases = std::env::var("PHYLLO_CANARY_CASES").map_or_else(
        |_| super::super::sequences() as usize * CASES_PER_SEQUENCE,
        |cases| cases.parse().expect("PHYLLO_CANARY_CASES is a number"),
    );
    let first = std::env::var("PHYLLO_TEST_SEED").map_or(1, |seed| seed.parse().expect("a number"));
    let mut seen = Seen::default();
    for world in 0..cases / REQUESTS {
        let seed = first + world as u64;
        World::new(seed).await.run(&mut seen).await;
    }
    println!("{seen:?}");
    // The cases are of all kinds.
    assert!(
        seen.refused > cases / 10 && seen.answered > cases / 10,
        "{seen:?}"
    );
    assert!(
        seen.changed > cases / 100 && seen.canaries > cases / 15,
        "{seen:?}"
    );
    assert!(seen.hidden > cases / 50, "{seen:?}");
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
    rules: String,
    hides: bool,
}

impl World {
    async fn new(seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let caller = Caller::random(&mut random);
        let count = random.random_range(2..7);
        let allowed: Vec<TestRule> = (0..count).map(|_| TestRule::random(&mut random)).collect();
        let rules: String = allowed.iter().map(TestRule::toml).collect();
        let oracle = Oracle {
            rules: allowed,
            caller,
        };
        let mut next = 0;
        let mut documents = Documents::new();
        for collection in ["c", "d"] {
            for id in ["a", "b", "7", "e"] {
                if random.random_bool(0.9) {
                    let document = random_document(&mut random, &mut next);
                    documents.insert((collection.to_owned(), id.to_owned()), document);
                }
            }
        }
        let others = different(&documents, &oracle, &mut random, &mut next);
        let all = client().await;
        store(&all, &documents).await;
        // A cluster has one store, so the other one is always embedded.
        let memory = redb::backends::InMemoryBackend::new();
        let embedded = Embedded::on_backend(memory).expect("an empty store");
        let other = client_of(embedded).await;
        store(&other, &others).await;
        let principal = oracle.caller.principal();
        let limited = |client: &Client| client.limited(in_force(&rules), principal.clone());
        let hides = others.len() < documents.len();
        Self {
            seed,
            hides,
            random,
            limited: limited(&all),
            other: limited(&other),
            all,
            documents,
            oracle,
            rules,
        }
    }

    async fn run(&mut self, seen: &mut Seen) {
        for _ in 0..REQUESTS * 3 / 4 {
            self.query(seen).await;
        }
        for _ in 0..REQUESTS / 4 {
            self.mutation(seen).await;
        }
    }

    fn context(&self, request: &str) -> String {
        format!(
            "PHYLLO_TEST_SEED={} PHYLLO_CANARY_CASES={REQUESTS}\n{:?}\n{}\n{request}\n",
            self.seed, self.oracle.caller, self.rules
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

    /// Asserts that each canary of a response is one that the caller may read in one of the states.
    fn assert_allowed(&self, text: &str, states: &[&Documents], seen: &mut Seen, context: &str) {
        let found = canaries(text);
        if found.is_empty() {
            return;
        }
        seen.canaries += 1;
        let mut allowed: BTreeMap<u64, bool> = BTreeMap::new();
        for documents in states {
            for ((collection, id), document) in *documents {
                for Leaf { path, value } in leaves(document) {
                    if let Some(number) = canary(&value) {
                        let may = self.oracle.reads((collection, id), document, &path);
                        *allowed.entry(number).or_default() |= may;
                    }
                }
            }
        }
        for number in found {
            assert!(
                allowed.get(&number).copied().unwrap_or(true),
                "the canary {number} is told\n{context}{text}\n{states:#?}"
            );
        }
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

fn in_force(rules: &str) -> RulesInForce {
    let parsed = Rules::parse(rules);
    RulesInForce::fixed(parsed.unwrap_or_else(|error| panic!("{error}\n{rules}")))
}

async fn store(client: &Client, documents: &Documents) {
    for ((collection, id), document) in documents {
        let variables = json!({"c": collection, "i": id, "d": document});
        let query = "mutation($c: String!, $i: ID, $d: JSON) { insertDocument(collection: $c, id: $i, document: $d) { key } }";
        client.data(query, variables).await;
    }
}

/// All documents of a store.
async fn dump(client: &Client) -> Documents {
    let mut documents = Documents::new();
    let data = client
        .data(
            r#"{ c: documents(collection: "c", first: 100) { nodes { key value } }
                 d: documents(collection: "d", first: 100) { nodes { key value } } }"#,
            NONE,
        )
        .await;
    for collection in ["c", "d"] {
        for node in data[collection]["nodes"].as_array().expect("nodes") {
            let key = node["key"].as_str().expect("a key").to_owned();
            documents.insert((collection.to_owned(), key), node["value"].clone());
        }
    }
    documents
}

/// The numbers of canaries begin with this.
const FIRST_CANARY: u64 = 700_000_000;

/// A canary: a text or a number.
fn new_canary(random: &mut StdRng, next: &mut u64) -> Value {
    *next += 1;
    let number = FIRST_CANARY + *next;
    if random.random_bool(0.5) {
        json!(number)
    } else {
        json!(format!("canary{number}"))
    }
}

/// The number of a canary.
fn canary(value: &Value) -> Option<u64> {
    canaries(&value.to_string()).first().copied()
}

/// The numbers of the canaries in a text.
fn canaries(text: &str) -> Vec<u64> {
    let numbers = text.split(|letter: char| !letter.is_ascii_digit());
    let numbers = numbers.filter_map(|digits| digits.parse::<u64>().ok());
    numbers
        .filter(|number| (FIRST_CANARY..FIRST_CANARY + 100_000_000).contains(number))
        .collect()
}

fn random_document(random: &mut StdRng, next: &mut u64) -> Value {
    let mut document = Map::new();
    document.insert("s".to_owned(), json!(["p", "q"].choose(random)));
    document.insert("o".to_owned(), json!(["a", "b"].choose(random)));
    for name in ["a", "b", "c"] {
        if random.random_bool(0.8) {
            document.insert(name.to_owned(), random_value(random, next, 3));
        }
    }
    Value::Object(document)
}

fn random_value(random: &mut StdRng, next: &mut u64, levels: usize) -> Value {
    match random.random_range(0..4) {
        0 if levels > 0 => {
            let elements = random.random_range(0..4);
            (0..elements)
                .map(|_| random_value(random, next, levels - 1))
                .collect()
        }
        1 | 2 if levels > 0 => {
            let names = ["a", "b", "0"].into_iter();
            let names: Vec<&str> = names.filter(|_| random.random_bool(0.75)).collect();
            let members = names
                .into_iter()
                .map(|name| (name.to_owned(), random_value(random, next, levels - 1)));
            Value::Object(members.collect())
        }
        _ => new_canary(random, next),
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
    path: &mut Vec<super::oracle::Step>,
    reads: &dyn Fn(&[super::oracle::Step]) -> bool,
    random: &mut StdRng,
    next: &mut u64,
) {
    use super::oracle::Step;
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
fn has_readable(
    value: &Value,
    path: &mut Vec<super::oracle::Step>,
    reads: &dyn Fn(&[super::oracle::Step]) -> bool,
) -> bool {
    use super::oracle::Step;
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

impl Caller {
    fn principal(&self) -> Principal {
        match self {
            Self::Anonymous => Principal::Anonymous,
            Self::User { sub, team, scope } => {
                super::user(json!({"sub": sub, "team": team, "scope": scope}))
            }
        }
    }
}
