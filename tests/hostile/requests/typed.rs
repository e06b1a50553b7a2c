//! Requests of the GraphQL type of a collection: selections, filters, orders, pages, inputs and patches, with
//! lists, maps and objects inside each other.

use rand::Rng;
use serde_json::{Value, json};

use super::super::items::{BRANCHES, CUBE, DEEP_LEVELS, ITEMS, NUMBERS, ROWS};
use super::{Family, Maker, Operation, repeated};

pub(super) const FAMILIES: &[(&str, Family)] = &[
    ("typed selections of one document", selections),
    ("typed selections of pages", pages),
    ("typed filters and orders", filters),
    ("typed patches", patches),
    ("typed documents that are created", creations),
];

/// A longer selection is not put into further ones.
const SELECTION_BYTES_MAX: usize = 20_000;
/// Filters in one `where`, of at most 1,000, including those that contain them.
const FILTERS: usize = 900;

/// The bounds of a list with so many elements.
fn bounds(maker: &mut Maker, most: usize) -> String {
    let (count, from) = (maker.large(most), maker.random.random_range(0..most));
    match maker.random.random_range(0..5) {
        0 => format!("(first: {count})"),
        1 => format!("(last: {count})"),
        2 => format!("(from: {from}, first: {count})"),
        3 => format!("(from: {from}, to: {})", from + count),
        _ => String::new(),
    }
}

/// The bounds of a map whose names begin with `name`.
fn names(maker: &mut Maker, name: &str, most: usize) -> String {
    let (count, from) = (maker.large(most), maker.random.random_range(0..most));
    match maker.random.random_range(0..6) {
        0 => format!("(first: {count})"),
        1 => format!("(prefix: \"{name}{}\")", from % 10),
        2 => format!("(from: \"{name}{from}\", first: {count})"),
        3 => format!("(from: \"{name}\", to: \"{name}{from}\")"),
        4 => format!("(after: \"{name}{from}\")"),
        _ => String::new(),
    }
}

/// Maps in maps.
fn tree(maker: &mut Maker) -> String {
    let levels = maker.random.random_range(1..=6);
    let selection = (0..levels).fold("key".to_owned(), |below, _| {
        format!("key value{} {{ {below} }}", names(maker, "b", BRANCHES))
    });
    format!("tree{} {{ {selection} }}", names(maker, "b", BRANCHES))
}

/// Objects in objects, in some of which there are lists.
fn deep(maker: &mut Maker) -> String {
    let levels = maker.random.random_range(1..=25.min(DEEP_LEVELS));
    let selection = (0..levels).fold("n".to_owned(), |below, _| {
        if maker.chance(3) {
            format!("list{} {{ n }} next {{ {below} }}", bounds(maker, 20))
        } else {
            format!("n next {{ {below} }}")
        }
    });
    format!("deep {{ {selection} }}")
}

/// A field of an item, with its bounds and what is selected of it.
fn field(maker: &mut Maker) -> String {
    match maker.random.random_range(0..9) {
        0 => maker
            .one_of(&["n", "s", "kind", "key", "id", "version", "__typename"])
            .to_owned(),
        1 => format!("numbers{}", bounds(maker, NUMBERS)),
        2 => format!("cube{}", bounds(maker, CUBE)),
        3 => tree(maker),
        4 => deep(maker),
        5 => {
            let (rows, numbers) = (bounds(maker, ROWS), bounds(maker, 3));
            format!("rows{rows} {{ a m {{ x y{numbers} }} }}")
        }
        6 => format!("names{} {{ key value {{ a }} }}", names(maker, "n", ROWS)),
        7 => format!("rows{} {{ __typename }}", bounds(maker, ROWS)),
        _ => "document { value }".to_owned(),
    }
}

/// Several fields, each under several names.
fn selection(maker: &mut Maker) -> String {
    let mut selected = String::new();
    for number in 0..maker.random.random_range(1..=8) {
        let field = field(maker);
        let aliases = maker.one_of(&[1, 1, 5, 100]);
        let aliases = aliases.min(SELECTION_BYTES_MAX / field.len().max(1)).max(1);
        selected += &repeated(maker.large(aliases), &format!("f{number}x#: {field} "));
    }
    selected
}

fn selections(maker: &mut Maker) -> Operation {
    let selection = selection(maker);
    let key = maker.random.random_range(0..=ITEMS);
    let documents = maker.one_of(&[1, 1, 3]);
    Operation::query_of(repeated(
        documents,
        &format!("i#: item(key: \"{key}\") {{ {selection} }} "),
    ))
}

fn pages(maker: &mut Maker) -> Operation {
    let selection = selection(maker);
    let (direction, order) = (maker.one_of(&["first", "last"]), order(maker));
    let below = maker.one_of(&[
        "nodes { BELOW }",
        "edges { cursor node { BELOW } } totalCount",
        "nodes { BELOW } edges { node { BELOW } } pageInfo { startCursor endCursor }",
    ]);
    Operation {
        declared: "$o: [ItemOrderBy!]".to_owned(),
        fields: format!(
            "items({direction}: {ITEMS}, orderBy: $o) {{ {} }}",
            below.replace("BELOW", &selection)
        ),
        variables: format!("\"o\":{order}"),
        ..Operation::default()
    }
}

fn order(maker: &mut Maker) -> Value {
    let deep = (0..maker.large(60)).fold(json!({"n": "ASC"}), |below, _| json!({"next": below}));
    match maker.random.random_range(0..5) {
        0 => json!([]),
        1 => json!([{"n": "DESC"}, {"s": "ASC"}, {"kind": "DESC"}, {"key": "ASC"}]),
        2 => json!([{"deep": deep}]),
        3 => json!([{"deep": deep}, {"deep": {"n": "DESC"}}, {"key": "DESC"}]),
        _ => json!([{"s": "ASC"}]),
    }
}

/// A test of a member.
fn test(maker: &mut Maker) -> Value {
    let n = maker.large(ROWS);
    let number = match maker.random.random_range(0..4) {
        0 => json!({"gte": n, "lt": 2 * n}),
        1 => json!({"in": (0..maker.large(900)).collect::<Vec<_>>()}),
        2 => json!({"ne": n, "exists": true}),
        _ => json!({"eq": n}),
    };
    match maker.random.random_range(0..7) {
        0 => json!({"n": number}),
        1 => json!({"numbers": number}),
        2 => json!({"rows": {"a": number}}),
        3 => json!({"rows": {"m": {"x": number.clone(), "y": number}}}),
        4 => json!({"s": {"contains": "s".repeat(n), "startsWith": "s"}}),
        5 => {
            let levels = maker.random.random_range(1..12);
            let list = maker.chance(2);
            let member = if list { "list" } else { "next" };
            let inside = (0..levels).fold(json!({"n": number}), |below, _| json!({member: below}));
            json!({"deep": inside})
        }
        _ => json!({"kind": {"in": ["A", "B"]}}),
    }
}

fn filters(maker: &mut Maker) -> Operation {
    let filter = match maker.random.random_range(0..4) {
        0 => {
            let levels = maker.random.random_range(1..14);
            let test = test(maker);
            (0..levels).fold(test, |inner, _| json!({"_not": {"_any": [inner]}}))
        }
        1 => {
            let test = test(maker);
            let list = maker.one_of(&["_any", "_all"]);
            json!({list: vec![test; maker.large(FILTERS)]})
        }
        2 => {
            let list = maker.one_of(&["_any", "_all"]);
            let tests: Vec<Value> = (0..maker.large(100)).map(|_| test(maker)).collect();
            json!({list: tests})
        }
        _ => test(maker),
    };
    let order = order(maker);
    let below = maker.one_of(&["nodes { key }", "totalCount", "edges { cursor node { n } }"]);
    Operation {
        declared: "$w: ItemFilter, $o: [ItemOrderBy!]".to_owned(),
        fields: format!(
            "items(where: $w, orderBy: $o, first: {ITEMS}, scanLimit: 100000) {{ {below} plan {{ index scanned }} }}"
        ),
        variables: format!("\"w\":{filter},\"o\":{order}"),
        ..Operation::default()
    }
}

/// The members of an input. Lists replace what is stored, so they have their length at the beginning.
fn input(maker: &mut Maker) -> Value {
    let rows = || {
        let rows = (0..ROWS).map(|at| json!({"a": at, "m": {"x": at, "y": [1]}}));
        rows.collect::<Vec<_>>()
    };
    let entries = maker.large(ROWS);
    let names = (0..entries).map(|at| json!({"key": format!("n{at}"), "value": {"a": at}}));
    let cube = vec![vec![(0..CUBE).collect::<Vec<_>>(); CUBE]; CUBE];
    match maker.random.random_range(0..7) {
        0 => json!({"rows": rows()}),
        1 => json!({"names": names.collect::<Vec<_>>()}),
        2 => json!({"cube": cube}),
        3 => json!({"numbers": (0..NUMBERS).collect::<Vec<_>>()}),
        4 => {
            let levels = maker.large(6);
            let tree = (0..levels).fold(
                json!([]),
                |inner, at| json!([{"key": format!("b{}", at % BRANCHES), "value": inner}]),
            );
            json!({"tree": tree})
        }
        5 => {
            let levels = maker.large(12);
            let deep = (0..levels).fold(json!({"n": 1}), |next, n| json!({"n": n, "next": next}));
            json!({"deep": deep})
        }
        _ => {
            let s = "s".repeat(maker.large(60_000));
            json!({"n": entries, "kind": "B", "s": s, "rows": rows()})
        }
    }
}

fn patches(maker: &mut Maker) -> Operation {
    let (patch, below) = (input(maker), field(maker));
    let key = maker.random.random_range(0..ITEMS);
    let count = maker.large(5);
    Operation {
        declared: "$p: ItemPatch!".to_owned(),
        fields: repeated(
            count,
            &format!("u#: updateItem(key: \"{key}\", patch: $p) {{ version r: {below} }} "),
        ),
        variables: format!("\"p\":{patch}"),
        mutation: true,
        ..Operation::default()
    }
}

/// The document is deleted again, so that pages do not grow.
fn creations(maker: &mut Maker) -> Operation {
    let (item, below) = (input(maker), field(maker));
    let number = maker.random.random_range(0..3);
    Operation {
        declared: "$i: ItemInput!".to_owned(),
        fields: format!(
            "a: deleteItem(key: \"new{number}\") {{ deleted }} \
             c: createItem(key: \"new{number}\", item: $i) {{ version r: {below} }} \
             d: deleteItem(key: \"new{number}\") {{ deleted }} "
        ),
        variables: format!("\"i\":{item}"),
        mutation: true,
        ..Operation::default()
    }
}
