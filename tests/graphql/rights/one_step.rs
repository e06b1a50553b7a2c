//! Rules and mutations that create parents, store what is absent, follow keys, and update one document.

use serde_json::{Value, json};

use super::{Client, NONE, anyone, client, user};

cases!(
    async [
        created_parents_need_the_right_to_create_the_document,
        what_is_absent_needs_the_right_to_read,
        a_hidden_document_is_not_returned_as_stored,
        a_document_named_by_a_key_needs_rights_to_all,
        operators_that_depend_on_a_value_need_the_right_to_read,
        a_document_is_updated_under_its_condition,
        values_of_the_changed_document_need_the_right_to_read,
    ]
);

async fn notes() -> Client {
    let client = client().await;
    client
        .mutate(
            r#"a: insertDocument(collection: "notes", id: "a", document: {
                open: {text: "x", tags: ["p"], n: 1, key: "b"}, hidden: {pin: 1234, key: "b"}}) { key }
            b: insertDocument(collection: "notes", id: "b", document: {
                open: {text: "y", tags: [], n: 2}, hidden: {pin: 5678}}) { key }"#,
        )
        .await;
    client
}

fn limited(all: &Client, allowed: &[&str]) -> Client {
    all.limited(anyone(allowed), user(json!({"sub": "u"})))
}

impl Client {
    async fn forbids(&self, fields: &str) {
        self.refused(&format!("mutation {{ {fields} }}")).await;
    }

    async fn forbids_by_condition(&self, fields: &str) {
        self.refused_by_condition(&format!("mutation {{ {fields} }}"))
            .await;
    }
}

const WRITE_OPEN: &str = "actions = [\"write\"]\ncollection = \"notes\"\npath = \"/open\"";
const READ_OPEN: &str = "actions = [\"read\"]\ncollection = \"notes\"\npath = \"/open\"";
const CREATE: &str = "actions = [\"create\"]\ncollection = \"notes\"";
const READ: &str = "actions = [\"read\"]\ncollection = \"notes\"";
const WRITE: &str = "actions = [\"write\"]\ncollection = \"notes\"";
const DELETE: &str = "actions = [\"delete\"]\ncollection = \"notes\"";

async fn created_parents_need_the_right_to_create_the_document() {
    let all = notes().await;
    let cell = r#"replaceDocument(collection: "notes", id: "c", path: "/open/x/y", document: 1, createParents: true) { key }"#;
    let writer = limited(&all, &[WRITE_OPEN]);
    let (code, _) = writer.error(&format!("mutation {{ {cell} }}"), NONE).await;
    assert_eq!(code, "FORBIDDEN");
    writer.mutate(&cell.replace("\"c\"", "\"a\"")).await;
    writer.forbids(&cell.replace("/open", "/hidden")).await;
    limited(&all, &[WRITE_OPEN, CREATE]).mutate(cell).await;
}

async fn what_is_absent_needs_the_right_to_read() {
    let all = notes().await;
    let replace = r#"replaceDocument(collection: "notes", id: "a", path: "/open/text", document: 1, ifAbsent: true) { created }"#;
    let insert =
        r#"insertDocument(collection: "notes", id: "a", document: 1, ifAbsent: true) { created }"#;
    let anywhere = r#"insertDocument(collection: "notes", document: {doc_id: "a"}, ifAbsent: true) { created }"#;
    limited(&all, &[WRITE_OPEN]).forbids(replace).await;
    limited(&all, &[CREATE]).forbids(insert).await;
    limited(&all, &[CREATE, READ_OPEN]).forbids(insert).await;
    limited(&all, &[CREATE, READ_OPEN]).forbids(anywhere).await;
    let data = limited(&all, &[WRITE_OPEN, READ_OPEN])
        .mutate(replace)
        .await;
    assert_eq!(data["replaceDocument"], json!({"created": false}));
    for fields in [insert, anywhere] {
        let data = limited(&all, &[CREATE, READ]).mutate(fields).await;
        assert_eq!(data["insertDocument"], json!({"created": false}));
    }
    // A document that exists is only read; to store one, the right to create is needed.
    let reader = limited(&all, &[READ]);
    let data = reader.mutate(insert).await;
    assert_eq!(data["insertDocument"], json!({"created": false}));
    let new = insert.replace("\"a\"", "\"new\"");
    let (code, _) = reader.error(&format!("mutation {{ {new} }}"), NONE).await;
    assert_eq!(code, "FORBIDDEN");
}

async fn a_hidden_document_is_not_returned_as_stored() {
    let all = notes().await;
    let first =
        "actions = [\"read\"]\ncollection = \"notes\"\nwhere = { at = \"$.open.n\", eq = 1 }";
    let limited = limited(&all, &[CREATE, first]);
    let insert = |id: &str| {
        format!(
            r#"insertDocument(collection: "notes", id: "{id}", document: {{open: {{n: 1}}}}, ifAbsent: true) {{ created value }}"#
        )
    };
    limited.mutate(&insert("a")).await;
    limited.forbids_by_condition(&insert("b")).await;
    let data = limited.mutate(&insert("c")).await;
    assert_eq!(data["insertDocument"]["created"], json!(true));
}

async fn a_document_named_by_a_key_needs_rights_to_all() {
    let all = notes().await;
    let follow = r#"idFrom: {collection: "notes", id: "a", path: "/open/key"}"#;
    let delete = format!(r#"deleteDocument(collection: "notes", {follow}) {{ deleted }}"#);
    let write = format!(
        r#"replaceDocument(collection: "notes", {follow}, path: "/open/n", document: 1) {{ key }}"#
    );
    let copy = r#"copyDocument(collection: "notes", id: "a", path: "/open/copy", from: {collection: "notes", idFrom: {collection: "notes", id: "a", path: "/open/key"}, path: "/open/n"}) { key }"#;
    let only_b = "actions = [\"delete\", \"write\"]\ncollection = \"notes\"\nid = \"b\"";
    let if_n = "actions = [\"delete\", \"write\"]\ncollection = \"notes\"\nwhere = { at = \"$.open.n\", eq = 2 }";
    for fields in [&delete, &write] {
        // The key must be readable, and the rights are those of every document.
        limited(&all, &[WRITE, DELETE]).forbids(fields).await;
        limited(&all, &[READ, only_b]).forbids(fields).await;
        limited(&all, &[READ, if_n]).forbids(fields).await;
    }
    let hidden = copy.replace("/open/n", "/hidden/pin");
    limited(&all, &[WRITE, READ_OPEN]).forbids(&hidden).await;
    limited(&all, &[WRITE, READ_OPEN]).mutate(copy).await;
    limited(&all, &[READ_OPEN, WRITE]).mutate(&write).await;
    let value = write.replace("{ key }", "{ value }");
    limited(&all, &[READ_OPEN, WRITE]).forbids(&value).await;
    let new = format!(r#"mergeDocument(collection: "notes", {follow}, patch: {{}}) {{ key }}"#);
    limited(&all, &[READ, WRITE]).forbids(&new).await;
    limited(&all, &[READ, DELETE]).mutate(&delete).await;
    limited(&all, &[READ, WRITE, CREATE]).mutate(&new).await;
}

async fn operators_that_depend_on_a_value_need_the_right_to_read() {
    let all = notes().await;
    for (operators, reads) in [
        (r#"set: {at: "$.open.n", value: 1}"#, false),
        (r#"now: "$.open.at""#, false),
        (r#"append: {at: "$.open.tags", value: 1}"#, false),
        (r#"add: {at: "$.open.tags", value: 1}"#, true),
        (r#"min: {at: "$.open.n", value: 1}"#, true),
        (r#"max: {at: "$.open.n", value: 1}"#, true),
        (
            r#"rename: {at: "$.open", member: "text", to: "title"}"#,
            true,
        ),
    ] {
        let update =
            format!(r#"updateDocument(collection: "notes", id: "a", {operators}) {{ key }}"#);
        let writer = limited(&all, &[WRITE_OPEN]);
        if reads {
            writer.forbids(&update).await;
        } else {
            writer.mutate(&update).await;
        }
        let hidden = update.replace("$.open", "$.hidden");
        let both = limited(&all, &[WRITE_OPEN, READ_OPEN]);
        both.forbids(&hidden).await;
        both.mutate(&update).await;
    }
}

async fn a_document_is_updated_under_its_condition() {
    let all = notes().await;
    let first = "actions = [\"write\"]\ncollection = \"notes\"\npath = \"/open\"\nwhere = { at = \"$.open.n\", eq = 1 }";
    let limited = limited(&all, &[first]);
    let update = |id: &str, value: u8| {
        format!(
            r#"updateDocument(collection: "notes", id: "{id}", set: {{at: "$.open.n", value: {value}}}) {{ key }}"#
        )
    };
    limited.mutate(&update("a", 1)).await;
    limited.forbids_by_condition(&update("b", 1)).await;
    limited.forbids_by_condition(&update("a", 2)).await;
    limited.forbids_by_condition(&update("none", 1)).await;
}

async fn values_of_the_changed_document_need_the_right_to_read() {
    let all = notes().await;
    for (from, allowed) in [("/open/text", true), ("/hidden/pin", false)] {
        let source = format!(r#"from: {{path: "{from}"}}"#);
        for fields in [
            format!(
                r#"updateDocument(collection: "notes", id: "a", set: {{at: "$.open.x", {source}}}) {{ key }}"#
            ),
            format!(
                r#"copyDocument(collection: "notes", id: "a", path: "/open/x", {source}) {{ key }}"#
            ),
        ] {
            let limited = limited(&all, &[WRITE_OPEN, READ_OPEN]);
            if allowed {
                limited.mutate(&fields).await;
            } else {
                limited.forbids(&fields).await;
            }
        }
    }
    let stored = all
        .data(
            r#"{ document(collection: "notes", id: "a") { x: value(path: "/open/x") } }"#,
            NONE,
        )
        .await;
    assert_eq!(stored["document"]["x"], Value::from("x"));
}
