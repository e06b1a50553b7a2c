//! What others notice while hostile requests run: a second client, and the process's memory.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::bounds::{Bounds, mib};
use super::client::{body, post};
use super::server::Server;

/// Between two requests of the second client.
const PAUSE: Duration = Duration::from_millis(5);
/// Between two looks at the directory.
const LOOK: Duration = Duration::from_millis(50);
/// Slow requests of the second client that are told.
const TOLD_MAX: usize = 5;

/// What was seen.
pub(crate) struct Seen {
    /// In order of time taken.
    latencies: Vec<Duration>,
    pub(crate) memory_peak: usize,
    /// The most bytes of disk that the store took.
    pub(crate) disk_peak: usize,
    /// What ran during slow requests of the second client.
    slow: Vec<(Duration, String)>,
    /// What ran when a look found the most memory held.
    large: (usize, String),
}

impl Seen {
    /// A percentile of the second client's latencies.
    pub(crate) fn latency(&self, percentile: usize) -> Duration {
        self.latencies[(self.latencies.len() - 1) * percentile / 100]
    }

    /// What was seen, in words.
    pub(crate) fn told(&self) -> String {
        let mut told = format!(
            "a second client: {} requests, p50 {:?}, p99 {:?}, slowest {:?}; memory {} at most; \
             disk {} at most",
            self.latencies.len(),
            self.latency(50),
            self.latency(99),
            self.latency(100),
            mib(self.memory_peak),
            mib(self.disk_peak),
        );
        for (latency, running) in &self.slow {
            // A string takes all.
            let _ = write!(told, "\n{latency:?} while these ran: {running}");
        }
        let (held, running) = &self.large;
        let _ = write!(told, "\n{} held while these ran: {running}", mib(*held));
        told
    }
}

/// The requests that run, one place for each client.
pub(crate) struct Running(Vec<Mutex<Option<String>>>);

impl Running {
    pub(crate) fn new(clients: usize) -> Self {
        Self((0..clients).map(|_| Mutex::new(None)).collect())
    }

    /// Notes what a client sends, until the next note.
    pub(crate) fn note(&self, client: usize, request: Option<String>) {
        *self.0[client]
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = request;
    }

    fn told(&self) -> String {
        let each = self.0.iter().filter_map(|request| {
            let request = request.lock().unwrap_or_else(PoisonError::into_inner);
            request.clone()
        });
        each.collect::<Vec<_>>().join("; ")
    }
}

/// Runs `work`, and watches until it ends.
pub(crate) fn during<T>(
    server: &Server,
    bounds: &Bounds,
    running: &Running,
    work: impl FnOnce() -> T,
) -> (T, Seen) {
    let (over, disk) = (AtomicBool::new(false), AtomicUsize::new(0));
    server.forget_memory_peak();
    let (done, latencies, mut slow, large) = thread::scope(|scope| {
        let second = scope.spawn(|| second_client(server, bounds, running, &over));
        let look = scope.spawn(|| {
            let mut large = (0, String::new());
            while !over.load(Relaxed) {
                disk.fetch_max(server.disk(), Relaxed);
                let held = server.memory_now();
                if held > large.0 {
                    large = (held, running.told());
                }
                thread::sleep(LOOK);
            }
            large
        });
        // The threads end also if the work fails.
        let ends = Ends(&over);
        let done = work();
        drop(ends);
        let (latencies, slow) = second.join().expect("the second client is answered");
        let large = look.join().expect("it looks");
        (done, latencies, slow, large)
    });
    slow.sort_by_key(|(latency, _)| std::cmp::Reverse(*latency));
    slow.truncate(TOLD_MAX);
    let seen = Seen {
        latencies,
        memory_peak: server.memory_peak(),
        disk_peak: disk.into_inner().max(server.disk()),
        slow,
        large,
    };
    (done, seen)
}

struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

type Slow = Vec<(Duration, String)>;

fn second_client(
    server: &Server,
    bounds: &Bounds,
    running: &Running,
    over: &AtomicBool,
) -> (Vec<Duration>, Slow) {
    let (mut client, mut latencies, mut slow) = (server.client(), Vec::new(), Vec::new());
    let request = post(&body("{ __typename }", "{}"));
    while !over.load(Relaxed) || latencies.is_empty() {
        let before = running.told();
        let begin = Instant::now();
        let answer = client.send(&request);
        let latency = begin.elapsed();
        // One that is not answered is the slowest of all.
        if let Some(answer) = answer {
            assert!(answer.is_data(), "{}", answer.json());
        }
        latencies.push(latency);
        if latency > bounds.slow() {
            slow.push((latency, format!("{before}; then {}", running.told())));
        }
        thread::sleep(PAUSE);
    }
    latencies.sort();
    (latencies, slow)
}
