//! Random connections that are left in the middle: requests that are not finished, and responses that
//! are not read, over all transports, beside writers.
//!
//! The bounds on memory and on a second client's latency hold while hundreds of them are open.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::json;

use super::bounds::Bounds;
use super::client::{body, post};
use super::generated::number;
use super::limits::Limits;
use super::server::{Server, alone};
use super::subscribed::write;
use super::watch::{Running, during};
use super::world;

const LEAVERS: usize = 4;
const WRITERS: usize = 2;
/// The connections of each thread that are open at the same time.
const OPEN_MAX: usize = 200;
/// The duration in seconds if `PHYLLO_HOSTILE_SECONDS` is not set.
const SECONDS: u64 = 30;
/// Time for which a client tries to send to a server that does not read.
const OFFER_TIME: Duration = Duration::from_millis(20);

#[test]
fn random_unfinished_requests_and_clients_that_do_not_read_stay_within_all_bounds() {
    let Some(_alone) = alone() else { return };
    let seed = number("PHYLLO_HOSTILE_SEED").unwrap_or_else(rand::random);
    let seconds = number("PHYLLO_HOSTILE_SECONDS").unwrap_or(SECONDS);
    println!("PHYLLO_HOSTILE_SEED={seed}");
    let limits = Limits::LOW;
    let bounds = Bounds::new(limits);
    let server = Server::start_with(&limits, &["--change-retention", "1h"]);
    let cursor = server.client().data("{ changesCursor }", &json!({}));
    let cursor = cursor["changesCursor"].as_str().expect("a cursor");
    world::fill(&mut server.client(), 1);
    let running = Running::new(LEAVERS + WRITERS);
    let end = Instant::now() + Duration::from_secs(seconds);
    let (left, seen) = during(&server, &bounds, &running, || {
        thread::scope(|scope| {
            let (server, running) = (&server, &running);
            let chance = |thread: usize| StdRng::seed_from_u64(seed.wrapping_add(thread as u64));
            let leavers: Vec<_> = (0..LEAVERS)
                .map(|thread| scope.spawn(move || leave(server, cursor, chance(thread), end)))
                .collect();
            for thread in LEAVERS..LEAVERS + WRITERS {
                scope.spawn(move || write(server, running, thread, chance(thread), end));
            }
            let left = leavers
                .into_iter()
                .map(|leaver| leaver.join().expect("it connects"));
            left.sum::<usize>()
        })
    });
    println!("{}\n{left} connections were left", seen.told());
    let mut violations = bounds.violations(&seen);
    violations.extend(server.stop_and_check());
    assert!(
        violations.is_empty(),
        "PHYLLO_HOSTILE_SEED={seed}: {violations:#?}"
    );
}

/// Opens connections and leaves each in a random state, for a random time. Returns how many.
fn leave(server: &Server, cursor: &str, mut chance: StdRng, end: Instant) -> usize {
    let mut open: Vec<TcpStream> = Vec::new();
    let mut left = 0;
    while Instant::now() < end {
        let mut stream = TcpStream::connect(&server.address).expect("it listens");
        stream
            .set_write_timeout(Some(OFFER_TIME))
            .expect("a socket");
        stream.set_read_timeout(Some(OFFER_TIME)).expect("a socket");
        let begun = begun(&mut chance, cursor);
        let _unread = stream.write_all(&begun);
        left += 1;
        if open.len() < OPEN_MAX {
            open.push(stream);
        } else {
            let at = chance.random_range(0..open.len());
            open[at] = stream;
        }
        // Some send or read a little more.
        let at = chance.random_range(0..open.len());
        match chance.random_range(0..4) {
            0 => {
                let more = vec![b'x'; chance.random_range(1..100_000)];
                let _unread = open[at].write_all(&more);
            }
            1 => {
                let mut taken = vec![0; chance.random_range(1..100_000)];
                let _nothing = open[at].read(&mut taken);
            }
            _ => {}
        }
    }
    left
}

/// What a client sends before it leaves its connection.
fn begun(chance: &mut StdRng, cursor: &str) -> Vec<u8> {
    let bytes = chance.random_range(1..300_000);
    let following = format!(
        "subscription {{ changes(collection: \"large\", after: \"{cursor}\") {{ u{}: cursor patch }} }}",
        chance.random_range(0..1_000)
    );
    match chance.random_range(0..10) {
        0 => format!("GET /graphql?query={}", "x".repeat(bytes.min(90_000))).into(),
        1 => part_of_a_body(bytes, ""),
        2 => part_of_a_body(bytes, "content-encoding: gzip\r\n"),
        3 => {
            let chunked = "POST /graphql HTTP/1.1\r\nhost: localhost\r\n\
                           content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
            let chunk = format!("{bytes:x}\r\n{}", "x".repeat(bytes));
            (chunked.to_owned() + &chunk).into()
        }
        4 => {
            let mut sent = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_vec();
            // A frame of headers that is not finished.
            sent.extend_from_slice(b"\0\x3f\xff\x01\0\0\0\0\x01");
            sent.resize(sent.len() + bytes.min(16_000), 0x40);
            sent
        }
        5 => websocket(&[(0x01, vec![b'x'; bytes])]),
        6 => {
            let subscribe =
                json!({"id": "1", "type": "subscribe", "payload": {"query": following}});
            websocket(&[
                (0x81, br#"{"type":"connection_init"}"#.to_vec()),
                (0x81, subscribe.to_string().into_bytes()),
                (0x01, vec![b'x'; bytes.min(200_000)]),
            ])
        }
        7 => {
            // A complete message, whose buffer stays, and a part of the next one.
            let pong = json!({"type": "pong", "payload": {"x": "x".repeat(bytes.min(200_000))}});
            websocket(&[
                (0x81, br#"{"type":"connection_init"}"#.to_vec()),
                (0x81, pong.to_string().into_bytes()),
                (0x01, vec![b'x'; bytes.min(200_000) / 2]),
            ])
        }
        8 => post(&body(
            "{ document(collection: \"arrays\", id: \"text\") { value } }",
            "null",
        )),
        _ => {
            let body = json!({"query": following}).to_string();
            format!(
                "POST /graphql HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n\
                 content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            )
            .into()
        }
    }
}

fn part_of_a_body(bytes: usize, header: &str) -> Vec<u8> {
    let head = format!(
        "POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{header}\
         content-length: {}\r\n\r\n",
        2 * bytes
    );
    (head + &"x".repeat(bytes)).into()
}

/// A handshake and frames, each with its first byte and its payload. Their masks change nothing.
fn websocket(frames: &[(u8, Vec<u8>)]) -> Vec<u8> {
    let handshake = "GET /graphql HTTP/1.1\r\nhost: localhost\r\nupgrade: websocket\r\n\
                     connection: upgrade\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
                     sec-websocket-version: 13\r\n\
                     sec-websocket-protocol: graphql-transport-ws\r\n\r\n";
    let mut sent = handshake.as_bytes().to_vec();
    for (first, payload) in frames {
        sent.extend_from_slice(&[*first, 0x80 | 127]);
        sent.extend_from_slice(&(payload.len() as u64).to_be_bytes());
        sent.extend_from_slice(&[0; 4]);
        sent.extend_from_slice(payload);
    }
    sent
}
