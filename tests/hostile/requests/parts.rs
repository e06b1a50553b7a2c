//! Parts of documents, sets of keys, update operators, logs and queues.

use rand::Rng;
use serde_json::json;

use super::super::world::{ELEMENTS, LARGE, LONG, SCRATCH, long_id};
use super::filters::path;
use super::{Family, Maker, Operation, repeated};

pub(super) const FAMILIES: &[(&str, Family)] = &[
    ("selects of many ranges", ranges),
    ("selects of many segments", segments),
    ("projections", projections),
    ("ranges between paths", ranges_between),
    ("lengths and bounded children", lengths),
    ("sets of keys", keys),
    ("lists of orders", orders),
    ("aggregates", aggregates),
    ("update operators", updates),
    ("appends", appends),
    ("takes", takes),
];

/// A document, and what it contains.
fn document(maker: &mut Maker) -> String {
    match maker.random.random_range(0..3) {
        0 => "document(collection: \"arrays\", id: \"numbers\")".to_owned(),
        1 => "document(collection: \"arrays\", id: \"deep\")".to_owned(),
        _ => {
            let id = maker.random.random_range(0..LARGE);
            format!("document(collection: \"large\", id: \"large-{id}\")")
        }
    }
}

/// A JSONPath that begins with segments of names and positions.
fn leading(maker: &mut Maker, alias: usize) -> String {
    let wide = maker.large(16);
    let union: Vec<String> = (0..wide).map(|at| at.to_string()).collect();
    let union = format!("[{}]", union.join(","));
    let n = maker.large(ELEMENTS);
    match maker.random.random_range(0..6) {
        0 => format!("${union}{union}['k{alias}']"),
        1 => format!("${union}{union}"),
        2 => format!("$[-{n}:]{union}"),
        3 => format!("$[{n}::-1]"),
        4 => format!("$.a[::{}]", n % 40 + 1),
        _ => format!("$[-1,-2,{alias},0:{n}]"),
    }
}

/// Aliases of a field, each with a variable of its own. `#` is the number.
fn with_variables(
    maker: &mut Maker,
    count: usize,
    (ty, field): (&str, &str),
    value: impl Fn(&mut Maker, usize) -> serde_json::Value,
) -> Operation {
    let document = document(maker);
    let variables: Vec<String> = (0..count)
        .map(|at| format!("\"v{at}\":{}", value(maker, at)))
        .collect();
    Operation {
        declared: repeated(count, &format!("$v#: {ty} ")),
        fields: format!("{document} {{ {} }}", repeated(count, field)),
        variables: variables.join(","),
        ..Operation::default()
    }
}

fn ranges(maker: &mut Maker) -> Operation {
    let count = maker.large(400);
    let field = ("JSONPath!", "a#: select(query: $v#) { kind } ");
    with_variables(maker, count, field, |maker, at| json!(leading(maker, at)))
}

fn segments(maker: &mut Maker) -> Operation {
    let doubled = maker.large(9);
    let segment = maker.one_of(&["[0]", ".a", "[-1]", "[0,1]", "[0,5:5]", "['a']"]);
    let rest = maker.large(16_000 / segment.len() - 8 * doubled);
    let query = format!("${}{}", "[0,1]".repeat(doubled), segment.repeat(rest));
    let count = maker.large(100);
    Operation {
        declared: "$q: JSONPath!".to_owned(),
        fields: format!(
            "{} {{ {} }}",
            document(maker),
            repeated(count, "a#: select(query: $q) { kind } ")
        ),
        variables: format!("\"q\":{}", json!(query)),
        ..Operation::default()
    }
}

fn projections(maker: &mut Maker) -> Operation {
    let (count, listed) = (maker.large(60), maker.large(1_000));
    let field = maker.one_of(&[
        "a#: pick(paths: $v#) ",
        "a#: values(paths: $v#) ",
        "a#: omit(paths: $v#) ",
    ]);
    let distinct = maker.chance(2);
    with_variables(maker, count, ("[Path!]!", field), |maker, at| {
        let paths = (0..listed).map(|path| match maker.random.random_range(0..4) {
            0 => json!([path]),
            1 => json!(format!("/a/{path}")),
            2 => json!([-1 - i64::try_from(path).expect("few")]),
            _ => json!(["a", path + if distinct { 1_000 * at } else { 0 }]),
        });
        paths.collect()
    })
}

fn ranges_between(maker: &mut Maker) -> Operation {
    let count = maker.large(300);
    let field = maker.one_of(&[
        "a#: range(from: $v#) ",
        "a#: range(to: $v#) ",
        "a#: range(from: $v#, to: [#, \"z\"]) b#: range(from: \"/0/#/1\", to: $v#) ",
    ]);
    let levels = maker.large(2_000);
    with_variables(maker, count, ("Path", field), |maker, at| {
        match maker.random.random_range(0..5) {
            0 => json!([at]),
            1 => json!(format!("/a/{at}/-")),
            2 => json!(["a", -1 - i64::try_from(at).expect("few"), -1]),
            3 => json!("/1".repeat(levels / (at + 1))),
            _ => json!("x".repeat(levels)),
        }
    })
}

fn lengths(maker: &mut Maker) -> Operation {
    let documents = repeated(
        maker.large(300),
        "a#: document(collection: \"arrays\", id: \"deep\") { length subdocument(path: \"/d99\") { length } } ",
    );
    let from = maker.large(ELEMENTS);
    let children = repeated(
        maker.large(100),
        &format!(
            "c#: children(first: 10000, from: {from}, prefix: null) {{ nodes {{ length }} }} "
        ),
    );
    Operation::query_of(format!(
        "{documents} b: {} {{ {children} }}",
        document(maker)
    ))
}

fn keys(maker: &mut Maker) -> Operation {
    let (listed, count) = (maker.large(1_000), maker.large(200));
    let long = maker.chance(2);
    let ids: Vec<String> = (0..listed)
        .map(|at| {
            if long {
                long_id(at % LONG)
            } else {
                format!("large-{at}")
            }
        })
        .collect();
    let filter = maker.one_of(&[
        "",
        ", where: {at: \"$..*\", eq: -1}",
        ", orderBy: {descending: true}",
    ]);
    let field = format!(
        "a#: documents(collection: \"large\", keys: {{in: $k, gte: \"a\"}}{filter}) {{ nodes {{ key }} totalCount }} "
    );
    let most = if long { 300 } else { listed };
    Operation {
        declared: "$k: [ID!]".to_owned(),
        fields: repeated(count, &field),
        variables: format!("\"k\":{}", json!(ids[..most.min(ids.len())])),
        ..Operation::default()
    }
}

fn orders(maker: &mut Maker) -> Operation {
    let orders: Vec<String> = (0..maker.large(8))
        .map(|_| {
            let descending = maker.chance(2);
            format!("{{by: {}, descending: {descending}}}", json!(path(maker)))
        })
        .collect();
    let collection = maker.one_of(&["arrays", "marks", "large", "small", "long"]);
    let values: Vec<String> = (0..maker.large(200)).map(|at| at.to_string()).collect();
    Operation::query_of(format!(
        "documents(collection: \"{collection}\", scanLimit: 100000, first: 1000, orderBy: [{}], \
         where: {{at: \"$.n\", in: [{}]}}) {{ nodes {{ key }} plan {{ covered }} }}",
        orders.join(", "),
        values.join(", ")
    ))
}

fn aggregates(maker: &mut Maker) -> Operation {
    let collection = maker.one_of(&["arrays", "marks", "large", "small", "long"]);
    let paths = |maker: &mut Maker, count| {
        let paths = (0..count).map(|_| json!(path(maker)).to_string());
        paths.collect::<Vec<_>>()
    };
    let group_by = maker.large(8) - 1;
    let group_by = paths(maker, group_by).join(", ");
    let of = maker.large(32);
    let of = paths(maker, of).into_iter().enumerate();
    let of = of.map(|(at, of)| format!("s{at}: sum(of: {of}) m{at}: max(of: {of}) "));
    let field = format!(
        "a#: aggregate(collection: \"{collection}\", scanLimit: 100000, first: 10000, \
         orderBy: COUNT, groupBy: [{group_by}]) {{ groups {{ key {} }} groupCount }} ",
        of.collect::<String>()
    );
    Operation::query_of(repeated(maker.large(10), &field))
}

fn updates(maker: &mut Maker) -> Operation {
    let count = maker.large(60);
    let id = maker.random.random_range(0..SCRATCH);
    let update = |maker: &mut Maker, value: &str| {
        let at = match maker.random.random_range(0..4) {
            0 => "$.*".to_owned(),
            1 => format!("$.n{}", maker.random.random_range(0..9)),
            2 => "$..*".to_owned(),
            _ => path(maker),
        };
        format!("{{at: {}{value}}}", json!(at))
    };
    let list = |maker: &mut Maker, value: &str| {
        let updates: Vec<String> = (0..count).map(|_| update(maker, value)).collect();
        updates.join(", ")
    };
    let lists = match maker.random.random_range(0..8) {
        0 => format!("set: [{}]", list(maker, ", value: [1, {a: 2}]")),
        1 => format!("append: [{}]", list(maker, ", value: [[]]")),
        2 => format!("increment: [{}]", list(maker, ", by: 1e9")),
        3 => format!("merge: [{}]", list(maker, ", patch: {m: {n: []}}")),
        4 => format!("append: [{}]", list(maker, ", values: [1, [], {a: 2}]")),
        5 => format!("remove: [{}]", list(maker, ", values: [1, [], {a: 2}]")),
        6 => {
            let from = ", from: {collection: \"arrays\", id: \"objects\"}";
            let operator = maker.one_of(&["set", "remove", "append"]);
            format!("{operator}: [{}]", list(maker, from))
        }
        _ => {
            let paths: Vec<String> = (0..count).map(|_| json!(path(maker)).to_string()).collect();
            format!("unset: [{}]", paths.join(", "))
        }
    };
    Operation {
        mutation: true,
        ..Operation::query_of(format!(
            "updateDocuments(collection: \"scratch\", where: {{at: \"$.x\", ne: \"s{id}\"}}, everything: true, {lists}) \
             {{ matched changed updates {{ at places }} }}"
        ))
    }
}

fn appends(maker: &mut Maker) -> Operation {
    let (count, elements) = (maker.large(200), maker.large(500));
    let document = format!("[{}]", vec!["1"; elements].join(","));
    let field = "a#: appendDocument(collection: \"log\", document: $d) { key documentId version } ";
    Operation {
        declared: "$d: JSON".to_owned(),
        fields: repeated(count, field),
        variables: format!("\"d\":{document}"),
        mutation: true,
        ..Operation::default()
    }
}

fn takes(maker: &mut Maker) -> Operation {
    let first = maker.large(1_000);
    let field = format!(
        "a#: takeDocuments(collection: \"log\", first: {first}) {{ key value deletedId }} "
    );
    Operation {
        mutation: true,
        ..Operation::query_of(repeated(maker.large(20), &field))
    }
}
