//! Changes in several operations, which readers can observe half done, as the page explains.

use serde_json::{Value, json};

use super::tree::{Tree, plant, rename};
use crate::pages::Served;

cases!(
    threads [
        ancestors_added_in_a_later_operation_are_missing_until_then,
        renames_document_by_document_show_two_names,
        moves_document_by_document_show_two_places,
        moves_planned_with_outdated_data_are_rejected,
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

async fn moves_planned_with_outdated_data_are_rejected() {
    let served = planted().await;
    let before_adding = Tree::read(&served).await;
    let tree = Tree::read(&served).await;
    let added = tree.add(&served, "post-bop", "modal-jazz").await;
    added.expect("nobody else writes");
    let moved = before_adding.move_under(&served, "bop", "swing").await;
    assert_eq!(moved, Err("VERSION_MISMATCH".to_owned()));
    let before_renaming = Tree::read(&served).await;
    let renamed = rename(&served, "swing", "Swing!", "swing!").await;
    renamed.expect("nobody else writes");
    let moved = before_renaming.move_under(&served, "bop", "swing").await;
    assert_eq!(moved, Err("VERSION_MISMATCH".to_owned()));
    let moved = Tree::read(&served)
        .await
        .move_under(&served, "bop", "swing")
        .await;
    moved.expect("nobody else writes");
    let tree = Tree::read(&served).await;
    assert_eq!(tree.contradiction(), None);
    assert!(tree.is_within("post-bop", "swing"));
    served.assert_sound().await;
}
