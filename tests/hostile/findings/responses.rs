//! Responses that used to exceed their limit many times over (finding 4).

use serde_json::json;

use super::super::client::{body, post};
use super::super::limits::Limits;
use super::super::requests::repeated;
use super::super::requests::responses::under_conditions;
use super::super::server::alone;
use super::super::world::{list, long_id, numbers, store};
use super::{Case, Expected};

const TOO_MUCH: Expected = Expected::Refused(&["TOO_COMPLEX", "TOO_LARGE", "UNAVAILABLE"]);

fn aliases(count: usize, field: &str) -> String {
    repeated(count, &format!("a#: {field} "))
}

#[test]
fn names_and_ids_count_towards_the_response_limit() {
    let Some(_alone) = alone() else { return };
    let limits = Limits {
        response_bytes: 1 << 20,
        ..Limits::LOW
    };
    let mut case = Case::new(limits);
    let client = &mut case.server.client();
    for number in 0..20 {
        store(client, "D", &long_id(number), "{\"n\":[1,2,3]}");
    }
    let ids = aliases(240, "id");
    let edges = aliases(240, "cursor");
    let pages = aliases(240, "pageInfo { startCursor endCursor }");
    let places = aliases(240, "subdocument(path: \"/n\") { document { key } }");
    let children = aliases(240, "children(first: 3) { nodes { document { key } } }");
    let selected = aliases(240, "select(query: \"$.n[*]\") { document { key } }");
    for (name, below) in [
        ("ids of a page", format!("nodes {{ {ids} }}")),
        ("cursors of a page", format!("edges {{ {edges} }}")),
        ("cursors of pages", pages),
        ("ids below parts", format!("nodes {{ {places} }}")),
        ("ids below children", format!("nodes {{ {children} }}")),
        (
            "ids below selected parts",
            format!("nodes {{ {selected} }}"),
        ),
    ] {
        let query = format!("{{ documents(first: 400) {{ {below} }} }}");
        case.check_query(name, &query, "{}", &TOO_MUCH);
        let request = post(&body(&query, "{}"));
        case.check(
            &format!("{name}, from 8 clients"),
            &vec![request; 8],
            &TOO_MUCH,
        );
    }
    let document = format!(
        "{{ {} }}",
        aliases(
            240,
            &format!(
                "document(id: \"{}\") {{ document {{ key }} }}",
                long_id(1)[..400].to_owned()
            )
        )
    );
    case.check_query(
        "ids of documents that are not there",
        &document,
        "{}",
        &Expected::Bounded,
    );
    let all: Vec<_> = (0..300)
        .map(|at| json!({"__typename": "Document", "collection": "D", "key": long_id(at % 20)}))
        .collect();
    let variables = json!({"r": all}).to_string();
    for (name, fields) in [("planned", ""), ("generally", "more: collections { name }")] {
        for (selected, count) in [("id", 200), ("id", 330), ("key", 330)] {
            let texts = aliases(count, selected);
            let query = format!(
                "query($r: [_Any!]!) {{ _entities(representations: $r) {{ ... on Document {{ {texts} }} }} {fields} }}"
            );
            case.check(
                &format!("{count} times {selected} of entities, {name}, from 8 clients"),
                &vec![post(&body(&query, &variables)); 8],
                &TOO_MUCH,
            );
        }
    }
    case.end();
}

#[test]
fn paths_and_aliases_count_towards_the_response_limit() {
    let Some(_alone) = alone() else { return };
    let limits = Limits {
        response_bytes: 1 << 20,
        ..Limits::LOW
    };
    let mut case = Case::new(limits);
    let client = &mut case.server.client();
    store(client, "D", "1", &numbers(10_000));
    let member = "m".repeat(9_000);
    let members = format!("{{\"{member}\":{}}}", list(1_000, |at| at.to_string()));
    store(client, "D", "2", &members);
    let path = format!("[\\\"{member}\\\"]").replace("\\\"", "\"");
    let below =
        |selection: &str| format!("{{ document(id: \"2\", path: {path}) {{ {selection} }} }}");
    let alias = "x".repeat(100_000);
    for (name, query) in [
        (
            "paths of children",
            below("children(first: 10000) { nodes { path } }"),
        ),
        (
            "paths of edges",
            below("children(first: 10000) { edges { node { path } } }"),
        ),
        (
            "paths of selected parts",
            below("select(query: \"$[*]\") { path }"),
        ),
        (
            "paths of children again and again",
            below(&format!(
                "children(first: 100) {{ nodes {{ {} }} }}",
                aliases(240, "path")
            )),
        ),
        (
            "paths of selected parts again and again",
            below(&format!(
                "select(query: \"$[0:100]\") {{ {} }}",
                aliases(240, "path")
            )),
        ),
        ("paths again and again", below(&aliases(900, "path"))),
        (
            "long aliases",
            format!(
                "{{ document(id: 1) {{ children(first: 10000) {{ nodes {{ {alias}: kind }} }} }} }}"
            ),
        ),
        (
            "long aliases of selected parts",
            format!("{{ document(id: 1) {{ select(query: \"$[*]\") {{ {alias}: kind }} }} }}"),
        ),
        (
            "long aliases around short names",
            format!(
                "{{ document(id: 1) {{ children(first: 10000) {{ nodes {{ {alias}: document {{ __typename }} }} }} }} }}"
            ),
        ),
    ] {
        case.check_query(name, &query, "{}", &TOO_MUCH);
    }
    case.end();
}

#[test]
fn versions_below_children_stay_within_all_bounds() {
    let Some(_alone) = alone() else { return };
    let mut case = Case::new(Limits::LOW);
    store(&mut case.server.client(), "D", "many", &numbers(5_000));
    let versions = aliases(10, "version");
    let query = format!(
        "{{ document(id: \"many\") {{ children(first: 5000) {{ nodes {{ document {{ {versions} }} }} }} }} }}"
    );
    let request = post(&body(&query, "{}"));
    case.check(
        "versions below children",
        &vec![request; 8],
        &Expected::Bounded,
    );
    case.end();
}

#[test]
fn lists_in_lists_count_as_held_memory() {
    let Some(_alone) = alone() else { return };
    let mut case = Case::new(Limits::LOW);
    let client = &mut case.server.client();
    store(client, "D", "many", &list(10_000, |_| "[1,2]".to_owned()));
    store(
        client,
        "D",
        &long_id(0),
        &list(200, |_| "[1,2,3,4]".to_owned()),
    );
    let lengths = "{ document(id: \"many\") { children(first: 10000) { nodes { length } } } }";
    let request = post(&body(lengths, "{}"));
    let bounded = Expected::Bounded;
    case.check("lengths of children", &vec![request; 8], &bounded);
    let paths: Vec<String> = (0..1_000).map(|at| format!("[{at}]")).collect();
    let values = format!(
        "query($p: [Path!]!) {{ document(id: \"{}\") {{ \
         children(first: 100) {{ nodes {{ values(paths: $p) }} }} }} }}",
        long_id(0)
    );
    let request = post(&body(&values, &format!("{{\"p\":[{}]}}", paths.join(","))));
    case.check("values with long keys", &vec![request; 8], &bounded);
    case.end();
}

/// Plans copied the conditions of all earlier occurrences of a field, and the arguments of fragments, and the
/// cache counted only the texts of queries: 2 KB of text took 600 MiB, and stayed in the cache.
#[test]
fn plans_and_the_cache_of_queries_are_bounded() {
    let Some(_alone) = alone() else { return };
    let mut case = Case::new(Limits::LOW);
    store(&mut case.server.client(), "D", "deep", "{\"d\":1}");
    let refused = Expected::Refused(&["TOO_COMPLEX"]);
    let empty = Expected::Data(json!({"document": {}}));
    let occurring = [
        ("kind @", empty),
        ("subdocument(path: \"/d\") @ { kind }", refused.clone()),
    ];
    for (field, expected) in &occurring {
        let (declared, fragments, variables) = under_conditions(15, field, "false");
        let requests = |number: usize| {
            let text = format!(
                "query ({declared}) {{ document(collection: \"D\", id: \"deep\") {{ ...C0 }} }} \
                 {fragments} # {number}"
            );
            post(&body(&text, &format!("{{{variables}}}")))
        };
        for round in 0..4 {
            let eight: Vec<_> = (0..8).map(|client| requests(8 * round + client)).collect();
            case.check(field, &eight, expected);
        }
    }
    let uses = repeated(500, "a#: documents(collection: \"E\") { nodes { ...F } } ");
    for (bytes, expected) in [(10_000, Expected::Bounded), (100_000, refused)] {
        let path = "x".repeat(bytes);
        let fragment =
            format!("fragment F on Document {{ select(query: \"$.{path}\") {{ kind }} }}");
        let request = |number: usize| {
            let text = format!("{{ {uses} }} {fragment} # {number}");
            post(&body(&text, "{}"))
        };
        for round in 0..4 {
            let eight: Vec<_> = (0..8).map(|client| request(8 * round + client)).collect();
            case.check("copied arguments", &eight, &expected);
        }
    }
    // Many texts that differ, each with a plan of about a megabyte.
    let path = "x".repeat(2_000);
    let fragment = format!("fragment F on Document {{ select(query: \"$.{path}\") {{ kind }} }}");
    for round in 0..50 {
        let eight: Vec<_> = (0..8)
            .map(|client| {
                let text = format!("{{ {uses} }} {fragment} # {}", 8 * round + client);
                post(&body(&text, "{}"))
            })
            .collect();
        case.check("cached queries", &eight, &Expected::Bounded);
    }
    case.end();
}
