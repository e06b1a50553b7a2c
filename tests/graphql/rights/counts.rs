//! What shows something of all documents needs a rule without a condition.

use serde_json::json;

use super::{Client, NONE, anyone, client, user};

cases!(
    async [
        counts_groups_and_plans_need_a_rule_without_a_condition,
        an_exceeded_limit_names_no_index,
    ]
);

const PUBLISHED: &str = "actions = [\"read\", \"list\", \"delete\", \"create\"]\ncollection = \"articles\"\nwhere = { at = \"$.status\", eq = \"published\" }";

async fn articles() -> Client {
    let client = client().await;
    for number in 0..5 {
        let status = ["published", "draft"][number % 2];
        client
            .mutate(&format!(
                r#"insertDocument(collection: "articles", id: {number}, document: {{status: "{status}", n: {number}}}) {{ key }}"#
            ))
            .await;
    }
    client
}

async fn counts_groups_and_plans_need_a_rule_without_a_condition() {
    let all = articles().await;
    let limited = all.limited(anyone(&[PUBLISHED]), user(json!({})));
    let fields = [
        r#"documents(collection: "articles") { totalCount }"#,
        r#"documents(collection: "articles", first: 0) { totalCount plan { totalCountReason } }"#,
        r#"documents(collection: "articles") { plan { scanned } }"#,
        r#"documents(collection: "articles") { plan { index covered } }"#,
        r#"documents(collection: "articles", scanLimit: 3) { nodes { key } }"#,
        r#"aggregate(collection: "articles") { groups { count } }"#,
        r#"aggregate(collection: "articles", groupBy: ["$.status"]) { groupCount }"#,
        r#"aggregate(collection: "articles") { groups { sum(of: "$.n") } }"#,
    ];
    for field in fields {
        let message = limited.refused(&format!("{{ {field} }}")).await;
        assert!(message.contains("without `where`"), "{message}");
    }
    let data = limited
        .data(
            r#"{ documents(collection: "articles") { nodes { key } plan { returned } } }"#,
            NONE,
        )
        .await;
    assert_eq!(data["documents"]["plan"]["returned"], json!(3));
    for field in [
        r#"createIndex(collection: "articles", name: "n", on: ["$.n"]) { name }"#,
        r#"dropIndex(collection: "articles", name: "n")"#,
        r#"dropCollection(collection: "articles", everything: true) { documents }"#,
    ] {
        limited.refused(&format!("mutation {{ {field} }}")).await;
    }
    let free = PUBLISHED.split("where").next().expect("members");
    let free = all.limited(anyone(&[free]), user(json!({})));
    for field in fields {
        free.data(&format!("{{ {field} }}"), NONE).await;
    }
}

async fn an_exceeded_limit_names_no_index() {
    let all = articles().await;
    let query = r#"{ documents(collection: "articles", scanLimit: 1, where: {at: "$.n", eq: 4}) { nodes { key } } }"#;
    let (code, message) = all.error(query, NONE).await;
    assert_eq!(code, "TOO_COMPLEX");
    assert!(message.contains("createIndex"), "{message}");
    let free = PUBLISHED.split("where").next().expect("members");
    let limited = all.limited(anyone(&[free]), user(json!({})));
    let response = limited.ask(query, NONE).await;
    let text = response.to_string();
    assert!(
        text.contains("TOO_COMPLEX") && !text.contains("createIndex"),
        "{text}"
    );
    assert!(!text.contains("hints"), "{text}");
}
