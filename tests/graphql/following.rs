//! Subscriptions: the changes of documents, and live queries.

use std::collections::BTreeMap;
use std::time::Duration;

use futures::StreamExt as _;
use phyllo::graphql::Started;
use serde_json::{Value, json};

use super::replica::Replica;
use super::support::{Client, NONE, client};

cases!(
    async [
        each_mutation_is_one_change_of_each_document,
        changes_are_filtered_by_document_and_path,
        a_follower_resumes_inside_a_commit,
        a_follower_begins_at_the_snapshot_of_a_query,
        a_follower_reads_the_whole_log_and_ends_there,
        a_follower_that_is_behind_reads_many_patches_in_one_round,
        followers_share_the_patches_that_they_read,
        changes_of_one_commit_share_the_pieces_of_its_patches,
        patches_beside_large_unwanted_ones_are_complete,
        a_replica_from_pages_skips_the_versions_that_it_has,
        a_live_document_sends_its_newest_state,
        a_live_page_sends_its_newest_state,
        subscribers_of_one_query_share_its_executions,
        large_live_responses_are_held_only_until_they_are_sent,
        an_idempotent_repetition_is_told_once,
        a_commit_with_many_documents_names_only_the_collection,
        a_large_value_is_resynchronized,
        invalid_subscriptions_are_rejected,
        cursors_of_other_histories_and_expired_ones_are_rejected,
        switching_the_log_off_ends_subscriptions,
        clients_of_before_the_log_was_switched_on_log_changes,
    ]
);

const CHANGES: &str = "subscription { changes { kind key patch resync paths } }";

async fn logging() -> Client {
    let client = client().await;
    client.log_changes().await;
    client
}

#[expect(clippy::too_many_lines, reason = "a table of cases")]
async fn each_mutation_is_one_change_of_each_document() {
    let client = logging().await;
    let mut changes = client.subscribe(CHANGES).await;
    for (mutation, expected) in [
        (
            r#"insertDocument(id: "a", document: {n: 1, tags: ["x", "y"]}) { key }"#,
            json!([["CREATED", "a", [[]], [
                {"op": "add", "path": "", "value": {"n": 1, "tags": ["x", "y"]}}]]]),
        ),
        (
            r#"a: replaceDocument(id: "a", path: "/n", document: 1) { version }
               b: incrementDocument(id: "a", path: "/n", by: 2) { version }"#,
            json!([["UPDATED", "a", [["n"]], [{"op": "replace", "path": "/n", "value": 3}]]]),
        ),
        (
            r#"patchDocument(id: "a", patch: [
                {op: "test", path: "/n", value: 3}, {op: "add", path: "/tags/1", value: 7},
                {op: "move", from: "/n", path: "/m~1"}]) { version }"#,
            json!([["UPDATED", "a", [["tags"], ["n"], ["m/"]], [
                {"op": "add", "path": "/tags/1", "value": 7}, {"op": "remove", "path": "/n"},
                {"op": "add", "path": "/m~1", "value": 3}]]]),
        ),
        (
            r#"mergeDocument(id: "a", patch: {o: {p: 1}, tags: null}) { version }"#,
            json!([["UPDATED", "a", [["o"], ["tags"]], [
                {"op": "add", "path": "/o", "value": {"p": 1}},
                {"op": "remove", "path": "/tags"}]]]),
        ),
        (
            r#"mergeDocument(id: "b", path: "/x/y", patch: {z: []}) { version }"#,
            json!([["CREATED", "b", [[]], [
                {"op": "add", "path": "", "value": {"x": {"y": {"z": []}}}}]]]),
        ),
        (
            r#"mergeDocument(id: "b", path: "/u/v", patch: 0) { version }"#,
            json!([["UPDATED", "b", [["u"]], [
                {"op": "add", "path": "/u", "value": {"v": 0}}]]]),
        ),
        (
            r#"updateDocuments(where: {}, everything: true, append: [{at: "$.x.y.z", value: 1}],
                set: [{at: "$.new", value: true}]) { changed }"#,
            json!([
                ["UPDATED", "a", [["new"]], [{"op": "add", "path": "/new", "value": true}]],
                ["UPDATED", "b", [["new"], ["x", "y", "z", 0]], [
                    {"op": "add", "path": "/new", "value": true},
                    {"op": "add", "path": "/x/y/z/0", "value": 1}]],
            ]),
        ),
        (
            r#"copyDocument(id: "b", path: "/o", from: {id: "a", path: "/o"}) { version }"#,
            json!([["UPDATED", "b", [["o"]], [
                {"op": "add", "path": "/o", "value": {"p": 1}}]]]),
        ),
        (
            r#"deleteDocument(id: "b", path: "/x") { deleted }"#,
            json!([["UPDATED", "b", [["x"]], [{"op": "remove", "path": "/x"}]]]),
        ),
        (
            r#"a: deleteDocument(id: "b") { deleted }
               b: insertDocument(id: "b", document: 0) { key }
               c: insertDocument(id: "c", document: 0) { key }
               d: deleteDocument(id: "c") { deleted }"#,
            json!([["UPDATED", "b", [[]], [{"op": "add", "path": "", "value": 0}]]]),
        ),
        (
            r#"takeDocuments(first: 1) { key }"#,
            json!([["DELETED", "a", [[]], null]]),
        ),
        (
            r#"replaceDocument(id: "b", document: 0) { version }"#,
            json!([]),
        ),
        (
            r#"dropCollection(collection: "D", everything: true) { documents }"#,
            json!([["COLLECTION_DROPPED", null, [], null]]),
        ),
    ] {
        client.mutate(mutation).await;
        for expected in expected.as_array().expect("a list") {
            let response = changes.next().await;
            let change = &response["data"]["changes"];
            let found = json!([
                change["kind"],
                change["key"],
                change["paths"],
                change["patch"]
            ]);
            assert_eq!(found, *expected, "{mutation}");
            assert_eq!(change["resync"], json!(false));
        }
    }
    let appended = client
        .mutate("appendDocument(collection: \"D\", document: [1]) { key }")
        .await;
    let response = changes.next().await;
    let change = &response["data"]["changes"];
    assert_eq!(change["key"], appended["appendDocument"]["key"]);
    assert_eq!(
        change["patch"],
        json!([{"op": "add", "path": "", "value": [1]}])
    );
    changes.assert_silent().await;
}

async fn changes_are_filtered_by_document_and_path() {
    let client = logging().await;
    client
        .insert("1", r#"{"a": {"b": 0, "c": 0}, "d": [0, 1]}"#)
        .await;
    let mut deep = client
        .subscribe(r#"subscription { changes(id: 1, path: "/a/b") { paths } }"#)
        .await;
    let mut last = client
        .subscribe(r#"subscription { changes(id: 1, path: "/d/1") { paths } }"#)
        .await;
    let mut other = client
        .subscribe(r#"subscription { changes(collection: "E") { key } }"#)
        .await;
    for mutation in [
        r#"replaceDocument(id: 2, document: {}) { version }"#,
        r#"replaceDocument(id: 1, path: "/a/c", document: 1) { version }"#,
        r#"deleteDocument(id: 1, path: "/d/0") { deleted }"#,
        r#"replaceDocument(id: 1, path: "/a/b", document: [1]) { version }"#,
        r#"replaceDocument(id: 1, path: "/a/b/0", document: 2) { version }"#,
        r#"replaceDocument(id: 1, path: "/a", document: 2) { version }"#,
        r#"insertDocument(collection: "E", id: 7, document: 0) { key }"#,
    ] {
        client.mutate(mutation).await;
    }
    for expected in [json!([["a", "b"]]), json!([["a", "b", 0]]), json!([["a"]])] {
        assert_eq!(deep.next().await["data"]["changes"]["paths"], expected);
    }
    assert_eq!(
        last.next().await["data"]["changes"]["paths"],
        json!([["d"]])
    );
    assert_eq!(other.next().await["data"]["changes"]["key"], json!("7"));
    deep.assert_silent().await;
    last.assert_silent().await;
    other.assert_silent().await;
}

async fn a_follower_resumes_inside_a_commit() {
    let client = logging().await;
    let all = "subscription { changes { key cursor } }";
    let mut first = client.subscribe(all).await;
    let mutation = "a: insertDocument(id: 1, document: 0) { key }
                    b: insertDocument(id: 2, document: 0) { key }
                    c: insertDocument(id: 3, document: 0) { key }";
    client.mutate(mutation).await;
    client.insert("4", "0").await;
    for read in 1..=4 {
        let mut cursor = None;
        for key in 1..=read {
            // The first round also reads the changes themselves.
            let (response, after) = if read == 4 {
                first.response().await
            } else {
                let mut again = client
                    .subscribe(&resumed(cursor.as_deref(), &first_cursor(&client).await))
                    .await;
                again.response().await
            };
            let change = &response["data"]["changes"];
            assert_eq!(change["key"], json!(key.to_string()));
            assert_eq!(after.as_deref(), change["cursor"].as_str());
            cursor = after;
        }
    }
}

/// A cursor before all documents of `a_follower_resumes_inside_a_commit`.
async fn first_cursor(client: &Client) -> String {
    let data = client.data("{ changesCursor }", NONE).await;
    let cursor = data["changesCursor"].as_str().expect("the log is on");
    let (history, _) = cursor.split_once('-').expect("a history");
    let data = client.data("{ document(id: 1) { version } }", NONE).await;
    let version = data["document"]["version"].as_str().expect("a version");
    let number = u128::from_str_radix(version, 16).expect("hexadecimal");
    format!("{history}-{:020x}", number - 1)
}

fn resumed(cursor: Option<&str>, first: &str) -> String {
    let after = cursor.unwrap_or(first);
    format!("subscription {{ changes(after: \"{after}\") {{ key cursor }} }}")
}

async fn a_follower_begins_at_the_snapshot_of_a_query() {
    let client = logging().await;
    client.insert("1", "0").await;
    let data = client
        .data("{ changesCursor document(id: 1) { value } }", NONE)
        .await;
    client.insert("2", "0").await;
    let after = data["changesCursor"].as_str().map(str::to_owned);
    let started = client.start_after(CHANGES, NONE, after).await;
    let Started::Responses(responses) = started else {
        panic!("rejected");
    };
    let mut changes = super::replica::Responses::of(responses);
    assert_eq!(changes.next().await["data"]["changes"]["key"], json!("2"));
}

async fn a_follower_reads_the_whole_log_and_ends_there() {
    let client = logging().await;
    let query = "subscription { changes(fromStart: true, follow: false) { key time } }";
    for expected in [&[][..], &["1", "2"]] {
        for id in expected {
            client.insert(id, "0").await;
        }
        let Started::Responses(responses) = client.start_after(query, NONE, None).await else {
            panic!("rejected");
        };
        let responses: Vec<_> = responses.collect().await;
        let changes = responses.iter().map(|response| {
            let response: Value = serde_json::from_slice(&response.json).expect("JSON");
            let change = &response["data"]["changes"];
            assert!(change["time"].as_u64().is_some_and(|time| time > 1 << 40));
            change["key"].as_str().expect("a key").to_owned()
        });
        assert_eq!(changes.collect::<Vec<_>>(), expected);
    }
}

async fn a_follower_that_is_behind_reads_many_patches_in_one_round() {
    const CHANGES: u64 = 400;
    let client = logging().await;
    client.insert("1", r#"{"n": 0}"#).await;
    let cursor = client.data("{ changesCursor }", NONE).await;
    for number in 1..=CHANGES {
        let mutation =
            format!(r#"replaceDocument(id: 1, path: "/n", document: {number}) {{ version }}"#);
        client.mutate(&mutation).await;
    }
    let after = cursor["changesCursor"].as_str().map(str::to_owned);
    let query = "subscription { changes { patch } }";
    let Started::Responses(responses) = client.start_after(query, NONE, after).await else {
        panic!("rejected");
    };
    let mut changes = super::replica::Responses::of(responses);
    let before = client.counts();
    for number in 1..=CHANGES {
        let expected = json!([{"op": "replace", "path": "/n", "value": number}]);
        assert_eq!(changes.next().await["data"]["changes"]["patch"], expected);
    }
    let counts = client.counts();
    // Some snapshots are those of the task that looks for new commits.
    let snapshots = counts.transactions - before.transactions;
    assert!(snapshots < CHANGES / 10, "{snapshots} snapshots");
    let pairs = counts.pairs - before.pairs;
    assert!(pairs <= 4 * CHANGES, "{pairs} pairs");
}

async fn followers_share_the_patches_that_they_read() {
    const FOLLOWERS: u64 = 200;
    let client = logging().await;
    client.insert("1", r#"{"n": 0}"#).await;
    let mut all = Vec::new();
    for _ in 0..FOLLOWERS {
        all.push(client.subscribe("subscription { changes { patch } }").await);
    }
    let before = client.counts();
    client
        .mutate(r#"replaceDocument(id: 1, path: "/n", document: 1) { version }"#)
        .await;
    for follower in &mut all {
        let expected = json!([{"op": "replace", "path": "/n", "value": 1}]);
        assert_eq!(follower.next().await["data"]["changes"]["patch"], expected);
    }
    let pairs = client.counts().pairs - before.pairs;
    assert!(pairs < FOLLOWERS / 4, "{pairs} pairs");
}

async fn changes_of_one_commit_share_the_pieces_of_its_patches() {
    const DOCUMENTS: u64 = 500;
    let client = logging().await;
    for id in 0..DOCUMENTS {
        client.insert(&id.to_string(), r#"{"n": 0}"#).await;
    }
    let mut changes = client
        .subscribe("subscription { changes { key patch } }")
        .await;
    let before = client.counts();
    client
        .mutate(
            r#"updateDocuments(where: {}, everything: true, set: [{at: "$.n", value: 1}]) { changed }"#,
        )
        .await;
    let changed = client.counts().pairs - before.pairs;
    for id in 0..DOCUMENTS {
        let response = changes.next().await;
        let change = &response["data"]["changes"];
        assert_eq!(change["key"], json!(id.to_string()));
        let expected = json!([{"op": "replace", "path": "/n", "value": 1}]);
        assert_eq!(change["patch"], expected);
    }
    let pairs = client.counts().pairs - before.pairs - changed;
    assert!(pairs < DOCUMENTS / 10, "{pairs} pairs");
}

async fn patches_beside_large_unwanted_ones_are_complete() {
    let client = logging().await;
    let cursor = client.data("{ changesCursor }", NONE).await;
    let lengths = [10, 9_990, 10_000, 25_000, 0, 40_000, 3_000, 45_000, 500];
    for (number, length) in lengths.iter().enumerate() {
        let (own, other) = (
            "a".repeat(*length),
            "b".repeat(30_000 - length.min(&30_000)),
        );
        let mutation = format!(
            r#"a: replaceDocument(id: 1, document: "{number}{own}") {{ key }}
               b: replaceDocument(id: 2, document: "{number}{other}") {{ key }}
               c: replaceDocument(id: 3, document: "{number}{own}") {{ key }}"#
        );
        client.mutate(&mutation).await;
        client
            .mutate(&format!(
                r#"replaceDocument(id: 2, document: "{own}{number}") {{ key }}"#
            ))
            .await;
    }
    let after = cursor["changesCursor"].as_str().map(str::to_owned);
    let query = "subscription { changes(id: 3) { patch } }";
    let Started::Responses(responses) = client.start_after(query, NONE, after).await else {
        panic!("rejected");
    };
    let mut changes = super::replica::Responses::of(responses);
    for (number, length) in lengths.iter().enumerate() {
        let response = changes.next().await;
        let value = &response["data"]["changes"]["patch"][0]["value"];
        assert_eq!(*value, json!(format!("{number}{}", "a".repeat(*length))));
    }
}

async fn a_live_document_sends_its_newest_state() {
    let client = logging().await;
    let query = r#"subscription($p: Path) { document(id: 1, path: $p) { value kind } }"#;
    let Started::Responses(responses) = client.start(query, r#"{"p": ["a", -1]}"#).await else {
        panic!("rejected");
    };
    let mut live = super::replica::Responses::of(responses);
    assert_eq!(live.next().await, json!({"data": {"document": null}}));
    client.insert("1", r#"{"a": [1, 2], "b": 0}"#).await;
    let two = json!({"data": {"document": {"value": 2, "kind": "NUMBER"}}});
    assert_eq!(live.next().await, two);
    client
        .mutate(r#"replaceDocument(id: 1, path: "/b", document: 5) { version }"#)
        .await;
    client
        .mutate(r#"replaceDocument(id: 1, path: "/a/0", document: 5) { version }"#)
        .await;
    live.assert_silent().await;
    for number in 0..50 {
        let mutation =
            format!(r#"replaceDocument(id: 1, path: "/a/1", document: {number}) {{ version }}"#);
        client.mutate(&mutation).await;
    }
    let mut states = 0;
    loop {
        states += 1;
        if live.next().await["data"]["document"]["value"] == json!(49) {
            break;
        }
    }
    assert!(states <= 50, "{states}");
    client.mutate(r#"deleteDocument(id: 1) { deleted }"#).await;
    assert_eq!(live.next().await, json!({"data": {"document": null}}));
}

async fn a_live_page_sends_its_newest_state() {
    let client = logging().await;
    client
        .mutate(r#"createIndex(name: "n", on: ["$.n"]) { state }"#)
        .await;
    let query =
        r#"subscription { documents(where: {at: "$.n", gt: 1}, first: 2) { nodes { key } } }"#;
    let mut live = client.subscribe(query).await;
    let keys = |keys: Value| json!({"data": {"documents": {"nodes": keys}}});
    assert_eq!(live.next().await, keys(json!([])));
    client.insert("1", r#"{"n": 1}"#).await;
    client.insert("2", r#"{"n": 2}"#).await;
    assert_eq!(live.next().await, keys(json!([{"key": "2"}])));
    client
        .mutate(r#"replaceDocument(id: 1, path: "/n", document: 3) { version }"#)
        .await;
    assert_eq!(live.next().await, keys(json!([{"key": "1"}, {"key": "2"}])));
    client.insert("3", r#"{"n": 3}"#).await;
    live.assert_silent().await;
}

async fn subscribers_of_one_query_share_its_executions() {
    const SUBSCRIBERS: usize = 50;
    let client = logging().await;
    client.insert("1", r#"{"a": 0}"#).await;
    let query = r#"subscription { document(id: 1, path: "/a") { value } }"#;
    let mut all = Vec::new();
    for _ in 0..SUBSCRIBERS {
        all.push(client.subscribe(query).await);
    }
    for live in &mut all {
        live.next().await;
    }
    let before = client.counts().pairs;
    client
        .mutate(r#"replaceDocument(id: 1, path: "/a", document: 1) { version }"#)
        .await;
    for live in &mut all {
        let response = live.next().await;
        assert_eq!(response, json!({"data": {"document": {"value": 1}}}));
    }
    let pairs = client.counts().pairs - before;
    assert!(pairs < SUBSCRIBERS as u64, "{pairs} pairs");
    drop(all);
    // The execution has ended, and another one begins.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let mut again = client.subscribe(query).await;
    assert_eq!(
        again.next().await,
        json!({"data": {"document": {"value": 1}}})
    );
}

async fn large_live_responses_are_held_only_until_they_are_sent() {
    let client = logging().await;
    let text = |letter: &str| json!(letter.repeat(500_000));
    client.insert("1", json!({"text": text("a")})).await;
    let query = "subscription { document(id: 1, path: \"/text\") { value } }";
    let mut first = client.subscribe(query).await;
    let expected = |letter: &str| json!({"data": {"document": {"value": text(letter)}}});
    assert_eq!(first.next().await, expected("a"));
    assert_eq!(client.graphql.pool().held(), 0);
    // It is not kept for those who join later.
    let mut second = client.subscribe(query).await;
    assert_eq!(second.next().await, expected("a"));
    assert_eq!(client.graphql.pool().held(), 0);
    first.assert_silent().await;
    client
        .data(
            "mutation($d: JSON) { replaceDocument(id: 1, path: \"/text\", document: $d) { key } }",
            json!({"d": text("b")}),
        )
        .await;
    assert_eq!(first.next().await, expected("b"));
    assert!(client.graphql.pool().held() >= 500_000, "not all have it");
    assert_eq!(second.next().await, expected("b"));
    assert_eq!(client.graphql.pool().held(), 0);
}

async fn an_idempotent_repetition_is_told_once() {
    let client = logging().await;
    let mut changes = client.subscribe(CHANGES).await;
    let mutation = "mutation { incrementDocument(id: 1) { version } }";
    let body = json!({"query": mutation}).to_string();
    for _ in 0..2 {
        let mut request = phyllo::graphql::Request::from_json(&body.clone().into()).expect("valid");
        request.idempotency_key = Some("once".to_owned());
        client
            .graphql
            .answer(request, phyllo::graphql::Methods::All)
            .await;
    }
    assert_eq!(changes.next().await["data"]["changes"]["key"], json!("1"));
    changes.assert_silent().await;
}

async fn a_commit_with_many_documents_names_only_the_collection() {
    const DOCUMENTS: usize = 900;
    let client = logging().await;
    let name = "x".repeat(600);
    for portion in 0..DOCUMENTS / 100 {
        let inserts = (0..100).map(|at| {
            let id = format!("{name}{}", portion * 100 + at);
            format!(r#"i{at}: insertDocument(collection: "E", id: "{id}", document: {{n: 1}}) {{ key }}"#)
        });
        client.mutate(&inserts.collect::<Vec<_>>().join(" ")).await;
    }
    let mut changes = client
        .subscribe(r#"subscription { changes(collection: "E") { kind key resync } }"#)
        .await;
    let mutation = r#"updateDocuments(collection: "E", where: {}, everything: true,
        increment: [{at: "$.n", by: 1}]) { changed }"#;
    let changed = client.mutate(mutation).await;
    assert_eq!(changed["updateDocuments"]["changed"], json!(DOCUMENTS));
    let expected = json!({"kind": "COLLECTION_CHANGED", "key": null, "resync": true});
    assert_eq!(changes.next().await["data"]["changes"], expected);
    changes.assert_silent().await;
}

async fn a_large_value_is_resynchronized() {
    let client = logging().await;
    let mut changes = client.subscribe(CHANGES).await;
    let large = json!({"text": "x".repeat(1_100_000)});
    client.insert("1", &large).await;
    client.insert("2", "0").await;
    for (key, resync) in [("1", true), ("2", false)] {
        let response = changes.next().await;
        let change = &response["data"]["changes"];
        assert_eq!(
            (&change["key"], &change["resync"]),
            (&json!(key), &json!(resync))
        );
        assert_eq!(change["patch"].is_null(), resync);
    }
}

async fn invalid_subscriptions_are_rejected() {
    let client = logging().await;
    for query in [
        "subscription { changes { key } document(id: 1) { kind } }",
        "subscription { __typename }",
        "subscription { ... on Subscription { changes { key } b: changes { key } } }",
        "subscription { changes @include(if: true) { key } }",
        "subscription { changes(path: \"/a\") { key } }",
        "subscription { changes(collection: \"\") { key } }",
        "subscription { changes(after: \"x\") { key } }",
        "subscription { document(id: \"\") { kind } }",
        "subscription { documents(scanLimit: 100001) { nodes { key } } }",
    ] {
        assert_eq!(client.rejected(query).await, "BAD_USER_INPUT", "{query}");
    }
    let (code, message) = client.error(CHANGES, NONE).await;
    assert_eq!(code, "BAD_USER_INPUT");
    assert!(message.contains("text/event-stream"), "{message}");
    let off = super::support::client().await;
    assert_eq!(off.rejected(CHANGES).await, "BAD_USER_INPUT");
    assert_eq!(
        off.data("{ changesCursor }", NONE).await,
        json!({"changesCursor": null})
    );
}

async fn cursors_of_other_histories_and_expired_ones_are_rejected() {
    let client = logging().await;
    client.insert("1", "0").await;
    let data = client.data("{ changesCursor }", NONE).await;
    let cursor = data["changesCursor"]
        .as_str()
        .expect("the log is on")
        .to_owned();
    let query = |cursor: &str| format!("subscription {{ changes(after: \"{cursor}\") {{ key }} }}");
    let other = format!("{:016x}{}", 0, &cursor[16..]);
    assert_eq!(client.rejected(&query(&other)).await, "CHANGES_EXPIRED");
    let future = format!("{}-{}", &cursor[..16], "3".repeat(20));
    assert_eq!(client.rejected(&query(&future)).await, "CHANGES_EXPIRED");
    // The first commit, which is of before the log was switched on.
    let old = format!("{}-{:016x}0000", &cursor[..16], 1);
    let mut expired = client.subscribe(&query(&old)).await;
    let (code, _) = super::support::only_error(&expired.next().await);
    assert_eq!(code, "CHANGES_EXPIRED");
    expired.assert_ended().await;
}

async fn switching_the_log_off_ends_subscriptions() {
    let client = logging().await;
    client.insert("1", "0").await;
    let mut changes = client.subscribe(CHANGES).await;
    let mut live = client
        .subscribe("subscription { document(id: 1) { value } }")
        .await;
    live.next().await;
    client.keep_changes(Duration::ZERO).await;
    for responses in [&mut changes, &mut live] {
        let (code, _) = super::support::only_error(&responses.next().await);
        assert_eq!(code, "CHANGES_EXPIRED");
        responses.assert_ended().await;
    }
    client.insert("2", "0").await;
    assert_eq!(client.rejected(CHANGES).await, "BAD_USER_INPUT");
    client.log_changes().await;
    let mut replica = Replica::new(&client).await;
    client
        .mutate("a: deleteDocument(id: 1) { deleted } b: deleteDocument(id: 2) { deleted }")
        .await;
    client.insert("3", "0").await;
    replica.documents = [("1".to_owned(), json!(0)), ("2".to_owned(), json!(0))].into();
    replica.reach(&[("3".to_owned(), json!(0))].into()).await;
    assert_eq!(client.check().await, []);
}

async fn clients_of_before_the_log_was_switched_on_log_changes() {
    let client = client().await;
    let store = client.database.store().clone();
    let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
    let other = phyllo::database::Database::open(store, deadline)
        .await
        .expect("it opens");
    other
        .set_change_retention(deadline, Duration::from_secs(60))
        .await
        .expect("it is set");
    let mut changes = { client.of_database(other).subscribe(CHANGES).await };
    client.insert("1", "0").await;
    assert_eq!(changes.next().await["data"]["changes"]["key"], json!("1"));
}

/// The pages are of later commits than the cursor, so the log has changes that they have already.
async fn a_replica_from_pages_skips_the_versions_that_it_has() {
    let client = logging().await;
    for id in ["a", "b", "c", "d", "e", "f"] {
        client.insert(id, "[0]").await;
    }
    // Each is made after one more page was read.
    let meanwhile = [
        r#"a: replaceDocument(id: "a", path: "/-", document: 1) { version }
           b: replaceDocument(id: "f", path: "/-", document: 1) { version }"#,
        r#"a: insertDocument(id: "ab", document: [0]) { key }
           b: insertDocument(id: "da", document: [0]) { key }
           c: replaceDocument(id: "da", path: "/-", document: 1) { version }"#,
        r#"a: deleteDocument(id: "e") { deleted } b: deleteDocument(id: "b") { deleted }
           c: replaceDocument(id: "f", path: "/0", document: 2) { version }"#,
        r#"a: replaceDocument(id: "c", path: "/-", document: 3) { version }
           b: insertDocument(id: "b", document: [4]) { key }"#,
    ];
    let mut meanwhile = meanwhile.iter();
    let (mut documents, mut versions) = (BTreeMap::new(), BTreeMap::new());
    let begin = client.data("{ changesCursor }", NONE).await;
    let cursor = begin["changesCursor"].clone();
    let mut after = json!(null);
    loop {
        let query = format!(
            "{{ documents(first: 2, after: {after}) {{
                nodes {{ key version value }} pageInfo {{ endCursor hasNextPage }} }} }}"
        );
        let page = client.data(&query, NONE).await["documents"].clone();
        for node in page["nodes"].as_array().expect("a list") {
            let key = node["key"].as_str().expect("a key").to_owned();
            versions.insert(key.clone(), node["version"].clone());
            documents.insert(key, node["value"].clone());
        }
        if let Some(mutation) = meanwhile.next() {
            client.mutate(mutation).await;
        }
        if page["pageInfo"]["hasNextPage"] == json!(false) {
            break;
        }
        after = page["pageInfo"]["endCursor"].clone();
    }
    for mutation in meanwhile {
        client.mutate(mutation).await;
    }
    client.insert("end", "0").await;
    let query =
        format!("subscription {{ changes(after: {cursor}) {{ version kind key patch resync }} }}");
    let mut changes = client.subscribe(&query).await;
    let mut skipped = 0;
    while !documents.contains_key("end") {
        let response = changes.next().await;
        let change = &response["data"]["changes"];
        let key = change["key"].as_str().expect("a key").to_owned();
        let version = change["version"].as_str().expect("a version");
        let known = versions.get(&key).and_then(Value::as_str);
        if known.is_some_and(|known| version <= known) {
            skipped += 1;
            continue;
        }
        versions.insert(key.clone(), json!(version));
        let is_known = documents.contains_key(&key);
        match change["kind"].as_str().expect("a kind") {
            "DELETED" => drop(documents.remove(&key)),
            // It was deleted before its page was read.
            "UPDATED" if !is_known => {}
            _ => {
                assert_eq!(change["resync"], json!(false));
                let document = documents.entry(key).or_default();
                let patch: json_patch::Patch =
                    serde_json::from_value(change["patch"].clone()).expect("a patch");
                json_patch::patch(document, &patch).expect("it applies");
            }
        }
    }
    let stored = client
        .data("{ documents(first: 100) { nodes { key value } } }", NONE)
        .await;
    let stored = stored["documents"]["nodes"]
        .as_array()
        .expect("a list")
        .iter();
    let stored: BTreeMap<String, Value> = stored
        .map(|node| {
            (
                node["key"].as_str().expect("a key").to_owned(),
                node["value"].clone(),
            )
        })
        .collect();
    assert_eq!(documents, stored);
    assert!(skipped >= 3, "{skipped}");
}
