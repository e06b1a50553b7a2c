//! Rules that cover their place only in documents that pass a filter.

use serde_json::json;

use super::{Client, NONE, anyone, client, rules, user};

cases!(
    async [
        a_document_that_does_not_pass_is_answered_as_absent,
        a_hidden_document_is_not_read,
        places_under_different_conditions_need_both,
        a_page_has_only_documents_that_pass,
        an_index_serves_the_conditions_of_a_page,
        nodes_and_entities_are_hidden_one_by_one,
        a_change_passes_before_and_after,
        a_stored_document_passes_afterwards,
        a_hidden_document_is_not_told_apart_from_an_absent_one_by_changes,
        bulk_changes_change_only_what_passes,
        documents_that_pass_are_taken,
        values_are_not_copied_from_hidden_documents,
        stored_responses_of_hidden_documents_are_refused,
    ]
);

const PUBLISHED: &str = "actions = [\"read\", \"list\"]\ncollection = \"articles\"\nwhere = { at = \"$.status\", eq = \"published\" }";

async fn articles() -> Client {
    let client = client().await;
    client
        .mutate(
            r#"a: insertDocument(collection: "articles", id: "open", document: {status: "published", text: "seen", n: 1}) { key }
            b: insertDocument(collection: "articles", id: "draft", document: {status: "draft", text: "canary", n: 2}) { key }
            c: insertDocument(collection: "articles", id: "none", document: {text: "canary", n: 3}) { key }"#,
        )
        .await;
    client
}

fn document(id: &str, selection: &str) -> String {
    format!(r#"{{ document(collection: "articles", id: "{id}") {{ {selection} }} }}"#)
}

async fn a_document_that_does_not_pass_is_answered_as_absent() {
    let limited = articles()
        .await
        .limited(anyone(&[PUBLISHED]), user(json!({})));
    let selections = [
        "value",
        "kind id version length",
        "path whole: value",
        r#"children { nodes { value document { value } } }"#,
        r#"select(query: "$..*") { value }"#,
        r#"pick(paths: ["/text"]) omit(paths: ["/n"]) values(paths: ["/text", "/n"])"#,
        r#"range(from: "/n", to: "/text/0")"#,
        r#"subdocument(path: "/text") { value length }"#,
    ];
    for selection in selections {
        let visible = limited.data(&document("open", selection), NONE).await;
        assert!(visible["document"].is_object(), "{selection}: {visible}");
        let absent = limited.text(&document("absent", selection), NONE).await;
        assert_eq!(absent, r#"{"data":{"document":null}}"#);
        for hidden in ["draft", "none"] {
            let text = limited.text(&document(hidden, selection), NONE).await;
            assert_eq!(text, absent, "{selection}");
        }
    }
    let part = r#"{ document(collection: "articles", id: "draft", path: "/text") { value } }"#;
    assert_eq!(limited.data(part, NONE).await, json!({"document": null}));
    // Others in the same request are not hidden.
    let both = r#"{ a: document(collection: "articles", id: "draft") { value version }
        b: document(collection: "articles", id: "open") { text: value(path: "/text") length version children { nodes { path } } } }"#;
    let data = limited.data(both, NONE).await;
    assert_eq!(
        (&data["a"], &data["b"]["text"]),
        (&json!(null), &json!("seen"))
    );
    assert!(data["b"]["version"].is_string());
}

async fn a_hidden_document_is_not_read() {
    let all = articles().await;
    let long = "x".repeat(50_000);
    all.mutate(&format!(
        r#"insertDocument(collection: "articles", id: "large", document: {{status: "draft", text: "{long}", list: [1, 2, 3, 4, 5, 6, 7, 8]}}) {{ key }}"#
    ))
    .await;
    let limited = all.limited(anyone(&[PUBLISHED]), user(json!({})));
    let query = |id: &str| document(id, "value children { nodes { value } } version");
    let (_, hidden) = limited.cost(&query("large"), NONE).await;
    let (_, absent) = limited.cost(&query("absent"), NONE).await;
    assert_eq!((hidden.ranges, hidden.gets), (absent.ranges, absent.gets));
    assert!(hidden.pairs <= 1, "{hidden:?}");
    let (_, visible) = limited.cost(&query("open"), NONE).await;
    assert!(visible.ranges > hidden.ranges, "{visible:?}");
}

async fn places_under_different_conditions_need_both() {
    let all = client().await;
    for (id, document) in [
        ("1", r#"{w1: true, w2: true, a: 1, b: 1}"#),
        ("2", r#"{w1: true, w2: false, a: 2, b: 2}"#),
        ("3", r#"{w1: false, w2: true, a: 3, b: 3}"#),
    ] {
        all.mutate(&format!(
            r#"insertDocument(collection: "c", id: "{id}", document: {document}) {{ key }}"#
        ))
        .await;
    }
    let of = |path: &str, at: &str| {
        format!(
            "actions = [\"read\", \"list\"]\ncollection = \"c\"\npath = \"{path}\"\nwhere = {{ at = \"$.{at}\", eq = true }}"
        )
    };
    let limited = all.limited(anyone(&[&of("/a", "w1"), &of("/b", "w2")]), user(json!({})));
    let page = |selection: &str| {
        format!(r#"{{ documents(collection: "c") {{ nodes {{ key {selection} }} }} }}"#)
    };
    let keys = |data: &serde_json::Value| -> Vec<String> {
        let nodes = data["documents"]["nodes"].as_array().expect("nodes");
        nodes
            .iter()
            .map(|node| node["key"].as_str().expect("a key").to_owned())
            .collect()
    };
    for (selection, expected) in [
        (r#"value(path: "/a")"#, &["1", "2"][..]),
        (r#"value(path: "/b")"#, &["1", "3"]),
        (r#"a: value(path: "/a") b: value(path: "/b")"#, &["1"]),
        // To find a document is allowed by either rule.
        ("", &["1", "2", "3"]),
    ] {
        let data = limited.data(&page(selection), NONE).await;
        assert_eq!(keys(&data), expected, "{selection}");
    }
    let both = r#"{ document(collection: "c", id: "2", path: "/a") { value document { value(path: "/b") } } }"#;
    assert_eq!(limited.data(both, NONE).await, json!({"document": null}));
}

async fn a_page_has_only_documents_that_pass() {
    let limited = articles()
        .await
        .limited(anyone(&[PUBLISHED]), user(json!({})));
    let page = |arguments: &str| {
        format!(
            r#"{{ documents(collection: "articles"{arguments}) {{ nodes {{ key value }} pageInfo {{ hasNextPage }} }} }}"#
        )
    };
    for arguments in [
        "",
        ", first: 1",
        r#", where: {at: "$.n", gt: 0}"#,
        r#", where: {any: [{at: "$.n", gt: 0}, {at: "$.text", eq: "canary"}]}"#,
        r#", orderBy: {by: "$.n", descending: true}"#,
        r#", keys: {in: ["draft", "open", "none"]}"#,
    ] {
        let data = limited.data(&page(arguments), NONE).await;
        let expected =
            json!([{"key": "open", "value": {"status": "published", "text": "seen", "n": 1}}]);
        assert_eq!(data["documents"]["nodes"], expected, "{arguments}");
        assert_eq!(data["documents"]["pageInfo"]["hasNextPage"], json!(false));
    }
    for arguments in [
        r#", where: {at: "$.status", eq: "draft"}"#,
        r#", where: {at: "$.text", eq: "canary"}"#,
        r#", keys: {in: ["draft"]}"#,
        r#", where: {not: {at: "$.status", eq: "published"}}"#,
    ] {
        let data = limited.data(&page(arguments), NONE).await;
        assert_eq!(data["documents"]["nodes"], json!([]), "{arguments}");
    }
}

async fn an_index_serves_the_conditions_of_a_page() {
    let all = articles().await;
    all.mutate(r#"createIndex(collection: "articles", name: "status", on: ["$.status"]) { name }"#)
        .await;
    all.build().await;
    let query = r#"{ documents(collection: "articles") { nodes { key } } }"#;
    let limited = all.limited(anyone(&[PUBLISHED]), user(json!({})));
    let (data, cost) = limited.cost(query, NONE).await;
    assert_eq!(data["documents"]["nodes"], json!([{"key": "open"}]));
    for number in 0..20 {
        all.mutate(&format!(
            r#"insertDocument(collection: "articles", id: "more{number}", document: {{status: "draft"}}) {{ key }}"#
        ))
        .await;
    }
    let (data, again) = limited.cost(query, NONE).await;
    assert_eq!(data["documents"]["nodes"], json!([{"key": "open"}]));
    assert_eq!(cost.pairs, again.pairs, "drafts are read");
}

async fn nodes_and_entities_are_hidden_one_by_one() {
    let limited = articles()
        .await
        .limited(anyone(&[PUBLISHED]), user(json!({})));
    let nodes = r#"{ nodes(ids: ["articles/draft", "articles/open", "articles/none#/text", "articles/x"]) {
        id ... on Document { value(path: "/text") } } }"#;
    let data = limited.data(nodes, NONE).await;
    assert_eq!(
        data["nodes"],
        json!([null, {"id": "articles/open", "value": "seen"}, null, null])
    );
    let entities = r#"{ _entities(representations: [
        {__typename: "Document", id: "articles/draft"}, {__typename: "Document", id: "articles/open"}]) {
        ... on Document { key value(path: "/text") length } } }"#;
    let data = limited.data(entities, NONE).await;
    assert_eq!(
        data["_entities"],
        json!([null, {"key": "open", "value": "seen", "length": 3}])
    );
}

const OWN: &str = "[[allow]]\nwho = \"user\"\nactions = [\"read\", \"list\", \"write\", \"create\", \"delete\"]\ncollection = \"notes\"\nwhere = { at = \"$.owner\", eq = \"{sub}\" }\n";

/// All notes, and what Ann sees of them.
async fn notes() -> (Client, Client) {
    let all = client().await;
    all.mutate(
        r#"a: insertDocument(collection: "notes", id: "ann1", document: {owner: "ann", text: "x", n: 1}) { key }
        b: insertDocument(collection: "notes", id: "ann2", document: {owner: "ann", text: "y", n: 2}) { key }
        c: insertDocument(collection: "notes", id: "bob1", document: {owner: "bob", text: "canary", n: 3}) { key }"#,
    )
    .await;
    let ann = all.limited(rules(OWN), user(json!({"sub": "ann", "iss": "i"})));
    (all, ann)
}

impl Client {
    async fn hidden_from_mutation(&self, fields: &str) -> String {
        self.refused_by_condition(&format!("mutation {{ {fields} }}"))
            .await
    }

    async fn note(&self, id: &str) -> serde_json::Value {
        let query = format!(r#"{{ document(collection: "notes", id: "{id}") {{ value }} }}"#);
        self.data(&query, NONE).await["document"]["value"].take()
    }
}

async fn a_change_passes_before_and_after() {
    let (all, ann) = notes().await;
    ann.mutate(r#"replaceDocument(collection: "notes", id: "ann1", path: "/text", document: "z") { value }"#)
        .await;
    for fields in [
        // Before.
        r#"replaceDocument(collection: "notes", id: "bob1", path: "/text", document: "z") { key }"#,
        r#"replaceDocument(collection: "notes", id: "bob1", path: "/owner", document: "ann") { key }"#,
        r#"replaceDocument(collection: "notes", id: "bob1", document: {owner: "ann"}) { key }"#,
        r#"patchDocument(collection: "notes", id: "bob1", patch: [{op: "test", path: "/text", value: "canary"}]) { key }"#,
        r#"deleteDocument(collection: "notes", id: "bob1") { deleted }"#,
        r#"deleteDocument(collection: "notes", id: "bob1", path: "/text") { deleted value }"#,
        r#"testDocument(collection: "notes", id: "bob1", matches: {at: "$.text", eq: "canary"}) { key }"#,
        // After.
        r#"replaceDocument(collection: "notes", id: "ann1", path: "/owner", document: "bob") { key }"#,
        r#"deleteDocument(collection: "notes", id: "ann1", path: "/owner") { deleted }"#,
        r#"mergeDocument(collection: "notes", id: "ann1", patch: {owner: null}) { key }"#,
        r#"patchDocument(collection: "notes", id: "ann1", patch: [{op: "move", from: "/owner", path: "/was"}]) { key }"#,
    ] {
        ann.hidden_from_mutation(fields).await;
    }
    // A document that is given away and taken back in one mutation does not pass in between.
    ann.hidden_from_mutation(
        r#"a: replaceDocument(collection: "notes", id: "ann1", path: "/owner", document: "bob") { key }
           b: replaceDocument(collection: "notes", id: "ann1", path: "/owner", document: "ann") { key }"#,
    )
    .await;
    assert_eq!(
        all.note("ann1").await,
        json!({"owner": "ann", "text": "z", "n": 1})
    );
    assert_eq!(
        all.note("bob1").await,
        json!({"owner": "bob", "text": "canary", "n": 3})
    );
    let data = ann
        .mutate(r#"deleteDocument(collection: "notes", id: "ann1") { deleted value }"#)
        .await;
    assert_eq!(data["deleteDocument"]["value"]["text"], json!("z"));
}

async fn a_stored_document_passes_afterwards() {
    let (all, ann) = notes().await;
    let insert = |arguments: &str| {
        format!(
            r#"insertDocument(collection: "notes", {arguments}) {{ key text: value(path: "/text") }}"#
        )
    };
    ann.mutate(&insert(r#"id: "new", document: {owner: "ann", text: "n"}"#))
        .await;
    ann.mutate(&insert(r#"document: {owner: "ann", text: "n"}"#))
        .await;
    ann.mutate(
        r#"replaceDocument(collection: "notes", id: "new2", document: {owner: "ann"}) { key }"#,
    )
    .await;
    for fields in [
        insert(r#"id: "other", document: {owner: "bob"}"#),
        insert(r#"document: {text: 1}"#),
        r#"replaceDocument(collection: "notes", id: "other", document: {owner: "bob"}) { key }"#.to_owned(),
        r#"mergeDocument(collection: "notes", id: "other", path: "/x", patch: 1) { key }"#.to_owned(),
        r#"copyDocument(collection: "notes", id: "other", from: {collection: "notes", id: "bob1"}) { key }"#.to_owned(),
    ] {
        ann.hidden_from_mutation(&fields).await;
    }
    assert_eq!(all.note("other").await, json!(null));
    // The key of an appended document is not known before the commit.
    ann.refused(
        r#"mutation { appendDocument(collection: "notes", document: {owner: "ann"}) { key } }"#,
    )
    .await;
}

async fn a_hidden_document_is_not_told_apart_from_an_absent_one_by_changes() {
    let (all, _) = notes().await;
    let changes = OWN.replace(", \"create\"", "");
    let ann = all.limited(rules(&changes), user(json!({"sub": "ann"})));
    for fields in [
        r#"replaceDocument(collection: "notes", id: "ID", document: {owner: "ann"}) { key }"#,
        r#"replaceDocument(collection: "notes", id: "ID", path: "/text", document: 1) { key }"#,
        r#"replaceDocument(collection: "notes", id: "ID", path: "/text", document: 1, ifVersion: "00000000000000000000") { key }"#,
        r#"mergeDocument(collection: "notes", id: "ID", patch: {owner: "ann"}) { key }"#,
        r#"patchDocument(collection: "notes", id: "ID", patch: [{op: "remove", path: "/text"}]) { key }"#,
        r#"incrementDocument(collection: "notes", id: "ID", path: "/n") { key }"#,
        r#"deleteDocument(collection: "notes", id: "ID") { deleted value }"#,
        r#"deleteDocument(collection: "notes", id: "ID", path: "/n") { deleted document { key } }"#,
        r#"testDocument(collection: "notes", id: "ID", matches: {at: "$.x", exists: false}) { key }"#,
        r#"copyDocument(collection: "notes", id: "ann1", path: "/x", from: {collection: "notes", id: "ID"}) { key }"#,
        r#"updateDocuments(collection: "notes", where: {}, everything: true, set: [{at: "$.x", from: {collection: "notes", id: "ID"}}]) { changed }"#,
    ] {
        let of = |id: &str| format!("mutation {{ {} }}", fields.replace("ID", id));
        let hidden = ann.text(&of("bob1"), NONE).await.replace("bob1", "ID");
        let absent = ann.text(&of("nope"), NONE).await.replace("nope", "ID");
        assert_eq!(hidden, absent, "{fields}");
        assert!(hidden.contains("FORBIDDEN"), "{hidden}");
    }
}

async fn bulk_changes_change_only_what_passes() {
    let (all, ann) = notes().await;
    let update = |arguments: &str| {
        format!(
            r#"updateDocuments(collection: "notes", {arguments}) {{ matched changed updates {{ places }} }}"#
        )
    };
    let data = ann
        .mutate(&update(
            r#"where: {}, everything: true, set: [{at: "$.text", value: "all"}]"#,
        ))
        .await;
    assert_eq!(
        data["updateDocuments"],
        json!({"matched": 2, "changed": 2, "updates": [{"places": 2}]})
    );
    assert_eq!(all.note("bob1").await["text"], json!("canary"));
    let data = ann
        .mutate(&update(
            r#"where: {at: "$.text", eq: "canary"}, set: [{at: "$.text", value: 1}]"#,
        ))
        .await;
    assert_eq!(data["updateDocuments"]["matched"], json!(0));
    ann.hidden_from_mutation(&update(
        r#"where: {at: "$.n", eq: 1}, set: [{at: "$.owner", value: "bob"}]"#,
    ))
    .await;
    let data = ann
        .mutate(r#"deleteDocuments(collection: "notes", where: {at: "$.n", gt: 0}) { matched changed }"#)
        .await;
    assert_eq!(data["deleteDocuments"], json!({"matched": 2, "changed": 2}));
    assert_eq!(all.note("bob1").await["n"], json!(3));
}

async fn documents_that_pass_are_taken() {
    let (all, _) = notes().await;
    all.mutate(r#"insertDocument(collection: "notes", id: "a", document: {owner: "bob"}) { key }"#)
        .await;
    let ann = all.limited(rules(OWN), user(json!({"sub": "ann"})));
    let take = r#"takeDocuments(collection: "notes", first: 10) { key value }"#;
    let data = ann.mutate(take).await;
    let keys = data["takeDocuments"].as_array().expect("a list").iter();
    let keys: Vec<_> = keys.map(|taken| taken["key"].clone()).collect();
    assert_eq!(keys, ["ann1", "ann2"]);
    assert_eq!(ann.mutate(take).await["takeDocuments"], json!([]));
    assert_eq!(all.note("a").await, json!({"owner": "bob"}));
}

async fn values_are_not_copied_from_hidden_documents() {
    let (all, ann) = notes().await;
    let copy = |id: &str| {
        format!(
            r#"copyDocument(collection: "notes", id: "ann1", path: "/copy", from: {{collection: "notes", id: "{id}", path: "/text"}}) {{ key }}"#
        )
    };
    ann.mutate(&copy("ann2")).await;
    ann.hidden_from_mutation(&copy("bob1")).await;
    assert_eq!(all.note("ann1").await["copy"], json!("y"));
}

async fn stored_responses_of_hidden_documents_are_refused() {
    let (all, ann) = notes().await;
    let query = r#"mutation { replaceDocument(collection: "notes", id: "ann1", path: "/n", document: 9) { value } }"#;
    let first = ann.once(query, "k").await;
    assert_eq!(first["data"]["replaceDocument"]["value"]["n"], json!(9));
    assert_eq!(first, ann.once(query, "k").await);
    all.mutate(r#"replaceDocument(collection: "notes", id: "ann1", path: "/owner", document: "bob") { key }"#)
        .await;
    let again = ann.once(query, "k").await;
    assert_eq!(
        again["errors"][0]["extensions"]["code"],
        json!("FORBIDDEN"),
        "{again}"
    );
    assert_eq!(again["data"], json!(null));
    // What was removed cannot be compared with the rules again.
    let delete =
        r#"mutation { deleteDocument(collection: "notes", id: "ann2") { deleted value } }"#;
    let first = ann.once(delete, "d").await;
    assert_eq!(first["data"]["deleteDocument"]["deleted"], json!(true));
    let again = ann.once(delete, "d").await;
    assert_eq!(
        again["errors"][0]["extensions"]["code"],
        json!("FORBIDDEN"),
        "{again}"
    );
}
