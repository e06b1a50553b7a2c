//! The bounds on latency, memory and disk during hostile requests.
//!
//! Latencies apply to a release build on a machine with two cores. A debug build needs about ten
//! times as long for the same steps, and shares the machine with the clients of the test, so its
//! latencies are ten times as large. Sizes are the same for both.

use std::time::Duration;

use super::limits::Limits;
use super::server::is_release;
use super::watch::Seen;

const MIB: usize = 1 << 20;

/// The factor for latencies of a debug build.
const DEBUG_FACTOR: u32 = 10;
/// The 99th percentile of a second client's latency.
const LATENCY_P99_MAX: Duration = Duration::from_millis(50);
/// The second client's slowest request.
const LATENCY_MAX: Duration = Duration::from_millis(250);
/// How far a request may exceed its time limit.
const OVERRUN_MAX: Duration = Duration::from_secs(1);
/// The same for a debug build, whose clients also compete for the processor.
const OVERRUN_DEBUG_MAX: Duration = Duration::from_secs(5);
/// Memory of the process beyond `--held-bytes-max`: code, stacks, the engine's cache, and memory
/// that the allocator has not returned to the system yet.
const MEMORY_BESIDES_HELD_MAX: usize = 300 * MIB;
/// The size of a response beyond `--response-bytes-max`: at most 100 errors of 1,000 bytes, each
/// with the path of its field.
const ERRORS_BYTES_MAX: usize = 256 << 10;
/// The disk space of the embedded engine for each byte of keys and values written: split pages are
/// half full (2), and the pages that a commit replaces are free only after the next one (2).
pub(crate) const DISK_PER_BYTE_WRITTEN: usize = 4;
/// The growth of the directory that is always possible, because the engine extends its file in
/// steps.
const DISK_STEP: usize = 64 * MIB;

/// The bounds of one run.
pub(crate) struct Bounds {
    limits: Limits,
    latency_p99: Duration,
    latency: Duration,
    overrun: Duration,
}

impl Bounds {
    pub(crate) fn new(limits: Limits) -> Self {
        let (factor, overrun) = if is_release() {
            (1, OVERRUN_MAX)
        } else {
            (DEBUG_FACTOR, OVERRUN_DEBUG_MAX)
        };
        Self {
            limits,
            latency_p99: LATENCY_P99_MAX * factor,
            latency: LATENCY_MAX * factor,
            overrun,
        }
    }

    /// The latency above which a request of the second client counts as slow.
    pub(crate) fn slow(&self) -> Duration {
        self.latency_p99
    }

    /// The maximum duration of a request or batch.
    pub(crate) fn time(&self) -> Duration {
        self.limits.request_time + self.overrun
    }

    /// The maximum size of a response, with its errors.
    pub(crate) fn response_bytes(&self) -> usize {
        self.limits.response_bytes + ERRORS_BYTES_MAX
    }

    /// The maximum growth of the directory after this number of commits, and this many bytes of
    /// index entries built in the background.
    pub(crate) fn growth(&self, committed: usize, built: usize) -> usize {
        let written = committed
            .saturating_mul(self.limits.write_bytes)
            .saturating_add(built);
        DISK_PER_BYTE_WRITTEN
            .saturating_mul(written)
            .saturating_add(DISK_STEP)
    }

    /// The violated bounds on latency and memory.
    pub(crate) fn violations(&self, seen: &Seen) -> Vec<String> {
        let mut violations = Vec::new();
        let mut bound = |what: &str, found: String, limit: String, holds: bool| {
            if !holds {
                violations.push(format!("{what}: {found}, the bound is {limit}"));
            }
        };
        let (p99, slowest) = (seen.latency(99), seen.latency(100));
        for (what, found, limit) in [
            ("a second client's p99", p99, self.latency_p99),
            ("a second client's slowest request", slowest, self.latency),
        ] {
            bound(
                what,
                format!("{found:?}"),
                format!("{limit:?}"),
                found <= limit,
            );
        }
        let memory = self.limits.held_bytes + MEMORY_BESIDES_HELD_MAX;
        bound(
            "peak memory",
            mib(seen.memory_peak),
            mib(memory),
            seen.memory_peak <= memory,
        );
        violations
    }
}

/// Formats a number of bytes.
pub(crate) fn mib(bytes: usize) -> String {
    format!("{} MiB", bytes / MIB)
}
