//! Mutations and rules without a condition.

use phyllo::rights::Principal;
use serde_json::{Value, json};

use super::{Client, NONE, anyone, client, rules, user};

cases!(
    async [
        a_change_needs_the_right_to_write_its_place,
        creation_change_deletion_and_indexes_are_different_rights,
        a_document_is_not_created_by_a_change_without_the_right,
        operations_of_a_patch_use_their_places,
        elements_are_renumbered_by_the_right_to_write_the_array,
        sources_need_the_right_to_read,
        what_is_selected_from_the_result_needs_the_right_to_read,
        removed_values_need_the_right_to_read,
        bulk_changes_use_the_places_of_their_paths,
        a_refused_field_undoes_the_whole_mutation,
        a_value_that_is_taken_names_no_document,
        a_user_edits_the_own_review,
        stored_responses_are_of_one_caller,
        stored_responses_are_authorized_again,
    ]
);

const NOTES: &str = "collection = \"notes\"";

async fn notes() -> Client {
    let client = client().await;
    client
        .mutate(
            r#"insertDocument(collection: "notes", id: "a", document: {
                open: {text: "x", tags: ["p", "q"], n: 1}, hidden: {pin: 1234}}) { key }
            b: insertDocument(collection: "notes", id: "b", document: {
                open: {text: "y", tags: [], n: 2}, hidden: {pin: 5678}}) { key }"#,
        )
        .await;
    client
}

impl Client {
    async fn refused_mutation(&self, fields: &str) -> String {
        self.refused(&format!("mutation {{ {fields} }}")).await
    }

    /// The code of the only error of a mutation, which may have read something.
    async fn failed_mutation(&self, fields: &str) -> (String, String) {
        self.error(&format!("mutation {{ {fields} }}"), NONE).await
    }
}

/// A client of notes whose requests may do this at `/open`.
async fn with_open(actions: &str) -> (Client, Client) {
    let all = notes().await;
    let allowed = format!("actions = [{actions}]\n{NOTES}\npath = \"/open\"");
    let limited = all.limited(anyone(&[&allowed]), user(json!({})));
    (all, limited)
}

async fn a_change_needs_the_right_to_write_its_place() {
    let (all, limited) = with_open("\"write\"").await;
    limited
        .mutate(
            r#"a: replaceDocument(collection: "notes", id: "a", path: "/open/text", document: 1) { key version }
            b: mergeDocument(collection: "notes", id: "a", path: "/open", patch: {more: {x: 1}}) { key }
            c: deleteDocument(collection: "notes", id: "a", path: "/open/n") { deleted }"#,
        )
        .await;
    let stored = all
        .data(
            r#"{ document(collection: "notes", id: "a") { value } }"#,
            NONE,
        )
        .await;
    assert_eq!(
        stored["document"]["value"],
        json!({"open": {"text": 1, "tags": ["p", "q"], "more": {"x": 1}}, "hidden": {"pin": 1234}})
    );
    for fields in [
        r#"replaceDocument(collection: "notes", id: "a", document: 1) { key }"#,
        r#"replaceDocument(collection: "notes", id: "a", path: "/hidden", document: 1) { key }"#,
        r#"replaceDocument(collection: "notes", id: "a", path: "/open2", document: 1) { key }"#,
        r#"mergeDocument(collection: "notes", id: "a", patch: {open: {text: 1}}) { key }"#,
        r#"deleteDocument(collection: "notes", id: "a") { deleted }"#,
        r#"deleteDocument(collection: "notes", id: "a", path: "/hidden/pin") { deleted }"#,
        r#"incrementDocument(collection: "notes", id: "a", path: "/hidden/pin") { key }"#,
        // The error of an increment reveals something of the value.
        r#"incrementDocument(collection: "notes", id: "b", path: "/open/n") { key }"#,
        r#"insertDocument(collection: "notes", id: "c", document: 1) { key }"#,
        r#"appendDocument(collection: "notes", document: 1) { key }"#,
        r#"testDocument(collection: "notes", id: "a", matches: {at: "$.open.n", eq: 1}) { key }"#,
        r#"takeDocuments(collection: "notes") { key }"#,
        r#"dropCollection(collection: "notes", everything: true) { documents }"#,
        r#"createIndex(collection: "notes", name: "n", on: ["$.open.n"]) { name }"#,
        r#"replaceDocument(collection: "other", id: "a", path: "/open", document: 1) { key }"#,
    ] {
        limited.refused_mutation(fields).await;
    }
}

async fn creation_change_deletion_and_indexes_are_different_rights() {
    let operations = [
        (
            "create",
            r#"insertDocument(collection: "notes", id: "z", document: 1) { key }"#,
        ),
        (
            "create",
            r#"insertDocument(collection: "notes", document: 1) { key }"#,
        ),
        (
            "create",
            r#"appendDocument(collection: "notes", document: 1) { key }"#,
        ),
        (
            "write",
            r#"replaceDocument(collection: "notes", id: "a", document: 1) { key }"#,
        ),
        (
            "write",
            r#"patchDocument(collection: "notes", id: "a", patch: [{op: "replace", path: "", value: 2}]) { key }"#,
        ),
        (
            "write",
            r#"deleteDocument(collection: "notes", id: "b", path: "/open") { deleted }"#,
        ),
        (
            "delete",
            r#"deleteDocument(collection: "notes", id: "b") { deleted }"#,
        ),
        (
            "index",
            r#"createIndex(collection: "notes", name: "n", on: ["$.n"]) { name state }"#,
        ),
        ("index", r#"dropIndex(collection: "notes", name: "n")"#),
    ];
    let all = notes().await;
    for right in ["read", "list", "create", "write", "delete", "index"] {
        let allowed = format!("actions = [\"{right}\"]\n{NOTES}");
        let limited = all.limited(anyone(&[&allowed]), user(json!({})));
        for (needed, fields) in operations {
            if needed != right {
                limited.refused_mutation(fields).await;
            }
        }
    }
    for (right, fields) in operations {
        let allowed = format!("actions = [\"{right}\"]\n{NOTES}");
        let limited = all.limited(anyone(&[&allowed]), user(json!({})));
        limited.mutate(fields).await;
    }
    let drop = r#"dropCollection(collection: "notes", everything: true) { documents }"#;
    let deletes = format!("actions = [\"delete\"]\n{NOTES}");
    let limited = all.limited(anyone(&[&deletes]), user(json!({})));
    limited.refused_mutation(drop).await;
    let both = format!("actions = [\"delete\", \"index\"]\n{NOTES}");
    let limited = all.limited(anyone(&[&both]), user(json!({})));
    limited.mutate(drop).await;
}

async fn a_document_is_not_created_by_a_change_without_the_right() {
    let all = notes().await;
    let replace = r#"replaceDocument(collection: "notes", id: "new", document: 1) { key }"#;
    let merge = r#"mergeDocument(collection: "notes", id: "new", path: "/x", patch: 1) { key }"#;
    let copy = r#"copyDocument(collection: "notes", id: "new", from: {collection: "notes", id: "a"}) { key }"#;
    let writes = format!("actions = [\"read\", \"write\"]\n{NOTES}");
    let limited = all.limited(anyone(&[&writes]), user(json!({})));
    let increment = r#"incrementDocument(collection: "notes", id: "new") { key }"#;
    for fields in [replace, merge, copy, increment] {
        let (code, message) = limited.failed_mutation(fields).await;
        assert_eq!(code, "FORBIDDEN");
        assert!(message.contains("create document new"), "{message}");
    }
    // At a path, nothing is created.
    let at_path =
        r#"replaceDocument(collection: "notes", id: "new", path: "/x", document: 1) { key }"#;
    assert_eq!(limited.failed_mutation(at_path).await.0, "NOT_FOUND");
    let creates = format!("actions = [\"create\", \"read\", \"write\"]\n{NOTES}");
    let limited = all.limited(anyone(&[&creates]), user(json!({})));
    limited.mutate(replace).await;
    limited
        .mutate(r#"deleteDocument(collection: "notes", id: "new", path: "/x") { deleted }"#)
        .await;
}

async fn operations_of_a_patch_use_their_places() {
    let (all, limited) = with_open("\"read\", \"write\"").await;
    let patch = |path: &str, operations: &str| {
        format!(
            r#"patchDocument(collection: "notes", id: "a", path: "{path}", patch: [{operations}]) {{ key }}"#
        )
    };
    for (path, operations) in [
        ("", r#"{op: "add", path: "/open/new", value: 1}"#),
        (
            "",
            r#"{op: "test", path: "/open/new", value: 1}, {op: "remove", path: "/open/new"}"#,
        ),
        ("/open", r#"{op: "copy", from: "/text", path: "/copied"}"#),
        ("/open", r#"{op: "move", from: "/copied", path: "/moved"}"#),
        (
            "/open",
            r#"{op: "replace", path: "", value: {text: "z", tags: [1]}}"#,
        ),
        (
            "/open",
            r#"{op: "add", path: "/tags/-", value: 2}, {op: "remove", path: "/tags/0"}"#,
        ),
    ] {
        limited.mutate(&patch(path, operations)).await;
    }
    for (path, operations) in [
        ("", ""),
        ("", r#"{op: "test", path: "/hidden/pin", value: 1234}"#),
        ("", r#"{op: "test", path: "", value: 1234}"#),
        (
            "",
            r#"{op: "copy", from: "/hidden/pin", path: "/open/pin"}"#,
        ),
        ("", r#"{op: "copy", from: "", path: "/open/all"}"#),
        (
            "",
            r#"{op: "move", from: "/hidden/pin", path: "/open/pin"}"#,
        ),
        (
            "",
            r#"{op: "move", from: "/open/text", path: "/hidden/text"}"#,
        ),
        (
            "",
            r#"{op: "copy", from: "/open/text", path: "/hidden/text"}"#,
        ),
        (
            "",
            r#"{op: "add", path: "/open/new", value: 1}, {op: "remove", path: "/hidden"}"#,
        ),
        ("", r#"{op: "add", path: "", value: 1}"#),
        ("", r#"{op: "replace", path: "/hidden/pin", value: 1}"#),
        ("/hidden", r#"{op: "add", path: "/x", value: 1}"#),
    ] {
        limited.refused_mutation(&patch(path, operations)).await;
    }
    // To move a value is to read and to write its source.
    let writes_only = format!("actions = [\"write\"]\n{NOTES}\npath = \"/open\"");
    let limited = all.limited(anyone(&[&writes_only]), user(json!({})));
    for operations in [
        r#"{op: "move", from: "/open/text", path: "/open/moved"}"#,
        r#"{op: "copy", from: "/open/text", path: "/open/copied"}"#,
        r#"{op: "test", path: "/open/text", value: "z"}"#,
    ] {
        limited.refused_mutation(&patch("", operations)).await;
    }
}

async fn elements_are_renumbered_by_the_right_to_write_the_array() {
    let all = notes().await;
    let element = format!("actions = [\"write\"]\n{NOTES}\npath = \"/open/tags/0\"");
    let limited = all.limited(anyone(&[&element]), user(json!({})));
    limited
        .mutate(r#"replaceDocument(collection: "notes", id: "a", path: "/open/tags/0", document: 1) { key }"#)
        .await;
    for fields in [
        r#"deleteDocument(collection: "notes", id: "a", path: "/open/tags/0") { deleted }"#,
        r#"deleteDocument(collection: "notes", id: "a", path: ["open", "tags", 0]) { deleted }"#,
        r#"patchDocument(collection: "notes", id: "a", patch: [{op: "remove", path: "/open/tags/0"}]) { key }"#,
        r#"patchDocument(collection: "notes", id: "a", patch: [{op: "add", path: "/open/tags/0", value: 1}]) { key }"#,
        r#"updateDocuments(collection: "notes", where: {}, everything: true, unset: ["$.open.tags[0]"]) { changed }"#,
    ] {
        limited.refused_mutation(fields).await;
    }
}

async fn sources_need_the_right_to_read() {
    let (all, limited) = with_open("\"list\", \"read\", \"write\"").await;
    let place = |path: &str| format!(r#"{{collection: "notes", id: "b", path: "{path}"}}"#);
    let copy = |path: &str| {
        format!(
            r#"copyDocument(collection: "notes", id: "a", path: "/open/copy", from: {}) {{ key }}"#,
            place(path)
        )
    };
    let update = |path: &str| {
        format!(
            r#"updateDocuments(collection: "notes", where: {{at: "$.open.n", eq: 1}},
                set: [{{at: "$.open.copy", from: {}}}]) {{ changed }}"#,
            place(path)
        )
    };
    for fields in [copy("/open/text"), update("/open/text")] {
        limited.mutate(&fields).await;
    }
    for fields in [copy("/hidden/pin"), copy(""), update("/hidden"), update("")] {
        limited.refused_mutation(&fields).await;
    }
    let tests = format!("actions = [\"read\"]\n{NOTES}");
    let limited = all.limited(anyone(&[&tests]), user(json!({})));
    limited
        .mutate(r#"testDocument(collection: "notes", id: "b", matches: {at: "$.hidden.pin", eq: 5678}) { key }"#)
        .await;
}

async fn what_is_selected_from_the_result_needs_the_right_to_read() {
    let (all, limited) = with_open("\"read\", \"write\"").await;
    let replace = |selection: &str| {
        format!(
            r#"replaceDocument(collection: "notes", id: "a", path: "/open/text", document: "w") {{ {selection} }}"#
        )
    };
    let data = limited
        .mutate(&replace(r#"key version value(path: "/open/text")"#))
        .await;
    assert_eq!(data["replaceDocument"]["value"], json!("w"));
    for selection in [
        "value",
        "kind",
        r#"value(path: "/hidden/pin")"#,
        "children { nodes { path } }",
    ] {
        limited.refused_mutation(&replace(selection)).await;
    }
    let deletion =
        r#"deleteDocument(collection: "notes", id: "a", path: "/open/n") { document { key } }"#;
    limited.refused_mutation(deletion).await;
    // Neither what was just stored.
    let creates = format!("actions = [\"create\"]\n{NOTES}");
    let limited = all.limited(anyone(&[&creates]), user(json!({})));
    for fields in [
        r#"insertDocument(collection: "notes", id: "x", document: {a: 1}) { value }"#,
        r#"insertDocument(collection: "notes", document: {a: 1}) { value(path: "/a") }"#,
    ] {
        limited.refused_mutation(fields).await;
    }
}

async fn removed_values_need_the_right_to_read() {
    let all = notes().await;
    let deletes = format!("actions = [\"list\", \"delete\", \"write\"]\n{NOTES}");
    let limited = all.limited(anyone(&[&deletes]), user(json!({})));
    for fields in [
        r#"deleteDocument(collection: "notes", id: "a") { value }"#,
        r#"deleteDocument(collection: "notes", id: "a", path: "/hidden") { value }"#,
        r#"takeDocuments(collection: "notes") { key value }"#,
    ] {
        limited.refused_mutation(fields).await;
    }
    let data = limited
        .mutate(r#"takeDocuments(collection: "notes") { key deletedId }"#)
        .await;
    assert_eq!(data["takeDocuments"][0]["key"], json!("a"));
}

async fn bulk_changes_use_the_places_of_their_paths() {
    let (_, limited) = with_open("\"list\", \"read\", \"write\"").await;
    let update = |arguments: &str| {
        format!(r#"updateDocuments(collection: "notes", {arguments}) {{ matched changed }}"#)
    };
    for arguments in [
        r#"where: {}, everything: true, set: [{at: "$.open.m", value: 1}]"#,
        r#"where: {at: "$.open.n", gt: 1}, increment: [{at: "$.open.n"}]"#,
        r#"where: {at: "$.open.n", gt: 1}, append: [{at: "$.open.tags", value: 1}]"#,
        r#"where: {at: "$.open.n", gt: 1}, remove: [{at: "$.open.tags", values: [1]}]"#,
        r#"where: {at: "$.open.n", gt: 1}, merge: [{at: "$.open", patch: {k: 1}}]"#,
        r#"where: {at: "$.open.n", gt: 1}, unset: ["$.open.k"]"#,
    ] {
        limited.mutate(&update(arguments)).await;
    }
    for arguments in [
        r#"where: {at: "$.hidden.pin", gt: 1}, set: [{at: "$.open.m", value: 1}]"#,
        r#"where: {}, everything: true, set: [{at: "$.hidden.m", value: 1}]"#,
        r#"where: {}, everything: true, set: [{at: "$.*.m", value: 1}]"#,
        r#"where: {}, everything: true, set: [{at: "$", value: 1}]"#,
        r#"where: {}, everything: true, unset: ["$..pin"]"#,
        r#"where: {}, everything: true, set: [{at: "$.open[?$.hidden.pin > 2]", value: 1}]"#,
        r#"where: {}, everything: true, merge: [{at: "$", patch: {open: 1}}]"#,
    ] {
        limited.refused_mutation(&update(arguments)).await;
    }
    let delete =
        r#"deleteDocuments(collection: "notes", where: {at: "$.open.n", gt: 1}) { changed }"#;
    limited.refused_mutation(delete).await;
}

async fn a_refused_field_undoes_the_whole_mutation() {
    let (all, limited) = with_open("\"write\"").await;
    limited
        .refused_mutation(
            r#"a: replaceDocument(collection: "notes", id: "a", path: "/open", document: 1) { key }
               b: replaceDocument(collection: "notes", id: "a", path: "/hidden", document: 1) { key }"#,
        )
        .await;
    let stored = all
        .data(
            r#"{ document(collection: "notes", id: "a", path: "/open/n") { value } }"#,
            NONE,
        )
        .await;
    assert_eq!(stored["document"]["value"], json!(1));
}

async fn a_value_that_is_taken_names_no_document() {
    let all = notes().await;
    all.mutate(r#"createIndex(collection: "notes", name: "pins", on: ["$.hidden.pin"], unique: true) { name }"#)
        .await;
    all.build().await;
    let creates = format!("actions = [\"create\"]\n{NOTES}");
    let limited = all.limited(anyone(&[&creates]), user(json!({})));
    let (code, message) = limited
        .failed_mutation(r#"insertDocument(collection: "notes", id: "c", document: {hidden: {pin: 5678}}) { key }"#)
        .await;
    assert_eq!(code, "UNIQUE_VIOLATION");
    for told in ["pins", "\"b\"", " b ", "5678"] {
        assert!(!message.contains(told), "{message}");
    }
}

async fn a_user_edits_the_own_review() {
    let all = client().await;
    all.mutate(r#"insertDocument(collection: "products", id: 7, document: {price: 3, reviews: {bob: {stars: 1}}}) { key }"#)
        .await;
    let text = "[[allow]]\nwho = \"user\"\nactions = [\"read\", \"write\"]\ncollection = \"products\"\npath = \"/reviews/{sub}\"\n";
    let ann = all.limited(rules(text), user(json!({"sub": "ann"})));
    let review = |path: &str| {
        format!(
            r#"replaceDocument(collection: "products", id: 7, path: "{path}", document: {{stars: 5}}) {{ key }}"#
        )
    };
    ann.mutate(&review("/reviews/ann")).await;
    ann.mutate(&review("/reviews/ann/inner")).await;
    for path in [
        "/reviews/bob",
        "/reviews",
        "/price",
        "",
        "/reviews/-",
        "/reviews/0",
    ] {
        ann.refused_mutation(&review(path)).await;
    }
    let anonymous = all.limited(rules(text), Principal::Anonymous);
    anonymous.refused_mutation(&review("/reviews/ann")).await;
    let own = r#"{ document(collection: "products", id: 7, path: "/reviews/ann") { value(path: "/stars") } }"#;
    let data = ann.data(own, NONE).await;
    assert_eq!(data["document"]["value"], json!(5));
    ann.mutate(
        r#"deleteDocument(collection: "products", id: 7, path: "/reviews/ann") { deleted }"#,
    )
    .await;
    let stored = all
        .data(
            r#"{ document(collection: "products", id: 7) { value } }"#,
            NONE,
        )
        .await;
    assert_eq!(
        stored["document"]["value"],
        json!({"price": 3, "reviews": {"bob": {"stars": 1}}})
    );
}

const ONCE: &str = r#"mutation { insertDocument(collection: "notes", document: {a: 1}) { key } }"#;

async fn stored_responses_are_of_one_caller() {
    let all = notes().await;
    let creates = format!("actions = [\"create\"]\n{NOTES}");
    let client = |claims: Value| all.limited(anyone(&[&creates]), user(claims));
    let ann = client(json!({"iss": "i", "sub": "ann", "exp": 1}));
    let first = ann.once(ONCE, "k").await;
    assert_eq!(first, ann.once(ONCE, "k").await);
    // A newer token of the same user finds the response, and no other user.
    let renewed = client(json!({"iss": "i", "sub": "ann", "exp": 2}));
    assert_eq!(first, renewed.once(ONCE, "k").await);
    for claims in [
        json!({"iss": "i", "sub": "bob"}),
        json!({"iss": "j", "sub": "ann"}),
        json!({}),
    ] {
        assert_ne!(first, client(claims).once(ONCE, "k").await);
    }
    assert_ne!(
        first,
        all.limited(anyone(&[&creates]), Principal::Anonymous)
            .once(ONCE, "k")
            .await
    );
    assert_ne!(first, all.once(ONCE, "k").await);
}

async fn stored_responses_are_authorized_again() {
    let all = notes().await;
    let creates = format!("actions = [\"create\", \"read\"]\n{NOTES}");
    let query =
        r#"mutation { insertDocument(collection: "notes", id: "s", document: {a: 1}) { value } }"#;
    let ann = user(json!({"iss": "i", "sub": "ann"}));
    let first = all
        .limited(anyone(&[&creates]), ann.clone())
        .once(query, "k")
        .await;
    assert_eq!(first["data"]["insertDocument"]["value"], json!({"a": 1}));
    for rest in ["create", "read"] {
        let less = format!("actions = [\"{rest}\"]\n{NOTES}");
        let again = all
            .limited(anyone(&[&less]), ann.clone())
            .once(query, "k")
            .await;
        assert_eq!(
            again["errors"][0]["extensions"]["code"],
            json!("FORBIDDEN"),
            "{again}"
        );
    }
}
