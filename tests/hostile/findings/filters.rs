//! Filters that used to block the server for seconds to minutes (finding 3).

use serde_json::json;

use super::super::client::{body, get, post};
use super::super::limits::Limits;
use super::super::server::alone;
use super::super::world::{index, list, numbers, store};
use super::{BOUNDED, Case, Expected};

/// Filters in a list, close to the limit of 1,000.
const FILTERS: usize = 990;
const FIND: &str = "query($w: DocumentFilter) { documents(where: $w) { nodes { key } } }";

fn nothing() -> Expected {
    Expected::RefusedOr(BOUNDED, json!({"documents": {"nodes": []}}))
}

fn find(filter: &str) -> Vec<u8> {
    post(&body(FIND, &format!("{{\"w\":{filter}}}")))
}

#[test]
fn count_filters_do_not_block_other_clients() {
    let Some(_alone) = alone() else { return };
    let mut case = Case::new(Limits::LOW);
    store(&mut case.server.client(), "D", "1", &numbers(100_000));
    for (name, path, list) in [
        ("counts in any", "$[?count($[0:88])>100]", "any"),
        ("nested queries in any", "$[?count($[?@<88])>100]", "any"),
        ("slices in all", "$[?count($[0:88])>1]", "all"),
        ("descendants in any", "$..[?count($[0:88])>100]", "any"),
        ("values of queries in any", "$[?value($[88])==-1]", "any"),
    ] {
        let filter = vec![format!("{{\"at\":\"{path}\",\"exists\":true}}"); FILTERS];
        let filter = format!("{{\"{list}\":[{}]}}", filter.join(","));
        let expected = match list {
            "any" => nothing(),
            _ => Expected::Bounded,
        };
        case.check(name, &[find(&filter), find(&filter)], &expected);
    }
    let not = format!(
        "{{\"not\":{{\"all\":[{}]}}}}",
        vec!["{\"not\":{\"at\":\"$[?count($[0:88])>100]\",\"exists\":true}}"; 450].join(",")
    );
    case.check("counts in not", &[find(&not), find(&not)], &nothing());
    case.end();
}

#[test]
fn filters_sent_by_get_do_not_block_other_clients() {
    let Some(_alone) = alone() else { return };
    let mut case = Case::new(Limits::LOW);
    store(&mut case.server.client(), "D", "1", &numbers(100_000));
    let filter = "{at:\"$[?count($[0:88])>100]\",exists:true},".repeat(60);
    let query = format!("{{documents(where:{{any:[{filter}]}}){{nodes{{id}}}}}}");
    let request = get(&query);
    case.check("counts by GET", &[request.clone(), request], &nothing());
    case.end();
}

#[test]
fn filters_with_a_thousand_values_do_not_block_other_clients() {
    let Some(_alone) = alone() else { return };
    let mut case = Case::new(Limits {
        // Enough to store the array.
        steps: 4_000_000,
        ..Limits::LOW
    });
    store(&mut case.server.client(), "D", "1", &numbers(300_000));
    let values: Vec<_> = (1..=1_000).map(|at| format!("-{at}")).collect();
    let texts: Vec<_> = (1..=1_000)
        .map(|at| format!("\"{}{at}\"", "x".repeat(3_000)))
        .collect();
    for (name, values) in [("numbers", &values), ("texts", &texts)] {
        let filter = format!("{{\"at\":\"$[*]\",\"in\":[{}]}}", values.join(","));
        case.check(
            &format!("1,000 {name} over an array"),
            &[find(&filter), find(&filter)],
            &nothing(),
        );
    }
    case.end();
}

#[test]
fn filters_with_a_thousand_index_ranges_do_not_block_other_clients() {
    let Some(_alone) = alone() else { return };
    let mut case = Case::new(Limits::LOW);
    let client = &mut case.server.client();
    for id in 0..40 {
        store(
            client,
            "D",
            &id.to_string(),
            &format!("{{\"a\":{}}}", numbers(1_000)),
        );
    }
    index(client, "D", "a", "$.a[*]", false);
    let points: Vec<_> = (0..1_000).map(|at| at.to_string()).collect();
    let union = format!("{{\"at\":\"$.a[*]\",\"in\":[{}]}}", points.join(","));
    let each = |count: usize| list(count, |at| format!("{{\"at\":\"$.a[*]\",\"eq\":{at}}}"));
    let (any, all) = (
        format!("{{\"any\":{}}}", each(FILTERS)),
        format!("{{\"all\":{}}}", each(FILTERS)),
    );
    let ids: Vec<_> = (0..40).map(|id| json!({"key": id.to_string()})).collect();
    let every = Expected::RefusedOr(BOUNDED, json!({"documents": {"nodes": ids}}));
    for (name, filter) in [("a union", union), ("any", any), ("all", all)] {
        case.check(
            &format!("1,000 index points in {name}"),
            &[find(&filter), find(&filter)],
            &every,
        );
    }
    case.end();
}

#[test]
fn filters_with_long_paths_do_not_block_other_clients() {
    let Some(_alone) = alone() else { return };
    let limits = Limits {
        body_bytes: 16 << 20,
        ..Limits::LOW
    };
    let mut case = Case::new(limits);
    store(&mut case.server.client(), "D", "1", "{\"a\":1}");
    for (name, part) in [
        ("names", "['a']"),
        ("filters", "[?@.a]"),
        ("unions", "['a','b']"),
        ("indexes", "[0,1,2]"),
    ] {
        let path = part.repeat(13_000 / part.len());
        let filters = list(FILTERS, |at| {
            format!("{{\"at\":\"${path}[{at}]\",\"exists\":true}}")
        });
        let request = find(&format!("{{\"any\":{filters}}}"));
        case.check(
            &format!("990 paths of 13 KB, of {name}"),
            &[request.clone(), request],
            &nothing(),
        );
    }
    case.end();
}
