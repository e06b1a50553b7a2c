//! Small requests that used to write gigabytes or block all other writers (finding 6).

use serde_json::json;

use super::super::client::{body, post};
use super::super::limits::Limits;
use super::super::requests::repeated;
use super::super::server::alone;
use super::super::world::{index, list, numbers, store};
use super::{BOUNDED, Case, Expected};

const PATCH: &str = "mutation($p: JSON) { patchDocument(id: 1, patch: $p) { kind } }";
const TOO_MUCH: Expected = Expected::Refused(BOUNDED);

fn patch(operations: impl IntoIterator<Item = String>) -> String {
    let operations: Vec<_> = operations.into_iter().collect();
    format!("{{\"p\":[{}]}}", operations.join(","))
}

fn copy(from: &str, path: &str) -> String {
    format!("{{\"op\":\"copy\",\"from\":\"{from}\",\"path\":\"{path}\"}}")
}

#[test]
fn copies_count_towards_the_write_limit() {
    let Some(_alone) = alone() else { return };
    let mut case = Case::new(Limits::LOW);
    let client = &mut case.server.client();
    let text = format!("{{\"t\":\"{}\",\"a\":[1,2]}}", "t".repeat(1 << 20));
    store(client, "D", "1", &text);
    let copies = patch((0..40).map(|at| copy("/t", &format!("/c{at}"))));
    let root = patch((0..40).map(|at| copy("", &format!("/c{at}"))));
    let array = patch((0..40).map(|_| copy("/a", "/a/-")));
    let moved = patch((0..20).flat_map(|at| {
        let there = format!("{{\"op\":\"move\",\"from\":\"/c{at}\",\"path\":\"/d\"}}");
        [copy("", &format!("/c{at}")), there]
    }));
    let several =
        "a#: patchDocument(id: 1, patch: [{op: \"copy\", from: \"/t\", path: \"/c#\"}]) { kind } ";
    let several = repeated(40, several);
    for (name, query, variables) in [
        ("40 copies of a text", PATCH, &*copies),
        ("copies that double", PATCH, &root),
        ("copies and moves that double", PATCH, &moved),
        (
            "copies in several fields",
            &format!("mutation {{ {several} }}"),
            "{}",
        ),
    ] {
        case.check_write(name, query, variables, &TOO_MUCH);
    }
    case.check_write(
        "copies of an array into itself",
        PATCH,
        &array,
        &Expected::Bounded,
    );
    let request = post(&body(PATCH, &copies));
    case.check(
        "40 copies of a text, from 8 clients",
        &vec![request; 8],
        &TOO_MUCH,
    );
    case.end();
}

#[test]
fn copies_of_other_documents_count_towards_the_write_limit() {
    let Some(_alone) = alone() else { return };
    let mut case = Case::new(Limits::LOW);
    let client = &mut case.server.client();
    let text = format!(
        "{{\"t\":\"{}\",\"l\":{}}}",
        "t".repeat(1 << 20),
        numbers(20_000)
    );
    store(client, "D", "1", &text);
    store(client, "D", "2", "{\"l\":[0]}");
    let field = |path: &str, from: &str| {
        format!("a#: copyDocument(id: 2, path: \"{path}\", from: {from}) {{ kind }} ")
    };
    for (name, field) in [
        (
            "300 copies of a text",
            field("/c#", "{id: 1, path: \"/t\"}"),
        ),
        (
            "300 copies of a list",
            field("/c#", "{id: 1, path: \"/l\"}"),
        ),
        ("300 copies to one place", field("/c", "{id: 1}")),
        ("copies that double", field("/c#", "{id: 2}")),
    ] {
        let query = format!("mutation {{ {} }}", repeated(300, &field));
        let expected = match name {
            "300 copies to one place" => Expected::Bounded,
            _ => TOO_MUCH,
        };
        case.check_write(name, &query, "{}", &expected);
    }
    let operand = "{at: \"$.l\", from: {id: 1, path: \"/l\"}} ".repeat(300);
    let update = |operator: &str| {
        format!(
            "mutation {{ updateDocuments(where: {{at: \"$.l[0]\", eq: 0}}, {operator}: [{operand}]) {{ changed }} }}"
        )
    };
    case.check_write("300 lists to append", &update("append"), "{}", &TOO_MUCH);
    case.check_write(
        "300 lists to remove",
        &update("remove"),
        "{}",
        &Expected::Bounded,
    );
    case.end();
}

#[test]
fn removals_of_many_values_take_linear_time() {
    let Some(_alone) = alone() else { return };
    let mut case = Case::new(Limits::LOW);
    let client = &mut case.server.client();
    store(client, "D", "1", &format!("{{\"l\":{}}}", numbers(100_000)));
    let update = "mutation($v: JSON) { updateDocuments(where: {at: \"$.l[0]\", exists: true}, \
                  remove: [{at: \"$.l\", values: $v}]) { changed } }";
    let values = |value: fn(usize) -> String| format!("{{\"v\":{}}}", list(20_000, value));
    let absent = values(|at| format!("{{\"k\":{at}}}"));
    case.check_write("20,000 absent values", update, &absent, &Expected::Bounded);
    let long = values(|at| format!("\"{at:0>40}\""));
    case.check_write("20,000 long values", update, &long, &Expected::Bounded);
    let present = values(|at| (5 * at).to_string());
    case.check_write("20,000 values", update, &present, &Expected::Bounded);
    case.end();
}

#[test]
fn values_at_thousands_of_paths_count_towards_the_write_limit() {
    let Some(_alone) = alone() else { return };
    let mut case = Case::new(Limits::LOW);
    let client = &mut case.server.client();
    store(client, "D", "1", &numbers(9_000));
    for id in 2..60 {
        store(client, "D", &id.to_string(), &numbers(150));
    }
    let update = "mutation($v: JSON) { updateDocuments(where: {}, everything: true, \
                  set: [{at: \"$[*]\", value: $v}]) { matched changed } }";
    let text = format!("{{\"v\":\"{}\"}}", "v".repeat(300_000));
    case.check_write("a text at 9,000 places", update, &text, &TOO_MUCH);
    let many = format!(
        "{{\"v\":{}}}",
        list(3_000, |at| format!("{{\"m{at}\":{at}}}"))
    );
    case.check_write("a list at 9,000 places", update, &many, &TOO_MUCH);
    let found = case
        .server
        .client()
        .data("{ document(id: 1) { value(path: \"/8999\") } }", &json!({}));
    assert_eq!(found, json!({"document": {"value": 8_999}}));
    case.end();
}

#[test]
fn removals_at_the_start_of_an_array_do_not_block_writers() {
    let Some(_alone) = alone() else { return };
    let mut case = Case::new(Limits::LOW);
    store(&mut case.server.client(), "D", "1", &numbers(100_000));
    let remove = "{\"op\":\"remove\",\"path\":\"/0\"}".to_owned();
    let add = "{\"op\":\"add\",\"path\":\"/0\",\"value\":null}".to_owned();
    let there = "{\"op\":\"move\",\"from\":\"/99999\",\"path\":\"/0\"}".to_owned();
    let back = "{\"op\":\"move\",\"from\":\"/0\",\"path\":\"/99999\"}".to_owned();
    for (name, operations) in [
        ("200 removals", [&remove, &remove]),
        ("200 insertions", [&add, &add]),
        ("removals and insertions", [&remove, &add]),
        ("moves", [&there, &back]),
    ] {
        let operations = operations.into_iter().cycle().take(200).cloned();
        case.check_write(name, PATCH, &patch(operations), &TOO_MUCH);
    }
    let several = repeated(200, "a#: deleteDocument(id: 1, path: \"/0\") { deleted } ");
    case.check_write(
        "200 fields that remove",
        &format!("mutation {{ {several} }}"),
        "{}",
        &TOO_MUCH,
    );
    let found = case.server.client().data(
        "{ document(id: 1) { value(path: \"/99999\") } }",
        &json!({}),
    );
    assert_eq!(found, json!({"document": {"value": 99_999}}));
    case.end();
}

#[test]
fn indexes_on_large_arrays_are_built_during_writes() {
    let Some(_alone) = alone() else { return };
    // More than one transaction can write, together with the document.
    let limits = Limits {
        write_bytes: 4 << 20,
        ..Limits::LOW
    };
    let mut case = Case::new(limits);
    let client = &mut case.server.client();
    let small = numbers(50_000);
    store(
        client,
        "D",
        "1",
        &format!("[{},\"mark\"]", &small[1..small.len() - 1]),
    );
    for part in 0..4 {
        // The document is grown beyond what one request can write.
        let elements = list(40_000, |at| (part * 40_000 + at).to_string());
        let query =
            "mutation($d: JSON) { replaceDocument(id: 2, path: $p, document: $d) { kind } }";
        let query = query.replace("mutation($d", "mutation($p: Path, $d");
        let path = if part == 0 {
            "\"\"".to_owned()
        } else {
            format!("[\"p{part}\"]")
        };
        let document = if part == 0 { "{}".to_owned() } else { elements };
        let variables = format!("{{\"p\":{path},\"d\":{document}}}");
        let request = post(&body(&query, &variables));
        let answer = client.send(&request).expect("it answers");
        assert!(answer.is_data(), "{}", answer.json());
    }
    let create = "mutation { a: createIndex(name: \"a\", on: [\"$[*]\"]) { state } }";
    case.check_write("createIndex", create, "{}", &Expected::Bounded);
    // A second index, while other clients write and read.
    let mut builder = case.server.client();
    let ((), seen) = super::during(&case.server, &case.bounds, &super::Running::new(1), || {
        index(&mut builder, "D", "b", "$.p3[*]", false);
    });
    println!("building: {}", seen.told());
    for violation in case.bounds.violations(&seen) {
        case.violations.push(format!("building: {violation}"));
    }
    index(&mut case.server.client(), "D", "a", "$[*]", false);
    for (filter, id) in [
        ("{at: \"$[*]\", eq: \"mark\"}", "1"),
        ("{at: \"$.p3[*]\", eq: 159999}", "2"),
    ] {
        let query = format!("{{ documents(where: {filter}) {{ nodes {{ key }} }} }}");
        let found = json!({"documents": {"nodes": [{"key": id}]}});
        case.check_query(filter, &query, "{}", &Expected::Data(found));
    }
    case.end();
}
