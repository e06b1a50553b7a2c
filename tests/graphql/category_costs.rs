//! What the two forms of the category hierarchy cost: the table of docs/category-references.md, with the operations of
//! both pages.

use std::fs;
use std::sync::Arc;

use serde_json::{Value, json};

use super::rights::rounds::{CountedStore, Rounds};
use super::support::{Client, Counts, NONE, client, client_of};
use super::types::set_type;

const PAGE: &str = "docs/category-references.md";
const COPIED_PAGE: &str = "docs/category-hierarchy.md";

/// The text behind `begin`, up to `end`.
fn part<'t>(text: &'t str, begin: &str, end: &str) -> &'t str {
    let (_, rest) = text.split_once(begin).expect(begin);
    rest.split_once(end).expect(end).0
}

/// The type of the page, with another `onDelete`.
fn schema(on_delete: &str) -> Value {
    let page = fs::read_to_string(PAGE).expect(PAGE);
    let variables = part(&page, "```json\n", "\n```");
    let mut variables: Value = serde_json::from_str(variables).expect("JSON");
    let parent = &mut variables["schema"]["properties"]["parent"];
    parent["x-reference"]["onDelete"] = json!(on_delete);
    variables["schema"].take()
}

/// An operation of the page of copied ancestors, with other keys.
fn copied(name: &str, keys: &[(&str, &str)]) -> String {
    let page = fs::read_to_string(COPIED_PAGE).expect(COPIED_PAGE);
    let body = part(&page, &format!("mutation {name} {{"), "\n```");
    let mut text = format!("mutation {{{body}");
    for (from, to) in keys {
        for quote in ['"', '\''] {
            text = text.replace(
                &format!("{quote}{from}{quote}"),
                &format!("{quote}{to}{quote}"),
            );
        }
    }
    text
}

/// The categories, each with the one above it: `x` is four levels below the top, and 100 are below it.
fn tree() -> Vec<(String, Option<String>)> {
    let mut tree: Vec<(String, Option<String>)> = Vec::new();
    let mut add = |key: String, above: Option<&str>| tree.push((key, above.map(str::to_owned)));
    add("a".to_owned(), None);
    for (key, above) in [("b", "a"), ("c", "b"), ("d", "c"), ("x", "d"), ("y", "a")] {
        add(key.to_owned(), Some(above));
    }
    for at in 0..10 {
        let child = format!("x{at}");
        add(child.clone(), Some("x"));
        for below in 0..9 {
            add(format!("{child}{below}"), Some(&child));
        }
    }
    tree
}

/// A form of the hierarchy.
#[derive(Clone, Copy)]
enum Form {
    References,
    Copied,
}

impl Form {
    async fn store(self, client: &Client) {
        let tree = tree();
        if matches!(self, Self::References) {
            set_type(client, "categories", &schema("cascade")).await;
        } else {
            client
                .mutate(
                    r#"createIndex(collection: "categories", name: "ancestors", on: ["$.ancestors[*]._id"]) { name }"#,
                )
                .await;
        }
        client
            .mutate(
                r#"createIndex(collection: "categories", name: "slug", on: ["$.slug"], unique: true) { name }"#,
            )
            .await;
        let writes = tree.iter().map(|(key, above)| {
            let mut document = json!({"slug": key, "name": key.to_uppercase()});
            if above.is_some() || matches!(self, Self::Copied) {
                document["parent"] = json!(above);
            }
            if matches!(self, Self::Copied) {
                let mut ancestors = Vec::new();
                let mut at = above.clone();
                while let Some(key) = at {
                    ancestors.push(json!({"_id": key, "slug": key, "name": key.to_uppercase()}));
                    at = tree
                        .iter()
                        .find(|(of, _)| *of == key)
                        .and_then(|(_, above)| above.clone());
                }
                document["ancestors"] = json!(ancestors);
            }
            json!({"insert": {"collection": "categories", "id": key, "document": document}})
        });
        let writes: Vec<Value> = writes.collect();
        let query =
            "mutation($w: [DocumentWrite!]!) { writeDocuments(operations: $w) { __typename } }";
        client.data(query, json!({"w": writes})).await;
        client.renew_snapshot().await;
    }

    fn name(self) -> &'static str {
        match self {
            Self::References => "references",
            Self::Copied => "copied ancestors",
        }
    }
}

/// The operations of a row of the table: with references, and with copied ancestors.
fn operations() -> [(&'static str, String, String); 5] {
    [
        (
            "read with breadcrumbs",
            r#"{ category(key: "x") { slug name ancestors { slug name } } }"#.to_owned(),
            r#"{ document(collection: "categories", id: "x") { slug: value(path: "/slug") name: value(path: "/name")
                ancestors: select(query: "$.ancestors[*]") { slug: value(path: "/slug") name: value(path: "/name") } } }"#
                .to_owned(),
        ),
        (
            "add a category below it",
            r#"mutation { createCategory(key: "new", category: { slug: "new", name: "New", parent: "x" }) { key } }"#.to_owned(),
            copied("AddSwing", &[("ragtime", "x"), ("swing", "new")]),
        ),
        (
            "move it",
            r#"mutation { updateCategory(key: "x", patch: { parent: "y" }) { key } }"#.to_owned(),
            copied("MoveBop", &[("bop", "x"), ("swing", "y")]),
        ),
        (
            "rename it",
            r#"mutation { updateCategory(key: "x", patch: { name: "Renamed" }) { key } }"#.to_owned(),
            copied("RenameBop", &[("bop", "x"), ("swing", "y")]),
        ),
        (
            "delete it and all below",
            r#"mutation { deleteCategory(key: "x") { deleted } }"#.to_owned(),
            copied("DeleteBopAndBelow", &[("bop", "x")]),
        ),
    ]
}

/// The versions of all categories.
async fn versions(client: &Client) -> Vec<Value> {
    let query = r#"{ documents(collection: "categories", first: 1000) { nodes { key version } } }"#;
    let mut data = client.data(query, NONE).await;
    let nodes = data["documents"]["nodes"].take();
    nodes.as_array().expect("a list").clone()
}

/// The documents that an operation changes, and what it costs.
async fn measured(form: Form, operation: &str) -> (usize, Counts) {
    let client = client().await.without_hints();
    client.graphql.refresh_types().await.expect("types");
    form.store(&client).await;
    let before = versions(&client).await;
    client.renew_snapshot().await;
    let (_, cost) = client.cost(operation, NONE).await;
    let after = versions(&client).await;
    let new = after.iter().filter(|it| !before.contains(it)).count();
    let keys: Vec<&Value> = after.iter().map(|it| &it["key"]).collect();
    let deleted = before
        .iter()
        .filter(|it| !keys.contains(&&it["key"]))
        .count();
    (new + deleted, cost)
}

#[tokio::test]
async fn the_table_of_costs_is_what_was_measured() {
    let mut rows = Vec::new();
    for (name, references, copied) in operations() {
        for (form, operation) in [(Form::References, references), (Form::Copied, copied)] {
            let (changed, cost) = measured(form, &operation).await;
            let name = if matches!(form, Form::References) {
                name
            } else {
                ""
            };
            let reads = cost.gets + cost.ranges;
            let row = format!(
                "| {name} | {} | {changed} | {reads} | {} | {} |",
                form.name(),
                cost.pairs,
                cost.writes
            );
            rows.push(row.replace("|  |", "| |"));
        }
    }
    let page = fs::read_to_string(PAGE).expect(PAGE);
    let table = part(&page, "| operation | form |", "\n\n");
    let documented: Vec<&str> = table.lines().skip(2).collect();
    assert_eq!(documented, rows, "{PAGE}:\n{}", rows.join("\n"));
}

/// Each ancestor is one round more, and a page takes as many rounds as one category.
#[tokio::test]
async fn breadcrumbs_of_a_page_take_the_rounds_of_one_category() {
    let rounds = Arc::<Rounds>::default();
    let client = client_of(CountedStore::new(
        Arc::new(super::empty_store().await),
        rounds.clone(),
    ))
    .await
    .without_hints();
    client.graphql.refresh_types().await.expect("types");
    Form::References.store(&client).await;
    let measure = async |query: &str| {
        client.renew_snapshot().await;
        let before = rounds.begun();
        client.data(query, NONE).await;
        rounds.begun() - before
    };
    let alone = measure(r#"{ category(key: "x") { name } }"#).await;
    let one = measure(r#"{ category(key: "x") { name ancestors { name } } }"#).await;
    let page = measure(
        r#"{ categories(keys: {gte: "x0", lt: "x1"}) { nodes { name ancestors { name } } } }"#,
    )
    .await;
    // The documents of the page are one level lower, and are found first.
    assert_eq!((alone, one, page), (1, 6, 9));
    let page = fs::read_to_string(PAGE).expect(PAGE);
    assert!(page.contains("takes 6 rounds of reads"), "{PAGE}");
}
