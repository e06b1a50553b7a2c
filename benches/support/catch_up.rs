//! A follower of changes that is behind, on either engine.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use phyllo::database::Database;
use phyllo::graphql::{GraphQl, Methods, Request, RequestStats, ResponseStream, Started};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::load::{Connection, graphql};
use super::{compare, deadline};

const CHANGES: usize = 20_000;
const WRITERS: usize = 32;

/// Commits 20,000 changes one by one, and compares the rate of a follower that reads them with their
/// patches with the rate of one that does not ask for patches. The server's transport is left out.
pub(crate) fn compare_with_patches(runtime: &Runtime, database: &Database, address: SocketAddr) {
    let graphql = GraphQl::new(database.clone());
    runtime.block_on(keep_changes(database, Duration::from_secs(3_600)));
    let begin = runtime.block_on(cursor(&graphql));
    runtime.block_on(write(address));
    let rate = |fields: &str| {
        runtime.block_on(async {
            let mut responses = follow(&graphql, fields, &begin).await;
            let begun = Instant::now();
            for _ in 0..CHANGES {
                let response = responses.next().await.expect("a change");
                assert!(!response.json.windows(8).any(|it| it == b"\"errors\""));
            }
            CHANGES as f64 / begun.elapsed().as_secs_f64()
        })
    };
    compare(
        "catching up with 20,000 changes with their patches, against without patches",
        "20,000/s",
        || rate("cursor version kind key paths patch"),
        || rate("cursor version kind key paths"),
    );
    runtime.block_on(keep_changes(database, Duration::ZERO));
}

async fn keep_changes(database: &Database, retention: Duration) {
    let set = database.set_change_retention(deadline(), retention);
    set.await.expect("the retention is set");
}

async fn write(address: SocketAddr) {
    let writers = (0..WRITERS).map(|writer| async move {
        let mut connection = Connection::open(address).await;
        for number in 0..CHANGES / WRITERS {
            let mutation = format!(
                "mutation {{ replaceDocument(collection: \"followed\", id: {writer}, document: {{n: {number}, text: \"a text of some length\"}}) {{ version }} }}"
            );
            connection.ask(&graphql(&mutation, "{}")).await;
        }
    });
    futures::future::join_all(writers).await;
}

async fn cursor(graphql: &GraphQl) -> String {
    let request = request("{ changesCursor }");
    let answer = graphql.answer(request, Methods::All).await;
    let phyllo::graphql::GraphQlResponse::Executed(json) = answer else {
        panic!("rejected");
    };
    let response: Value = serde_json::from_slice(&json).expect("JSON");
    let cursor = response["data"]["changesCursor"].as_str();
    cursor.expect("the change log is on").to_owned()
}

async fn follow(graphql: &GraphQl, fields: &str, after: &str) -> ResponseStream {
    let query = format!("subscription {{ changes(collection: \"followed\") {{ {fields} }} }}");
    let mut report = RequestStats::default();
    let after = Some(after.to_owned());
    let started = graphql.start(request(&query), Methods::All, after, &mut report);
    match started.await {
        Started::Responses(responses) => responses,
        Started::Refused(json) => panic!("{}", String::from_utf8_lossy(&json)),
    }
}

fn request(query: &str) -> Request {
    let body = json!({ "query": query }).to_string();
    Request::from_json(&body.into()).expect("a request")
}
