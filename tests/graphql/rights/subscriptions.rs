//! Subscriptions: the rules of the time of each event, and streams whose right ends.

use std::sync::Arc;

use phyllo::graphql::RulesInForce;
use phyllo::rights::{Principal, Rules};
use serde_json::{Value, json};
use tokio::sync::watch;

use super::{Client, NONE, anyone, client, user};

cases!(
    async [
        a_live_query_needs_the_right_to_read,
        a_live_query_ends_when_its_right_is_removed,
        a_live_query_opened_after_a_reload_has_nothing_of_the_replaced_rules,
        a_live_document_is_gone_when_its_condition_fails,
        a_live_part_is_gone_when_a_condition_elsewhere_in_its_document_fails,
        callers_do_not_share_live_queries,
        a_live_page_has_only_documents_that_pass,
        changes_need_a_rule_without_a_condition,
        changes_are_cut_to_the_allowed_place,
        an_element_is_read_again_when_its_array_is_renumbered,
        changes_end_when_the_right_is_removed,
        the_document_of_a_change_needs_the_right_to_read,
    ]
);

async fn logging() -> Client {
    let client = client().await;
    client.log_changes().await;
    client
        .mutate(
            r#"insertDocument(collection: "notes", id: "a", document: {
                open: {text: "x", list: [1, 2]}, hidden: {pin: 1234}, status: "published"}) { key }"#,
        )
        .await;
    client
}

const OPEN: &str = "actions = [\"read\"]\ncollection = \"notes\"\npath = \"/open\"";
const LIVE: &str =
    r#"subscription { document(collection: "notes", id: "a", path: "/open/text") { value } }"#;

fn forbidden(response: &Value) -> bool {
    response["errors"][0]["extensions"]["code"] == json!("FORBIDDEN")
}

/// Rules that can be replaced.
fn replaceable(text: &str) -> (watch::Sender<Arc<Rules>>, RulesInForce) {
    let (sender, receiver) = watch::channel(parsed(text));
    (sender, RulesInForce::new(receiver))
}

fn parsed(text: &str) -> Arc<Rules> {
    Arc::new(Rules::parse(text).expect("rules"))
}

fn for_anyone(members: &str) -> String {
    format!("[[allow]]\nwho = \"anyone\"\n{members}\n")
}

async fn a_live_query_needs_the_right_to_read() {
    let all = logging().await;
    let limited = all.limited(anyone(&[OPEN]), user(json!({})));
    let mut live = limited.subscribe(LIVE).await;
    assert_eq!(
        live.next().await,
        json!({"data": {"document": {"value": "x"}}})
    );
    all.mutate(r#"replaceDocument(collection: "notes", id: "a", path: "/open/text", document: "y") { key }"#)
        .await;
    assert_eq!(
        live.next().await,
        json!({"data": {"document": {"value": "y"}}})
    );
    for query in [
        r#"subscription { document(collection: "notes", id: "a") { value } }"#,
        r#"subscription { document(collection: "notes", id: "a", path: "/hidden") { kind } }"#,
        r#"subscription { documents(collection: "notes") { nodes { key } } }"#,
    ] {
        let mut refused = limited.subscribe(query).await;
        assert!(forbidden(&refused.next().await), "{query}");
        refused.assert_ended().await;
    }
}

async fn a_live_query_ends_when_its_right_is_removed() {
    let all = logging().await;
    let (sender, rules) = replaceable(&for_anyone(OPEN));
    let limited = all.limited(rules, user(json!({})));
    let mut live = limited.subscribe(LIVE).await;
    live.next().await;
    // Other rules that still allow it change nothing.
    sender.send_replace(parsed(&for_anyone(
        "actions = [\"read\"]\ncollection = \"notes\"",
    )));
    live.assert_silent().await;
    sender.send_replace(parsed(""));
    let told = live.next().await;
    assert!(forbidden(&told) && told["data"].is_null(), "{told}");
    live.assert_ended().await;
}

async fn a_live_query_opened_after_a_reload_has_nothing_of_the_replaced_rules() {
    let all = logging().await;
    let (sender, rules) = replaceable(&for_anyone(OPEN));
    let limited = all.limited(rules, user(json!({})));
    let drafts = format!("{OPEN}\nwhere = {{ at = \"$.status\", eq = \"draft\" }}");
    let [visible, hidden] = [json!({"value": "x"}), Value::Null];
    let mut open = vec![limited.subscribe(LIVE).await];
    assert_eq!(open[0].next().await["data"]["document"], visible);
    for (rules, document) in [(&*drafts, hidden), (OPEN, visible)] {
        sender.send_replace(parsed(&for_anyone(rules)));
        // It shares the query, which has not been executed again.
        open.push(limited.subscribe(LIVE).await);
        for live in open.iter_mut().rev() {
            let expected = json!({"data": {"document": document}});
            assert_eq!(live.next().await, expected, "under {rules}");
        }
    }
    sender.send_replace(parsed(""));
    open.push(limited.subscribe(LIVE).await);
    for mut live in open.into_iter().rev() {
        assert!(forbidden(&live.next().await));
        live.assert_ended().await;
    }
}

async fn a_live_document_is_gone_when_its_condition_fails() {
    let all = logging().await;
    let published = "actions = [\"read\"]\ncollection = \"notes\"\nwhere = { at = \"$.status\", eq = \"published\" }";
    let limited = all.limited(anyone(&[published]), user(json!({})));
    let query = r#"subscription { document(collection: "notes", id: "a") { text: value(path: "/open/text") version } }"#;
    let mut live = limited.subscribe(query).await;
    assert_eq!(live.next().await["data"]["document"]["text"], json!("x"));
    let status = |status: &str| {
        format!(
            r#"replaceDocument(collection: "notes", id: "a", path: "/status", document: "{status}") {{ key }}"#
        )
    };
    all.mutate(&status("draft")).await;
    assert_eq!(live.next().await, json!({"data": {"document": null}}));
    // Nothing is told of a hidden document.
    all.mutate(r#"replaceDocument(collection: "notes", id: "a", path: "/open/text", document: "canary") { key }"#)
        .await;
    live.assert_silent().await;
    all.mutate(&status("published")).await;
    assert_eq!(
        live.next().await["data"]["document"]["text"],
        json!("canary")
    );
}

async fn a_live_part_is_gone_when_a_condition_elsewhere_in_its_document_fails() {
    let all = logging().await;
    let published = "where = { at = \"$.status\", eq = \"published\" }";
    let limited = all.limited(anyone(&[&format!("{OPEN}\n{published}")]), user(json!({})));
    let mut live = limited.subscribe(LIVE).await;
    let [visible, hidden] = [json!({"value": "x"}), Value::Null];
    assert_eq!(live.next().await["data"]["document"], visible);
    for (status, document) in [("draft", hidden), ("published", visible)] {
        all.mutate(&format!(
            r#"replaceDocument(collection: "notes", id: "a", path: "/status", document: "{status}") {{ key }}"#
        ))
        .await;
        let expected = json!({"data": {"document": document}});
        assert_eq!(live.next().await, expected, "{status}");
    }
}

async fn callers_do_not_share_live_queries() {
    let all = logging().await;
    let own =
        "[[allow]]\nwho = \"user\"\nactions = [\"read\"]\ncollection = \"notes\"\nid = \"{sub}\"\n";
    let (_sender, rules) = replaceable(own);
    let query = r#"subscription { document(collection: "notes", id: "a") { value } }"#;
    let owner = all.limited(rules, user(json!({"sub": "a"})));
    let mut live = owner.subscribe(query).await;
    assert!(live.next().await["data"]["document"].is_object());
    for other in [
        user(json!({"sub": "b"})),
        Principal::Anonymous,
        Principal::Token { name: "a".into() },
    ] {
        let mut refused = owner.sent_by(other).subscribe(query).await;
        assert!(forbidden(&refused.next().await));
        refused.assert_ended().await;
    }
    all.mutate(
        r#"replaceDocument(collection: "notes", id: "a", path: "/open", document: 1) { key }"#,
    )
    .await;
    assert_eq!(
        live.next().await["data"]["document"]["value"]["open"],
        json!(1)
    );
}

async fn a_live_page_has_only_documents_that_pass() {
    let all = logging().await;
    let published = "actions = [\"read\", \"list\"]\ncollection = \"notes\"\nwhere = { at = \"$.status\", eq = \"published\" }";
    let limited = all.limited(anyone(&[published]), user(json!({})));
    let mut live = limited
        .subscribe(r#"subscription { documents(collection: "notes") { nodes { key } } }"#)
        .await;
    assert_eq!(
        live.next().await["data"]["documents"]["nodes"],
        json!([{"key": "a"}])
    );
    all.mutate(
        r#"insertDocument(collection: "notes", id: "b", document: {status: "draft"}) { key }"#,
    )
    .await;
    live.assert_silent().await;
    all.mutate(r#"replaceDocument(collection: "notes", id: "b", path: "/status", document: "published") { key }"#)
        .await;
    assert_eq!(
        live.next().await["data"]["documents"]["nodes"],
        json!([{"key": "a"}, {"key": "b"}])
    );
}

async fn changes_need_a_rule_without_a_condition() {
    let all = logging().await;
    let changes = |arguments: &str| {
        format!(r#"subscription {{ changes(collection: "notes"{arguments}) {{ kind key }} }}"#)
    };
    let published = "actions = [\"read\", \"list\"]\ncollection = \"notes\"\nwhere = { at = \"$.status\", eq = \"published\" }";
    for (allowed, arguments) in [
        (published, ""),
        (published, r#", id: "a""#),
        (OPEN, ""),
        (OPEN, r#", id: "a""#),
        (OPEN, r#", id: "a", path: "/hidden""#),
        ("actions = [\"read\"]\ncollection = \"notes\"", ""),
        ("actions = [\"list\"]\ncollection = \"notes\"", ""),
        (
            "actions = [\"read\"]\ncollection = \"notes\"\nid = \"a\"",
            "",
        ),
    ] {
        let limited = all.limited(anyone(&[allowed]), user(json!({})));
        assert_eq!(
            limited.rejected(&changes(arguments)).await,
            "FORBIDDEN",
            "{allowed} {arguments}"
        );
    }
    for (allowed, arguments) in [
        (OPEN, r#", id: "a", path: "/open""#),
        (
            "actions = [\"read\"]\ncollection = \"notes\"\nid = \"a\"",
            r#", id: "a""#,
        ),
        ("actions = [\"list\", \"read\"]\ncollection = \"notes\"", ""),
    ] {
        let limited = all.limited(anyone(&[allowed]), user(json!({})));
        let mut followed = limited.subscribe(&changes(arguments)).await;
        followed.assert_silent().await;
    }
}

async fn changes_are_cut_to_the_allowed_place() {
    let all = logging().await;
    let limited = all.limited(anyone(&[OPEN]), user(json!({})));
    let query = |path: &str| {
        format!(
            r#"subscription {{ changes(collection: "notes", id: "a", path: "{path}") {{ kind paths patch resync key }} }}"#
        )
    };
    let mut changes = limited.subscribe(&query("/open")).await;
    let mut change = async |fields: &str| {
        all.mutate(fields).await;
        changes.next().await["data"]["changes"].take()
    };
    let told = change(
        r#"patchDocument(collection: "notes", id: "a", patch: [
            {op: "replace", path: "/hidden/pin", value: 4321},
            {op: "add", path: "/open/new", value: 1},
            {op: "add", path: "/openness", value: 2}]) { key }"#,
    )
    .await;
    assert_eq!(
        told,
        json!({"kind": "UPDATED", "key": "a", "resync": false, "paths": [["open", "new"]],
            "patch": [{"op": "add", "path": "/open/new", "value": 1}]})
    );
    let above =
        json!({"kind": "UPDATED", "key": "a", "resync": true, "paths": [["open"]], "patch": null});
    let told = change(
        r#"replaceDocument(collection: "notes", id: "a", document: {hidden: {pin: 99}, open: 1}) { key }"#,
    )
    .await;
    assert!(!told["patch"].to_string().contains("99"), "{told}");
    assert!(!told["paths"].to_string().contains("hidden"), "{told}");
    let told = change(r#"deleteDocument(collection: "notes", id: "a") { deleted }"#).await;
    assert_eq!(told, above);
    let told = change(
        r#"insertDocument(collection: "notes", id: "a", document: {hidden: {pin: 99}}) { key }"#,
    )
    .await;
    assert_eq!(told, above);
    // Nor what happened to the collection.
    let told =
        change(r#"dropCollection(collection: "notes", everything: true) { documents }"#).await;
    assert_eq!(told, above);
}

async fn an_element_is_read_again_when_its_array_is_renumbered() {
    let all = logging().await;
    let element = "actions = [\"read\"]\ncollection = \"notes\"\npath = \"/open/list/1\"";
    let limited = all.limited(anyone(&[element]), user(json!({})));
    let query = r#"subscription { changes(collection: "notes", id: "a", path: "/open/list/1") { patch resync } }"#;
    let mut changes = limited.subscribe(query).await;
    let insert = r#"{op: "add", path: "/open/list/0", value: "canary"}"#;
    all.mutate(&format!(
        r#"patchDocument(collection: "notes", id: "a", patch: [{insert}]) {{ key }}"#
    ))
    .await;
    let told = changes.next().await;
    assert_eq!(
        told["data"]["changes"],
        json!({"patch": null, "resync": true})
    );
}

async fn changes_end_when_the_right_is_removed() {
    let all = logging().await;
    let (sender, rules) = replaceable(&for_anyone(OPEN));
    let limited = all.limited(rules, user(json!({})));
    let query =
        r#"subscription { changes(collection: "notes", id: "a", path: "/open") { patch } }"#;
    let mut changes = limited.subscribe(query).await;
    sender.send_replace(parsed(""));
    all.mutate(
        r#"replaceDocument(collection: "notes", id: "a", path: "/open", document: 1) { key }"#,
    )
    .await;
    assert!(forbidden(&changes.next().await));
    changes.assert_ended().await;
    // Also without a change.
    sender.send_replace(parsed(&for_anyone(OPEN)));
    let mut changes = limited.subscribe(query).await;
    changes.assert_silent().await;
    sender.send_replace(parsed(""));
    assert!(forbidden(&changes.next().await));
    changes.assert_ended().await;
}

async fn the_document_of_a_change_needs_the_right_to_read() {
    let all = logging().await;
    let limited = all.limited(anyone(&[OPEN]), user(json!({})));
    let query = r#"subscription { changes(collection: "notes", id: "a", path: "/open") {
        key document { value(path: "/hidden") } } }"#;
    let mut changes = limited.subscribe(query).await;
    all.mutate(
        r#"replaceDocument(collection: "notes", id: "a", path: "/open", document: 1) { key }"#,
    )
    .await;
    let told = changes.next().await;
    assert!(forbidden(&told) && told["data"].is_null(), "{told}");
    changes.assert_ended().await;
    let data = limited.data("{ __typename }", NONE).await;
    assert_eq!(data, json!({"__typename": "Query"}));
}
