//! Writes to a fixed set of documents, which `resets` restores.

use rand::Rng;
use serde_json::json;

use super::super::world::{ARRAYS, ELEMENTS, LARGE, MARKS, SCRATCH, array, list};
use super::filters::path;
use super::{Family, Maker, Operation, repeated};

pub(super) const FAMILIES: &[(&str, Family)] = &[
    ("copies that double", doubles),
    ("copies of texts", copies),
    ("copies of other documents", copies_of_others),
    ("removals by value", removals_by_value),
    ("tests of documents", tests),
    ("removals at the beginning", removals),
    ("bulk updates of large values", bulk_values),
    ("bulk updates by large filters", bulk_filters),
    ("bulk updates of small documents", bulk_small),
    ("bulk removals", bulk_removals),
    ("merge patches", merges),
    ("increments", increments),
    ("indexes", indexes),
    ("moves", moves),
    ("resets", resets),
];

fn write(declared: &str, fields: String, variables: String) -> Operation {
    Operation {
        declared: declared.to_owned(),
        fields,
        variables,
        mutation: true,
        ..Operation::default()
    }
}

fn scratch(maker: &mut Maker) -> String {
    format!("s{}", maker.random.random_range(0..SCRATCH))
}

fn patch(collection: &str, id: &str, path: &str, operations: &[String]) -> Operation {
    let fields = format!(
        "patchDocument(collection: \"{collection}\", id: \"{id}\", path: \"{path}\", patch: $p) {{ kind }}"
    );
    write(
        "$p: JSON",
        fields,
        format!("\"p\":[{}]", operations.join(",")),
    )
}

fn doubles(maker: &mut Maker) -> Operation {
    let (id, count) = (scratch(maker), maker.large(60));
    let (from, to) = maker.one_of(&[("", "/d"), ("/a", "/a/-"), ("/a", "/a/0")]);
    let begin =
        "{\"op\":\"add\",\"path\":\"/a\",\"value\":[1,\"xxxxxxxxxxxxxxxxxxxx\",{}]}".to_owned();
    let doubling = (0..count).map(|at| {
        let to = if from.is_empty() {
            format!("{to}{at}")
        } else {
            to.to_owned()
        };
        format!("{{\"op\":\"copy\",\"from\":\"{from}\",\"path\":\"{to}\"}}")
    });
    let operations: Vec<_> = [begin].into_iter().chain(doubling).collect();
    patch("scratch", &id, "", &operations)
}

fn copies(maker: &mut Maker) -> Operation {
    let (id, count, bytes) = (scratch(maker), maker.large(200), maker.large(2 << 20));
    let begin = format!(
        "{{\"op\":\"add\",\"path\":\"/t\",\"value\":\"{}\"}}",
        "t".repeat(bytes)
    );
    let copies =
        (0..count).map(|at| format!("{{\"op\":\"copy\",\"from\":\"/t\",\"path\":\"/t{at}\"}}"));
    let operations: Vec<_> = [begin].into_iter().chain(copies).collect();
    patch("scratch", &id, "", &operations)
}

fn copies_of_others(maker: &mut Maker) -> Operation {
    let (id, count) = (scratch(maker), maker.large(300));
    let large = format!("large-{}", maker.random.random_range(0..LARGE));
    let (collection, from) = maker.one_of(&[
        ("large", &*large),
        ("arrays", "numbers"),
        ("arrays", "deep"),
        ("scratch", &*id),
    ]);
    let (path, to) = maker.one_of(&[("", "/c#"), ("/a", "/c#"), ("/0", "/c#"), ("", "/c/-")]);
    let field = format!(
        "a#: copyDocument(collection: \"scratch\", id: \"{id}\", path: \"{to}\", \
         from: {{collection: \"{collection}\", id: \"{from}\", path: \"{path}\"}}) {{ kind }} "
    );
    let begin = format!(
        "replaceDocument(collection: \"scratch\", id: \"{id}\", document: {{a: [], c: []}}) {{ kind }} "
    );
    write("", begin + &repeated(count, &field), String::new())
}

/// The values are appended again, so that arrays keep their length.
fn removals_by_value(maker: &mut Maker) -> Operation {
    let (count, listed) = (maker.large(60), maker.large(20_000));
    let (collection, at) = maker.one_of(&[("arrays", "$"), ("arrays", "$.a"), ("large", "$.a")]);
    let values: Vec<String> = (0..listed)
        .map(|at| match maker.random.random_range(0..4) {
            0 => format!("{{\"k\":{at}}}"),
            1 => format!("{at}.0"),
            _ => (at * 3).to_string(),
        })
        .collect();
    let element = format!("{{at: \"{at}\", values: $v}}");
    let removals = vec![&*element; count].join(" ");
    let fields = format!(
        "updateDocuments(collection: \"{collection}\", where: {{at: \"{at}[0]\", exists: true}}, \
         remove: [{removals}], append: [{element}]) {{ changed }}"
    );
    let variables = format!("\"v\":[{}]", values.join(","));
    write("$v: JSON", fields, variables)
}

fn tests(maker: &mut Maker) -> Operation {
    let count = maker.large(300);
    let filter = json!({"any": vec![json!({"at": path(maker), "eq": -1}); maker.large(50)]});
    let id = maker.one_of(&ARRAYS);
    let field = format!(
        "a#: testDocument(collection: \"arrays\", id: \"{id}\", matches: {{not: $f}}) {{ kind }} "
    );
    let variables = format!("\"f\":{filter}");
    write("$f: DocumentFilter", repeated(count, &field), variables)
}

/// Removed elements are added again, so that arrays keep their length.
fn removals(maker: &mut Maker) -> Operation {
    let count = maker.large(200);
    let (collection, id, path) = match maker.random.random_range(0..3) {
        0 => ("arrays", "numbers".to_owned(), ""),
        1 => ("arrays", "objects".to_owned(), ""),
        _ => (
            "marks",
            format!("mark-{}", maker.random.random_range(0..MARKS)),
            "/items",
        ),
    };
    let remove = "{\"op\":\"remove\",\"path\":\"/0\"}".to_owned();
    let add = format!(
        "{{\"op\":\"add\",\"path\":\"/0\",\"value\":{}}}",
        maker.large(ELEMENTS)
    );
    let mut operations = vec![remove; count];
    operations.extend(vec![add; count]);
    patch(collection, &id, path, &operations)
}

/// Moves between documents' ends, which renumber and copy.
fn moves(maker: &mut Maker) -> Operation {
    let (from, to) = maker.one_of(&[("/0", "/50000"), ("/1", "/0"), ("/9999", "/1")]);
    let there = format!("{{\"op\":\"move\",\"from\":\"{from}\",\"path\":\"{to}\"}}");
    let operations = vec![there; maker.large(100)];
    patch("arrays", "numbers", "", &operations)
}

fn bulk(collection: &str, filter: &str, at: &str, value: &str) -> Operation {
    let fields = format!(
        "updateDocuments(collection: \"{collection}\", where: $w, everything: true, \
         set: [{{at: $at, value: $v}}]) {{ matched changed }}"
    );
    let variables = format!("\"w\":{filter},\"at\":{},\"v\":{value}", json!(at));
    write(
        "$w: DocumentFilter!, $at: JSONPath!, $v: JSON",
        fields,
        variables,
    )
}

fn bulk_values(maker: &mut Maker) -> Operation {
    let value = format!("\"{}\"", "v".repeat(maker.large(300_000)));
    let (collection, path) = maker.one_of(&[
        ("scratch", "$.*"),
        ("scratch", "$..*"),
        ("large", "$.a[*]"),
        ("large", "$.a[0:9]"),
        ("arrays", "$[0:9000]"),
        ("arrays", "$.a[0:9000]"),
    ]);
    bulk(collection, "{}", path, &value)
}

fn bulk_filters(maker: &mut Maker) -> Operation {
    let filter = path(maker);
    let filter = vec![format!("{{\"at\":{},\"exists\":true}}", json!(filter)); maker.large(500)];
    let filter = format!("{{\"any\":[{}]}}", filter.join(","));
    let (collection, path) = (maker.one_of(&["arrays", "large", "marks"]), path(maker));
    // Usually the value equals the stored one.
    let path = if collection == "marks" {
        "$.items[0:100]".to_owned()
    } else {
        path
    };
    bulk(collection, &filter, &path, "7")
}

fn bulk_small(maker: &mut Maker) -> Operation {
    let n = maker.random.random_range(0..60);
    let filter = maker.one_of(&[
        "{}",
        "{\"at\":\"$.n\",\"gte\":40}",
        "{\"at\":\"$.tags[*]\",\"eq\":\"t3\"}",
    ]);
    let (path, value) = match maker.random.random_range(0..4) {
        0 => ("$.n", n.to_string()),
        1 => ("$.tags[*]", format!("\"t{n}\"")),
        2 => ("$.tags", format!("[\"t{n}\",\"t{}\",{n}]", n / 2)),
        // The unique index rejects a second document with this value.
        _ => ("$.u", n.to_string()),
    };
    bulk("small", filter, path, &value)
}

fn bulk_removals(maker: &mut Maker) -> Operation {
    let path = json!(path(maker));
    let collection = maker.one_of(&["scratch", "large"]);
    let fields = format!(
        "deleteDocuments(collection: \"{collection}\", where: {{all: [{{at: {path}, exists: true}}, \
         {{at: \"$.never\", exists: true}}]}}) {{ matched }}"
    );
    write("", fields, String::new())
}

fn merges(maker: &mut Maker) -> Operation {
    let (id, count) = (scratch(maker), maker.large(20_000));
    let member = maker.one_of(&["null", "1", "\"text\"", "{\"a\":{\"b\":null,\"c\":[1,2]}}"]);
    let members: Vec<_> = (0..count).map(|at| format!("\"m{at}\":{member}")).collect();
    let fields =
        format!("mergeDocument(collection: \"scratch\", id: \"{id}\", patch: $p) {{ kind }}");
    write(
        "$p: JSON",
        fields,
        format!("\"p\":{{{}}}", members.join(",")),
    )
}

fn increments(maker: &mut Maker) -> Operation {
    let id = scratch(maker);
    let digits = maker.large(600);
    let field = format!(
        "i#: incrementDocument(collection: \"scratch\", id: \"{id}\", path: \"/i#\", by: {}) {{ kind }} ",
        "9".repeat(digits)
    );
    write("", repeated(maker.large(150), &field), String::new())
}

fn indexes(maker: &mut Maker) -> Operation {
    let name = format!("i{}", maker.random.random_range(0..3));
    let collection = maker.one_of(&["arrays", "large", "scratch"]);
    if maker.chance(2) {
        let fields = format!("dropIndex(collection: \"{collection}\", name: \"{name}\")");
        return write("", fields, String::new());
    }
    let path = maker.one_of(&["$[*]", "$.a[*]", "$[*].k", "$[*].name", "$.s", "$.*", "$"]);
    let path = path.replace(".*", "[*]");
    let unique = maker.chance(6);
    let fields = format!(
        "createIndex(collection: \"{collection}\", name: \"{name}\", on: [\"{path}\"], unique: {unique}) {{ state }}"
    );
    Operation {
        builds: true,
        ..write("", fields, String::new())
    }
}

fn resets(maker: &mut Maker) -> Operation {
    let (collection, id, document) = match maker.random.random_range(0..3) {
        0 => ("scratch", scratch(maker), "{}".to_owned()),
        1 => {
            let document = list(maker.large(ELEMENTS / 4), |at| format!("{{\"x\":{at}}}"));
            ("scratch", scratch(maker), document)
        }
        _ => {
            let id = maker.one_of(&ARRAYS);
            ("arrays", id.to_owned(), array(id))
        }
    };
    let fields = format!(
        "replaceDocument(collection: \"{collection}\", id: \"{id}\", document: $d) {{ kind }}"
    );
    write("$d: JSON", fields, format!("\"d\":{document}"))
}
