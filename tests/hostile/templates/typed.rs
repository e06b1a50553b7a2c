//! Operations on a collection with a type, at their maxima.

use serde_json::{Value, json};

use super::super::items::{CUBE, ITEMS};
use super::super::requests::repeated;
use super::Template;

pub(super) fn templates() -> Vec<Template> {
    let mut templates = reads();
    templates.extend(nested());
    templates.extend(pages());
    templates.extend(others());
    templates
}

fn reads() -> Vec<Template> {
    vec![
        Template::new(
            "typed lists",
            format!(
                "{{ item(key: \"0\") {{ {} }} }}",
                repeated(100, "a#: numbers(from: #, first: 1000) ")
            ),
            json!({}),
        ),
        Template::new(
            "typed rows and maps",
            "{ item(key: \"0\") { id version rows { a m { x y } } names { key value { a } }
                tree { key value { key } } document { value } } }"
                .to_owned(),
            json!({}),
        ),
        Template::new(
            "many typed documents",
            format!(
                "{{ {} }}",
                repeated(
                    100,
                    "a#: item(key: \"0\") { n s kind rows(last: 10) { a } names(first: 10) { key } } "
                )
            ),
            json!({}),
        ),
    ]
}

/// Lists in lists, maps in maps, and objects in objects, as deep as they are stored or as a query can be.
fn nested() -> Vec<Template> {
    let deep = "n list { n } next { ".repeat(25);
    let maps = |below: &str| {
        (0..4).fold("key".to_owned(), |inside, _| {
            format!("key value{below} {{ {inside} }}")
        })
    };
    vec![
        Template::new(
            "typed lists in lists",
            format!(
                "{{ items {{ nodes {{ {} }} }} }}",
                repeated(8, "c#: cube(from: #) ")
            ),
            json!({}),
        ),
        Template::new(
            "typed maps in maps",
            format!(
                "{{ items {{ nodes {{ all: tree {{ {} }} some: tree(prefix: \"b1\") {{ {} }} }} }} }}",
                maps(""),
                maps("(from: \"b1\", first: 5)")
            ),
            json!({}),
        ),
        Template::new(
            "typed objects in objects",
            format!(
                "{{ items {{ nodes {{ deep {{ {deep} n {} }} }} }} }}",
                "}".repeat(25)
            ),
            json!({}),
        ),
    ]
}

fn pages() -> Vec<Template> {
    let test = json!({"rows": {"m": {"x": {"gte": 1, "in": [1, 2]}}}, "s": {"contains": "s"}});
    let many: Vec<Value> = vec![test.clone(); 200];
    let nested = (0..12).fold(test, |inner, _| json!({"_not": {"_any": [inner]}}));
    let page = "nodes { key rows(first: 50) { a m { x y(first: 1) } } names(first: 50) { key value { a } } }
        edges { cursor node { n } } totalCount pageInfo { endCursor } plan { index }";
    let query = format!(
        "query($w: ItemFilter, $o: [ItemOrderBy!]) {{ items(where: $w, orderBy: $o, first: {ITEMS}) {{ {page} }} }}"
    );
    vec![
        Template::new(
            "typed pages",
            query.clone(),
            json!({"w": {}, "o": [{"n": "DESC"}, {"s": "ASC"}, {"key": "ASC"}]}),
        ),
        Template::new(
            "many typed filters",
            query.clone(),
            json!({"w": {"_any": many}}),
        ),
        Template::new("nested typed filters", query.clone(), json!({"w": nested})),
        Template::new(
            "typed filters and orders of deep members",
            query,
            json!({"w": {"_all": vec![json!({"deep": deep(12, &json!({"n": {"ne": 3}}))}); 100]},
                "o": [{"deep": deep(60, &json!({"n": "DESC"}))}]}),
        ),
    ]
}

/// A mutation that makes the same patch of each item.
fn repeated_patch() -> String {
    let fields = repeated(
        ITEMS,
        "u#: updateItem(key: \"#\", patch: $p) { deep { next { n } } cube(first: 2) tree { key value { key } } } ",
    );
    format!("mutation($p: ItemPatch!) {{ {fields} }}")
}

/// A value so many levels of `next` deep.
fn deep(levels: usize, value: &Value) -> Value {
    (0..levels).fold(value.clone(), |below, _| json!({"next": below}))
}

fn others() -> Vec<Template> {
    let rows: Vec<Value> = (0..2_000)
        .map(|at| json!({"a": at, "m": {"x": at, "y": [at]}}))
        .collect();
    let names: Vec<Value> = (0..2_000)
        .map(|at| json!({"key": format!("n{at}"), "value": {"a": at}}))
        .collect();
    let representations: Vec<Value> = (0..1_000)
        .map(|at| json!({"__typename": "Item", "key": (at % ITEMS).to_string()}))
        .collect();
    vec![
        Template::new(
            "typed inputs",
            "mutation($i: ItemInput!, $p: ItemPatch!) {
                createItem(item: $i, key: \"new\") { key rows(first: 5) { a } }
                updateItem(key: \"0\", patch: $p) { version names(first: 5) { key } rows { m { x } } }
                deleteItem(key: \"new\") { deleted } }"
                .to_owned(),
            json!({"i": {"n": 1, "rows": rows, "names": names}, "p": {"rows": rows, "names": names}}),
        ),
        Template::new(
            "typed patches of nested members",
            repeated_patch(),
            json!({"p": {
                "cube": vec![vec![(0..CUBE).collect::<Vec<_>>(); CUBE]; CUBE],
                "deep": deep(10, &json!({"n": 1, "list": vec![json!({"n": 2}); 500]})),
                "tree": (0..5).fold(json!([]), |inside, at| json!([{"key": format!("b{at}"), "value": inside}])),
            }}),
        ),
        Template::new(
            "typed entities",
            "query($r: [_Any!]!) { _entities(representations: $r) { ... on Item { n names(first: 1) { key } } } }"
                .to_owned(),
            json!({"r": representations}),
        ),
        Template::new(
            "typed schemas",
            "{ _service { sdl } __schema { types { name fields { name args { name type { name } } }
                inputFields { name } enumValues { name } } } }"
                .to_owned(),
            json!({}),
        ),
        Template::new(
            "typed subscriptions",
            "subscription { items(first: 4) { nodes { n rows { a } } } }".to_owned(),
            json!({}),
        ),
    ]
}
