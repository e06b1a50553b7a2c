//! Kills the server process at random moments while clients write. Acknowledged operations must be
//! present, none may be partial, and retries must take effect once.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use serde_json::{Value, json};

use crate::replay::Replay;
use crate::support::{JSON, Server, head};

const KILLS: u64 = 20;
const CLIENTS: u64 = 4;

/// A client that writes numbered operations in sequence.
struct Client {
    number: u64,
    /// The number of the next operation to send or retry.
    next: u64,
}

impl Client {
    fn log(&self) -> String {
        format!("log {}", self.number)
    }

    fn count(&self) -> String {
        format!("count {}", self.number)
    }

    fn document(&self, operation: u64) -> String {
        format!("{}/{operation}", self.number)
    }

    /// The content that this operation inserts: dozens of leaves, and a string that is split.
    fn content(&self, operation: u64) -> Value {
        let rows: Vec<Value> = (0..20)
            .map(|row| json!({"row": row, "of": operation}))
            .collect();
        let long = if operation.is_multiple_of(5) {
            120_000
        } else {
            10
        };
        json!({"client": self.number, "rows": rows, "text": "x".repeat(long)})
    }

    /// One operation that changes four documents of two collections.
    fn body(&self, operation: u64) -> String {
        let query = "mutation($log: ID!, $count: ID!, $id: ID!, $n: JSON, $d: JSON) {
            append: replaceDocument(id: $log, path: \"/entries/-\", document: $n) { version }
            count: incrementDocument(id: $count, collection: \"counts\") { value version }
            all: incrementDocument(id: \"all\", collection: \"counts\") { key }
            insert: insertDocument(id: $id, document: $d) { version }
        }";
        let variables = json!({
            "log": self.log(), "count": self.count(), "n": operation,
            "id": self.document(operation), "d": self.content(operation),
        });
        json!({"query": query, "variables": variables}).to_string()
    }

    /// Sends the next operation. Returns `None` if the server ended before it responded.
    fn send(&self, address: &str) -> Option<Value> {
        let body = self.body(self.next);
        let key = format!("{}-{}", self.number, self.next);
        let headers = [
            JSON,
            ("idempotency-key", key.as_str()),
            ("connection", "close"),
        ];
        let mut stream = TcpStream::connect(address).ok()?;
        stream
            .write_all(head("POST", "/graphql", &headers, body.len()).as_bytes())
            .ok()?;
        stream.write_all(body.as_bytes()).ok()?;
        let mut response = String::new();
        stream.read_to_string(&mut response).ok()?;
        let (_, body) = response.split_once("\r\n\r\n")?;
        serde_json::from_str(body).ok()
    }

    /// Sends operations until the server ends or `stop` is set.
    fn run(&mut self, address: &str, stop: &AtomicBool) {
        while !stop.load(Relaxed) {
            let Some(answer) = self.send(address) else {
                return;
            };
            assert_eq!(answer.get("errors"), None, "{answer}");
            let count = answer["data"]["count"]["value"].as_u64();
            assert_eq!(
                count,
                Some(self.next + 1),
                "each took effect once: {answer}"
            );
            assert_eq!(
                answer["data"]["append"]["version"],
                answer["data"]["insert"]["version"]
            );
            self.next += 1;
        }
    }

    /// Asserts that all acknowledged operations are present, once and complete. The last one may be
    /// absent, because it was not acknowledged. Returns the number of operations.
    fn check(&self, server: &Server, sampled: u64) -> u64 {
        let (log, count) = (json!(self.log()), json!(self.count()));
        let found = server.query(&format!(
            "{{ log: document(id: {log}) {{ value }} count: document(id: {count}, collection: \"counts\") {{ value }} }}"
        ));
        let entries = &found["data"]["log"]["value"]["entries"];
        let entries = entries.as_array().expect("a log");
        let done = entries.len() as u64;
        assert!(
            (self.next..=self.next + 1).contains(&done),
            "{done} of {}",
            self.next
        );
        assert!(
            entries.iter().map(Value::as_u64).eq((0..done).map(Some)),
            "{entries:?}"
        );
        let counted = found["data"]["count"]["value"].as_u64().unwrap_or(0);
        assert_eq!(counted, done);
        for operation in (0..=done)
            .rev()
            .take(usize::try_from(sampled).expect("few"))
        {
            let id = json!(self.document(operation));
            let found = server.query(&format!("{{ document(id: {id}) {{ value }} }}"));
            let expected = if operation < done {
                self.content(operation)
            } else {
                Value::Null
            };
            let value = found["data"]["document"]
                .get("value")
                .cloned()
                .unwrap_or_default();
            assert_eq!(value, expected, "{id}");
        }
        done
    }
}

/// The standard output of a command on the store of a running server.
fn printed(server: &Server, command: &str, arguments: &[String]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_phyllo"))
        .arg(command)
        .args(arguments)
        .arg("--store")
        .arg(server.store())
        .output();
    let output = output.expect("the binary runs");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// Reads the changes since the last time. They must lead to the documents that are stored.
fn follow(server: &Server, collection: &str, replay: &mut Replay) {
    let arguments = replay.arguments(collection);
    replay.apply(&printed(server, "changes", &arguments));
    let collection = ["--collection", collection].map(str::to_owned);
    replay.assert_equals(&printed(server, "export", &collection));
}

#[test]
fn kills_lose_no_acknowledged_operation_and_leave_no_partial_one() {
    let mut clients: Vec<Client> = (0..CLIENTS)
        .map(|number| Client { number, next: 0 })
        .collect();
    let mut server = Server::with(&["--change-retention", "1h"]);
    let (mut documents, mut counts) = (Replay::default(), Replay::default());
    for client in &clients {
        let id = json!(client.log());
        let query =
            format!("mutation {{ insertDocument(id: {id}, document: {{entries: []}}) {{ key }} }}");
        assert_eq!(server.query(&query).get("errors"), None);
    }
    for kill in 0..KILLS {
        let stop = AtomicBool::new(false);
        let address = server.address.clone();
        let pause = Duration::from_millis(rand::random_range(5..200));
        std::thread::scope(|scope| {
            for client in &mut clients {
                scope.spawn(|| client.run(&address, &stop));
            }
            std::thread::sleep(pause);
            server.signal("KILL");
            stop.store(true, Relaxed);
        });
        server = Server::on(server.ended(), &[]);
        let sampled = if kill + 1 == KILLS { u64::MAX >> 1 } else { 3 };
        let done: u64 = clients
            .iter()
            .map(|client| client.check(&server, sampled))
            .sum();
        let all = server.query("{ document(id: \"all\", collection: \"counts\") { value } collections { name count } }");
        assert_eq!(all["data"]["document"]["value"].as_u64().unwrap_or(0), done);
        let collections = all["data"]["collections"].as_array().expect("collections");
        let in_d = collections
            .iter()
            .find(|collection| collection["name"] == json!("D"));
        assert_eq!(in_d.expect("D")["count"].as_u64(), Some(done + CLIENTS));
        follow(&server, "D", &mut documents);
        // The collection exists only once an operation is stored.
        if done > 0 {
            follow(&server, "counts", &mut counts);
        }
        let told = counts.changes.get("all").map_or(0, |told| *told as u64);
        assert_eq!(told, done, "each operation is told once");
    }
    let done: u64 = clients.iter().map(|client| client.next).sum();
    assert!(done > KILLS, "only {done} operations were acknowledged");
    // Each client retries its unacknowledged operation. It takes effect now or did before.
    for client in &mut clients {
        let before = client.check(&server, 1);
        let answer = client.send(&server.address).expect("an answer");
        assert_eq!(
            answer["data"]["count"]["value"].as_u64(),
            Some(client.next + 1),
            "{answer}"
        );
        client.next += 1;
        let after = client.check(&server, 2);
        assert_eq!(after, client.next);
        assert!(before == after || before + 1 == after);
    }
    follow(&server, "counts", &mut counts);
    // From the beginning, the log has the same.
    let mut again = Replay::default();
    follow(&server, "D", &mut again);
}
