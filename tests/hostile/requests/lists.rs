//! Lists inside of lists: children, selected parts and documents, with fields that need many reads for
//! each element.

use rand::Rng;
use serde_json::json;

use super::super::world::{NESTED, long_id};
use super::{Family, Maker, Operation, repeated};

pub(super) const FAMILIES: &[(&str, Family)] = &[
    ("lists in lists", lists),
    ("lists in pages", pages),
    ("parts of many elements", parts),
    ("many large pages", large_pages),
];

/// A longer selection is not put into further lists.
const SELECTION_BYTES_MAX: usize = 30_000;

/// The fields of the innermost elements. `$p` is a list of paths.
const FIELDS: [&str; 16] = [
    "value",
    "value(path: \"/a\")",
    "value(path: [\"a\", #])",
    "values(paths: $p)",
    "pick(paths: $p)",
    "omit(paths: $p)",
    "range(from: [#], to: [#, 1])",
    "range(from: \"/a/#\", to: [\"a\", -1])",
    "length",
    "kind",
    "id",
    "path",
    "document { key version }",
    "subdocument(path: [#]) { kind length }",
    "select(query: \"$[#,1]\") { kind }",
    "children(first: 2, from: #) { pageInfo { endCursor } nodes { kind } }",
];

/// A list that has these fields in each element.
fn list(maker: &mut Maker, below: &str) -> String {
    let first = maker.one_of(&[1, 2, 100, 2_000, 10_000]);
    let query = maker.one_of(&[
        "$[*]",
        "$.*",
        "$..a",
        "$[0:2000]",
        "$[::-1]",
        "$[-3:]",
        "$.m",
    ]);
    match maker.random.random_range(0..5) {
        0 => format!("children(first: {first}) {{ nodes {{ {below} }} }}"),
        1 => format!("children(last: {first}) {{ edges {{ cursor node {{ {below} }} }} }}"),
        2 => format!("children(first: {first}, from: #) {{ nodes {{ {below} }} }}"),
        3 => format!("subdocument(path: [#]) {{ children {{ nodes {{ {below} }} }} }}"),
        _ => format!("select(query: {}) {{ {below} }}", json!(query)),
    }
}

/// Lists in lists, up to four levels deep.
fn nested(maker: &mut Maker) -> String {
    let field = maker.one_of(&FIELDS);
    let aliases = maker.one_of(&[1, 1, 5, 50]);
    let mut below = repeated(maker.large(aliases), &format!("f#: {field} "));
    for level in 0..maker.random.random_range(1..=4) {
        if below.len() > SELECTION_BYTES_MAX {
            break;
        }
        let aliases = maker.one_of(&[1, 1, 3, 20]);
        let each = list(maker, &below);
        below = repeated(maker.large(aliases), &format!("l{level}x#: {each} "));
    }
    below
}

/// Few or many paths, of which some lead nowhere.
fn with_paths(maker: &mut Maker, fields: String) -> Operation {
    let most = maker.one_of(&[3, 1_000]);
    let paths = (0..maker.large(most)).map(|at| match at % 4 {
        0 => json!([at]),
        1 => json!(["a", at]),
        2 => json!("/m/y/0"),
        _ => json!(format!("/n{at}")),
    });
    let paths: Vec<_> = paths.collect();
    if !fields.contains("$p") {
        return Operation::query_of(fields);
    }
    Operation {
        declared: "$p: [Path!]!".to_owned(),
        fields,
        variables: format!("\"p\":{}", json!(paths)),
        ..Operation::default()
    }
}

/// A document whose elements have lists.
fn document(maker: &mut Maker) -> String {
    let (collection, id) = match maker.random.random_range(0..6) {
        0 => ("arrays", "objects".to_owned()),
        1 => ("arrays", "deep".to_owned()),
        2 => ("lists", long_id(0)),
        _ => ("lists", maker.one_of(&NESTED).to_owned()),
    };
    format!("document(collection: \"{collection}\", id: \"{id}\")")
}

fn lists(maker: &mut Maker) -> Operation {
    let fields = nested(maker);
    let document = document(maker);
    with_paths(maker, format!("{document} {{ {fields} }}"))
}

fn pages(maker: &mut Maker) -> Operation {
    let below = nested(maker);
    let collection = maker.one_of(&["lists", "long", "small", "marks"]);
    let first = maker.large(300);
    let page = format!("documents(collection: \"{collection}\", first: {first}) ");
    let fields = if maker.chance(2) {
        format!("{page} {{ nodes {{ {below} }} }}")
    } else {
        format!("{page} {{ edges {{ cursor node {{ {below} }} }} }}")
    };
    with_paths(maker, fields)
}

/// Pages as large as pages can be, which are found at the same time: by key, by an index, sorted, or filtered.
fn large_pages(maker: &mut Maker) -> Operation {
    let found = maker.one_of(&[
        "keys: {gte: \"#\"}",
        "orderBy: {by: \"$.n\"}, where: {at: \"$.n\", gte: #}",
        "orderBy: {by: \"$.n\", descending: true}",
        "orderBy: [{by: \"$.s\"}, {descending: true}]",
        "orderBy: {by: \"$.k\", descending: true}, scanLimit: 100000",
        "where: {at: \"$.g\", in: [#, 1, 2, 3, 4, 5, 6, 7]}",
        "where: {at: \"$.g\", in: $groups}, orderBy: {by: \"$.s\"}",
        "where: {at: \"$.g\", in: $groups}, orderBy: {by: \"$.s\", descending: true}",
        "where: {all: [{at: \"$.g\", eq: 1}, {at: \"$.n\", gt: #}]}",
        "where: {at: \"$.k\", gte: #}, scanLimit: 100000",
    ]);
    let field = maker.one_of(&["key", "value", "value(path: \"/n\")", "value(path: \"/s\")"]);
    let most = maker.one_of(&[10_000, 10_000, 500]);
    let first = maker.large(most);
    let fields = match maker.random.random_range(0..3) {
        0 => format!("edges {{ cursor node {{ {field} }} }} totalCount"),
        _ => format!("nodes {{ {field} }}"),
    };
    let collection = maker.one_of(&["many", "wide"]);
    let page = format!(
        "p#: documents(collection: \"{collection}\", {found}, first: {first}) {{ {fields} }} "
    );
    let aliases = maker.one_of(&[1, 16, 100]);
    let fields = repeated(maker.large(aliases), &page);
    if !fields.contains("$groups") {
        return Operation::query_of(fields);
    }
    let groups: Vec<usize> = (0..maker.large(200)).collect();
    Operation {
        declared: "$groups: [JSON]".to_owned(),
        fields,
        variables: format!("\"groups\":{}", json!(groups)),
        ..Operation::default()
    }
}

/// Several parts of each of many elements.
fn parts(maker: &mut Maker) -> Operation {
    let field = maker.one_of(&["values(paths: $p)", "pick(paths: $p)", "omit(paths: $p)"]);
    let aliases = maker.one_of(&[1, 3]);
    let below = repeated(maker.large(aliases), &format!("f#: {field} "));
    let first = maker.one_of(&[10, 100, 2_000]);
    let list = maker.one_of(&["children", "select"]);
    let document = document(maker);
    let list = match list {
        "children" => format!("children(first: {first}) {{ nodes {{ {below} }} }}"),
        _ => format!("select(query: \"$[0:{first}]\") {{ {below} }}"),
    };
    with_paths(maker, format!("{document} {{ {list} }}"))
}
