//! Operations that follow references, write them, and delete what they lead to, at their maxima.

use serde_json::{Value, json};

use super::super::referring::{CHAIN, DENSE, LEAVES, PARTS, stored};
use super::super::requests::repeated;
use super::Template;

/// Documents that refer to one that is deleted, in each of two collections.
const FLEETING: usize = 500;
/// References that one operation writes: the most that are checked.
const WRITTEN: usize = 10_000;

pub(super) fn templates() -> Vec<Template> {
    let mut templates = followed();
    templates.extend(pages());
    templates.extend(writes());
    templates.extend(deletions());
    templates.push(Template::new(
        "live references",
        "subscription { parts(first: 300) { nodes { n category { name ancestors { key } } inParts(first: 10) { n } } } }"
            .to_owned(),
        json!({}),
    ));
    templates
}

fn query(name: &'static str, fields: &str) -> Template {
    Template::new(name, format!("{{ {fields} }}"), json!({}))
}

fn followed() -> Vec<Template> {
    let last = CHAIN - 1;
    vec![
        query(
            "references of dense documents",
            "part(key: \"p0\") { inParts { n inParts { key category { name } } } }",
        ),
        query(
            "references in many levels",
            &format!(
                "part(key: \"p0\") {{ {} n {} }}",
                "inParts(first: 2) { category { rank } ".repeat(12),
                "}".repeat(12)
            ),
        ),
        query(
            "chains in chains",
            &format!(
                "category(key: \"chain{last}\") {{ ancestors {{ name ancestors {{ key above {{ rank }} }} }} }}"
            ),
        ),
        query(
            "many chains of one document",
            &format!(
                "category(key: \"chain{last}\") {{ {} }}",
                repeated(
                    100,
                    "a#: ancestors { key value#: document { value(path: [\"x#\"]) } } "
                )
            ),
        ),
        query(
            "chains of a page",
            "categories(first: 1000) { nodes { ancestors { key name } } }",
        ),
        query(
            "documents that are followed",
            &format!(
                "documents(collection: \"ring\", first: 20) {{ nodes {{ {} }} }}",
                repeated(20, "w#: follow(path: \"/next\") { k#: key version } ")
            ),
        ),
    ]
}

fn pages() -> Vec<Template> {
    vec![
        query(
            "a page of documents that refer",
            &format!(
                "category(key: \"hub\") {{ parts(first: {PARTS}) {{ totalCount nodes {{ n of }} }}
                    below(last: {LEAVES}, orderBy: [{{rank: DESC}}]) {{ edges {{ cursor node {{ name }} }} }} }}"
            ),
        ),
        query(
            "many pages of documents that refer",
            &format!(
                "parts(first: 1000) {{ nodes {{ contains(first: 2, orderBy: {{n: DESC}}) {{ totalCount nodes {{ n }} }} }} }}
                 categories(first: {DENSE}) {{ nodes {{ {} }} }}",
                repeated(
                    10,
                    "p#: parts(first: 10, where: {n: {gte: #}}) { nodes { n } } "
                )
            ),
        ),
        query(
            "pages behind pages",
            "category(key: \"hub\") { parts(first: 50) { nodes { contains(first: 5) { nodes {
                category { parts(first: 10) { nodes { key } } } } } } } }",
        ),
    ]
}

/// A mutation with a list of writes.
fn mutation(name: &'static str, writes: &[Value]) -> Template {
    Template::new(
        name,
        "mutation($w: [DocumentWrite!]!) { writeDocuments(operations: $w) { __typename } }"
            .to_owned(),
        json!({"w": writes}),
    )
}

fn writes() -> Vec<Template> {
    let also: Vec<String> = (0..WRITTEN)
        .map(|at| format!("leaf{}", at % LEAVES))
        .collect();
    let moved = |to: String| {
        let moves = (0..LEAVES).map(|at| {
            json!({"merge": {"collection": "categories", "id": format!("leaf{at}"), "patch": {"parent": to}}})
        });
        moves.collect::<Vec<Value>>()
    };
    vec![
        mutation(
            "references that are checked",
            &stored("guards", [("many".to_owned(), json!({"also": also}))]),
        ),
        mutation("moves below a chain", &moved(format!("chain{}", CHAIN - 1))),
        mutation("moves below the hub", &moved("hub".to_owned())),
        Template::new(
            "a circle",
            format!(
                "mutation {{ updateCategory(key: \"chain0\", patch: {{parent: \"chain{}\"}}) {{ key }} }}",
                CHAIN - 1
            ),
            json!({}),
        ),
    ]
}

/// The documents are stored, and then deleted. What is refused changes nothing.
fn deletions() -> Vec<Template> {
    let below = (0..FLEETING).map(|at| {
        let parent = if at % 10 == 0 {
            "fleeting".to_owned()
        } else {
            format!("f{}", at - 1)
        };
        (format!("f{at}"), json!({"rank": at, "parent": parent}))
    });
    let parts = (0..FLEETING).map(|at| (format!("fp{at}"), json!({"n": at, "of": "fleeting"})));
    let first = [("fleeting".to_owned(), json!({"name": "F"}))];
    let mut writes = stored("categories", first.into_iter().chain(below));
    writes.extend(stored("parts", parts));
    vec![
        mutation("documents that refer to one", &writes),
        Template::new(
            "a deletion that acts on many",
            "mutation { deleteCategory(key: \"fleeting\") { deleted } }".to_owned(),
            json!({}),
        ),
        Template::new(
            "a deletion that is restricted",
            "mutation { deleteCategory(key: \"chain0\") { deleted } }".to_owned(),
            json!({}),
        ),
    ]
}
