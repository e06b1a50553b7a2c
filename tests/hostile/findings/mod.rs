//! Requests that once exceeded a bound, and their variants. Each is rejected with a suitable code
//! or answered correctly, and all bounds hold meanwhile.
//!
//! Limits are low and documents small, so that a debug build takes seconds.

mod filters;
mod parts;
mod reads;
mod references;
mod responses;
mod sorts;
mod writes;

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::bounds::Bounds;
use super::client::{Answer, body, post};
use super::limits::Limits;
use super::server::{Server, is_release};
use super::watch::{Running, Seen, during};

/// How long a small write may wait for other writers.
const WRITER_WAIT_MAX: Duration = Duration::from_secs(2);
/// The same for a debug build.
const WRITER_WAIT_DEBUG_MAX: Duration = Duration::from_secs(10);

/// A server, and the violations so far.
struct Case {
    server: Server,
    bounds: Bounds,
    violations: Vec<String>,
}

/// The expected outcome of a request.
#[derive(Clone)]
enum Expected {
    /// One of these codes.
    Refused(&'static [&'static str]),
    /// One of these codes, or this data.
    RefusedOr(&'static [&'static str], Value),
    /// This data.
    Data(Value),
    /// Any response within the bounds.
    Bounded,
}

impl Case {
    fn new(limits: Limits) -> Self {
        Self {
            server: Server::start(&limits),
            bounds: Bounds::new(limits),
            violations: Vec::new(),
        }
    }

    /// Sends requests concurrently, each from its own client.
    fn check(&mut self, name: &str, requests: &[Vec<u8>], expected: &Expected) -> Vec<Answer> {
        let (server, running) = (&self.server, Running::new(1));
        running.note(0, Some(name.to_owned()));
        let before = server.disk();
        let (answers, seen) = during(server, &self.bounds, &running, || {
            thread::scope(|scope| {
                let sent: Vec<_> = requests
                    .iter()
                    .map(|request| scope.spawn(|| server.client().send(request)))
                    .collect();
                let answers = sent.into_iter().map(thread::ScopedJoinHandle::join);
                let answers = answers.map(|answer| answer.expect("it ends"));
                answers.collect::<Vec<_>>()
            })
        });
        let answers: Vec<Answer> = answers.into_iter().flatten().collect();
        if answers.len() < requests.len() {
            self.violations
                .push(format!("{name}: not all are answered"));
        }
        self.note(name, &answers, &seen, expected);
        let committed = answers.iter().filter(|answer| answer.is_data()).count();
        self.note_growth(name, seen.disk_peak.saturating_sub(before), committed);
        answers
    }

    /// Like [`Case::check`], for one query.
    fn check_query(&mut self, name: &str, query: &str, variables: &str, expected: &Expected) {
        self.check(name, &[post(&body(query, variables))], expected);
    }

    /// Like [`Case::check_query`], while another client writes.
    fn check_write(&mut self, name: &str, query: &str, variables: &str, expected: &Expected) {
        let request = post(&body(query, variables));
        let small =
            "mutation { incrementDocument(collection: \"second\", id: \"writer\") { kind } }";
        let mut client = self.server.client();
        client.data(small, &json!({}));
        let (server, bounds) = (&self.server, &self.bounds);
        let before = server.disk();
        let ((answer, waited, others, failed), seen) =
            during(server, bounds, &Running::new(1), || {
                thread::scope(|scope| {
                    let sent = scope.spawn(|| server.client().send(&request));
                    let (mut waited, mut others, mut failed) = (Duration::ZERO, 0, false);
                    while !sent.is_finished() || others == 0 {
                        let answer = client.send(&post(&body(small, "{}"))).expect("it answers");
                        failed |= !answer.is_data();
                        waited = answer.time.max(waited);
                        others += 1;
                        thread::sleep(Duration::from_millis(5));
                    }
                    (sent.join().expect("it ends"), waited, others, failed)
                })
            });
        let answer = answer.expect("it answers");
        let most = if is_release() {
            WRITER_WAIT_MAX
        } else {
            WRITER_WAIT_DEBUG_MAX
        };
        println!("{name}: {others} small writes, {waited:?} at most");
        if failed || waited > most {
            self.violations.push(format!(
                "{name}: a small write waited {waited:?}, of {most:?}, and failed: {failed}"
            ));
        }
        let committed = usize::from(answer.is_data());
        self.note(name, &[answer], &seen, expected);
        self.note_growth(name, seen.disk_peak.saturating_sub(before), committed);
    }

    fn note(&mut self, name: &str, answers: &[Answer], seen: &Seen, expected: &Expected) {
        for violation in self.bounds.violations(seen) {
            self.violations.push(format!("{name}: {violation}"));
        }
        let slowest = answers.iter().map(|answer| answer.time).max();
        let all: BTreeSet<String> = answers.iter().flat_map(Answer::codes).collect();
        println!("{name}: {all:?} after {slowest:?} at most; {}", seen.told());
        for answer in answers {
            let codes = answer.codes();
            if answer.time > self.bounds.time() {
                let (time, most) = (answer.time, self.bounds.time());
                self.violations
                    .push(format!("{name}: {time:?}, of {most:?}"));
            }
            if answer.bytes > self.bounds.response_bytes() {
                let (bytes, most) = (answer.bytes, self.bounds.response_bytes());
                self.violations
                    .push(format!("{name}: {bytes} bytes, of {most}"));
            }
            if let Some(wrong) = expected.wrong(answer, &codes) {
                self.violations.push(format!("{name}: {wrong}"));
            }
        }
        let mut known = BTreeSet::new();
        self.violations
            .retain(|violation| known.insert(violation.clone()));
    }

    fn note_growth(&mut self, name: &str, growth: usize, committed: usize) {
        let most = self.bounds.growth(committed, 0);
        println!("{name}: the directory grew by {growth} bytes, of {most}");
        if growth > most {
            self.violations.push(format!(
                "{name}: the directory grew by {growth} bytes, of {most}"
            ));
        }
    }

    /// Asserts that there are no violations and the store is sound.
    fn end(mut self) {
        self.violations.extend(self.server.stop_and_check());
        let violations = self.violations.join("\n");
        assert!(violations.is_empty(), "{violations}");
    }
}

impl Expected {
    fn wrong(&self, answer: &Answer, codes: &[String]) -> Option<String> {
        let is_one_of = |known: &[&str]| matches!(codes, [only] if known.contains(&&**only));
        let is = |data: &Value| codes.is_empty() && answer.json()["data"] == *data;
        let right = match self {
            Self::Refused(known) => is_one_of(known),
            Self::RefusedOr(known, data) => is_one_of(known) || is(data),
            Self::Data(data) => is(data),
            // Fields of one response can exceed different limits.
            Self::Bounded => codes.iter().all(|code| BOUNDED.contains(&&**code)),
        };
        (!right).then(|| {
            let begin: String = answer.text().chars().take(300).collect();
            format!("{codes:?}, with status {}: {begin}", answer.status)
        })
    }
}

/// The codes of requests that exceed a limit.
const BOUNDED: &[&str] = &["TOO_COMPLEX", "TOO_LARGE", "TIMEOUT", "UNAVAILABLE"];
