//! Filters and JSONPaths.

use std::fmt::Write as _;

use rand::Rng;
use serde_json::json;

use super::super::world::{ELEMENTS, SMALL};
use super::{Family, Maker, Operation, repeated};

pub(super) const FAMILIES: &[(&str, Family)] = &[
    ("filters that are lists", lists),
    ("filters that count", counts),
    ("filters with many values", values),
    ("filters with long paths", long_paths),
    ("filters of many spans of indexes", spans),
    ("filters of regular expressions", regular_expressions),
    ("filters on large documents", large_documents),
    ("filters in levels", levels),
    ("selects", selects),
    ("orders", orders),
];

/// Filters in one `where`, of at most 1,000, including those that contain them.
const FILTERS: usize = 990;
/// Values in one `where`.
const VALUES: usize = 1_000;
/// Bytes of variables, so that a body stays below its limit.
const VARIABLES_BYTES_MAX: usize = 3 << 20;

/// `documents` with a filter.
fn find(maker: &mut Maker, collection: &str, filter: &str) -> Operation {
    let first = maker.one_of(&[1, 10, 100, 1_000]);
    let total = maker.one_of(&["", "totalCount"]);
    Operation {
        declared: "$w: DocumentFilter".to_owned(),
        fields: format!(
            "documents(collection: \"{collection}\", where: $w, first: {first}, scanLimit: 100000) \
             {{ nodes {{ key }} {total} plan {{ index scanned }} }}"
        ),
        variables: format!("\"w\":{filter}"),
        ..Operation::default()
    }
}

/// A list of as many filters as fit.
fn listed(maker: &mut Maker, filter: impl Fn(&mut Maker) -> String) -> String {
    let mut filters = vec![filter(maker)];
    let count = maker
        .large(FILTERS)
        .min(VARIABLES_BYTES_MAX / (filters[0].len() + 1));
    let same = maker.chance(2);
    while filters.len() < count.max(1) {
        filters.push(if same {
            filters[0].clone()
        } else {
            filter(maker)
        });
    }
    let list = maker.one_of(&["any", "all"]);
    format!("{{\"{list}\":[{}]}}", filters.join(","))
}

/// A JSONPath that is expensive on some document.
pub(super) fn path(maker: &mut Maker) -> String {
    let (n, m) = (maker.large(ELEMENTS), maker.large(ELEMENTS));
    let short = maker.random.random_range(1..200);
    match maker.random.random_range(0..18) {
        0 => format!("$[?count($[0:{short}])>{m}]"),
        1 => format!("$.a[?count($.a[0:{short}])>{m}]"),
        2 => format!("$[?@ > {n}]"),
        3 => format!("$[?count($[?@ < {n}]) > {m}]"),
        4 => "$..[?@..a]".to_owned(),
        5 => format!("$[0:{n}:{}]", short % 3 + 1),
        6 => "$[::-1]".to_owned(),
        7 => "$..*".to_owned(),
        8 => format!("$[?length(@) > {short}]"),
        9 => format!("$[?match(@.name, '(a|b|n)*[0-9]{{1,{}}}')]", short % 20 + 1),
        10 => "$..[?search(@, '(n+)+[x-z]*$')]".to_owned(),
        11 => format!("$[*]['k'{}]", ",'name','k'".repeat(short)),
        12 => {
            let count = maker.large(1_000);
            let points: Vec<_> = (0..count).map(|at| (at * 97 % n).to_string()).collect();
            format!("$[{}]", points.join(","))
        }
        13 => format!("$[?@.k == $[{short}].k]"),
        14 => format!("$[?$[?@ == {n}]]"),
        15 => "$[?count(@..*) > 1]".to_owned(),
        16 => format!("$..[?@ == {m}]"),
        _ => format!("$.a[{}]", vec!["*"; short].join(",")),
    }
}

/// A test of a value.
fn test(maker: &mut Maker) -> String {
    let n = maker.large(ELEMENTS);
    match maker.random.random_range(0..7) {
        0 | 1 => "\"exists\":true".to_owned(),
        2 => format!("\"gte\":{n}"),
        3 => format!("\"eq\":{n}"),
        4 => "\"startsWith\":\"n\"".to_owned(),
        5 => format!("\"contains\":\"{}x\"", "n".repeat(n % 1_000)),
        _ => format!("\"ne\":{n}"),
    }
}

fn tested(maker: &mut Maker) -> String {
    let (path, test) = (path(maker), test(maker));
    format!("{{\"at\":{},{test}}}", json!(path))
}

fn collection(maker: &mut Maker) -> &'static str {
    maker.one_of(&["arrays", "arrays", "marks", "large", "small", "long"])
}

fn lists(maker: &mut Maker) -> Operation {
    let (collection, filter) = (collection(maker), listed(maker, tested));
    find(maker, collection, &filter)
}

/// Used to block the server for minutes.
fn counts(maker: &mut Maker) -> Operation {
    let slice = maker.random.random_range(1..100);
    let path = maker.one_of(&["$", "$.a", "$.items"]);
    let filter = format!("{{\"at\":\"{path}[?count({path}[0:{slice}])>100]\",\"exists\":true}}");
    let filter = listed(maker, |_| filter.clone());
    if maker.chance(3) {
        // The same without variables, so that it fits in a GET.
        let filter = "{at: \"$[?count($[0:88])>100]\", exists: true}, ".repeat(maker.large(100));
        return Operation::query_of(format!(
            "documents(collection: \"arrays\", where: {{any: [{filter}]}}) {{ nodes {{ key }} }}"
        ));
    }
    let collection = collection(maker);
    find(maker, collection, &filter)
}

fn values(maker: &mut Maker) -> Operation {
    let count = maker.large(VALUES);
    let kind = maker.random.random_range(0..4);
    let value = |at: usize| match kind {
        0 => format!("-{at}"),
        1 => format!("\"{}{at}\"", "x".repeat(2_000)),
        2 => format!("[{at},{{\"a\":[{at}]}}]"),
        _ => format!("{at}.5"),
    };
    let values: Vec<_> = (1..=count).map(value).collect();
    let path = maker.one_of(&[
        "$[*]",
        "$.a[*]",
        "$.items[*]",
        "$..*",
        "$[*].k",
        "$[0:50000]",
    ]);
    let (name, collection) = (maker.one_of(&["in", "in", "ne"]), collection(maker));
    let filter = if name == "in" {
        format!("{{\"at\":\"{path}\",\"in\":[{}]}}", values.join(","))
    } else {
        let each = values.iter().take(FILTERS / 2);
        let each = each.map(|value| format!("{{\"not\":{{\"at\":\"{path}\",\"ne\":{value}}}}}"));
        let each: Vec<_> = each.collect();
        format!("{{\"any\":[{}]}}", each.join(","))
    };
    find(maker, collection, &filter)
}

fn long_paths(maker: &mut Maker) -> Operation {
    let bytes = maker.large(13_000);
    let part = maker.one_of(&["['a']", "[0]", "[?@.a]", "['a','b']", "..a", "[0:9]", "[*]"]);
    let path = format!("${}", part.repeat(bytes / part.len()));
    let collection = collection(maker);
    let filter = listed(maker, |maker| {
        let number = maker.random.random_range(0..1_000_000);
        format!(
            "{{\"at\":{},\"exists\":true}}",
            json!(format!("{path}[{number}]"))
        )
    });
    find(maker, collection, &filter)
}

fn spans(maker: &mut Maker) -> Operation {
    let count = maker.large(FILTERS);
    let values: Vec<_> = (0..count).map(|at| at.to_string()).collect();
    match maker.random.random_range(0..3) {
        0 => {
            let filter = format!("{{\"at\":\"$.items[*]\",\"in\":[{}]}}", values.join(","));
            find(maker, "marks", &filter)
        }
        1 => {
            let each = values.iter();
            let each = each.map(|at| format!("{{\"at\":\"$.items[*]\",\"eq\":{at}}}"));
            let each: Vec<_> = each.collect();
            let list = maker.one_of(&["any", "all"]);
            find(
                maker,
                "marks",
                &format!("{{\"{list}\":[{}]}}", each.join(",")),
            )
        }
        _ => {
            let filter = "{\"at\":\"$.tags[*]\",\"gte\":\"t\"}";
            let filter = vec![filter; count].join(",");
            find(maker, "small", &format!("{{\"all\":[{filter}]}}"))
        }
    }
}

/// Used to hold hundreds of mebibytes of compiled expressions that no limit counted.
fn regular_expressions(maker: &mut Maker) -> Operation {
    let class = maker.one_of(&["[a-z]", "[0-9]", "\\\\p{L}", "\\\\P{Lu}", "."]);
    let (times, each) = (maker.large(40), maker.one_of(&[1, 1, 4, 16]));
    let filter = listed(maker, |maker| {
        let tests: Vec<_> = (0..each)
            .map(|_| {
                let number = maker.random.random_range(0..1_000_000);
                format!("match(@.name, '(n|{number})*{class}{{1,{times}}}')")
            })
            .collect();
        let path = format!("$[?{}]", tests.join(" || "));
        format!("{{\"at\":{},\"exists\":true}}", json!(path))
    });
    if maker.chance(2) {
        return find(maker, "arrays", &filter);
    }
    let aliases = repeated(
        maker.large(20),
        "a#: testDocument(collection: \"arrays\", id: \"objects\", matches: {not: $w}) { kind } ",
    );
    Operation {
        declared: "$w: DocumentFilter".to_owned(),
        fields: aliases,
        variables: format!("\"w\":{filter}"),
        mutation: true,
        ..Operation::default()
    }
}

fn large_documents(maker: &mut Maker) -> Operation {
    let filter = maker.one_of(&[
        "{\"at\":\"$.s\",\"eq\":\"x\"}",
        "{\"at\":\"$.s\",\"contains\":\"xxxxxxxxxxxxxxxy\"}",
        "{\"at\":\"$..*\",\"contains\":\"\"}",
        "{\"at\":\"$\",\"eq\":1}",
        "{\"at\":\"$..*\",\"eq\":-1}",
        "{\"not\":{\"at\":\"$.a[7999]\",\"exists\":true}}",
    ]);
    let collection = maker.one_of(&["large", "arrays", "marks"]);
    find(maker, collection, filter)
}

fn levels(maker: &mut Maker) -> Operation {
    let mut filter = listed(maker, tested);
    for _ in 0..maker.random.random_range(1..14) {
        filter = match maker.random.random_range(0..3) {
            0 => format!("{{\"not\":{filter}}}"),
            1 => format!("{{\"all\":[{filter}]}}"),
            _ => format!("{{\"any\":[{filter}]}}"),
        };
    }
    let collection = collection(maker);
    find(maker, collection, &filter)
}

fn selects(maker: &mut Maker) -> Operation {
    let aliases = maker.large(100);
    let mut fields = String::new();
    for alias in 0..aliases {
        let path = json!(path(maker));
        let below = maker.one_of(&["value", "path", "kind", "path value", "document { key }"]);
        // Writing to a string cannot fail.
        let _ = write!(fields, "a{alias}: select(query: {path}) {{ {below} }} ");
    }
    let id = maker.one_of(&["numbers", "members", "objects", "deep"]);
    Operation::query_of(format!(
        "document(collection: \"arrays\", id: \"{id}\") {{ {fields} }}"
    ))
}

fn orders(maker: &mut Maker) -> Operation {
    let path = json!(path(maker));
    let collection = collection(maker);
    let first = maker.one_of(&[1, SMALL, 10_000]);
    Operation::query_of(format!(
        "documents(collection: \"{collection}\", orderBy: {{by: {path}, descending: true}}, \
         first: {first}, scanLimit: 100000) {{ nodes {{ key kind }} }}"
    ))
}
