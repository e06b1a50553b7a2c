//! Requests for many parts of one document, whose places were compared and copied without a limit.

use serde_json::json;

use super::super::limits::Limits;
use super::super::requests::repeated;
use super::super::server::alone;
use super::super::world::store;
use super::{BOUNDED, Case, Expected};

fn case() -> Case {
    let case = Case::new(Limits::LOW);
    store(&mut case.server.client(), "D", "1", "{\"a\":[[1,2],[3,4]]}");
    case
}

/// Each alias reads 256 places of its own. They were compared with each other, which took 22 s.
#[test]
fn selects_of_many_ranges_are_compared_within_the_budget() {
    let Some(_alone) = alone() else { return };
    let mut case = case();
    let union: Vec<String> = (0..16).map(|at| at.to_string()).collect();
    let union = format!("[{}]", union.join(","));
    for count in [10, 300] {
        let variables = (0..count).map(|at| {
            let query = format!("${union}{union}['k{at}']");
            format!("\"v{at}\":{}", json!(query))
        });
        let variables: Vec<String> = variables.collect();
        let query = format!(
            "query({}) {{ document(id: 1) {{ {} }} }}",
            repeated(count, "$v#: JSONPath! "),
            repeated(count, "a#: select(query: $v#) { kind } ")
        );
        let nothing = (0..count).map(|at| (format!("a{at}"), json!([])));
        let nothing: serde_json::Map<_, _> = nothing.collect();
        let expected = Expected::RefusedOr(BOUNDED, json!({ "document": nothing }));
        let name = format!("{count} selects of 256 places");
        case.check_query(
            &name,
            &query,
            &format!("{{{}}}", variables.join(",")),
            &expected,
        );
    }
    case.end();
}

/// Each segment copied the places of all segments before it, which took 5 s for a query of 12 KB.
#[test]
fn selects_of_many_segments_are_copied_within_the_budget() {
    let Some(_alone) = alone() else { return };
    let mut case = case();
    for rest in ["[0]", "[0,5:5]", "['name']"] {
        let query = format!("${}{}", "[0,1]".repeat(8), rest.repeat(16_000 / rest.len()));
        for count in [1, 100] {
            let text = format!(
                "query($q: JSONPath!) {{ document(id: 1) {{ {} }} }}",
                repeated(count, "a#: select(query: $q) { kind } ")
            );
            let nothing = (0..count).map(|at| (format!("a{at}"), json!([])));
            let nothing: serde_json::Map<_, _> = nothing.collect();
            let expected = Expected::RefusedOr(BOUNDED, json!({ "document": nothing }));
            let variables = json!({"q": query}).to_string();
            case.check_query(
                &format!("{count} times {rest}"),
                &text,
                &variables,
                &expected,
            );
        }
    }
    case.end();
}
