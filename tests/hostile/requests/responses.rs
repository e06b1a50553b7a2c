//! Requests with responses many times their size.

use std::fmt::Write as _;

use rand::Rng;
use serde_json::json;

use super::super::world::{LONG, long_id};
use super::{Family, Maker, Operation, repeated};

pub(super) const FAMILIES: &[(&str, Family)] = &[
    ("aliases of ids", ids),
    ("entities", entities),
    ("nodes", nodes),
    ("schemas", schemas),
    ("children", children),
    ("long aliases", long_aliases),
    ("values again and again", values),
    ("fragments", fragments),
    ("copied arguments", copied_arguments),
    ("occurrences under conditions", conditions),
    ("indexes and collections", collections),
];

/// Repeats a field, each time with another alias.
fn aliased(maker: &mut Maker, fields: &[&str], most: usize) -> String {
    let field = maker.one_of(fields);
    repeated(maker.large(most), &format!("a#: {field} "))
}

fn ids(maker: &mut Maker) -> Operation {
    let fields = aliased(maker, &["id", "key", "collection", "kind", "version"], 990);
    let whole = aliased(
        maker,
        &[
            "cursor",
            "node { key }",
            "node { key subdocument(path: \"/o\") { path } }",
        ],
        100,
    );
    let page = maker.large(LONG);
    let below = match maker.random.random_range(0..3) {
        0 => format!("nodes {{ {fields} }}"),
        1 => format!("edges {{ {whole} }}"),
        _ => repeated(90, "p#: pageInfo { startCursor endCursor } "),
    };
    let fields = format!("documents(collection: \"long\", first: {page}) {{ {below} }} ");
    Operation::query_of(if maker.chance(2) {
        repeated(8, &format!("d#: {fields}"))
    } else {
        fields
    })
}

fn entities(maker: &mut Maker) -> Operation {
    let count = maker.large(300);
    let long = maker.chance(2);
    let representations: Vec<_> = (0..count)
        .map(|at| {
            let (collection, id) = if long {
                ("long", long_id(at % LONG))
            } else {
                ("large", format!("large-{}", at % 24))
            };
            json!({"__typename": "Document", "collection": collection, "key": id}).to_string()
        })
        .collect();
    let fields = [
        "id",
        "collection",
        "value(path: \"/s\")",
        "value",
        "subdocument(path: \"/o\") { path document { key } }",
    ];
    let fields = aliased(maker, &fields, 900);
    let more = maker.one_of(&["", "more: collections { name }"]);
    Operation {
        declared: "$r: [_Any!]!".to_owned(),
        fields: format!(
            "_entities(representations: $r) {{ ... on Document {{ {fields} }} }} {more}"
        ),
        variables: format!("\"r\":[{}]", representations.join(",")),
        ..Operation::default()
    }
}

/// Objects by their global ids, some of which are long.
fn nodes(maker: &mut Maker) -> Operation {
    let count = maker.large(900);
    let long = maker.chance(2);
    let ids: Vec<_> = (0..count)
        .map(|at| {
            let id = match (long, at % 3) {
                (true, 0) => format!("long/{}", long_id(at % LONG)),
                (true, _) => format!("long/{}#/o/a", long_id(at % LONG)),
                (false, 0) => format!("large/large-{}", at % 24),
                (false, 1) => format!("large/large-{}#/a", at % 24),
                (false, _) => format!("arrays/numbers#/{at}"),
            };
            json!(id).to_string()
        })
        .collect();
    let fields = aliased(
        maker,
        &["id", "... on Subdocument { id path }", "__typename"],
        200,
    );
    let fields = fields.replace(": ...", ": id ...");
    Operation {
        declared: "$ids: [ID!]!".to_owned(),
        fields: format!("nodes(ids: $ids) {{ {fields} ... on Document {{ value }} }}"),
        variables: format!("\"ids\":[{}]", ids.join(",")),
        ..Operation::default()
    }
}

/// Repeats the text of the schema.
fn schemas(maker: &mut Maker) -> Operation {
    let texts = aliased(maker, &["sdl"], 900);
    Operation::query_of(format!("_service {{ {texts} }}"))
}

fn children(maker: &mut Maker) -> Operation {
    let fields = [
        "id",
        "path",
        "kind",
        "document { key }",
        "value",
        "version",
        "children(first: 1) { nodes { path } }",
    ];
    let fields = aliased(maker, &fields, 50);
    let first = maker.one_of(&[100, 5_000, 10_000]);
    let below = maker.one_of(&["nodes", "edges { cursor }", "pageInfo { endCursor }"]);
    let below = match below {
        "nodes" => format!("nodes {{ {fields} }}"),
        other => other.to_owned(),
    };
    let direction = maker.one_of(&["first", "last"]);
    let page = format!("children({direction}: {first}) {{ {below} }}");
    let place = match maker.random.random_range(0..3) {
        0 => "document(collection: \"arrays\", id: \"numbers\")".to_owned(),
        1 => "document(collection: \"arrays\", id: \"objects\")".to_owned(),
        _ => format!(
            "document(collection: \"long\", id: \"{}\", path: \"/o/a\")",
            long_id(7)
        ),
    };
    Operation::query_of(repeated(
        maker.large(20),
        &format!("d#: {place} {{ {page} }} "),
    ))
}

fn long_aliases(maker: &mut Maker) -> Operation {
    let alias = "x".repeat(maker.large(100_000));
    let kind = maker.one_of(&["kind", "__typename", "version"]);
    let (collection, nodes) = maker.one_of(&[
        ("arrays", "children(first: 10000) { nodes"),
        (
            "large",
            "subdocument(path: \"/a\") { children(first: 8000) { nodes",
        ),
    ]);
    let id = if collection == "arrays" {
        "numbers"
    } else {
        "large-0"
    };
    let open = nodes.matches('{').count();
    Operation::query_of(format!(
        "document(collection: \"{collection}\", id: \"{id}\") {{ {nodes} {{ {alias}: {kind} }} {} }}",
        "}".repeat(open)
    ))
}

fn values(maker: &mut Maker) -> Operation {
    let id = maker.one_of(&["numbers", "members", "objects", "text", "deep"]);
    let fields = aliased(
        maker,
        &["value", "value(path: \"/s\")", "value(path: [\"a\"])"],
        500,
    );
    Operation::query_of(format!(
        "document(collection: \"arrays\", id: \"{id}\") {{ {fields} }}"
    ))
}

fn fragments(maker: &mut Maker) -> Operation {
    let levels = maker.random.random_range(1..30);
    let spreads = maker.random.random_range(1..4);
    let mut fragments = String::new();
    for level in 0..levels {
        let below = format!(
            "f{level}x#: subdocument(path: \"/d#\") {{ ...F{} }} ",
            level + 1
        );
        let each = repeated(spreads, &below);
        // Writing to a string cannot fail.
        let _ = write!(fragments, "fragment F{level} on Subdocument {{ {each} }} ");
    }
    let _ = write!(
        fragments,
        "fragment F{levels} on Subdocument {{ kind value }} "
    );
    Operation {
        fields: "document(collection: \"arrays\", id: \"deep\") { ...F0 }".to_owned(),
        fragments,
        ..Operation::default()
    }
}

fn collections(maker: &mut Maker) -> Operation {
    let below = aliased(
        maker,
        &["name", "count", "indexes { name on state error }"],
        900,
    );
    Operation::query_of(repeated(
        maker.large(10),
        &format!("c#: collections {{ {below} }} "),
    ))
}

/// Arguments of a fragment, which a plan copies for each of its uses.
fn copied_arguments(maker: &mut Maker) -> Operation {
    let uses = repeated(
        maker.large(500),
        "a#: documents(collection: \"none\") { nodes { ...F } } ",
    );
    let name = "x".repeat(maker.large(100_000));
    let field = maker.one_of(&["select(query: \"$.", "subdocument(path: \"/"]);
    Operation {
        fields: uses,
        fragments: format!("fragment F on Document {{ {field}{name}\") {{ kind }} }} "),
        ..Operation::default()
    }
}

/// Occurrences of a field under different conditions.
fn conditions(maker: &mut Maker) -> Operation {
    let each = maker.random.random_range(1..21);
    let field = maker.one_of(&[
        "kind @",
        "... on Document @ { key }",
        "subdocument(path: \"/d\") @ { kind }",
    ]);
    let is = maker.one_of(&["false", "true"]);
    let (declared, fragments, variables) = under_conditions(each, field, is);
    Operation {
        declared,
        fields: "document(collection: \"arrays\", id: \"deep\") { ...C0 }".to_owned(),
        fragments,
        variables,
        ..Operation::default()
    }
}

/// Fragments `C0` to `C2` on subdocuments, in which `field` occurs `each`³ times, under different
/// conditions, whose variables are `is`. The condition has the place of the `@`. Returns the declared
/// variables, the fragments and the variables.
pub(crate) fn under_conditions(each: usize, field: &str, is: &str) -> (String, String, String) {
    let (mut declared, mut variables) = (Vec::new(), Vec::new());
    let fragments = ["...C1 @", "...C2 @", field]
        .into_iter()
        .enumerate()
        .map(|(level, below)| {
            let spreads = (0..each).map(|number| {
                declared.push(format!("$v{level}x{number}: Boolean!"));
                variables.push(format!("\"v{level}x{number}\": {is}"));
                below.replace('@', &format!("@include(if: $v{level}x{number})"))
            });
            let spreads = spreads.collect::<Vec<_>>().join(" ");
            format!("fragment C{level} on Subdocument {{ {spreads} }}")
        });
    let fragments = fragments.collect::<Vec<_>>().join(" ");
    (declared.join(" "), fragments, variables.join(", "))
}
