//! Appended documents, on either engine.

use std::net::SocketAddr;

use super::load::{Connection, graphql, rate_of};
use super::{TURN, compare};

const CLIENTS: usize = 32;

/// Compares 32 clients that append to one collection with 32 that append to one each, and prints how
/// many transactions conflicted.
pub(crate) fn compare_collections(address: SocketAddr) {
    let append = |collection: usize| {
        let query = format!(
            "mutation {{ appendDocument(collection: \"log{collection}\", document: {{n: 1, text: \"an event\"}}) {{ key }} }}"
        );
        graphql(&query, "{}")
    };
    let one = vec![append(0); CLIENTS];
    let many: Vec<_> = (0..CLIENTS).map(append).collect();
    // Later transactions of a new collection do not touch its first entries.
    rate_of(address, &many, CLIENTS, TURN);
    let before = conflicts(address);
    compare(
        "appended documents of 32 clients to one collection, against to 32 collections",
        "at least 0.90",
        || rate_of(address, &one, CLIENTS, TURN),
        || rate_of(address, &many, CLIENTS, TURN),
    );
    println!("  conflicts: {} (goal 0)", conflicts(address) - before);
}

/// The transactions of a server that conflicted.
fn conflicts(address: SocketAddr) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        let mut connection = Connection::open(address).await;
        let request = b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n";
        let text = String::from_utf8_lossy(connection.ask(request).await).into_owned();
        let name = "phyllo_transaction_conflicts_total ";
        let value = text.lines().find_map(|line| line.strip_prefix(name));
        value.and_then(|value| value.parse().ok()).expect("a count")
    })
}
