//! References: selections that follow them in every direction, writes that are checked, and deletions that
//! act on the documents that refer to the deleted ones. `restored` stores the documents again.

use rand::Rng;
use serde_json::{Value, json};

use super::super::referring::{
    CHAIN, DENSE, GUARDS, LEAVES, PARTS, RING, categories, category, part, stored,
};
use super::{Family, Maker, Operation, repeated};

pub(super) const FAMILIES: &[(&str, Family)] = &[
    ("references in levels", levels),
    ("references of many documents", many),
    ("chains of references", chains),
    ("followed documents", followed),
    ("written references", written),
    ("moves in a hierarchy", moves),
    ("deletions of referred documents", deletions),
    ("referring documents that are restored", restored),
];

/// A longer selection is not put into further ones.
const SELECTION_BYTES_MAX: usize = 30_000;

/// The type of a selected document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Category,
    Part,
    Guard,
}

/// Fields of a document without documents behind them.
fn fields(maker: &mut Maker, of: Of) -> String {
    let own: &[&str] = match of {
        Of::Category => &["name", "rank", "parent"],
        Of::Part => &["n", "in(first: 3)", "in", "of"],
        Of::Guard => &["n", "of"],
    };
    let shared = ["key", "id", "version", "__typename", "document { value }"];
    let field = if maker.chance(2) {
        maker.one_of(own)
    } else {
        maker.one_of(&shared)
    };
    let aliases = maker.one_of(&[1, 1, 5, 50]);
    repeated(maker.large(aliases), &format!("f#: {field} "))
}

/// The arguments of a page.
fn page(maker: &mut Maker, of: Of) -> String {
    let number = if of == Of::Category { "rank" } else { "n" };
    let (most, at) = (maker.one_of(&[1, 10, 1_000, 10_000]), maker.large(PARTS));
    let direction = maker.one_of(&["first", "last"]);
    let order = match maker.random.random_range(0..4) {
        0 => format!(", orderBy: [{{{number}: DESC}}, {{key: ASC}}]"),
        1 => ", orderBy: {key: DESC}".to_owned(),
        _ => String::new(),
    };
    let test = match maker.random.random_range(0..4) {
        0 => format!(", where: {{{number}: {{gte: {at}}}}}"),
        1 => {
            let tests = repeated(
                maker.large(100),
                &format!("{{_not: {{{number}: {{eq: #}}}}}} "),
            );
            format!(", where: {{_all: [{tests}]}}")
        }
        _ => String::new(),
    };
    format!("{direction}: {most}{order}{test}, scanLimit: 100000")
}

/// A field that leads to other documents, in each of which something is selected.
fn leading(maker: &mut Maker, of: Of) -> (String, Of) {
    let first = maker.one_of(&[1, 10, DENSE, 10_000]);
    let pages = |name: &str, of: Of, maker: &mut Maker| {
        let nodes = maker.one_of(&[
            "nodes { BELOW }",
            "edges { cursor node { BELOW } }",
            "totalCount nodes { BELOW }",
            "plan { index scanned } pageInfo { endCursor } nodes { BELOW }",
        ]);
        (format!("{name}({}) {{ {nodes} }}", page(maker, of)), of)
    };
    let single = |text: &str, of| (text.to_owned(), of);
    match (of, maker.random.random_range(0..5)) {
        (Of::Category, 0) => single("above { BELOW }", Of::Category),
        (Of::Category, 1) => single("ancestors { BELOW }", Of::Category),
        (Of::Category, 2) => pages("below", Of::Category, maker),
        (Of::Category, 3) => pages("guards", Of::Guard, maker),
        (Of::Category, _) => pages("parts", Of::Part, maker),
        (Of::Part, 2) => pages("contains", Of::Part, maker),
        (Of::Part, 3 | 4) => single(&format!("inParts(first: {first}) {{ BELOW }}"), Of::Part),
        (Of::Part | Of::Guard, _) => single("category { BELOW }", Of::Category),
    }
}

/// Selections of documents behind documents, as many levels deep as may be.
fn behind(maker: &mut Maker, of: Of, levels: usize) -> String {
    if levels == 0 {
        return fields(maker, of);
    }
    let (field, to) = leading(maker, of);
    let below = behind(maker, to, levels - 1);
    let aliases = maker.one_of(&[1, 1, 1, 3, 20]);
    let aliases = aliases.min(SELECTION_BYTES_MAX / below.len().max(1)).max(1);
    let each = format!("b{levels}x#: {} ", field.replace("BELOW", &below));
    repeated(maker.large(aliases), &each)
}

/// The key of a category.
fn key(maker: &mut Maker) -> String {
    match maker.random.random_range(0..5) {
        0 => "hub".to_owned(),
        1 => format!("leaf{}", maker.random.random_range(0..LEAVES)),
        2 => format!("chain{}", CHAIN - 1),
        _ => format!("chain{}", maker.random.random_range(0..CHAIN)),
    }
}

fn levels(maker: &mut Maker) -> Operation {
    let (of, root) = if maker.chance(2) {
        (Of::Category, format!("category(key: \"{}\")", key(maker)))
    } else {
        let at = maker.random.random_range(0..DENSE);
        (Of::Part, format!("part(key: \"p{at}\")"))
    };
    let levels = maker.random.random_range(1..=6);
    let below = behind(maker, of, levels);
    Operation::query_of(format!("{root} {{ {below} }}"))
}

fn many(maker: &mut Maker) -> Operation {
    let (of, name) = maker.one_of(&[
        (Of::Category, "categories"),
        (Of::Part, "parts"),
        (Of::Guard, "guards"),
    ]);
    let levels = maker.random.random_range(1..=4);
    let (page, below) = (page(maker, of), behind(maker, of, levels));
    Operation::query_of(format!("{name}({page}) {{ nodes {{ {below} }} }}"))
}

fn chains(maker: &mut Maker) -> Operation {
    let aliases = maker.large(40);
    let fields = fields(maker, Of::Category);
    // Chains whose selections differ are walks of their own.
    let each = maker.one_of(&[
        "c#: ancestors { FIELDS }",
        "c#: ancestors { x#: key FIELDS }",
        "c#: ancestors { ancestors { FIELDS } }",
        "c#: ancestors { below(first: 10) { nodes { FIELDS } } }",
        "c#: above { ancestors { above { FIELDS } } }",
        "c#: document { follow(path: \"/parent\", first: 100) { key value(path: [\"name\", #]) } }",
    ]);
    let each = repeated(aliases, &format!("{each} ").replace("FIELDS", &fields));
    let first = maker.one_of(&[1, 100, 2_000]);
    let root = match maker.random.random_range(0..3) {
        0 => {
            return Operation::query_of(format!(
                "category(key: \"chain{}\") {{ {each} }}",
                CHAIN - 1
            ));
        }
        1 => format!("parts(first: {first}) {{ nodes {{ category {{ {each} }} }} }}"),
        _ => format!("categories(first: {first}) {{ nodes {{ {each} }} }}"),
    };
    Operation::query_of(root)
}

fn followed(maker: &mut Maker) -> Operation {
    let first = maker.one_of(&[1, 100]);
    let path = maker.one_of(&["\"/next\"", "[\"next\"]", "\"/text\"", "\"\"", "[\"#\"]"]);
    let collection = maker.one_of(&["", ", collection: \"ring\"", ", collection: \"nothing\""]);
    let below = maker.one_of(&[
        "key",
        "value",
        "version value(path: [\"text\"])",
        "follow(path: \"/next\", first: 100) { key }",
    ]);
    let follow = format!("w#: follow(path: {path}{collection}, first: {first}) {{ {below} }} ");
    let follows = repeated(maker.large(100), &follow);
    let documents = maker.large(RING);
    if maker.chance(3) {
        let at = documents - 1;
        return Operation::query_of(format!(
            "document(collection: \"ring\", id: \"r{at}\") {{ document {{ {follows} }} }}"
        ));
    }
    Operation::query_of(format!(
        "documents(collection: \"ring\", first: {documents}) {{ nodes {{ {follows} }} }}"
    ))
}

/// A mutation with a list of writes.
fn writes(operations: &[Value]) -> Operation {
    Operation {
        declared: "$w: [DocumentWrite!]!".to_owned(),
        fields: "writeDocuments(operations: $w) { __typename }".to_owned(),
        variables: format!("\"w\":{}", json!(operations)),
        mutation: true,
        ..Operation::default()
    }
}

/// Documents with many references, of which some lead nowhere or in circles.
fn written(maker: &mut Maker) -> Operation {
    let (documents, references) = (maker.large(200), maker.one_of(&[1, 50, 1_000]));
    let base = maker.random.random_range(DENSE..PARTS);
    let parts = (0..documents).map(|at| {
        let inside = (0..references).map(|to| format!("p{}", (at * 7 + to) % PARTS));
        let of = match maker.random.random_range(0..1_000) {
            0 => json!("nothing"),
            1 => json!(null),
            2..500 => json!("hub"),
            _ => json!(key(maker)),
        };
        let inside: Vec<String> = inside.collect();
        let at = (base + at) % PARTS;
        (format!("p{at}"), json!({"n": at, "of": of, "in": inside}))
    });
    let parts: Vec<_> = parts.collect();
    writes(&stored("parts", parts))
}

/// Moves of categories, of which many would close a circle or make a chain too long.
fn moves(maker: &mut Maker) -> Operation {
    let count = maker.large(1_000);
    let shape = maker.random.random_range(0..4);
    let moves = (0..count).map(|at| {
        let (from, to) = match shape {
            // All below the end of the chain.
            0 => (
                format!("leaf{}", at % LEAVES),
                format!("chain{}", CHAIN - 1),
            ),
            // A chain of its own, of up to 100.
            1 => (
                format!("leaf{}", at % LEAVES),
                match at % CHAIN {
                    0 => "hub".to_owned(),
                    _ => format!("leaf{}", at % LEAVES - 1),
                },
            ),
            // Circles.
            2 => (
                format!("chain{}", at % CHAIN),
                format!("chain{}", (at + 1) % CHAIN),
            ),
            _ => (key(maker), key(maker)),
        };
        json!({"merge": {"collection": "categories", "id": from, "patch": {"parent": to}}})
    });
    let moves: Vec<Value> = moves.collect();
    writes(&moves)
}

fn deletions(maker: &mut Maker) -> Operation {
    let filter = maker.one_of(&[
        "{all: [{at: \"$.rank\", gte: 50}, {at: \"$.parent\", exists: true}]}",
        "{at: \"$.parent\", eq: \"hub\"}",
        "{at: \"$.rank\", lt: 20}",
    ]);
    let fields = match maker.random.random_range(0..5) {
        0 => "deleteCategory(key: \"hub\") { deleted }".to_owned(),
        1 => format!("deleteCategory(key: \"{}\") {{ deleted }}", key(maker)),
        2 => format!(
            "deleteDocuments(collection: \"categories\", where: {filter}) {{ matched changed }}"
        ),
        3 => {
            let deleted =
                "d#: deleteDocument(collection: \"categories\", id: \"leaf#\") { deleted } ";
            repeated(maker.large(500), deleted)
        }
        _ => {
            let at = maker.random.random_range(0..GUARDS);
            format!(
                "g: deleteGuard(key: \"g{at}\") {{ deleted }} c: deleteCategory(key: \"chain{at}\") {{ deleted }}"
            )
        }
    };
    Operation {
        fields,
        mutation: true,
        ..Operation::default()
    }
}

/// Stores a part of the documents as they were at the beginning.
fn restored(maker: &mut Maker) -> Operation {
    let all = categories();
    match maker.random.random_range(0..4) {
        0 => {
            let from = maker.random.random_range(0..PARTS);
            let count = maker.large(1_000);
            let parts = (from..from + count).map(|at| (format!("p{}", at % PARTS), at % PARTS));
            writes(&stored("parts", parts.map(|(key, at)| (key, part(at)))))
        }
        1 => {
            let guards = (0..GUARDS).map(|at| {
                let of = format!("chain{at}");
                (format!("g{at}"), json!({"n": at, "of": of}))
            });
            writes(&stored("guards", guards))
        }
        // The chain and the hub.
        2 => {
            let keys = all[..=CHAIN].iter();
            writes(&stored(
                "categories",
                keys.map(|key| (key.clone(), category(key))),
            ))
        }
        _ => {
            let keys = all[CHAIN..].iter().take(1_000);
            writes(&stored(
                "categories",
                keys.map(|key| (key.clone(), category(key))),
            ))
        }
    }
}
