//! `--url`, when connections are cut: before, in the middle of and after a request.

use std::collections::{BTreeSet, VecDeque};
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use super::transports::Reached;

/// When a connection is cut.
#[derive(Clone, Copy)]
enum Cut {
    /// After so many bytes of requests.
    Request(usize),
    /// After so many bytes of responses.
    Response(usize),
}

/// A port that forwards connections to a server, and cuts the first ones.
struct CuttingProxy {
    url: String,
    cuts: Arc<Mutex<VecDeque<Cut>>>,
}

impl CuttingProxy {
    fn before(server: &Reached, cuts: &[Cut]) -> Self {
        let target = server.url().strip_prefix("http://").expect("a URL");
        let target = target.trim_end_matches('/').to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let proxy = Self {
            url: format!("http://{}", listener.local_addr().expect("an address")),
            cuts: Arc::new(Mutex::new(cuts.iter().copied().collect())),
        };
        let cuts = proxy.cuts.clone();
        thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.expect("a connection");
                let cut = cuts.lock().expect("no panic").pop_front();
                let (requests, responses) = match cut {
                    Some(Cut::Request(bytes)) => (bytes, usize::MAX),
                    Some(Cut::Response(bytes)) => (usize::MAX, bytes),
                    None => (usize::MAX, usize::MAX),
                };
                let server = TcpStream::connect(&target).expect("a server");
                let copy = |stream: &TcpStream| stream.try_clone().expect("a handle");
                let (from, to) = (copy(&client), copy(&server));
                thread::spawn(move || forward(from, to, requests));
                thread::spawn(move || forward(server, client, responses));
            }
        });
        proxy
    }

    /// Asserts that all cuts have been made.
    fn is_used_up(&self) {
        assert!(self.cuts.lock().expect("no panic").is_empty());
    }
}

/// Forwards bytes until one side closes the connection, or until bytes come that are not forwarded.
fn forward(mut from: TcpStream, mut to: TcpStream, mut left: usize) {
    let mut buffer = vec![0; 8 << 10];
    while let Ok(bytes @ 1..) = from.read(&mut buffer) {
        let forwarded = bytes.min(left);
        left -= forwarded;
        if to.write_all(&buffer[..forwarded]).is_err() || forwarded < bytes {
            break;
        }
    }
    // Either may be closed already.
    let _closed = from.shutdown(Shutdown::Both);
    let _closed = to.shutdown(Shutdown::Both);
}

const DOCUMENTS: usize = 5_000;

/// Documents without ids: a batch that is written twice makes more of them.
fn lines() -> String {
    let line = |n: usize| format!("{{\"n\":{n},\"text\":\"{}\"}}\n", "x".repeat(60));
    (0..DOCUMENTS).map(line).collect()
}

#[test]
fn an_import_survives_cut_connections_without_loss_or_repetition() {
    let server = Reached::at_url(&[], "");
    let proxy = CuttingProxy::before(
        &server,
        &[
            // In the middle of the first batch, which follows a request for the type of the collection, before it,
            // and after all of it was written.
            Cut::Request(50_000),
            Cut::Request(0),
            Cut::Response(0),
            Cut::Response(150),
            // In the middle of a later batch.
            Cut::Request(250_000),
            Cut::Response(500),
        ],
    );
    let command = [
        "import",
        "-",
        "--collection",
        "imported",
        "--url",
        &proxy.url,
    ];
    let imported = server.store.run_on(lines(), &command).expect(0);
    imported.says("5000 created");
    proxy.is_used_up();
    let stored = server.out(&["export", "--collection", "imported"]);
    let number = |line: &str| -> u64 {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        line["document"]["n"].as_u64().expect("a number")
    };
    assert_eq!(stored.lines().count(), DOCUMENTS);
    let numbers: BTreeSet<u64> = stored.lines().map(number).collect();
    assert_eq!(numbers.len(), DOCUMENTS);
}

#[test]
fn a_write_whose_response_is_lost_is_reported_as_unknown() {
    let server = Reached::at_url(&[], "");
    let cuts = [
        Cut::Response(0),
        Cut::Request(20),
        Cut::Request(0),
        Cut::Response(50),
    ];
    let proxy = CuttingProxy::before(&server, &cuts);
    for id in ["a", "b", "c", "d"] {
        let put = server.store.run(&["put", id, "1", "--url", &proxy.url]);
        put.expect(1).says("may or may not be committed");
    }
    proxy.is_used_up();
    assert_eq!(server.out(&["get", "a"]), "1\n");
    assert_eq!(server.out(&["get", "d"]), "1\n");
    server.run(&["get", "b"]).expect(1);
    let put = ["put", "b", "2", "--url", &proxy.url];
    server.store.run(&put).expect(0);
    assert_eq!(server.out(&["get", "b"]), "2\n");
}

#[test]
fn a_read_without_a_response_is_sent_again_and_says_nothing_of_writes() {
    let server = Reached::at_url(&[], "");
    server.run(&["put", "a", "1"]).expect(0);
    let (nothing, half) = (Cut::Response(0), Cut::Response(50));
    let query = "{ document(id: \"a\") { value } }";
    let answered = "{\"data\":{\"document\":{\"value\":1}}}\n";
    for (cuts, command, expected) in [
        (&[nothing][..], ["get", "a"], Some("1\n")),
        (&[nothing, nothing][..], ["get", "a"], None),
        (&[nothing][..], ["query", query], Some(answered)),
        (&[nothing, half][..], ["query", query], None),
    ] {
        let proxy = CuttingProxy::before(&server, cuts);
        let [name, argument] = command;
        let ran = server
            .store
            .run(&[name, argument, "--url", &proxy.url])
            .expect(i32::from(expected.is_none()));
        if let Some(expected) = expected {
            assert_eq!(ran.out, expected);
        } else {
            let ran = ran.says("the connection to the server was closed");
            assert!(!ran.err.contains("committed"), "{}", ran.err);
        }
        proxy.is_used_up();
    }
}

#[test]
fn an_import_reads_the_type_again_after_a_cut() {
    let server = Reached::at_url(&[], "");
    let proxy = CuttingProxy::before(&server, &[Cut::Response(0)]);
    let import = ["import", "-", "--url", &proxy.url];
    server.store.run_on("{}\n", &import).expect(0);
    proxy.is_used_up();
}

#[test]
fn an_export_that_is_cut_fails() {
    let server = Reached::at_url(&[], "");
    server.run_on(&lines(), &["import", "-"]).expect(0);
    // A request without a response is sent again once.
    let cuts = [Cut::Response(100_000), Cut::Response(0), Cut::Response(0)];
    let proxy = CuttingProxy::before(&server, &cuts);
    for _ in 0..2 {
        let export = server.store.run(&["export", "--url", &proxy.url]);
        export.expect(1).says("the connection");
    }
    let export = server.store.run(&["export", "--url", &proxy.url]);
    assert_eq!(export.expect(0).out.lines().count(), DOCUMENTS);
}
