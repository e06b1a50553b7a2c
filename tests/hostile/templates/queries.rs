//! Queries at their maxima.

use serde_json::{Value, json};

use super::super::requests::repeated;
use super::super::world::{LARGE, SMALL};
use super::{Known, Template};

const NUMBERS: &str = "document(collection: \"arrays\", id: \"numbers\")";
const DEEP: &str = "document(collection: \"arrays\", id: \"deep\")";
const OBJECTS: &str = "document(collection: \"arrays\", id: \"objects\")";

/// All fields of a document or a part of one that have no subfields.
const FIELDS: &str = "id version kind value length";

pub(super) fn templates(known: &Known) -> Vec<Template> {
    let mut templates = values();
    templates.extend(parts(known));
    templates.extend(pages(known));
    templates.extend(groups());
    templates.extend(nodes(known));
    templates
}

fn values() -> Vec<Template> {
    let paths: Vec<Value> = (0..900).map(|at| json!([at])).collect();
    let long = "x".repeat(1 << 20);
    vec![
        Template::new(
            "whole values",
            format!(
                "{{ {} }}",
                repeated(10, &format!("a#: {NUMBERS} {{ path {FIELDS} }} "))
            ),
            json!({}),
        ),
        Template::new(
            "values at paths",
            format!(
                "{{ {NUMBERS} {{ {} }} }}",
                repeated(900, "a#: value(path: [#]) ")
            ),
            json!({}),
        ),
        Template::new(
            "documents by path",
            format!(
                "{{ {} }}",
                repeated(
                    300,
                    "a#: document(collection: \"arrays\", id: \"deep\", path: \"/n/#\") { value } "
                )
            ),
            json!({}),
        ),
        Template::new(
            "a long id and a long path",
            "query($l: ID!, $p: Path!) { document(collection: \"D\", id: $l, path: $p) { value } }"
                .to_owned(),
            json!({"l": long, "p": format!("/{long}")}),
        ),
        Template::new(
            "lists of paths",
            format!(
                "query($p: [Path!]!) {{ {NUMBERS} {{ values(paths: $p) pick(paths: $p) omit(paths: $p) }} }}"
            ),
            json!({"p": paths}),
        ),
        Template::new(
            "lists of paths of documents",
            format!(
                "query($p: [Path!]!) {{ documents(collection: \"large\", first: {LARGE}) {{ nodes {{ \
                 values(paths: $p) pick(paths: $p) omit(paths: $p) value(path: \"/s\") \
                 range(from: [\"a\", 1], to: \"/s\") \
                 subdocument(path: \"/a\") {{ length }} }} }} }}"
            ),
            json!({"p": [["s"], ["a", 1], ["a", -1]]}),
        ),
        Template::new(
            "ranges between paths",
            format!(
                "{{ {NUMBERS} {{ {} }} }}",
                repeated(
                    300,
                    "a#: range(from: [-#], to: \"/#/a\") b#: range(from: \"/#\") "
                )
            ),
            json!({}),
        ),
        Template::new(
            "a long range between long paths",
            "query($f: Path!, $t: Path!) { document(collection: \"arrays\", id: \"deep\") { \
             range(from: $f, to: $t) digits: range(from: $t) } }"
                .to_owned(),
            json!({"f": vec![0; 4_000], "t": "/1".repeat(8_000)}),
        ),
        Template::new(
            "lengths",
            format!(
                "{{ document(collection: \"arrays\", id: \"text\") {{ {} }} }}",
                repeated(300, "a#: subdocument(path: \"/s\") { length } ")
            ),
            json!({}),
        ),
        Template::new(
            "parts of a deep document",
            format!(
                "{{ {DEEP} {{ {} }} }}",
                repeated(
                    90,
                    "a#: subdocument(path: \"/d99/d98/d97/n\") { path value length document { key collection } } "
                )
            ),
            json!({}),
        ),
    ]
}

fn parts(known: &Known) -> Vec<Template> {
    let children = |arguments: &str, nodes: &str| {
        format!(
            "children({arguments}) {{ edges {{ cursor node {{ path }} }} nodes {{ {nodes} }} \
             pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} }}"
        )
    };
    let select = |query: &str| format!("select(query: \"{query}\") {{ path kind value length }}");
    let mut templates = vec![
        Template::new(
            "children of documents",
            format!(
                "query($c: String!) {{ {NUMBERS} {{ {} {} {} }} documents(collection: \"large\", first: {LARGE}) \
                 {{ nodes {{ {} {} {} {} }} }} }}",
                children("first: 1000, after: $c", "path kind value length id"),
                format_args!("b: {}", children("last: 1000, before: $c", "value")),
                format_args!(
                    "c: {}",
                    children("first: 1000, from: 100, to: 90000", "value")
                ),
                children("first: 1000, from: \"a\", to: \"z\"", "path kind"),
                format_args!(
                    "b: {}",
                    children("last: 1000, prefix: \"a\"", "path length")
                ),
                format_args!(
                    "c: subdocument(path: \"/a\") {{ {} }}",
                    children("first: 200", "value")
                ),
                format_args!("d: {}", select("$.a[::50]")),
            ),
            json!({"c": known.child_cursor}),
        ),
        Template::new(
            "followed keys",
            format!(
                "{{ documents(collection: \"small\", first: {SMALL}) {{ nodes {{ \
                 follow(path: \"/n\", collection: \"small\", first: 100) {{ key follow(path: \"/n\") {{ value }} }} }} }} }}"
            ),
            json!({}),
        ),
        Template::new(
            "cursors of children of documents",
            format!(
                "query($c: String!) {{ documents(collection: \"large\", first: {LARGE}) {{ nodes {{ \
                 a: children(first: 10, after: $c) {{ nodes {{ value }} }} \
                 b: children(last: 10, before: $c) {{ nodes {{ value }} }} }} }} }}"
            ),
            json!({"c": known.child_cursor}),
        ),
        Template::new(
            "prefixes of children",
            format!(
                "{{ {NUMBERS} {{ children(first: 1000, prefix: \"1\") {{ nodes {{ value }} }} }} \
                 {OBJECTS} {{ children(first: 1000) {{ nodes {{ \
                 children(prefix: \"n\", first: 10) {{ nodes {{ value }} }} }} }} }} }}"
            )
            .replacen(NUMBERS, &format!("x: {NUMBERS}"), 1),
            json!({}),
        ),
    ];
    for (name, query) in [
        ("everything below", "$..*"),
        ("a filter on everything below", "$..[?@ > 3 || @.k > 3]"),
        ("counts of everything below", "$[?count(@..*) > 1]"),
        (
            "a search in everything below",
            "$..[?search(@, '(n|m)*1.*9')]",
        ),
        ("slices backwards", "$[::-1]"),
    ] {
        let fields: String = ["numbers", "objects", "deep", "text"]
            .map(|id| {
                let select = select(query);
                format!("{id}: document(collection: \"arrays\", id: \"{id}\") {{ {select} }} ")
            })
            .concat();
        templates.push(Template::new(name, format!("{{ {fields} }}"), json!({})));
    }
    templates
}

/// A filter with every test.
pub(super) fn filter() -> Value {
    let values: Vec<Value> = (0..900).map(|at| json!(at)).collect();
    json!({"any": [
        {"at": "$.n", "in": values, "gt": -1, "gte": 0, "lt": 1_000, "lte": 1_000},
        {"at": "$.tags[*]", "startsWith": "t", "contains": "1"},
        {"at": "$..x", "ne": 3, "exists": true},
        {"all": [{"at": "$.u", "eq": 7}, {"not": {"at": "$.never", "exists": true}}]},
    ]})
}

/// A filter that tests much of large documents.
fn large_filter() -> Value {
    let tests: Vec<Value> = (0..50)
        .map(|at| json!({"at": "$.s", "contains": format!("y{at}")}))
        .collect();
    json!({"any": tests, "not": {"at": "$.a[*]", "eq": -1}})
}

/// Filters of keys with every test.
pub(super) fn keys() -> Value {
    let ids: Vec<String> = (0..SMALL).map(|id| id.to_string()).collect();
    json!({"in": ids, "gte": "0", "lte": "999"})
}

fn pages(known: &Known) -> Vec<Template> {
    let document = format!(
        "{FIELDS} key collection select(query: \"$.tags[*]\") {{ value }} \
         children(first: 10) {{ nodes {{ value }} }} subdocument(path: \"/o\") {{ value }}"
    );
    let page = format!(
        "edges {{ cursor node {{ {document} }} }} nodes {{ {document} }} totalCount \
         pageInfo {{ hasNextPage hasPreviousPage startCursor endCursor }} \
         plan {{ index partial scanned examined covered returned totalCountReason }}"
    );
    let declared = "$w: DocumentFilter, $k: DocumentKeyFilter, $o: [DocumentOrder!], $c: String";
    let query = |arguments: &str| {
        format!(
            "query({declared}) {{ documents(collection: \"small\", {arguments}) {{ {page} }} }}"
        )
    };
    let variables = |orders: Value, keys: Value| json!({"w": filter(), "k": keys, "o": orders, "c": known.page_cursor});
    let orders = json!([{"by": "$.tags[*]", "descending": true}, {"by": "$..x"}, {"by": "$.n"}]);
    let bounds = json!({"prefix": "1", "gt": "0", "lt": "999"});
    vec![
        Template::new(
            "a filtered and sorted page",
            query("where: $w, keys: $k, orderBy: $o, first: 300, scanLimit: 100000"),
            variables(orders.clone(), keys()),
        ),
        Template::new(
            "a page after a cursor",
            query("where: $w, keys: $k, orderBy: $o, first: 300, after: $c"),
            variables(Value::Null, bounds.clone()),
        ),
        Template::new(
            "a page before a cursor",
            query("where: $w, keys: $k, orderBy: $o, last: 300, before: $c"),
            variables(Value::Null, bounds),
        ),
        Template::new(
            "a filter of large documents",
            "query($w: DocumentFilter) { documents(collection: \"large\", where: $w, first: 24, \
             scanLimit: 100000, orderBy: [{by: \"$.a[*]\"}]) { nodes { key } } }"
                .to_owned(),
            json!({"w": large_filter()}),
        ),
        Template::new(
            "pages of long ids",
            format!(
                "{{ {} }}",
                repeated(
                    20,
                    "a#: documents(collection: \"long\", first: 60) { nodes { id key value } } "
                )
            ),
            json!({}),
        ),
    ]
}

fn groups() -> Vec<Template> {
    let aggregates: String = ["sum", "average", "min", "max"]
        .map(|name| repeated(20, &format!("{name}#: {name}(of: \"$.a[*]\") ")))
        .concat();
    let group = format!("groups {{ key count {aggregates} }} groupCount");
    let plan = "plan { index partial scanned examined covered }";
    vec![
        Template::new(
            "groups of large documents",
            format!(
                "{{ aggregate(collection: \"large\", groupBy: [\"$.a[*]\"], orderBy: COUNT, \
                 descending: true, first: 1000, scanLimit: 100000) {{ {group} {plan} }} }}"
            ),
            json!({}),
        ),
        Template::new(
            "filtered groups",
            format!(
                "query($w: DocumentFilter, $k: DocumentKeyFilter) {{ aggregate(collection: \"small\", \
                 where: $w, keys: $k, groupBy: [\"$.tags[*]\", \"$.n\"], scanLimit: 100000) {{ {group} {plan} }} }}"
            ),
            json!({"w": filter(), "k": keys()}),
        ),
    ]
}

fn nodes(known: &Known) -> Vec<Template> {
    let document = "... on Document { key value select(query: \"$..*\") { path } }";
    let representations: Vec<Value> = known
        .ids
        .iter()
        .map(|id| json!({"__typename": "Document", "id": id}))
        .collect();
    vec![
        Template::new(
            "nodes",
            format!(
                "query($i: ID!, $n: [ID!]!) {{ {} nodes(ids: $n) {{ id {document} }} }}",
                repeated(200, "a#: node(id: $i) { id ... on Document { value } } ")
            ),
            json!({"i": known.ids[0], "n": known.ids}),
        ),
        Template::new(
            "entities",
            format!("query($r: [_Any!]!) {{ _entities(representations: $r) {{ {document} }} }}"),
            json!({"r": representations}),
        ),
        Template::new(
            "the schema, the collections and the cursor of the log",
            format!(
                "{{ {} }}",
                repeated(
                    40,
                    "s#: _service { sdl } c#: changesCursor \
                     k#: collections(name: \"small\") { name type { schema } } l#: collections { name count type { schema text state checked violations { key } } indexes { name on unique where state indexed error } } "
                )
            ),
            json!({}),
        ),
    ]
}
