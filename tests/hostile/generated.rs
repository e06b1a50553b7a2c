//! Random hostile requests from eight clients, with bounds.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread;
use std::time::{Duration, Instant};

use super::after::{Ledger, check_answers};
use super::bounds::Bounds;
use super::client::Answer;
use super::limits::Limits;
use super::requests::{Kind, Maker, Request};
use super::server::{Server, alone};
use super::watch::{Running, during};
use super::{templates, world};

const CLIENTS: usize = 8;
/// The duration in seconds if `PHYLLO_HOSTILE_SECONDS` is not set.
const SECONDS: u64 = 60;
/// The number of violations that are printed in full.
const TOLD_MAX: usize = 20;
/// A larger store ends the run.
const DISK_MAX: usize = 8 << 30;

/// The error codes that generated requests may have.
const CODES: [&str; 15] = [
    "ALREADY_EXISTS",
    "BAD_USER_INPUT",
    "CONFLICT",
    "INVALID_PATH",
    "NOT_FOUND",
    "REFERENCE_VIOLATION",
    "TEST_FAILED",
    "TIMEOUT",
    "TOO_COMPLEX",
    "TOO_LARGE",
    "TYPE_MISMATCH",
    "UNAVAILABLE",
    "UNIQUE_VIOLATION",
    "VERSION_MISMATCH",
    "FORBIDDEN",
];

/// The totals of all clients.
#[derive(Default)]
struct Counted {
    committed: AtomicUsize,
    /// The disk growth allowed for indexes that were built.
    built: AtomicUsize,
}

/// The results of one client.
#[derive(Default)]
struct Outcome {
    ledger: Ledger,
    /// Responses by family and by error code. Data has no code.
    answers: BTreeMap<(&'static str, String), (usize, Duration)>,
    violations: Vec<String>,
}

#[test]
fn random_hostile_requests_stay_within_all_bounds() {
    let Some(_alone) = alone() else { return };
    let seed = number("PHYLLO_HOSTILE_SEED").unwrap_or_else(rand::random);
    let seconds = number("PHYLLO_HOSTILE_SECONDS").unwrap_or(SECONDS);
    let words = std::env::var("PHYLLO_HOSTILE_FAMILIES").unwrap_or_default();
    let words: Vec<String> = words.split(',').map(str::to_owned).collect();
    let words: Vec<String> = words.into_iter().filter(|word| !word.is_empty()).collect();
    println!("PHYLLO_HOSTILE_SEED={seed}");
    let limits = Limits::LOW;
    let bounds = Bounds::new(limits);
    let server = Server::start(&limits);
    world::fill(&mut server.client(), CLIENTS);
    world::fill_pages(&server);
    let templates = templates::of(&mut server.client());
    let before = server.disk();
    let (running, counted, over) = (
        Running::new(CLIENTS),
        Counted::default(),
        AtomicBool::new(false),
    );
    let end = Instant::now() + Duration::from_secs(seconds);
    let (outcomes, seen) = during(&server, &bounds, &running, || {
        thread::scope(|scope| {
            let clients: Vec<_> = (0..CLIENTS)
                .map(|number| {
                    let maker = Maker::new(seed, number, &words, &templates);
                    let (server, bounds, running) = (&server, &bounds, &running);
                    let (counted, over) = (&counted, &over);
                    scope.spawn(move || {
                        attack(number, maker, server, bounds, running, counted, || {
                            over.load(Relaxed) || Instant::now() >= end
                        })
                    })
                })
                .collect();
            while clients.iter().any(|client| !client.is_finished()) {
                if server.disk() > DISK_MAX {
                    over.store(true, Relaxed);
                }
                thread::sleep(Duration::from_millis(50));
            }
            let ended = clients.into_iter().map(thread::ScopedJoinHandle::join);
            ended.map(|end| end.expect("it ends")).collect::<Vec<_>>()
        })
    });
    println!("{}", seen.told());
    let mut violations = bounds.violations(&seen);
    let growth = seen.disk_peak.saturating_sub(before);
    let allowed = bounds.growth(counted.committed.load(Relaxed), counted.built.load(Relaxed));
    println!("the directory grew by {growth} bytes, of {allowed}");
    if growth > allowed {
        violations.push(format!(
            "the directory grew by {growth} bytes, of {allowed}"
        ));
    }
    tell(&outcomes);
    let ledgers: Vec<&Ledger> = outcomes.iter().map(|outcome| &outcome.ledger).collect();
    violations.extend(check_answers(&mut server.client(), &ledgers));
    violations.extend(server.stop_and_check());
    let requests = outcomes.iter().flat_map(|outcome| &outcome.violations);
    violations.extend(requests.cloned());
    let told = violations.iter().take(TOLD_MAX);
    let told: Vec<&str> = told.map(String::as_str).collect();
    assert!(
        violations.is_empty(),
        "PHYLLO_HOSTILE_SEED={seed}: {} violations\n{}",
        violations.len(),
        told.join("\n")
    );
}

/// Sends requests in sequence until the run is over.
fn attack(
    number: usize,
    mut maker: Maker,
    server: &Server,
    bounds: &Bounds,
    running: &Running,
    counted: &Counted,
    is_over: impl Fn() -> bool,
) -> Outcome {
    let (mut client, mut outcome) = (server.client(), Outcome::default());
    while !is_over() {
        let request = maker.request();
        running.note(number, Some(request.told.clone()));
        let answer = client.send(&request.bytes);
        running.note(number, None);
        let Some(answer) = answer else {
            let mutation = matches!(request.kind, Kind::Mutation { .. });
            outcome.ledger.unanswered += usize::from(mutation);
            let told = format!("no answer: {}: {}", request.family, request.told);
            outcome.violations.push(told);
            continue;
        };
        outcome.note(&request, &answer, bounds);
        if let Kind::Mutation { builds, .. } = request.kind
            && answer.is_data()
        {
            outcome.ledger.committed += 1;
            counted.committed.fetch_add(1, Relaxed);
            if builds {
                // Entries contain the values of their leaves, and the stored data is not larger
                // than the disk.
                counted.built.fetch_add(server.disk(), Relaxed);
            }
        }
    }
    outcome
}

impl Outcome {
    fn note(&mut self, request: &Request, answer: &Answer, bounds: &Bounds) {
        let codes = answer.codes();
        let family = (request.family, codes.join(" "));
        let (count, slowest) = self.answers.entry(family).or_default();
        *count += 1;
        *slowest = answer.time.max(*slowest);
        let mut wrong = |what: String| {
            let told = format!("{what}: {}: {}", request.family, request.told);
            self.violations.push(told);
        };
        let most = bounds.time();
        if answer.time > most {
            wrong(format!("{:?}, of {most:?}", answer.time));
        }
        if answer.bytes > bounds.response_bytes() {
            wrong(format!(
                "{} bytes, of {}",
                answer.bytes,
                bounds.response_bytes()
            ));
        }
        let aborted = matches!(request.kind, Kind::Mutation { aborted: true, .. });
        if aborted && answer.is_data() {
            wrong("what always fails succeeded".to_owned());
        }
        for code in &codes {
            if !CODES.contains(&&**code) {
                wrong(format!("{code}, with status {}", answer.status));
            }
        }
    }
}

/// Prints the number of responses of each family and code, and their maximum duration.
fn tell(outcomes: &[Outcome]) {
    let mut all: BTreeMap<&(&str, String), (usize, Duration)> = BTreeMap::new();
    for (family, (count, slowest)) in outcomes.iter().flat_map(|outcome| &outcome.answers) {
        let (all, longest) = all.entry(family).or_default();
        *all += count;
        *longest = (*slowest).max(*longest);
    }
    for ((family, codes), (count, slowest)) in all {
        let codes = if codes.is_empty() { "data" } else { codes };
        println!("{family}: {count} times {codes}, {slowest:?} at most");
    }
}

pub(super) fn number(variable: &str) -> Option<u64> {
    let value = std::env::var(variable).ok()?;
    Some(value.parse().expect("a number"))
}
