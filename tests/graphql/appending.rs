//! `appendDocument`: keys in commit order.

use foundationdb_tuple::{Versionstamp, pack};
use futures::future::join_all;
use phyllo::database::FORMAT_VERSIONSTAMPS;
use serde_json::{Value, json};

use super::support::{Client, NONE, all_pairs, client};

cases!(
    async [
        appended_documents_are_in_the_order_of_commits_and_fields,
        the_response_has_the_key_under_which_the_document_is_stored,
        a_log_is_followed_from_its_last_cursor,
        concurrent_appends_never_conflict,
        appended_documents_have_index_entries,
        unique_indexes_reject_appended_duplicates,
        later_fields_cannot_read_what_an_earlier_one_appended,
        appended_documents_can_be_changed_and_deleted,
        texts_of_versionstamps_can_be_string_keys,
        documents_under_given_versionstamps_precede_later_appends,
        versionstamps_of_impossible_commits_are_rejected,
        a_single_leaf_and_a_long_string_can_be_appended,
        every_key_of_an_appended_document_contains_the_versionstamp,
    ]
);

/// Null as an element of a tuple.
const NULL: Option<i64> = None;

/// Appends documents in one operation, and returns their keys.
async fn append(client: &Client, documents: &[Value]) -> Vec<String> {
    let fields = documents.iter().enumerate();
    let fields = fields.map(|(at, document)| {
        let document = literal(document);
        format!("a{at}: appendDocument(collection: \"log\", document: {document}) {{ key }} ")
    });
    let fields: String = fields.collect();
    let data = client.mutate(&fields).await;
    let keys = (0..documents.len()).map(|at| data[format!("a{at}")]["key"].as_str());
    keys.map(|key| key.expect("a key").to_owned()).collect()
}

/// A value as a GraphQL literal. Its member names must be names of GraphQL.
fn literal(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members.iter();
            let members = members.map(|(name, value)| format!("{name}: {}", literal(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// The keys and values of the collection, by key.
async fn log(client: &Client) -> Vec<(String, Value)> {
    let query = "{ documents(collection: \"log\", first: 10000) { nodes { key value } } }";
    let data = client.data(query, NONE).await;
    let nodes = data["documents"]["nodes"].as_array().expect("nodes").iter();
    nodes
        .map(|node| {
            let key = node["key"].as_str().expect("a key").to_owned();
            (key, node["value"].clone())
        })
        .collect()
}

async fn assert_sound(client: &Client) {
    let found = client.check().await;
    assert!(found.is_empty(), "{found:?}");
}

async fn appended_documents_are_in_the_order_of_commits_and_fields() {
    let client = client().await;
    let mut expected = Vec::new();
    for round in 0..5 {
        let documents: Vec<Value> = (0..3).map(|at| json!([round, at])).collect();
        let keys = append(&client, &documents).await;
        expected.extend(keys.into_iter().zip(documents));
    }
    assert_eq!(log(&client).await, expected);
    let mut keys: Vec<&String> = expected.iter().map(|(key, _)| key).collect();
    assert!(keys.is_sorted(), "{keys:?}");
    keys.dedup();
    assert_eq!(keys.len(), 15);
    assert_sound(&client).await;
}

async fn the_response_has_the_key_under_which_the_document_is_stored() {
    let client = client().await;
    let fields = "documentId key collection version";
    let appended = client
        .mutate(&format!(
            "first: appendDocument(collection: \"a b\", document: [1]) {{ {fields} }}
             second: appendDocument(collection: \"a b\", document: [2]) {{ {fields} }}"
        ))
        .await;
    for (name, number, value) in [("first", "0000", 1), ("second", "0001", 2)] {
        let appended = &appended[name];
        let version = appended["version"].as_str().expect("a version");
        assert_eq!(appended["key"], json!(format!("@{version}{number}")));
        let id = format!("a%20b/%40{version}{number}");
        assert_eq!(appended["documentId"], json!(id));
        let read = client
            .data(
                "query($id: ID!, $key: ID!) {
                    node(id: $id) { ... on Document { id key value version } }
                    document(collection: \"a b\", id: $key) { document { id } version value }
                }",
                json!({"id": id, "key": appended["key"]}),
            )
            .await;
        let node = json!({
            "id": id, "key": appended["key"], "value": [value], "version": version,
        });
        assert_eq!(read["node"], node);
        let document = json!({"document": {"id": id}, "version": version, "value": [value]});
        assert_eq!(read["document"], document);
    }
}

async fn a_log_is_followed_from_its_last_cursor() {
    let client = client().await;
    append(&client, &[json!(1), json!(2)]).await;
    let page = "query($after: String) {
        documents(collection: \"log\", after: $after) {
            nodes { value } pageInfo { endCursor hasNextPage }
        }
    }";
    let first = client.data(page, NONE).await;
    let cursor = first["documents"]["pageInfo"]["endCursor"].clone();
    append(&client, &[json!(3)]).await;
    append(&client, &[json!(4)]).await;
    let next = client.data(page, json!({"after": cursor})).await;
    assert_eq!(
        next["documents"]["nodes"],
        json!([{"value": 3}, {"value": 4}])
    );
}

async fn concurrent_appends_never_conflict() {
    const CLIENTS: usize = 16;
    const EACH: usize = 10;
    let client = client().await;
    client
        .mutate("createIndex(collection: \"log\", name: \"by n\", on: [\"$.n\"]) { state }")
        .await;
    client.build().await;
    // The first append raises the format, which every transaction reads.
    append(&client, &[json!({"n": null})]).await;
    let before = client.counts();
    let appenders = (0..CLIENTS).map(|number| {
        let client = client.clone();
        tokio::spawn(async move {
            for round in 0..EACH {
                append(&client, &[json!({"n": number, "round": round})]).await;
            }
        })
    });
    for ended in join_all(appenders).await {
        ended.expect("no panic");
    }
    let after = client.counts();
    // A transaction that conflicts is begun again.
    let appends = (CLIENTS * EACH) as u64;
    assert_eq!(after.transactions - before.transactions, appends);
    assert_eq!(after.commits - before.commits, appends);
    let log = log(&client).await;
    assert_eq!(log.len(), 1 + CLIENTS * EACH);
    for number in 0..CLIENTS {
        let own = log.iter().filter(|(_, value)| value["n"] == json!(number));
        let rounds: Vec<&Value> = own.map(|(_, value)| &value["round"]).collect();
        let expected: Vec<Value> = (0..EACH).map(|round| json!(round)).collect();
        assert!(rounds.into_iter().eq(&expected), "each client's in order");
    }
    let query = "{ documents(collection: \"log\", where: {at: \"$.n\", eq: 3}) {
        nodes { key } plan { index } totalCount
    } }";
    let data = client.data(query, NONE).await;
    assert_eq!(data["documents"]["plan"]["index"], json!("by n"));
    assert_eq!(data["documents"]["totalCount"], json!(EACH));
    assert_sound(&client).await;
}

async fn appended_documents_have_index_entries() {
    let client = client().await;
    for (name, on) in [("tags", "[\"$.tags[*]\"]"), ("both", "[\"$.a\", \"$.b\"]")] {
        client
            .mutate(&format!(
                "createIndex(collection: \"log\", name: \"{name}\", on: {on}) {{ state }}"
            ))
            .await;
    }
    client.build().await;
    let fields = "appendDocument(collection: \"log\", document: {a: 1, b: \"x\", tags: [1, 2, 1]}) \
                  { key }";
    let key = client.mutate(fields).await["appendDocument"]["key"].clone();
    for filter in [
        "{at: \"$.tags[*]\", eq: 2}",
        "{all: [{at: \"$.a\", eq: 1}, {at: \"$.b\", eq: \"x\"}]}",
    ] {
        let query = format!(
            "{{ documents(collection: \"log\", where: {filter}) {{ nodes {{ key }} plan {{ index }} }} }}"
        );
        let data = client.data(&query, NONE).await;
        assert_eq!(data["documents"]["nodes"], json!([{"key": key}]));
        assert_ne!(data["documents"]["plan"]["index"], Value::Null);
    }
    assert_sound(&client).await;
}

async fn unique_indexes_reject_appended_duplicates() {
    let client = client().await;
    client
        .mutate(
            "createIndex(collection: \"log\", name: \"n\", on: [\"$.n\"], unique: true) { state }",
        )
        .await;
    client.build().await;
    append(&client, &[json!(0)]).await;
    let one = "appendDocument(collection: \"log\", document: {n: 1}) { key }";
    client.mutate(one).await;
    let (code, _) = client.error(&format!("mutation {{ {one} }}"), NONE).await;
    assert_eq!(code, "UNIQUE_VIOLATION");
    let two = one.replace('1', "2");
    let (code, message) = client
        .error(&format!("mutation {{ a: {two} b: {two} }}"), NONE)
        .await;
    assert_eq!(code, "BAD_USER_INPUT");
    assert!(message.contains("operation of its own"), "{message}");
    assert_eq!(log(&client).await.len(), 2);
    assert_sound(&client).await;
}

async fn later_fields_cannot_read_what_an_earlier_one_appended() {
    let client = client().await;
    client.insert("1", "{}").await;
    let append = "appendDocument(document: {}) { key }";
    for reading in [
        "updateDocuments(where: {}, everything: true, set: [{at: \"$.a\", value: 1}]) { matched }",
        "deleteDocuments(where: {at: \"$.a\", exists: false}) { matched }",
    ] {
        let mutation = format!("mutation {{ {append} {reading} }}");
        let (code, message) = client.error(&mutation, NONE).await;
        assert_eq!(code, "BAD_USER_INPUT", "{reading}: {message}");
    }
    // Documents with other keys can be read, before and after it.
    let data = client
        .mutate(&format!(
            "before: insertDocument(document: {{}}, id: \"x\") {{ value }}
             {append}
             after: replaceDocument(id: 1, document: {{a: 1}}) {{ value }}"
        ))
        .await;
    assert_eq!(data["after"], json!({"value": {"a": 1}}));
    let count = client.data("{ collections { count } }", NONE).await;
    assert_eq!(count["collections"], json!([{"count": 3}]));
    assert_sound(&client).await;
}

async fn appended_documents_can_be_changed_and_deleted() {
    let client = client().await;
    let appended = client
        .mutate("appendDocument(document: {n: 1}) { key version }")
        .await;
    let appended = &appended["appendDocument"];
    let variables = json!({"id": appended["key"], "version": appended["version"]});
    let change = "mutation($id: ID!, $version: DocumentVersion!) {
        replaceDocument(id: $id, path: \"/n\", document: 2, ifVersion: $version) { value version }
    }";
    let changed = client.data(change, &variables).await;
    assert_eq!(changed["replaceDocument"]["value"], json!({"n": 2}));
    assert_ne!(changed["replaceDocument"]["version"], appended["version"]);
    let (code, _) = client.error(change, &variables).await;
    assert_eq!(code, "VERSION_MISMATCH");
    let delete = "mutation($id: ID!) { deleteDocument(id: $id) { deleted value } }";
    let deleted = client.data(delete, &variables).await;
    let expected = json!({"deleted": true, "value": {"n": 2}});
    assert_eq!(deleted["deleteDocument"], expected);
    let (code, _) = client.error(change, &variables).await;
    assert_eq!(
        code, "VERSION_MISMATCH",
        "a deleted document has no version"
    );
    let count = client.data("{ collections { count } }", NONE).await;
    assert_eq!(count["collections"], json!([]));
    assert_sound(&client).await;
}

async fn texts_of_versionstamps_can_be_string_keys() {
    let client = client().await;
    let text = "@000000000000000100000000";
    client.insert(&format!("\"{text}\""), "1").await;
    client.insert(text, "2").await;
    assert_eq!(client.stored(&format!("\"{text}\"")).await, "1");
    assert_eq!(client.stored(text).await, "2");
    let keys = client.data("{ documents { nodes { key } } }", NONE).await;
    let expected = json!([{"key": format!("\"{text}\"")}, {"key": text}]);
    assert_eq!(keys["documents"]["nodes"], expected);
    assert_sound(&client).await;
}

async fn documents_under_given_versionstamps_precede_later_appends() {
    let client = client().await;
    let first = append(&client, &[json!("first")]).await.remove(0);
    // A commit of the near future, which a cluster has not had.
    let version = u64::from_str_radix(&first[1..17], 16).expect("hexadecimal");
    let given = format!("@{:016x}00000005", version + 1_000_000_000_000);
    let query =
        "mutation($id: ID) { insertDocument(id: $id, collection: \"log\", document: 2) { key } }";
    let inserted = client.ask(query, json!({"id": given})).await;
    if let Some(errors) = inserted.get("errors") {
        let message = errors[0]["message"].as_str().expect("a message");
        assert!(message.contains("advanceversion"), "{message}");
        assert_eq!(log(&client).await.len(), 1);
        return;
    }
    let last = append(&client, &[json!(3)]).await.remove(0);
    assert!(first < given && given < last, "{first} {given} {last}");
    let values = log(&client).await.into_iter().map(|(_, value)| value);
    assert_eq!(
        values.collect::<Vec<_>>(),
        [json!("first"), json!(2), json!(3)]
    );
    assert_sound(&client).await;
}

async fn versionstamps_of_impossible_commits_are_rejected() {
    let client = client().await;
    for id in ["@ffffffffffffffffffff0000", "@400000000000000000000000"] {
        let query = "mutation($id: ID) { insertDocument(id: $id, document: 1) { key } }";
        let (code, message) = client.error(query, json!({"id": id})).await;
        assert_eq!(code, "BAD_USER_INPUT");
        assert!(message.contains(id), "{message}");
    }
}

async fn a_single_leaf_and_a_long_string_can_be_appended() {
    let client = client().await;
    let long = "é".repeat(120_000);
    let documents = [json!(null), json!({}), json!([]), json!({"s": long})];
    let mut keys = Vec::new();
    for document in &documents {
        let query =
            "mutation($d: JSON) { appendDocument(collection: \"log\", document: $d) { key } }";
        let data = client.data(query, json!({"d": document})).await;
        keys.push(data["appendDocument"]["key"].clone());
    }
    let values: Vec<Value> = log(&client)
        .await
        .into_iter()
        .map(|(_, value)| value)
        .collect();
    assert_eq!(values, documents);
    assert_sound(&client).await;
    let snapshot = client.database.store().snapshot().await;
    let stored = all_pairs(&*snapshot.expect("a snapshot"), b"", b"\xFF").await;
    let format = stored.iter().find(|(key, _)| *key == pack(&(NULL, 0)));
    assert_eq!(format.expect("a format").1, pack(&(FORMAT_VERSIONSTAMPS,)));
}

async fn every_key_of_an_appended_document_contains_the_versionstamp() {
    let client = client().await;
    client
        .mutate("createIndex(collection: \"log\", name: \"n\", on: [\"$.n\"]) { state }")
        .await;
    client.build().await;
    let key = append(&client, &[json!({"n": 7, "o": {}})]).await.remove(0);
    let mut stamp = [0; 12];
    for (byte, at) in stamp.iter_mut().zip((1..25).step_by(2)) {
        *byte = u8::from_str_radix(&key[at..at + 2], 16).expect("hexadecimal");
    }
    let stamp = Versionstamp::from(stamp);
    let snapshot = client.database.store().snapshot().await;
    let stored = all_pairs(&*snapshot.expect("a snapshot"), b"", b"\xFF").await;
    let packed = [&[0x33], &stamp.as_bytes()[..]].concat();
    let with_stamp = |key: &[u8]| key.windows(13).any(|part| part == packed);
    let with_stamp: Vec<_> = stored.iter().filter(|(key, _)| with_stamp(key)).collect();
    let id = || ("log", stamp.clone());
    let entry = stored.iter().map(|(key, _)| key);
    let entries = pack(&(NULL, 4, "log"));
    let entry = entry.filter(|key| key.starts_with(&entries)).last();
    let entry = entry.expect("an index entry").to_vec();
    assert!(
        entry.ends_with(&packed),
        "the id is the last element of an entry"
    );
    let expected = [
        (pack(&(NULL, 1, id().0, id().1)), Vec::new()),
        (pack(&(NULL, 3, id().0, id().1)), Vec::new()),
        (entry, Vec::new()),
        (pack(&(id().0, id().1, "n")), pack(&(7,))),
        (pack(&(id().0, id().1, "o", -2)), pack(&(NULL,))),
    ];
    let with_stamp = with_stamp.into_iter();
    let with_stamp: Vec<_> = with_stamp
        .map(|(key, value)| (key.to_vec(), value.to_vec()))
        .collect();
    assert_eq!(with_stamp, expected);
}
