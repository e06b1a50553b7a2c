//! Random rules, principals and uses, decided by the rules and by an oracle that shares no code with
//! them: it enumerates what each token of a path can mean, and evaluates conditions document by document.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};

use super::*;
use crate::budget::{Budget, Steps};
use crate::document::filter::FilterValue;
use crate::document::path::{Segment, Token};
use crate::document::tree::Tree;

const CASES: u64 = 10_000;
const COLLECTIONS: [&str; 5] = ["c", "c", "c", "d", "c-alice"];
const IDS: [&str; 5] = ["alice", "bob", "1", "\"1\"", "u-alice"];
const CLAIMS: [&str; 4] = ["sub", "org", "n", "list"];
const NAMES: [&str; 4] = ["a", "alice", "1", "-"];

/// A rule as the oracle sees it.
struct KnownRule {
    who: &'static str,
    actions: Vec<Action>,
    listed: bool,
    collection: &'static str,
    id: Option<&'static str>,
    path: Vec<Known>,
    /// The member of a document that must have a value.
    condition: Option<(&'static str, &'static str)>,
}

/// A token of the path of a rule.
#[derive(Clone, Copy)]
enum Known {
    Name(&'static str),
    Index(u64),
    Pointer(&'static str),
    Claim(&'static str),
}

fn some<T: Copy>(random: &mut StdRng, from: &[T]) -> T {
    *from.choose(random).expect("there are some")
}

fn rule(random: &mut StdRng) -> KnownRule {
    let is_pointer = random.random_bool(0.5);
    let token = |random: &mut StdRng| match random.random_range(0..4) {
        0 => Known::Claim(some(random, &CLAIMS)),
        1 if !is_pointer => Known::Index(random.random_range(0..2)),
        _ if is_pointer => Known::Pointer(some(random, &NAMES)),
        _ => Known::Name(some(random, &NAMES)),
    };
    let mut actions: Vec<Action> = Vec::new();
    while actions.is_empty() {
        actions.extend(Action::ALL.iter().filter(|_| random.random_bool(0.7)));
    }
    let id = some(
        random,
        &[
            None,
            None,
            None,
            None,
            Some("alice"),
            Some("1"),
            Some("{sub}"),
            Some("{n}"),
            Some("u-{sub}"),
        ],
    );
    let levels = some(random, &[0, 0, 0, 1, 1, 2]);
    let path: Vec<_> = (0..levels).map(|_| token(random)).collect();
    let condition = some(
        random,
        &[
            None,
            Some(("w", "1")),
            Some(("w", "1")),
            Some(("w", "{sub}")),
            Some(("v", "{n}")),
            Some(("v", "{missing}")),
        ],
    );
    // Rules that could allow nothing are rejected.
    actions.retain(|action| match action {
        Action::Read | Action::Write => true,
        Action::List => id.is_none(),
        Action::Create | Action::Delete => path.is_empty(),
        Action::Index => id.is_none() && path.is_empty() && condition.is_none(),
    });
    if actions.is_empty() {
        actions.push(Action::Read);
    }
    KnownRule {
        who: some(
            random,
            &[
                "anyone",
                "anyone",
                "user",
                "token t",
                "sub = alice",
                "roles ∋ editor",
            ],
        ),
        actions,
        listed: random.random_bool(0.1),
        collection: some(random, &["*", "c", "c", "d", "{org}", "c-{sub}"]),
        id,
        path,
        condition,
    }
}

impl KnownRule {
    fn write(&self, out: &mut String) {
        let who = match self.who {
            "token t" => "{ token = \"t\" }",
            "sub = alice" => "{ claim = \"sub\", eq = \"alice\" }",
            "roles ∋ editor" => "{ claim = \"roles\", contains = \"editor\" }",
            "user" => "\"user\"",
            _ => "\"anyone\"",
        };
        let actions: Vec<_> = self
            .actions
            .iter()
            .map(|action| format!("\"{action}\""))
            .collect();
        let actions = actions.join(",");
        let collection = self.collection;
        write!(
            out,
            "[[allow]]\nwho = {who}\nactions = [{actions}]\ncollection = \"{collection}\"\n"
        )
        .expect("room");
        if self.listed {
            out.push_str("operations = \"listed\"\n");
        }
        if let Some(id) = self.id {
            writeln!(out, "id = \"{id}\"").expect("room");
        }
        let is_pointer = self
            .path
            .iter()
            .any(|token| matches!(token, Known::Pointer(_)));
        let tokens: Vec<_> = self
            .path
            .iter()
            .map(|token| match token {
                Known::Pointer(name) if is_pointer => format!("/{name}"),
                Known::Claim(name) if is_pointer => format!("/{{{name}}}"),
                Known::Name(name) | Known::Pointer(name) => format!("\"{name}\""),
                Known::Index(index) => index.to_string(),
                Known::Claim(name) => format!("\"{{{name}}}\""),
            })
            .collect();
        if is_pointer {
            writeln!(out, "path = \"{}\"", tokens.concat()).expect("room");
        } else {
            writeln!(out, "path = [{}]", tokens.join(",")).expect("room");
        }
        match self.condition {
            Some((at, value @ "1")) => {
                writeln!(out, "where = {{ at = \"$.{at}\", eq = {value} }}").expect("room");
            }
            Some((at, value)) => {
                writeln!(out, "where = {{ at = \"$.{at}\", eq = \"{value}\" }}").expect("room");
            }
            None => {}
        }
    }

    /// Whether the rule covers a place in a document.
    fn covers(
        &self,
        principal: &Principal,
        listed: bool,
        used: &PlaceUsed<'_>,
        document: &Value,
    ) -> bool {
        let claim = |name: &str| match principal {
            Principal::User { claims } => claims.get(name).cloned(),
            _ => None,
        };
        // The text that a template is, or none.
        let text = |template: &str| -> Option<String> {
            let Some((before, rest)) = template.split_once('{') else {
                return Some(template.to_owned());
            };
            match claim(&rest[..rest.len() - 1])? {
                Value::String(text) => Some(format!("{before}{text}")),
                Value::Number(number) => Some(format!("{before}{number}")),
                _ => None,
            }
        };
        let who = match (self.who, principal) {
            ("anyone", _) | ("user", Principal::User { .. }) => true,
            ("token t", Principal::Token { name }) => &**name == "t",
            ("sub = alice", _) => claim("sub") == Some(json!("alice")),
            ("roles ∋ editor", _) => claim("roles").is_some_and(|roles| match roles {
                Value::Array(roles) => roles.contains(&json!("editor")),
                Value::String(roles) => roles.split(' ').any(|role| role == "editor"),
                _ => false,
            }),
            _ => false,
        };
        let collection =
            self.collection == "*" || text(self.collection).as_deref() == Some(&*used.collection);
        let id = match (self.id, &used.id) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(id), Some(used)) => text(id) == Some(used.to_string()),
        };
        let path =
            used.action == Action::List || {
                let tokens = used.path.tokens();
                self.path.len() <= tokens.len()
                    && self.path.iter().zip(tokens).all(|(known, token)| {
                        meanings_of_use(token).is_subset(&known.meanings(&claim))
                    })
            };
        let condition = match self.condition {
            None => true,
            Some((at, "1")) => document[at] == json!(1),
            Some((at, template)) => {
                let value = claim(template.trim_matches(['{', '}']));
                value.is_some_and(|value| document[at] == value)
            }
        };
        who && collection
            && id
            && path
            && condition
            && (listed || !self.listed)
            && self.actions.contains(&used.action)
    }
}

/// What a token of a used path can mean: members, elements, the place behind an array, or some element.
fn meanings_of_use(token: &Token) -> BTreeSet<String> {
    let meanings = match token {
        Token::Segment(Segment::Key(name)) => vec![format!("member {name}")],
        Token::Segment(Segment::Index(index)) => vec![format!("element {index}")],
        Token::Digits(digits) => vec![format!("member {digits}"), format!("element {digits}")],
        Token::Dash => vec!["member -".to_owned(), "behind".to_owned()],
        Token::FromEnd(_) => vec!["some element".to_owned()],
    };
    meanings.into_iter().collect()
}

impl Known {
    fn meanings(self, claim: &dyn Fn(&str) -> Option<Value>) -> BTreeSet<String> {
        let meanings = match self {
            Self::Index(index) => vec![format!("element {index}")],
            Self::Pointer(name @ "1") => vec![format!("member {name}"), format!("element {name}")],
            Self::Pointer(name @ "-") => vec![format!("member {name}"), "behind".to_owned()],
            Self::Name(name) | Self::Pointer(name) => vec![format!("member {name}")],
            Self::Claim(name) => match claim(name) {
                Some(Value::String(name)) => vec![format!("member {name}")],
                Some(Value::Number(index)) => vec![format!("element {index}")],
                _ => vec![],
            },
        };
        meanings.into_iter().collect()
    }
}

fn principal(random: &mut StdRng) -> Principal {
    match random.random_range(0..5) {
        0 => Principal::Anonymous,
        1 => token(some(random, &["t", "alice"])),
        _ => {
            let mut claims = json!({});
            if random.random_bool(0.9) {
                claims["sub"] = json!(some(random, &["alice", "bob"]));
            }
            if random.random_bool(0.5) {
                claims["org"] = json!(some(random, &["c", "d", "1"]));
            }
            if random.random_bool(0.5) {
                claims["n"] =
                    some(random, &[&json!(1), &json!("1"), &json!(1.5), &json!(-1)]).clone();
            }
            if random.random_bool(0.5) {
                claims["roles"] = some(
                    random,
                    &[&json!(["editor"]), &json!("x editor"), &json!("editors")],
                )
                .clone();
            }
            claims["list"] = json!(["alice"]);
            user(claims)
        }
    }
}

fn place(random: &mut StdRng) -> PlaceUsed<'static> {
    let tokens = [
        "\"a\"",
        "\"alice\"",
        "\"bob\"",
        "\"1\"",
        "1",
        "0",
        "-1",
        "\"-\"",
    ];
    let path = if random.random_bool(0.5) {
        (0..random.random_range(0..3))
            .flat_map(|_| ["/", some(random, &NAMES)])
            .collect()
    } else {
        let tokens: Vec<_> = (0..random.random_range(0..3))
            .map(|_| some(random, &tokens))
            .collect();
        format!("[{}]", tokens.join(","))
    };
    let id = if random.random_bool(0.2) {
        ""
    } else {
        some(random, &IDS)
    };
    let action = if random.random_bool(0.5) {
        Action::Read
    } else {
        some(random, &Action::ALL)
    };
    used(action, some(random, &COLLECTIONS), id, &path)
}

fn documents() -> Vec<Value> {
    let values = [
        json!(1),
        json!("alice"),
        json!("bob"),
        json!("1"),
        json!(1.5),
        json!(-1),
        Value::Null,
    ];
    let pairs = values
        .iter()
        .flat_map(|w| values.iter().map(move |v| (w, v)));
    pairs.map(|(w, v)| json!({"w": w, "v": v})).collect()
}

#[test]
fn decisions_agree_with_an_oracle() {
    let budget = Budget::of_background();
    let documents = documents();
    let mut found = [0_u64; 3];
    for seed in 0..CASES {
        let random = &mut StdRng::seed_from_u64(seed);
        let known: Vec<_> = (0..random.random_range(0..12))
            .map(|_| rule(random))
            .collect();
        let mut text = String::new();
        for rule in &known {
            rule.write(&mut text);
        }
        let rules = rules(&text);
        let principal = principal(random);
        let listed = random.random_bool(0.3);
        let places: Vec<_> = (0..random.random_range(1..3))
            .map(|_| place(random))
            .collect();
        let covered = |place: &PlaceUsed<'_>, document: &Value| {
            known
                .iter()
                .any(|rule| rule.covers(&principal, listed, place, document))
        };
        let context = || format!("seed {seed}\n{text}\n{principal:?} {listed} {places:?}");
        let in_some = |place: &&PlaceUsed<'_>| documents.iter().any(|it| covered(place, it));
        let uncovered = places.iter().find(|place| !in_some(place));
        match rules.decide(&principal, listed, &places) {
            Decision::Refused(place) => {
                assert_eq!(Some(&*place), uncovered, "{}", context());
                found[0] += 1;
            }
            Decision::Allowed => {
                let all = documents
                    .iter()
                    .all(|it| places.iter().all(|place| covered(place, it)));
                assert!(all, "{}", context());
                found[1] += 1;
            }
            Decision::Depends(conditions) => {
                assert_eq!(uncovered, None, "{}", context());
                let filter = conditions.filter(|_| true);
                for document in &documents {
                    let tree = Tree::from_json(&document.to_string()).expect("JSON");
                    let stored = |place: &[Segment]| match tree.at(place) {
                        Some(value) => FilterValue::Value(value),
                        None => FilterValue::Absent,
                    };
                    let holds = filter
                        .holds(&stored, &Steps::of(&budget))
                        .expect("within bounds");
                    let expected = places.iter().all(|place| covered(place, document));
                    assert_eq!(holds, expected, "{document}\n{}", context());
                }
                found[2] += 1;
            }
        }
        let allowed = rules
            .explain(&principal, listed, &places)
            .iter()
            .all(super::super::Explanation::is_covered);
        assert_eq!(allowed, uncovered.is_none(), "{}", context());
    }
    assert!(found.iter().all(|found| *found > CASES / 50), "{found:?}");
}
