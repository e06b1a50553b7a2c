//! The client of the categories: reads and changes them with the operations of the page.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::pages::{Exchange, Served};

/// The page.
pub(crate) const PAGE: &str = "docs/category-hierarchy.md";

/// A snapshot of all categories, or of the ancestors and descendants of one.
pub(crate) struct Tree {
    categories: BTreeMap<String, Value>,
}

impl Tree {
    /// Reads everything with one query.
    pub(crate) async fn read(served: &Served) -> Self {
        let query = r#"{
            documents(collection: "categories", first: 1000) {
                nodes { key value }
                pageInfo { hasNextPage }
            }
        }"#;
        let data = served.data(query, &json!({})).await;
        let documents = &data["documents"];
        assert_eq!(documents["pageInfo"]["hasNextPage"], false);
        let nodes = documents["nodes"].as_array().expect("nodes").iter();
        Self {
            categories: nodes
                .map(|node| (text(&node["key"]), node["value"].clone()))
                .collect(),
        }
    }

    /// Reads one category and its descendants with one query, by the indexes. The ancestors are
    /// taken from its document.
    pub(crate) async fn read_around(served: &Served, id: &str) -> Self {
        let query = r#"query($id: ID!, $above: JSON) {
            one: document(collection: "categories", id: $id) { value }
            below: documents(collection: "categories", where: {at: "$.ancestors[*]._id", eq: $above}, first: 1000) {
                nodes { key value }
                pageInfo { hasNextPage }
                plan { index }
            }
            children: documents(collection: "categories", where: {at: "$.parent", eq: $above}, first: 1000) {
                nodes { key value }
                pageInfo { hasNextPage }
                plan { index }
            }
        }"#;
        let data = served.data(query, &json!({"id": id, "above": id})).await;
        let one = &data["one"]["value"];
        let mut categories = above(one);
        categories.insert(id.to_owned(), one.clone());
        for found in ["below", "children"] {
            let documents = &data[found];
            assert_eq!(documents["pageInfo"]["hasNextPage"], false);
            assert!(documents["plan"]["index"].is_string(), "a scan");
            for node in documents["nodes"].as_array().expect("nodes") {
                let known = categories.insert(text(&node["key"]), node["value"].clone());
                // A child that is found only as a child does not have its parent as an ancestor.
                assert!(
                    found == "below" || known.is_some() || !has_ancestor(&node["value"], id),
                    "{node} was not found below {id}"
                );
            }
        }
        Self { categories }
    }

    /// The categories as text, to count different states.
    pub(crate) fn text(&self) -> String {
        json!(self.categories).to_string()
    }

    pub(crate) fn ids(&self) -> Vec<&str> {
        self.categories.keys().map(String::as_str).collect()
    }

    /// Returns the first category whose ancestors are not its chain of parents with their names and
    /// slugs, and the difference.
    pub(crate) fn contradiction(&self) -> Option<(String, String)> {
        self.categories.iter().find_map(|(id, category)| {
            let chain = self.chain(&category["parent"]);
            (chain.as_ref() != Some(&category["ancestors"])).then(|| {
                (
                    id.clone(),
                    format!("{category:#}, and above it is {chain:#?}"),
                )
            })
        })
    }

    /// Returns a category and its ancestors, nearest first. `None` if the chain is broken or
    /// cyclic.
    fn chain(&self, nearest: &Value) -> Option<Value> {
        let mut chain = Vec::new();
        let mut next = nearest;
        while let Some(id) = next.as_str() {
            let category = self.categories.get(id)?;
            if chain.len() == self.categories.len() {
                return None;
            }
            chain.push(json!({"_id": id, "slug": category["slug"], "name": category["name"]}));
            next = &category["parent"];
        }
        Some(Value::Array(chain))
    }

    /// Whether a category is another one or a descendant of it.
    pub(crate) fn is_within(&self, id: &str, other: &str) -> bool {
        id == other || has_ancestor(&self.categories[id], other)
    }
}

/// An operation of the page, by its name, with other texts in the place of those that it has.
///
/// # Panics
/// The page has no such operation, or the operation does not have one of the texts.
pub(crate) fn operation(name: &str, texts: &[(&str, &str)]) -> String {
    static EXCHANGES: LazyLock<Vec<Exchange>> = LazyLock::new(|| Exchange::of_page(PAGE, None));
    let begin = format!("mutation {name} {{");
    let found = EXCHANGES
        .iter()
        .find(|exchange| exchange.query.starts_with(&begin));
    let mut query = found.expect(name).query.clone();
    // Marked first, so that what is inserted is not replaced.
    for (number, (text, _)) in texts.iter().enumerate() {
        let before = query.clone();
        for quote in ['"', '\''] {
            let quoted = format!("{quote}{text}{quote}");
            query = query.replace(&quoted, &format!("{quote}\u{1}{number}\u{1}{quote}"));
        }
        assert_ne!(query, before, "{name} has no {text}");
    }
    for (number, (_, text)) in texts.iter().enumerate() {
        query = query.replace(&format!("\u{1}{number}\u{1}"), text);
    }
    query
}

/// Adds a category under another, with its id as name and slug.
///
/// # Errors
/// The code of the error.
pub(crate) async fn add(served: &Served, id: &str, parent: &str) -> Result<Value, String> {
    let texts = [("swing", id), ("Swing", id), ("ragtime", parent)];
    attempt(served, &operation("AddSwing", &texts), &json!({})).await
}

/// Moves a category under another one. Fails with `TEST_FAILED` if that is the same one or below it.
///
/// # Errors
/// The code of the error.
pub(crate) async fn move_under(served: &Served, id: &str, parent: &str) -> Result<Value, String> {
    let texts = [("bop", id), ("swing", parent)];
    attempt(served, &operation("MoveBop", &texts), &json!({})).await
}

/// The ancestors of a category, as its document lists them.
fn above(category: &Value) -> BTreeMap<String, Value> {
    let mut ancestors = category["ancestors"].as_array().expect("a list").as_slice();
    let mut categories = BTreeMap::new();
    while let [nearest, others @ ..] = ancestors {
        let told = json!({
            "slug": nearest["slug"],
            "name": nearest["name"],
            "parent": others.first().map(|parent| &parent["_id"]),
            "ancestors": others,
        });
        categories.insert(text(&nearest["_id"]), told);
        ancestors = others;
    }
    categories
}

fn has_ancestor(category: &Value, id: &str) -> bool {
    let mut ancestors = category["ancestors"].as_array().expect("a list").iter();
    ancestors.any(|ancestor| ancestor["_id"] == id)
}

/// Changes the name and the slug of a category in all documents that have them.
///
/// # Errors
/// The code of the error.
pub(crate) async fn rename(
    served: &Served,
    id: &str,
    name: &str,
    slug: &str,
) -> Result<Value, String> {
    let query = format!(
        r#"mutation($id: ID!, $above: JSON, $patch: JSON, $name: JSON, $slug: JSON) {{
            mergeDocument(collection: "categories", id: $id, patch: $patch) {{ key }}
            updateDocuments(
                collection: "categories"
                where: {{ at: "$.ancestors[*]._id", eq: $above }}
                set: [
                    {{ at: "$.ancestors[?@._id == '{id}'].name", value: $name }}
                    {{ at: "$.ancestors[?@._id == '{id}'].slug", value: $slug }}
                ]
            ) {{ matched }}
        }}"#
    );
    let patch = json!({"name": name, "slug": slug});
    let variables = json!({"id": id, "above": id, "patch": patch, "name": name, "slug": slug});
    attempt(served, &query, &variables).await
}

/// Creates the indexes and the categories, each with its parent, parents first.
pub(crate) async fn plant(served: &Served, categories: &[(&str, Option<&str>)]) {
    let query = r#"mutation($first: JSON, $id: ID) {
        slug: createIndex(collection: "categories", name: "slug", on: ["$.slug"], unique: true) { state }
        ancestors: createIndex(collection: "categories", name: "ancestors", on: ["$.ancestors[*]._id"]) { state }
        parent: createIndex(collection: "categories", name: "parent", on: ["$.parent"]) { state }
        first: insertDocument(collection: "categories", id: $id, document: $first) { key }
    }"#;
    let ((first, above), others) = categories.split_first().expect("categories");
    assert_eq!(*above, None, "the first one is at the top");
    let category = json!({"slug": first, "name": first, "parent": null, "ancestors": []});
    served
        .data(query, &json!({"id": first, "first": category}))
        .await;
    for (id, parent) in others {
        let added = add(served, id, parent.expect("below the first")).await;
        added.expect("nobody else writes");
    }
}

/// Returns the data of a response, or the code of its first error.
pub(crate) async fn attempt(
    served: &Served,
    query: &str,
    variables: &Value,
) -> Result<Value, String> {
    let mut response = served.ask(query, variables).await;
    match response["errors"][0]["extensions"]["code"].as_str() {
        Some(code) => Err(code.to_owned()),
        None => Ok(response["data"].take()),
    }
}

fn text(value: &Value) -> String {
    value.as_str().expect("text").to_owned()
}
