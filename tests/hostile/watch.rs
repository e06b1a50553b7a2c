//! Measures a second client, and the memory and disk use of the process, during hostile requests.

use std::fmt::Write as _;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::bounds::{Bounds, mib};
use super::client::{body, post};
use super::server::Server;

/// The pause between two requests of the second client.
const PAUSE: Duration = Duration::from_millis(5);
/// The interval of measurements of the directory.
const LOOK: Duration = Duration::from_millis(50);
/// The number of slow requests of the second client that are printed.
const TOLD_MAX: usize = 5;

/// The measurements.
pub(crate) struct Seen {
    /// Sorted.
    latencies: Vec<Duration>,
    pub(crate) memory_peak: usize,
    /// The peak disk space of the store, in bytes.
    pub(crate) disk_peak: usize,
    /// The requests that ran during slow requests of the second client.
    slow: Vec<(Duration, String)>,
    /// The requests that ran at the peak of held memory.
    large: (usize, String),
}

impl Seen {
    /// A percentile of the second client's latencies.
    pub(crate) fn latency(&self, percentile: usize) -> Duration {
        self.latencies[(self.latencies.len() - 1) * percentile / 100]
    }

    /// The measurements as text.
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
            // Writing to a string cannot fail.
            let _ = write!(told, "\n{latency:?} while these ran: {running}");
        }
        let (held, running) = &self.large;
        let _ = write!(told, "\n{} held while these ran: {running}", mib(*held));
        told
    }
}

/// The running requests, one slot for each client.
pub(crate) struct Running(Vec<Mutex<Option<String>>>);

impl Running {
    pub(crate) fn new(clients: usize) -> Self {
        Self((0..clients).map(|_| Mutex::new(None)).collect())
    }

    /// Sets the running request of a client.
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

/// Runs `work` and measures until it ends.
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
        // The threads end even if the work panics.
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
        // An unanswered request counts as the slowest.
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
