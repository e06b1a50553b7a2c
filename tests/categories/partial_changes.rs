//! Changes in several operations, which readers can observe half done, as the page explains.

use serde_json::{Value, json};

use super::tree::{Tree, add, move_under, plant, rename};
use crate::pages::Served;

cases!(
    threads [
        ancestors_added_in_a_later_operation_are_missing_until_then,
        renames_document_by_document_show_two_names,
        moves_document_by_document_show_two_places,
        changes_take_the_current_values,
        only_one_of_two_moves_that_form_a_cycle_succeeds,
        categories_below_are_moved_with_those_that_are_added_meanwhile,
    ]
);

async fn planted() -> Served {
    let served = Served::on(super::empty_store().await).await;
    let categories = [
        ("ragtime", None),
        ("bop", Some("ragtime")),
        ("swing", Some("ragtime")),
        ("modal-jazz", Some("bop")),
        ("free-jazz", Some("bop")),
    ];
    plant(&served, &categories).await;
    assert_eq!(Tree::read(&served).await.contradiction(), None);
    served
}

/// Merges a patch into one category, in its own operation.
async fn merge(served: &Served, id: &str, patch: Value) {
    let query = r#"mutation($id: ID!, $patch: JSON) {
        mergeDocument(collection: "categories", id: $id, patch: $patch) { key }
    }"#;
    served.data(query, &json!({"id": id, "patch": patch})).await;
}

/// Returns the category that a reader finds inconsistent, by reading all categories or, with the
/// indexes, those around one category.
async fn seen_wrong(served: &Served) -> Option<String> {
    let wrong = |tree: Tree| tree.contradiction().map(|(id, _)| id);
    let seen = wrong(Tree::read(served).await);
    assert_eq!(wrong(Tree::read_around(served, "ragtime").await), seen);
    seen
}

async fn ancestors_added_in_a_later_operation_are_missing_until_then() {
    let served = planted().await;
    let stride = json!({"slug": "stride", "name": "Stride", "parent": "ragtime", "ancestors": []});
    merge(&served, "stride", stride).await;
    assert_eq!(seen_wrong(&served).await.as_deref(), Some("stride"));
    let ragtime = json!({"_id": "ragtime", "slug": "ragtime", "name": "ragtime"});
    merge(&served, "stride", json!({"ancestors": [ragtime]})).await;
    assert_eq!(seen_wrong(&served).await, None);
}

async fn renames_document_by_document_show_two_names() {
    let served = planted().await;
    merge(&served, "bop", json!({"name": "BeBop"})).await;
    assert_eq!(seen_wrong(&served).await.as_deref(), Some("free-jazz"));
    let query = r#"mutation {
        updateDocuments(
            collection: "categories"
            where: { at: "$.ancestors[*]._id", eq: "bop" }
            set: [{ at: "$.ancestors[?@._id == 'bop'].name", value: "BeBop" }]
        ) { changed }
    }"#;
    let data = served.data(query, &json!({})).await;
    assert_eq!(data["updateDocuments"]["changed"], 2);
    assert_eq!(seen_wrong(&served).await, None);
}

async fn moves_document_by_document_show_two_places() {
    let served = planted().await;
    let named = |id: &str| json!({"_id": id, "slug": id, "name": id});
    let above = [named("swing"), named("ragtime")];
    let below = [named("bop"), named("swing"), named("ragtime")];
    merge(&served, "bop", json!({"parent": "swing"})).await;
    assert_eq!(seen_wrong(&served).await.as_deref(), Some("bop"));
    merge(&served, "bop", json!({"ancestors": above})).await;
    assert_eq!(seen_wrong(&served).await.as_deref(), Some("free-jazz"));
    merge(&served, "free-jazz", json!({"ancestors": below})).await;
    assert_eq!(seen_wrong(&served).await.as_deref(), Some("modal-jazz"));
    merge(&served, "modal-jazz", json!({"ancestors": below})).await;
    assert_eq!(seen_wrong(&served).await, None);
}

async fn changes_take_the_current_values() {
    let served = planted().await;
    let added = add(&served, "post-bop", "modal-jazz").await;
    added.expect("nobody else writes");
    let renamed = rename(&served, "swing", "Swing!", "swing!").await;
    renamed.expect("nobody else writes");
    let moved = move_under(&served, "bop", "swing").await;
    moved.expect("nobody else writes");
    let tree = Tree::read(&served).await;
    assert_eq!(tree.contradiction(), None);
    assert!(tree.is_within("post-bop", "swing"));
    let moved = move_under(&served, "swing", "post-bop").await;
    assert_eq!(moved, Err("TEST_FAILED".to_owned()));
    let added = add(&served, "lost", "none").await;
    assert_eq!(added, Err("NOT_FOUND".to_owned()));
    let after = Tree::read(&served).await;
    assert_eq!(after.text(), tree.text());
    let moved = move_under(&served, "free-jazz", "ragtime").await;
    moved.expect("nobody else writes");
    assert_eq!(seen_wrong(&served).await, None);
    served.assert_sound().await;
}

async fn only_one_of_two_moves_that_form_a_cycle_succeeds() {
    let served = planted().await;
    for _ in 0..10 {
        let (one, other) = tokio::join!(
            move_under(&served, "bop", "swing"),
            move_under(&served, "swing", "bop"),
        );
        let failed = [&one, &other]
            .into_iter()
            .filter_map(|it| it.as_ref().err());
        assert_eq!(failed.collect::<Vec<_>>(), ["TEST_FAILED"]);
        assert_eq!(Tree::read(&served).await.contradiction(), None);
        for id in ["bop", "swing"] {
            let back = move_under(&served, id, "ragtime").await;
            back.expect("nobody else writes");
        }
    }
    served.assert_sound().await;
}

async fn categories_below_are_moved_with_those_that_are_added_meanwhile() {
    let served = planted().await;
    for round in 0..10 {
        let (new, inner) = (format!("new-{round}"), format!("inner-{round}"));
        let (name, slug) = (format!("Bop {round}"), format!("bop-{round}"));
        let to = if round % 2 == 0 { "swing" } else { "ragtime" };
        let (moved, added, renamed) = tokio::join!(
            move_under(&served, "bop", to),
            async {
                add(&served, &new, "bop").await?;
                add(&served, &inner, &new).await
            },
            rename(&served, "bop", &name, &slug),
        );
        for done in [moved, added, renamed] {
            done.expect("conflicts are retried");
        }
        let tree = Tree::read(&served).await;
        assert_eq!(tree.contradiction(), None);
        assert!(tree.is_within(&inner, to));
    }
    served.assert_sound().await;
}
