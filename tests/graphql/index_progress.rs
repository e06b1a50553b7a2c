//! The number of documents that the build of an index has processed.

use foundationdb_tuple::{Bytes, Element, pack, unpack};
use phyllo::database::{BuildStep, Builder};
use serde_json::{Value, json};

use super::indexing::{BuildValue, rewrite_build};
use super::support::{Client, NONE, client};

cases!(
    async [
        a_build_has_the_number_of_documents_that_it_has_processed,
        the_number_of_documents_never_decreases,
        a_build_of_an_older_version_goes_on_without_a_number,
        a_large_document_is_counted_once,
    ]
);

const DOCUMENTS: u64 = 1200;

/// Creates an index on `$.n` of this many documents, which are stored before.
async fn with_pending_index() -> Client {
    let client = client().await;
    let documents: Vec<String> = (0..DOCUMENTS)
        .map(|id| format!("i{id}: insertDocument(id: {id}, document: {{n: {id}}}) {{ key }}"))
        .collect();
    for some in documents.chunks(400) {
        client.mutate(&some.join(" ")).await;
    }
    assert_eq!(create(&client).await, json!(["BUILDING", 0]));
    client
}

async fn create(client: &Client) -> Value {
    let created = client
        .mutate(r#"createIndex(name: "n", on: ["$.n"]) { state indexed }"#)
        .await;
    json!([
        created["createIndex"]["state"],
        created["createIndex"]["indexed"]
    ])
}

/// The state of the index and its number of documents, and the documents of the collection.
async fn progress(client: &Client) -> (Value, Option<u64>, u64) {
    let query = "{ collections { count indexes { state indexed } } }";
    let data = client.data(query, NONE).await;
    let collection = &data["collections"][0];
    let index = &collection["indexes"][0];
    let count = collection["count"].as_u64().expect("a count");
    (index["state"].clone(), index["indexed"].as_u64(), count)
}

/// Ends the lease of the builder, as if its server had stopped long ago.
async fn end_lease(client: &Client) {
    rewrite_build(client, |value| {
        let (name, owner, _, position): BuildValue<'_> = unpack(value).expect("a build");
        pack(&(&name[..], owner, 0_i64, position))
    })
    .await;
}

async fn a_build_has_the_number_of_documents_that_it_has_processed() {
    let client = with_pending_index().await;
    let mut builder = Builder::new(client.database.clone());
    let mut done = 0;
    loop {
        match builder.step().await.expect("a batch") {
            BuildStep::Documents(_, _, more) => done += more as u64,
            BuildStep::Ready(..) => break,
            step => panic!("{step:?}"),
        }
        let expected = (json!("BUILDING"), Some(done), DOCUMENTS);
        assert_eq!(progress(&client).await, expected);
        assert_eq!(create(&client).await, json!(["BUILDING", done]));
        if done < DOCUMENTS {
            // Another server continues.
            end_lease(&client).await;
            builder = Builder::new(client.database.clone());
        }
    }
    assert_eq!(progress(&client).await, (json!("READY"), None, DOCUMENTS));
    assert_eq!(create(&client).await, json!(["READY", null]));
}

async fn the_number_of_documents_never_decreases() {
    let client = with_pending_index().await;
    let mut builder = Builder::new(client.database.clone());
    let mut last = 0;
    for deleted in 0.. {
        let step = builder.step().await.expect("a batch");
        if let BuildStep::Ready(..) = step {
            break;
        }
        let (_, indexed, _) = progress(&client).await;
        assert!(indexed >= Some(last), "{indexed:?} after {last}");
        let fields = format!("deleteDocument(id: {deleted}) {{ deleted }}");
        client.mutate(&fields).await;
        let (_, after, count) = progress(&client).await;
        assert_eq!(after, indexed);
        assert!(count < DOCUMENTS);
        last = indexed.expect("a number");
    }
    assert!(last > 0);
}

async fn a_build_of_an_older_version_goes_on_without_a_number() {
    let client = with_pending_index().await;
    let mut builder = Builder::new(client.database.clone());
    let step = builder.step().await.expect("a batch");
    assert!(matches!(step, BuildStep::Documents(..)), "{step:?}");
    let (_, indexed, _) = progress(&client).await;
    assert!(
        indexed > Some(0) && indexed < Some(DOCUMENTS),
        "{indexed:?}"
    );
    rewrite_build(&client, |value| {
        let (name, owner, _, Bytes(position)): BuildValue<'_> = unpack(value).expect("a build");
        let position: Vec<Element<'_>> = unpack(&position).expect("an id and a number");
        let id = Bytes(pack(&&position[..1]).into());
        pack(&(&name[..], owner, 0_i64, id))
    })
    .await;
    assert_eq!(
        progress(&client).await,
        (json!("BUILDING"), None, DOCUMENTS)
    );
    let mut second = Builder::new(client.database.clone());
    let step = second.step().await.expect("a batch");
    assert!(matches!(step, BuildStep::Documents(..)), "{step:?}");
    assert_eq!(
        progress(&client).await,
        (json!("BUILDING"), None, DOCUMENTS)
    );
    second.finish().await.expect("built");
    assert_eq!(progress(&client).await, (json!("READY"), None, DOCUMENTS));
}

async fn a_large_document_is_counted_once() {
    let client = client().await;
    let items: Vec<usize> = (0..30_000).collect();
    client.insert("1", json!({"items": items})).await;
    client.insert("2", json!({"items": [7]})).await;
    client
        .mutate(r#"createIndex(name: "n", on: ["$.items[*]"]) { state }"#)
        .await;
    let mut builder = Builder::new(client.database.clone());
    let mut seen = Vec::new();
    while progress(&client).await.0 == "BUILDING" {
        seen.push(progress(&client).await.1);
        builder.step().await.expect("a batch");
    }
    assert!(seen.len() > 3, "the document took several batches");
    seen.dedup();
    assert!(matches!(seen[..], [Some(0), .., Some(2)]), "{seen:?}");
}
