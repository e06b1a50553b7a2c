//! Counts of many index entries, on either engine.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use futures::future::try_join_all;
use phyllo::budget::Budget;
use phyllo::database::{Database, DocumentKey, Existing, put};
use phyllo::document::id::DocumentId;
use phyllo::error::Result;
use phyllo::key::Leaves;
use phyllo::store::{Decision, Transaction};
use serde_json::json;

use super::load::{Connection, graphql};
use super::{deadline, median};

const DOCUMENTS: usize = 1_000_000;
const DOCUMENTS_AT_ONCE: usize = 1_000;
const VALUES: usize = 10;
const ROUNDS: usize = 5;

/// Stores 1,000,000 documents with an index of ten values, and prints the times of counts.
pub(crate) async fn print_times(database: &Database, address: SocketAddr) {
    let mut connection = Connection::open(address).await;
    let index =
        "mutation { createIndex(collection: \"counted\", name: \"c\", on: [\"$.c\"]) { name } }";
    ask(&mut connection, index).await;
    let begun = Instant::now();
    for first in (0..DOCUMENTS).step_by(DOCUMENTS_AT_ONCE) {
        store(database, first).await;
    }
    println!(
        "{DOCUMENTS} documents with an index were stored in {:.0} s",
        begun.elapsed().as_secs_f64()
    );
    for (what, query) in [
        (
            "count of 100,000 of 1,000,000 entries",
            "{ documents(collection: \"counted\", where: {at: \"$.c\", eq: 3}, first: 1) { totalCount } }",
        ),
        (
            "count of 1,000,000 entries in ten groups",
            "{ aggregate(collection: \"counted\", groupBy: [\"$.c\"]) { groups { key count } } }",
        ),
        (
            "the ten values of 1,000,000 entries",
            "{ aggregate(collection: \"counted\", groupBy: [\"$.c\"]) { groups { key } } }",
        ),
    ] {
        let mut times = Vec::new();
        let mut last = String::new();
        for _ in 0..ROUNDS {
            let begun = Instant::now();
            last = ask(&mut connection, query).await;
            times.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        last.truncate(100);
        let (time, least, greatest) = median(times);
        println!("{what}: {time:.0} ms ({least:.0} to {greatest:.0}): {last}");
    }
}

async fn ask(connection: &mut Connection, query: &str) -> String {
    let response = connection.ask(&graphql(query, "{}")).await;
    String::from_utf8_lossy(response).into_owned()
}

/// Stores documents in one transaction. Their reads are sent together, because a round trip to a cluster
/// takes longer than storing a document.
async fn store(database: &Database, first: usize) {
    let stored = database.transact(deadline(), move |transaction| {
        Box::pin(async move {
            let numbers = first..first + DOCUMENTS_AT_ONCE;
            try_join_all(numbers.map(|number| put_number(&*transaction, number))).await?;
            Ok(Decision::Commit(()))
        })
    });
    stored.await.expect("stored");
}

async fn put_number(transaction: &dyn Transaction, number: usize) -> Result<()> {
    let id = DocumentId::Integer(i64::try_from(number).expect("small"));
    let document = DocumentKey::new("counted", id)?;
    let leaves = Leaves::from_json(&json!({"c": number % VALUES}).to_string())?;
    let budget = Budget::of_background();
    let leaves = Arc::new(leaves);
    put(transaction, &budget, &document, &leaves, Existing::Fail).await?;
    Ok(())
}
