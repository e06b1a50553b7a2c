//! References at their limits: a document to which 100,000 others refer, deletions that act on thousands of
//! documents in one level, in thousands of levels and in a circle, and chains of the greatest length.

use std::fmt::Write as _;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::client::{body, post};
use super::super::limits::Limits;
use super::super::referring::{schemas, set_type, stored, write};
use super::super::requests::repeated;
use super::super::server::alone;
use super::super::world::{state, store};
use super::{BOUNDED, Case, Expected};

/// Documents that refer to `hub`.
const REFERRING: usize = 100_000;
/// Documents on which a deletion acts, below the limit of 10,000.
const ACTED_ON: usize = 9_000;
/// The time in which the index on the keys is built.
const PATIENCE: Duration = Duration::from_secs(300);

/// The type of `items`, whose documents refer to `targets`, or to each other.
fn items(target: &str, on_delete: &str) -> Value {
    let reference =
        json!({"collection": target, "as": "target", "inverse": "items", "onDelete": on_delete});
    let keys = json!({"type": ["string", "null"], "x-reference": reference});
    json!({
        "title": "Item",
        "type": "object",
        "properties": {"k": {"type": "string"}, "n": {"type": "integer"}, "to": keys}
    })
}

fn targets() -> Value {
    json!({"title": "Target", "type": "object", "properties": {"k": {"type": "string"}}})
}

/// Documents of `items` in JSON lines, each with the key that `to` returns.
fn lines(documents: usize, to: impl Fn(usize) -> String) -> String {
    let mut lines = String::new();
    for at in 0..documents {
        let n = at * 7_919 % documents;
        let to = json!(to(at));
        writeln!(lines, "{{\"k\":\"i{at}\",\"n\":{n},\"to\":{to}}}").expect("a string takes all");
    }
    lines
}

/// Sets the type of `items`, and waits until the index on its keys is built.
fn set_items(case: &Case, target: &str, on_delete: &str) {
    let client = &mut case.server.client();
    set_type(client, "items", &items(target, on_delete));
    let begin = Instant::now();
    while state(client, "items", "reference_to") != "READY" {
        assert!(begin.elapsed() < PATIENCE, "the index is not built");
        thread::sleep(Duration::from_millis(50));
    }
}

/// Documents of `items`, whose keys lead to documents of `target`.
fn filled(target: &str, on_delete: &str, lines: &str) -> Case {
    let case = Case::new(Limits::LOW);
    set_type(&mut case.server.client(), "targets", &targets());
    case.server.import("items", lines);
    store(&mut case.server.client(), "targets", "hub", "{}");
    set_items(&case, target, on_delete);
    case
}

/// How many documents of `items` there are, and how many of them refer to a document.
fn counted(case: &Case) -> (Value, Value) {
    let query = "{ all: documents(collection: \"items\", first: 1) { totalCount }
        referring: documents(collection: \"items\", where: {at: \"$.to\", gte: \"\"}, first: 1) { totalCount } }";
    let mut data = case.server.client().data(query, &json!({}));
    let count = |data: &mut Value, of: &str| data[of]["totalCount"].take();
    (count(&mut data, "all"), count(&mut data, "referring"))
}

const DELETE_HUB: &str =
    "mutation { deleteDocument(collection: \"targets\", id: \"hub\") { deleted } }";

fn deleted(field: &str) -> Expected {
    Expected::RefusedOr(BOUNDED, json!({field: {"deleted": true}}))
}

#[test]
fn a_document_to_which_100_000_refer_is_read_and_kept() {
    let Some(_alone) = alone() else { return };
    let mut case = filled(
        "targets",
        "restrict",
        &lines(REFERRING, |_| "hub".to_owned()),
    );
    let restricted = Expected::Refused(&["REFERENCE_VIOLATION"]);
    case.check_write("a restricted deletion", DELETE_HUB, "{}", &restricted);
    for on_delete in ["nullify", "cascade"] {
        set_items(&case, "targets", on_delete);
        let name = format!("100,000 to {on_delete}");
        let refused = Expected::Refused(&["TOO_LARGE", "TOO_COMPLEX"]);
        case.check_write(&name, DELETE_HUB, "{}", &refused);
    }
    for (name, below) in [
        ("a page that refers", "items(first: 10) { nodes { n } }".to_owned()),
        ("the last that refer", "items(last: 10000) { nodes { k } }".to_owned()),
        ("the number that refer", "items(first: 1) { totalCount }".to_owned()),
        (
            "an order without an index",
            "items(first: 10, orderBy: {n: DESC}, scanLimit: 100000) { nodes { n } }".to_owned(),
        ),
        (
            "a filter without an index",
            "items(first: 10, where: {n: {lt: 3}}, scanLimit: 100000) { nodes { n } totalCount }".to_owned(),
        ),
        (
            "each leads back",
            "items(first: 10000) { nodes { target { items(first: 10) { nodes { target { key } } } } } }".to_owned(),
        ),
        (
            "200 pages",
            repeated(200, "p#: items(first: 500, where: {n: {gte: #}}) { nodes { n } totalCount } "),
        ),
    ] {
        let query = format!("{{ target(key: \"hub\") {{ {below} }} }}");
        let request = post(&body(&query, "{}"));
        case.check(name, std::slice::from_ref(&request), &Expected::Bounded);
        let name = format!("{name}, from 8 clients");
        case.check(&name, &vec![request; 8], &Expected::Bounded);
    }
    let query = format!(
        "{{ collections(name: \"items\") {{ count }}
            item(key: \"i{}\") {{ to }} target(key: \"hub\") {{ key }} }}",
        REFERRING - 1
    );
    let kept = json!({"collections": [{"count": REFERRING}], "item": {"to": "hub"}, "target": {"key": "hub"}});
    case.check_query("what was kept", &query, "{}", &Expected::Data(kept));
    case.end();
}

#[test]
fn deletions_that_act_on_thousands_of_documents_do_not_block_other_writers() {
    let Some(_alone) = alone() else { return };
    for on_delete in ["nullify", "cascade"] {
        let mut case = filled("targets", on_delete, &lines(ACTED_ON, |_| "hub".to_owned()));
        let name = format!("9,000 to {on_delete}");
        case.check_write(&name, DELETE_HUB, "{}", &deleted("deleteDocument"));
        let (all, referring) = counted(&case);
        println!("{name}: {all} documents remain, and {referring} of them refer");
        // All or nothing.
        let kept = case.server.client().data(
            "{ document(collection: \"targets\", id: \"hub\") { kind } }",
            &json!({}),
        );
        let expected = match (kept["document"].is_null(), on_delete) {
            (false, _) => (ACTED_ON, ACTED_ON),
            (true, "nullify") => (ACTED_ON, 0),
            (true, _) => (0, 0),
        };
        assert_eq!((all, referring), (json!(expected.0), json!(expected.1)));
        case.end();
    }
}

#[test]
fn deletions_in_thousands_of_levels_do_not_block_other_writers() {
    let Some(_alone) = alone() else { return };
    for (name, first, starts) in [
        ("9,000 levels", "hub", &[8_000, 0][..]),
        ("a circle of 9,000", "i8999", &[8_000]),
    ] {
        let to = |at: usize| match at {
            0 => first.to_owned(),
            at => format!("i{}", at - 1),
        };
        let mut case = filled("items", "cascade", &lines(ACTED_ON, to));
        for start in starts {
            let query = format!("mutation {{ deleteItem(key: \"i{start}\") {{ deleted }} }}");
            let name = format!("{name}, from {start}");
            case.check_write(&name, &query, "{}", &deleted("deleteItem"));
        }
        println!(
            "{name}: {:?} documents remain, and so many refer",
            counted(&case)
        );
        case.end();
    }
}

#[test]
fn chains_of_the_greatest_length_do_not_block_other_clients() {
    let Some(_alone) = alone() else { return };
    let mut case = Case::new(Limits::LOW);
    let client = &mut case.server.client();
    let [(collection, schema), ..] = schemas();
    set_type(client, collection, &schema);
    // 100 chains of 100 categories.
    let key = |chain: usize, at: usize| format!("c{chain}-{at}");
    let categories = (0..100).flat_map(|chain| (0..100).map(move |at| (chain, at)));
    let categories = categories.map(|(chain, at)| {
        let parent = (at > 0).then(|| key(chain, at - 1));
        (
            key(chain, at),
            json!({"name": "N", "rank": at, "parent": parent}),
        )
    });
    write(client, &stored(collection, categories));
    for (name, query) in [
        (
            "100 chains",
            "{ categories(where: {rank: {eq: 99}}, scanLimit: 10000) { nodes { ancestors { key } } } }".to_owned(),
        ),
        (
            "100 chains with 20 names",
            format!(
                "{{ categories(where: {{rank: {{eq: 99}}}}, scanLimit: 10000) {{ nodes {{ {} }} }} }}",
                repeated(20, "a#: ancestors { k#: key } ")
            ),
        ),
        (
            "10,000 chains",
            "{ categories(first: 10000) { nodes { ancestors { key } } } }".to_owned(),
        ),
        (
            "chains of chains of chains",
            "{ category(key: \"c0-99\") { ancestors { ancestors { ancestors { key } } } } }".to_owned(),
        ),
        (
            "chains that are followed without a type",
            "{ documents(collection: \"categories\", first: 1000) { nodes { follow(path: \"/parent\") { key } } } }"
                .to_owned(),
        ),
    ] {
        let request = post(&body(&query, "{}"));
        case.check(name, std::slice::from_ref(&request), &Expected::Bounded);
        let name = format!("{name}, from 8 clients");
        case.check(&name, &vec![request; 8], &Expected::Bounded);
    }
    // Each of the writes follows a chain of 100.
    let moves = |to: &dyn Fn(usize) -> String| {
        let moves = (0..100).flat_map(|chain| (0..10).map(move |at| (chain, at)));
        let moves = moves.map(|(chain, at)| {
            let patch = json!({"parent": to(chain)});
            json!({"merge": {"collection": "categories", "id": key(chain, 10 * at), "patch": patch}})
        });
        json!({"w": moves.collect::<Vec<Value>>()}).to_string()
    };
    let query = "mutation($w: [DocumentWrite!]!) { writeDocuments(operations: $w) { key } }";
    let circles = moves(&|chain| key(chain, 99));
    let refused = Expected::Refused(&["TYPE_MISMATCH", "TOO_LARGE", "TOO_COMPLEX", "TIMEOUT"]);
    case.check_write("1,000 moves into circles", query, &circles, &refused);
    let long = moves(&|chain| key((chain + 1) % 100, 99));
    case.check_write("1,000 moves below long chains", query, &long, &refused);
    let one = |parent: &str| {
        format!(
            "mutation {{ updateCategory(key: \"c1-0\", patch: {{parent: \"{parent}\"}}) {{ key }} }}"
        )
    };
    case.check_write(
        "a circle of 100",
        &one("c1-99"),
        "{}",
        &Expected::Refused(&["TYPE_MISMATCH"]),
    );
    case.check_write(
        "a chain of 100 below a chain of 100",
        &one("c2-99"),
        "{}",
        &Expected::Data(json!({"updateCategory": {"key": "c1-0"}})),
    );
    let delete = "mutation { deleteCategory(key: \"c2-0\") { deleted } }";
    case.check_write(
        "a deletion of 200 levels",
        delete,
        "{}",
        &deleted("deleteCategory"),
    );
    let gone = json!({"category": null});
    let query = "{ category(key: \"c1-99\") { key } }";
    case.check_query("what was below", query, "{}", &Expected::Data(gone));
    case.end();
}

#[test]
fn references_at_the_limit_of_one_operation_are_checked_in_time() {
    let Some(_alone) = alone() else { return };
    let mut case = Case::new(Limits::LOW);
    let client = &mut case.server.client();
    for (collection, schema) in schemas() {
        set_type(client, collection, &schema);
    }
    let documents = (0..10_000).map(|at| (format!("t{at}"), json!({"rank": at})));
    write(client, &stored("categories", documents));
    let create = "mutation($d: JSON) { replaceDocument(collection: \"guards\", id: \"g\", document: $d) { key } }";
    let variables = |count: usize| {
        let also: Vec<String> = (0..count).map(|at| format!("t{at}")).collect();
        json!({"d": {"also": also}}).to_string()
    };
    let written = Expected::RefusedOr(BOUNDED, json!({"replaceDocument": {"key": "g"}}));
    case.check_write("10,000 references", create, &variables(10_000), &written);
    let missing = Expected::Refused(&["TYPE_MISMATCH", "TOO_LARGE", "TOO_COMPLEX", "TIMEOUT"]);
    let absent: Vec<String> = (0..9_999).map(|at| format!("absent{at}")).collect();
    let absent = json!({"d": {"also": absent}}).to_string();
    case.check_write("9,999 references to nothing", create, &absent, &missing);
    let too_many = Expected::Refused(&["TOO_LARGE"]);
    case.check_write("10,001 references", create, &variables(10_001), &too_many);
    let delete = "mutation { deleteDocuments(collection: \"categories\", where: {at: \"$.rank\", gte: 0}) { changed } }";
    let changed = Expected::RefusedOr(BOUNDED, json!({"deleteDocuments": {"changed": 10_000}}));
    // Each deleted document is one of the list, which is searched for it.
    let [.., (_, mut guards)] = schemas();
    guards["properties"]["also"]["items"]["x-reference"]["onDelete"] = json!("nullify");
    set_type(&mut case.server.client(), "guards", &guards);
    case.check_write("10,000 keys of a list to nullify", delete, "{}", &changed);
    // The list is left as it is.
    let [.., (_, guards)] = schemas();
    set_type(&mut case.server.client(), "guards", &guards);
    case.check_write("10,000 deleted documents", delete, "{}", &Expected::Bounded);
    case.end();
}
