//! The cost of rejecting hostile requests: CPU time of the server process per request, and the
//! latency of a second client meanwhile. For small requests that demand much work, it is the time
//! until each is rejected or answered.
//!
//! The server is the real binary in its own process, because Linux measures CPU time per process.
//!
//! `cargo bench --bench refusals -- nulls` runs only the inputs whose names contain `nulls`.

#![expect(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

#[path = "refusals/inputs.rs"]
mod inputs;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};
use std::{fs, thread};

use inputs::{Expensive, Input, expensive, inputs, post, stored};

/// How long each input is repeated. Linux reports CPU time in hundredths of a second.
const TURN: Duration = Duration::from_secs(2);
const MIB: f64 = 1024.0 * 1024.0;
/// The CPU time budget of a rejection: a constant in milliseconds, and one per MiB received.
const GOAL_MS: f64 = 5.0;
const GOAL_MS_PER_MIB: f64 = 2.0;
/// The latency budget of a second client during expensive requests, in milliseconds.
const GOAL_P99_MS: f64 = 50.0;
const GOAL_WORST_MS: f64 = 250.0;
/// How long a second client is measured after an expensive request was answered, because work may
/// continue.
const AFTERWARDS: Duration = Duration::from_secs(1);
/// The bytes of a response that are stored.
const ANSWER_BYTES_KEPT: usize = 64 << 10;

fn main() {
    let directory = tempfile::tempdir().expect("a directory");
    let server = Server::start(directory.path());
    let insert = r#"{"query": "mutation { insertDocument(id: 1, document: {a: 1}) { key } }"}"#;
    let (_, answer) = server.exchange(&post("", insert.as_bytes()));
    assert!(answer.contains("\"data\""), "{answer}");
    let idle = second_client(&server.address, || thread::sleep(TURN));
    println!("a second client, alone: {idle}");
    let only = std::env::args().skip(1).find(|name| !name.starts_with('-'));
    let wanted = |name: &str| only.as_ref().is_none_or(|only| name.contains(&**only));
    let mut over = 0;
    for input in inputs().into_iter().filter(|input| wanted(input.name)) {
        over += usize::from(!measure(&server, &input));
    }
    println!("{over} refusals take more than {GOAL_MS} ms and {GOAL_MS_PER_MIB} ms a MiB received");
    let expensive: Vec<Expensive> = expensive()
        .into_iter()
        .filter(|one| wanted(one.name))
        .collect();
    if expensive.is_empty() {
        return;
    }
    for request in stored() {
        // The last request creates an index, which must become `READY`.
        loop {
            let (_, answer) = server.exchange(&request);
            assert!(!answer.contains("\"errors\""), "{answer:.300}");
            if !answer.contains("BUILDING") {
                break;
            }
            thread::sleep(Duration::from_millis(100));
        }
    }
    let over = expensive
        .iter()
        .filter(|one| !measure_expensive(&server, one));
    let over = over.count();
    println!(
        "{over} requests keep a second client waiting past {GOAL_P99_MS} or {GOAL_WORST_MS} ms"
    );
}

/// Measures an expensive request. Returns whether the second client is within the goals.
fn measure_expensive(server: &Server, one: &Expensive) -> bool {
    let mut answers = Vec::new();
    let waited = waiting(&server.address, || {
        answers = thread::scope(|scope| {
            let clients: Vec<_> = (0..one.clients)
                .map(|_| {
                    scope.spawn(|| {
                        let begin = Instant::now();
                        let (bytes, answer) = counted(&server.address, &one.request);
                        (begin.elapsed(), bytes, code(&answer))
                    })
                })
                .collect();
            let ended = clients.into_iter().map(thread::ScopedJoinHandle::join);
            ended.map(|end| end.expect("it ends")).collect()
        });
        thread::sleep(AFTERWARDS);
    });
    let within = at(&waited, 99) <= GOAL_P99_MS && at(&waited, 100) <= GOAL_WORST_MS;
    let slowest = answers.iter().map(|(time, ..)| *time).max();
    let bytes = answers.iter().map(|(_, bytes, _)| *bytes).max();
    let mut codes: Vec<&str> = answers.iter().map(|(.., code)| &**code).collect();
    codes.sort_unstable();
    codes.dedup();
    println!(
        "{}: {codes:?} after {:.0} ms at most, {:.3} MiB; a second client: {}{}",
        one.name,
        slowest.unwrap_or_default().as_secs_f64() * 1e3,
        bytes.unwrap_or_default() as f64 / MIB,
        told(&waited),
        if within { "" } else { " (MISSED)" }
    );
    within
}

/// The code of the first error, or `data` if there is none.
fn code(answer: &str) -> String {
    let code = answer.split("\"extensions\":{\"code\":\"").nth(1);
    let code = code.and_then(|rest| rest.split('"').next());
    code.unwrap_or("data").to_owned()
}

/// Measures one input. Returns whether it is within the goal.
fn measure(server: &Server, input: &Input) -> bool {
    let (_, answer) = server.exchange(&input.request);
    assert!(answer.contains(input.told), "{}: {answer:.300}", input.name);
    let (mut refusals, mut received, mut cpu) = (0_u64, 0, 0.0);
    let latency = second_client(&server.address, || {
        let (before, begin) = (server.cpu(), Instant::now());
        while begin.elapsed() < TURN {
            received += server.exchange(&input.request).0;
            refusals += 1;
        }
        cpu = server.cpu() - before;
    });
    let each = cpu / refusals as f64;
    let mib = received.max(input.decoded * refusals) as f64 / MIB / refusals as f64;
    let goal = GOAL_MS + GOAL_MS_PER_MIB * mib;
    let within = each <= goal;
    println!(
        "{}: {each:.2} ms CPU each, of {mib:.3} MiB (goal {goal:.1} ms{}); a second client: {latency}",
        input.name,
        if within { "" } else { ", MISSED" }
    );
    within
}

/// Measures the latency of a client that reads a small value during `work`. Its CPU time is
/// included in the result, but small.
fn second_client(address: &str, work: impl FnOnce()) -> String {
    told(&waiting(address, work))
}

/// Like [`second_client`], but returns all latencies in milliseconds, sorted.
fn waiting(address: &str, work: impl FnOnce()) -> Vec<f64> {
    let stop = Arc::new(AtomicBool::new(false));
    let (stopped, address) = (stop.clone(), address.to_owned());
    let client = thread::spawn(move || {
        let mut latencies = Vec::new();
        let request = post("", br#"{"query": "{ document(id: 1) { value } }"}"#);
        while !stopped.load(Relaxed) {
            let begin = Instant::now();
            let (_, answer) = exchange(&address, &request);
            assert!(
                answer.ends_with(r#"{"data":{"document":{"value":{"a":1}}}}"#),
                "{answer}"
            );
            latencies.push(begin.elapsed().as_secs_f64() * 1e3);
            thread::sleep(Duration::from_millis(10));
        }
        latencies
    });
    work();
    stop.store(true, Relaxed);
    let mut latencies = client.join().expect("it is answered");
    latencies.sort_by(f64::total_cmp);
    latencies
}

/// A percentile of the latencies.
fn at(latencies: &[f64], share: usize) -> f64 {
    latencies[(latencies.len() - 1) * share / 100]
}

fn told(latencies: &[f64]) -> String {
    format!(
        "p50 {:.2} ms, p99 {:.2} ms, worst {:.2} ms",
        at(latencies, 50),
        at(latencies, 99),
        at(latencies, 100)
    )
}

struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(directory: &Path) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_phyllo"))
            .args(["serve", "--listen", "127.0.0.1:0", "--store"])
            .arg(directory)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let mut line = String::new();
        let mut stdout = BufReader::new(process.stdout.take().expect("a pipe"));
        stdout.read_line(&mut line).expect("a line");
        let address = line.trim().strip_prefix("Phyllo serves on http://");
        let address = address.and_then(|address| address.strip_suffix('/'));
        let address = address.expect("an address").to_owned();
        // The rest of the output is not read. It fits in the pipe.
        std::mem::forget(stdout);
        Self { process, address }
    }

    fn exchange(&self, request: &[u8]) -> (u64, String) {
        exchange(&self.address, request)
    }

    /// The CPU time of the process so far, in milliseconds.
    fn cpu(&self) -> f64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id()));
        let stat = stat.expect("Linux tells");
        let (_, fields) = stat.rsplit_once(')').expect("a name in parentheses");
        // utime and stime, in ticks of 10 ms on every Linux.
        let ticks = fields.split_whitespace().skip(11).take(2);
        let ticks = ticks.map(|ticks| ticks.parse::<u64>().expect("a number"));
        10.0 * ticks.sum::<u64>() as f64
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _killed = self.process.kill();
        let _ended = self.process.wait();
    }
}

/// Sends a request on a new connection. Returns the bytes that the server read, and the response.
fn exchange(address: &str, request: &[u8]) -> (u64, String) {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.set_nodelay(true).expect("a socket");
    let mut taken = 0;
    // The server may respond and close before it has read everything.
    while taken < request.len() {
        match stream.write(&request[taken..]) {
            Ok(bytes) if bytes > 0 => taken += bytes,
            _ => break,
        }
    }
    let mut answer = Vec::new();
    let _ended = stream.read_to_end(&mut answer);
    (taken as u64, String::from_utf8_lossy(&answer).into_owned())
}

/// Sends a request on a new connection. Returns the size of the response, and its beginning.
fn counted(address: &str, request: &[u8]) -> (usize, String) {
    let mut stream = TcpStream::connect(address).expect("the server listens");
    stream.set_nodelay(true).expect("a socket");
    // The server may respond and close before it has read everything.
    let _refused = stream.write_all(request);
    let (mut bytes, mut kept, mut buffer) = (0, Vec::new(), vec![0; 64 << 10]);
    while let Ok(read) = stream.read(&mut buffer)
        && read > 0
    {
        bytes += read;
        let more = read.min(ANSWER_BYTES_KEPT.saturating_sub(kept.len()));
        kept.extend_from_slice(&buffer[..more]);
    }
    (bytes, String::from_utf8_lossy(&kept).into_owned())
}
