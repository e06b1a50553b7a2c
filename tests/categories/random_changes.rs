//! Random changes with the operations of the page, compared with a model: the tree has never a cycle,
//! and no ancestor twice.

use std::collections::BTreeMap;

use futures::future::join_all;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};

use super::tree::{Tree, attempt, move_under, operation, plant};
use crate::pages::Served;
use crate::seed::test_seed;

cases!(
    threads [
        random_changes_give_the_tree_of_a_model,
        random_changes_of_categories_without_slugs_give_the_tree_of_a_model,
        random_concurrent_moves_form_no_cycle,
    ]
);

const CHANGES: usize = 120;
const CATEGORIES_MAX: usize = 14;

/// A category of the model.
#[derive(Clone)]
struct Category {
    parent: Option<String>,
    name: String,
    /// None if the categories have no slugs.
    slug: Option<String>,
}

#[derive(Clone, Default)]
struct Model(BTreeMap<String, Category>);

impl Model {
    fn ids(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    /// The ids from the parent of a category to the top.
    fn above(&self, id: &str) -> Vec<String> {
        let mut above = Vec::new();
        let mut next = self.0[id].parent.as_ref();
        while let Some(id) = next {
            assert!(!above.contains(id), "a cycle in the model");
            above.push(id.clone());
            next = self.0[id].parent.as_ref();
        }
        above
    }

    fn is_within(&self, id: &str, other: &str) -> bool {
        id == other || self.above(id).iter().any(|above| above == other)
    }

    /// The documents that store the model.
    fn documents(&self) -> BTreeMap<&String, Value> {
        let of = |id: &String| {
            let Category { name, slug, .. } = &self.0[id];
            let mut document = json!({"_id": id, "name": name});
            if let Some(slug) = slug {
                document["slug"] = json!(slug);
            }
            document
        };
        let document = |id: &String| {
            let mut document = of(id);
            let members = document.as_object_mut().expect("an object");
            members.remove("_id");
            members.insert("parent".to_owned(), json!(self.0[id].parent));
            let above: Vec<Value> = self.above(id).iter().map(of).collect();
            members.insert("ancestors".to_owned(), json!(above));
            document
        };
        self.0.keys().map(|id| (id, document(id))).collect()
    }

    fn text(&self) -> String {
        json!(self.documents()).to_string()
    }
}

/// One random change: an operation of the page, the expected code of its error, and the model
/// afterwards.
fn change(
    random: &mut StdRng,
    model: &Model,
    number: usize,
) -> (String, Option<&'static str>, Model) {
    let ids = model.ids();
    let mut any = || ids[random.random_range(0..ids.len())].clone();
    let (id, other) = (any(), any());
    let mut next = model.clone();
    let has_slugs = model.0[&id].slug.is_some();
    let kind = random.random_range(0..if has_slugs { 14 } else { 12 });
    let (query, code) = match kind {
        0..4 if ids.len() < CATEGORIES_MAX => {
            let new = format!("c{number}");
            next.0.insert(
                new.clone(),
                Category {
                    parent: Some(id.clone()),
                    name: new.clone(),
                    slug: has_slugs.then(|| new.clone()),
                },
            );
            let texts = [("swing", &*new), ("Swing", &*new), ("ragtime", &*id)];
            (operation("AddSwing", &texts), None)
        }
        0..8 => {
            let code = model.is_within(&other, &id).then_some("TEST_FAILED");
            next.0.get_mut(&id).expect("it is there").parent = Some(other.clone());
            (
                operation("MoveBop", &[("bop", &*id), ("swing", &*other)]),
                code,
            )
        }
        8 => {
            let name = format!("name {number}");
            next.0
                .get_mut(&id)
                .expect("it is there")
                .name
                .clone_from(&name);
            (
                operation("RenameBop", &[("bop", &*id), ("BeBop", &*name)]),
                None,
            )
        }
        9 if ids.len() > 1 => {
            let parent = next.0.remove(&id).expect("it is there").parent;
            for category in next.0.values_mut() {
                if category.parent.as_ref() == Some(&id) {
                    category.parent.clone_from(&parent);
                }
            }
            (operation("DeleteModalJazz", &[("modal-jazz", &*id)]), None)
        }
        10 if ids.iter().filter(|one| model.is_within(one, &id)).count() < ids.len() => {
            next.0.retain(|one, _| !model.is_within(one, &id));
            (operation("DeleteBopAndBelow", &[("bop", &*id)]), None)
        }
        12.. => {
            let slug = match random.random_range(0..3) {
                0 => model.0[&other].slug.clone().expect("it has one"),
                _ => format!("slug {number}"),
            };
            let taken = id != other && model.0[&other].slug.as_ref() == Some(&slug);
            next.0.get_mut(&id).expect("it is there").slug = Some(slug.clone());
            let texts = [("bop", &*id), ("bebop", &*slug)];
            let code = taken.then_some("UNIQUE_VIOLATION");
            (operation("ChangeSlugOfBop", &texts), code)
        }
        _ => {
            next.0.get_mut(&id).expect("it is there").parent = None;
            (operation("MoveSwingToTop", &[("swing", &*id)]), None)
        }
    };
    let next = if code.is_some() { model.clone() } else { next };
    (query, code, next)
}

/// The same operation for categories without slugs.
fn without_slugs(query: &str) -> String {
    let lines = query
        .lines()
        .filter(|line| !line.contains("path: \"/slug\""));
    let line = |line: &str| match line.split_once("slug: \"") {
        Some((before, rest)) => {
            let (_, rest) = rest.split_once("\", ").expect("a slug before the name");
            [before, rest].concat()
        }
        None => line.to_owned(),
    };
    lines.map(line).collect::<Vec<_>>().join("\n")
}

async fn random_changes_give_the_tree_of_a_model() {
    change_at_random(true).await;
}

async fn random_changes_of_categories_without_slugs_give_the_tree_of_a_model() {
    change_at_random(false).await;
}

async fn change_at_random(has_slugs: bool) {
    let served = Served::on(super::empty_store().await).await;
    let mut random = StdRng::seed_from_u64(test_seed());
    let mut model = Model::default();
    let top = Category {
        parent: None,
        name: "top".to_owned(),
        slug: has_slugs.then(|| "top".to_owned()),
    };
    model.0.insert("top".to_owned(), top);
    if has_slugs {
        plant(&served, &[("top", None)]).await;
    } else {
        let query = r#"mutation {
            ancestors: createIndex(collection: "categories", name: "ancestors", on: ["$.ancestors[*]._id"]) { state }
            insertDocument(collection: "categories", id: "top", document: {
                name: "top", parent: null, ancestors: []
            }) { key }
        }"#;
        served.data(query, &json!({})).await;
    }
    let (mut changed, mut rejected) = (0, 0);
    for number in 0..CHANGES {
        let (query, code, next) = change(&mut random, &model, number);
        let query = if has_slugs {
            query
        } else {
            without_slugs(&query)
        };
        let done = attempt(&served, &query, &json!({})).await;
        assert_eq!(done.err().as_deref(), code, "{query}\n{}", model.text());
        let tree = Tree::read(&served).await;
        assert_eq!(tree.text(), next.text(), "{query}\n{}", model.text());
        changed += usize::from(code.is_none());
        rejected += usize::from(code.is_some());
        model = next;
    }
    assert!(changed > 20 && rejected > 3, "{changed} and {rejected}");
    served.assert_sound().await;
}

async fn random_concurrent_moves_form_no_cycle() {
    let served = Served::on(super::empty_store().await).await;
    let categories = [
        ("all", None),
        ("a", Some("all")),
        ("b", Some("a")),
        ("c", Some("b")),
        ("d", Some("all")),
        ("e", Some("d")),
    ];
    plant(&served, &categories).await;
    let mut random = StdRng::seed_from_u64(test_seed());
    let mut moved = 0;
    for _ in 0..25 {
        let mut any = || categories[random.random_range(0..categories.len())].0;
        let moves: Vec<(&str, &str)> = (0..5).map(|_| (any(), any())).collect();
        let done = moves.iter().map(|(id, to)| move_under(&served, id, to));
        for (result, (id, to)) in join_all(done).await.into_iter().zip(&moves) {
            match result.as_ref().map_err(String::as_str) {
                Ok(_) => {
                    assert_ne!(id, to, "under itself");
                    moved += 1;
                }
                Err("TEST_FAILED" | "CONFLICT") => {}
                Err(code) => panic!("{code}: {id} under {to}"),
            }
        }
        let tree = Tree::read(&served).await;
        assert_eq!(tree.contradiction(), None, "{moves:?}");
        assert_eq!(tree.ids().len(), categories.len());
    }
    assert!(moved > 5, "{moved}");
    served.assert_sound().await;
}
