//! Kills the server process at random moments while four clients upload lines. What was reported as written must
//! be there, and an upload that is sent again with its key writes nothing twice.

use std::fmt::Write as _;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::{NDJSON, get, put};
use crate::skip::runs_long_tests;
use crate::support::{Server, head};

const CLIENTS: usize = 4;
/// More than two batches.
const LINES: usize = 2_500;
const KILLS: usize = 4;
const KILLS_OF_LONG_TESTS: usize = 200;

/// `PHYLLO_UPLOAD_KILLS`, or so many for the normal or the long tests.
fn kills() -> usize {
    match std::env::var("PHYLLO_UPLOAD_KILLS") {
        Ok(kills) => kills.parse().expect("PHYLLO_UPLOAD_KILLS is a number"),
        Err(_) if runs_long_tests() => KILLS_OF_LONG_TESTS,
        Err(_) => KILLS,
    }
}

/// A client that sends numbered uploads in sequence.
struct Client {
    number: usize,
    /// The number of the upload to send next, or again.
    upload: usize,
    /// The lines of this upload that were reported as written.
    written: usize,
}

impl Client {
    fn key(&self, upload: usize, line: usize) -> String {
        format!("{}-{upload}-{line}", self.number)
    }

    /// In even uploads lines insert, so that one that is written twice is rejected. In odd ones they replace, so that
    /// one that is written twice undoes a later change.
    fn inserts(upload: usize) -> bool {
        upload.is_multiple_of(2)
    }

    fn body(&self, upload: usize) -> String {
        let mut body = String::new();
        for line in 0..LINES {
            let key = self.key(upload, line);
            writeln!(
                body,
                "{{\"id\":\"{key}\",\"document\":{{\"line\":{line},\"of\":[{upload}]}}}}"
            )
            .expect("a string takes all");
        }
        body
    }

    /// Sends an upload, and reads reports until the last one, or until the server ends. Returns the last report.
    fn send(&self, address: &str, upload: usize) -> Option<Value> {
        let body = self.body(upload);
        let key = format!("{}-{upload}", self.number);
        let headers = [NDJSON, ("idempotency-key", &*key), ("connection", "close")];
        let mode = if Self::inserts(upload) {
            "insert"
        } else {
            "replace"
        };
        let path = format!("/documents/bulk?mode={mode}&onError=continue");
        let mut stream = TcpStream::connect(address).ok()?;
        let mut sender = stream.try_clone().ok()?;
        let head = head("POST", &path, &headers, body.len());
        // The report is read while the body is sent.
        let sending = thread::spawn(move || {
            let _sent = sender.write_all(head.as_bytes());
            let _sent = sender.write_all(body.as_bytes());
        });
        let mut response = Vec::new();
        // A reset also ends it. What arrived before was reported.
        let _ended = stream.read_to_end(&mut response);
        sending.join().expect("it ends");
        let response = String::from_utf8(response).expect("UTF-8");
        let reports = response
            .lines()
            .filter(|line| line.starts_with('{') && line.ends_with('}'));
        let mut reports = reports.map(|line| serde_json::from_str(line).expect("JSON"));
        reports.next_back()
    }

    /// Sends uploads until the server ends or `stop` is set.
    fn run(&mut self, address: &str, stop: &AtomicBool) {
        while !stop.load(Relaxed) {
            let Some(report) = self.send(address, self.upload) else {
                return;
            };
            assert_eq!(report["rejected"], 0, "a line was written twice: {report}");
            let written = report["written"].as_u64().expect("a number");
            let written = usize::try_from(written).expect("few");
            self.written = self.written.max(written);
            if report["done"] != true {
                return;
            }
            assert_eq!(written, LINES, "{report}");
            (self.upload, self.written) = (self.upload + 1, 0);
        }
    }

    /// Asserts that what was reported as written is there.
    fn check(&self, server: &Server) {
        let done = self.upload.checked_sub(1).map(|upload| (upload, LINES));
        for (upload, written) in done.into_iter().chain([(self.upload, self.written)]) {
            let Some(last) = written.checked_sub(1) else {
                continue;
            };
            for line in [0, last / 2, last] {
                let found = get(
                    server,
                    &format!("/documents/bulk/{}", self.key(upload, line)),
                );
                let expected = json!({"line": line, "of": [upload]});
                assert_eq!(
                    (found.status, found.json()),
                    (200, expected),
                    "{line} of {upload}"
                );
            }
        }
    }

    /// Completes the upload that was cut, and sends all again after one document of each was changed.
    fn complete(&mut self, server: &Server) {
        let next = self.upload;
        while self.upload == next {
            self.run_once(server);
        }
        for upload in 0..self.upload {
            let changed = self.key(upload, upload % LINES);
            put(server, &format!("/documents/bulk/{changed}"), "\"changed\"");
            let again = self.send(&server.address, upload).expect("a report");
            let expected = json!({"lines": LINES, "written": LINES, "rejected": 0, "done": true});
            assert_eq!(again, expected);
            let found = get(server, &format!("/documents/bulk/{changed}"));
            assert_eq!(found.body, "\"changed\"", "{upload}");
        }
    }

    fn run_once(&mut self, server: &Server) {
        let report = self.send(&server.address, self.upload).expect("a report");
        assert_eq!(
            (&report["done"], &report["rejected"]),
            (&json!(true), &json!(0)),
            "{report}"
        );
        (self.upload, self.written) = (self.upload + 1, 0);
    }
}

#[test]
fn kills_lose_no_reported_line_and_repeat_none() {
    let mut clients: Vec<Client> = (0..CLIENTS)
        .map(|number| Client {
            number,
            upload: 0,
            written: 0,
        })
        .collect();
    let kills = kills();
    let mut cut = 0;
    let mut server = Server::start();
    for _ in 0..kills {
        let stop = AtomicBool::new(false);
        let address = server.address.clone();
        let pause = Duration::from_millis(rand::random_range(20..1_500));
        thread::scope(|scope| {
            for client in &mut clients {
                scope.spawn(|| client.run(&address, &stop));
            }
            thread::sleep(pause);
            server.signal("KILL");
            stop.store(true, Relaxed);
        });
        server = Server::on(server.ended(), &[]);
        for client in &clients {
            client.check(&server);
            cut += usize::from(client.written > 0);
        }
    }
    for client in &mut clients {
        client.complete(&server);
    }
    let uploads: usize = clients.iter().map(|client| client.upload).sum();
    println!("{kills} kills, {uploads} uploads, {cut} were cut after a report");
    let count = server.query(r#"{ documents(collection: "bulk", first: 1) { totalCount } }"#);
    assert_eq!(count["data"]["documents"]["totalCount"], uploads * LINES);
    let export = get(&server, "/documents/bulk").body;
    assert_eq!(export.lines().count(), uploads * LINES);
    assert_eq!(export.matches("\"changed\"").count(), uploads);
}
