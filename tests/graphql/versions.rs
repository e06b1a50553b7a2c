//! `ifVersion` and idempotency keys.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures::future::BoxFuture;
use phyllo::database::{IdempotencyKey, keep_answer};
use phyllo::graphql::{GraphQlResponse, Methods, Request};
use phyllo::store::Decision;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::support::{Client, NONE, all_pairs, client, only_error};

cases!(
    async [
        changes_require_the_version_in_if_version,
        every_field_is_compared_with_the_version_before_the_operation,
        operations_without_changes_keep_the_version,
        operations_with_a_key_take_effect_once_and_repeat_the_response,
        failed_operations_leave_no_record,
        responses_too_long_to_store_undo_the_operation,
        expired_responses_are_ignored_and_removed_in_portions,
        queries_ignore_keys,
    ]
    threads [
        one_of_many_concurrent_retries_takes_effect,
    ]
);

async fn version(client: &Client, id: i64) -> Value {
    let query = format!("{{ document(id: {id}) {{ version }} }}");
    client.data(&query, NONE).await["document"]["version"].take()
}

async fn changes_require_the_version_in_if_version() {
    let client = client().await;
    client.insert("1", r#"{"n":1,"l":[1]}"#).await;
    let first = version(&client, 1).await;
    client
        .data(
            "mutation { incrementDocument(id: 1, path: \"/n\") { key } }",
            NONE,
        )
        .await;
    let second = version(&client, 1).await;
    assert!(first.as_str() < second.as_str(), "{first} {second}");
    for field in [
        "replaceDocument(id: 1, document: 1, ifVersion: $v) { key }",
        "replaceDocument(id: 1, document: 1, path: \"/n\", ifVersion: $v) { key }",
        "mergeDocument(id: 1, patch: {n: 5}, ifVersion: $v) { key }",
        "patchDocument(id: 1, patch: [], ifVersion: $v) { key }",
        "incrementDocument(id: 1, path: \"/n\", ifVersion: $v) { key }",
        "deleteDocument(id: 1, ifVersion: $v) { deleted }",
        "deleteDocument(id: 1, path: \"/l/0\", ifVersion: $v) { deleted }",
    ] {
        let query = format!("mutation($v: DocumentVersion) {{ {field} }}");
        let (code, message) = client.error(&query, json!({"v": first})).await;
        assert_eq!(code, "VERSION_MISMATCH", "{field}");
        assert!(
            message.contains(second.as_str().expect("text")) && message.contains("document 1"),
            "{message}"
        );
        let missing = query.replace("id: 1", "id: 2");
        assert_eq!(
            client.error(&missing, json!({"v": first})).await.0,
            "VERSION_MISMATCH"
        );
    }
    assert_eq!(client.stored("1").await, r#"{"l":[1],"n":2}"#);
    let query = "mutation($v: DocumentVersion) { incrementDocument(id: 1, path: \"/n\", ifVersion: $v) { version } }";
    let data = client.data(query, json!({"v": second})).await;
    assert_eq!(
        data["incrementDocument"]["version"],
        version(&client, 1).await
    );
    client.data(query, json!({"v": null})).await;
    assert_eq!(client.stored("1").await, r#"{"l":[1],"n":4}"#);
}

async fn every_field_is_compared_with_the_version_before_the_operation() {
    let client = client().await;
    client.insert("1", r#"{"n":1}"#).await;
    let before = version(&client, 1).await;
    let query = r#"mutation($v: DocumentVersion) {
        a: incrementDocument(id: 1, path: "/n") { version }
        b: incrementDocument(id: 1, path: "/n", ifVersion: $v) { version }
        c: deleteDocument(id: 1, ifVersion: $v) { deleted }
        d: replaceDocument(id: 1, document: {n: 7}, ifVersion: $v) { version }
    }"#;
    let data = client.data(query, json!({"v": before})).await;
    assert_eq!(data["a"]["version"], data["d"]["version"]);
    assert_eq!(client.stored("1").await, r#"{"n":7}"#);
    let query = r#"mutation($v: DocumentVersion) {
        a: insertDocument(id: 2, document: 1) { key }
        b: incrementDocument(id: 2, ifVersion: $v) { key }
    }"#;
    assert_eq!(
        client.error(query, json!({"v": before})).await.0,
        "VERSION_MISMATCH"
    );
    assert_eq!(version(&client, 2).await, Value::Null);
}

async fn operations_without_changes_keep_the_version() {
    let client = client().await;
    client.insert("1", r#"{"n":1,"l":[{},"x"]}"#).await;
    let before = version(&client, 1).await;
    for field in [
        "replaceDocument(id: 1, document: {n: 1, l: [{}, \"x\"]}) { version }",
        "replaceDocument(id: 1, document: [{}, \"x\"], path: \"/l\") { version }",
        "mergeDocument(id: 1, patch: {n: 1, m: null}) { version }",
        "patchDocument(id: 1, patch: [{op: \"test\", path: \"/n\", value: 1}]) { version }",
        "incrementDocument(id: 1, path: \"/n\", by: 0) { version }",
    ] {
        let data = client
            .data(&format!("mutation {{ a: {field} }}"), NONE)
            .await;
        assert_eq!(data["a"]["version"], before, "{field}");
    }
    let data = client
        .data(
            "mutation { deleteDocument(id: 1, path: \"/m\") { deleted } }",
            NONE,
        )
        .await;
    assert_eq!(data["deleteDocument"], json!({"deleted": false}));
    assert_eq!(version(&client, 1).await, before);
}

/// Sends an operation with a key.
async fn keyed(client: &Client, key: &str, query: &str, variables: &str) -> Value {
    let body = format!(r#"{{"query":{},"variables":{variables}}}"#, json!(query));
    let request = Request {
        idempotency_key: Some(key.to_owned()),
        ..Request::from_json(&Bytes::from(body)).expect("a request")
    };
    match client.graphql.answer(request, Methods::All).await {
        GraphQlResponse::Executed(bytes)
        | GraphQlResponse::Refused(bytes)
        | GraphQlResponse::MutationRefused(bytes)
        | GraphQlResponse::Forbidden(bytes) => serde_json::from_slice(&bytes).expect("JSON"),
    }
}

const COUNT: &str = r#"mutation($by: JSON! = 1) {
    a: incrementDocument(id: 1, path: "/n", by: $by) { version value(path: "/n") subdocument(path: "/n") { version } }
    b: replaceDocument(id: 2, document: null) { version }
}"#;

async fn operations_with_a_key_take_effect_once_and_repeat_the_response() {
    let client = client().await;
    client.insert("1", r#"{"n":1}"#).await;
    let first = keyed(&client, "k", COUNT, r#"{"by":2}"#).await;
    assert_eq!(first["data"]["a"]["value"], json!(3));
    let committed = version(&client, 1).await;
    assert_eq!(first["data"]["a"]["version"], committed);
    assert_eq!(first["data"]["a"]["subdocument"]["version"], committed);
    // Others change it meanwhile.
    client
        .data(
            "mutation { incrementDocument(id: 1, path: \"/n\", by: 10) { key } }",
            NONE,
        )
        .await;
    for variables in [r#"{"by":2}"#, r#" { "by" : 2 } "#] {
        assert_eq!(keyed(&client, "k", COUNT, variables).await, first);
    }
    assert_eq!(client.stored("1").await, r#"{"n":13}"#);
    // Another key is another operation.
    let second = keyed(&client, "l", COUNT, r#"{"by":2}"#).await;
    assert_eq!(second["data"]["a"]["value"], json!(15));
    for (query, variables) in [
        (COUNT, r#"{"by":3}"#),
        (COUNT, "{}"),
        ("mutation { deleteDocument(id: 1) { deleted } }", "{}"),
    ] {
        let (code, message) = only_error(&keyed(&client, "k", query, variables).await);
        assert_eq!(code, "BAD_USER_INPUT");
        assert!(message.contains("Idempotency-Key"), "{message}");
    }
    assert_eq!(client.stored("1").await, r#"{"n":15}"#);
}

async fn failed_operations_leave_no_record() {
    let client = client().await;
    let (code, _) = only_error(&keyed(&client, "k", COUNT, "{}").await);
    assert_eq!(code, "NOT_FOUND");
    client.insert("1", r#"{"n":1}"#).await;
    let answer = keyed(&client, "k", COUNT, "{}").await;
    assert_eq!(answer["data"]["a"]["value"], json!(2));
}

async fn responses_too_long_to_store_undo_the_operation() {
    let client = client().await;
    let query = "mutation($d: JSON) { insertDocument(id: 1, document: $d) { value } }";
    let text = |bytes: usize| json!({"d": "x".repeat(bytes)}).to_string();
    let (code, message) = only_error(&keyed(&client, "k", query, &text(1 << 20)).await);
    assert_eq!(code, "TOO_LARGE");
    assert!(message.contains("1048576"), "{message}");
    assert_eq!(version(&client, 1).await, Value::Null);
    let answer = keyed(&client, "k", query, &text(1_000_000)).await;
    assert_eq!(keyed(&client, "k", query, &text(1_000_000)).await, answer);
}

async fn one_of_many_concurrent_retries_takes_effect() {
    let client = client().await;
    client.insert("1", r#"{"n":0}"#).await;
    let sent = (0..32).map(|_| {
        let client = client.clone();
        tokio::spawn(async move { keyed(&client, "k", COUNT, "{}").await })
    });
    let sent: Vec<_> = sent.collect();
    let mut answers = Vec::new();
    for answer in sent {
        answers.push(answer.await.expect("it answers"));
    }
    assert!(
        answers.iter().all(|answer| *answer == answers[0]),
        "{answers:?}"
    );
    assert_eq!(client.stored("1").await, r#"{"n":1}"#);
}

/// The number of keys in the families of stored responses and of their expiry.
async fn kept(client: &Client) -> (usize, usize) {
    let snapshot = client.database.snapshot().await.expect("a snapshot");
    let mut counts = Vec::new();
    for family in [[0x00, 0x15, 6], [0x00, 0x15, 7]] {
        let end = [&family[..], &[0xFF]].concat();
        counts.push(all_pairs(&*snapshot, &family, &end).await.len());
    }
    (counts[0], counts[1])
}

async fn expired_responses_are_ignored_and_removed_in_portions() {
    let client = client().await;
    client.insert("1", r#"{"n":0}"#).await;
    let long_ago = SystemTime::now() - Duration::from_secs(2 * 24 * 60 * 60);
    let write = move |transaction: std::sync::Arc<dyn phyllo::store::Transaction>| -> BoxFuture<'static, _> {
        Box::pin(async move {
            for number in 0_u8..32 {
                let operation = IdempotencyKey {
                    key: format!("old {number}"),
                    digest: [number; 32],
                };
                keep_answer(&*transaction, &operation, b"{\"data\":\"an old one\"}", long_ago).await?;
            }
            Ok(Decision::Commit(()))
        })
    };
    let deadline = Instant::now() + Duration::from_secs(30);
    client
        .database
        .transact(deadline, write)
        .await
        .expect("kept");
    assert_eq!(kept(&client).await, (64, 32));
    let answer = keyed(&client, "old 0", COUNT, "{}").await;
    assert_eq!(answer["data"]["a"]["value"], json!(1), "{answer}");
    for number in 0..400 {
        keyed(&client, &format!("new {number}"), COUNT, "{}").await;
    }
    assert_eq!(
        kept(&client).await,
        (802, 401),
        "only those of today are left"
    );
    assert_eq!(keyed(&client, "old 0", COUNT, "{}").await, answer);
    assert_eq!(client.stored("1").await, r#"{"n":401}"#);
}

async fn queries_ignore_keys() {
    let client = client().await;
    client.insert("1", "1").await;
    let query = "{ document(id: 1) { value } }";
    let one = keyed(&client, "k", query, "{}").await;
    assert_eq!(one, json!({"data": {"document": {"value": 1}}}));
    client
        .data("mutation { incrementDocument(id: 1) { key } }", NONE)
        .await;
    let two = keyed(&client, "k", query, "{}").await;
    assert_eq!(two, json!({"data": {"document": {"value": 2}}}));
    assert_eq!(kept(&client).await, (0, 0));
}
