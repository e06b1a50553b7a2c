//! What has to hold while hostile requests run.
//!
//! Latencies are those of a release build on a machine with two cores. A debug build takes about ten
//! times as long for the same steps and shares the machine with the clients of the test, so it gets
//! ten times the latency; sizes are the same for both.

use std::time::Duration;

use super::limits::Limits;
use super::server::is_release;
use super::watch::Seen;

const MIB: usize = 1 << 20;

/// What a debug build may take longer.
const DEBUG_FACTOR: u32 = 10;
/// The 99th percentile of a second client's latency.
const LATENCY_P99_MAX: Duration = Duration::from_millis(50);
/// The second client's slowest request.
const LATENCY_MAX: Duration = Duration::from_millis(250);
/// How far a request may pass its time limit.
const OVERRUN_MAX: Duration = Duration::from_secs(1);
/// The same for a debug build, whose clients wait for the processor as well.
const OVERRUN_DEBUG_MAX: Duration = Duration::from_secs(5);
/// Memory of the process beyond `--held-bytes-max`: its code, its stacks, the engine's cache, and
/// what the allocator has not returned to the system yet.
const MEMORY_BESIDES_HELD_MAX: usize = 300 * MIB;
/// What a response may have beyond `--response-bytes-max`: at most 100 errors of 1,000 bytes, each
/// with the path of its field.
const ERRORS_BYTES_MAX: usize = 256 << 10;
/// What the embedded engine takes of the disk for each byte of keys and values written: pages that
/// are half full after they split (2), and the pages that a commit replaces, which are free only
/// after the next one (2).
pub(crate) const DISK_PER_BYTE_WRITTEN: usize = 4;
/// What the directory may grow by whatever is written: the engine extends its file in steps.
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

    /// Past this latency the second client notes what runs.
    pub(crate) fn slow(&self) -> Duration {
        self.latency_p99
    }

    /// The longest that a request, or a batch, may take.
    pub(crate) fn time(&self) -> Duration {
        self.limits.request_time + self.overrun
    }

    /// The largest response, with its errors.
    pub(crate) fn response_bytes(&self) -> usize {
        self.limits.response_bytes + ERRORS_BYTES_MAX
    }

    /// What the directory may grow by where so many operations were committed, and so many bytes of
    /// index entries were built in the background.
    pub(crate) fn growth(&self, committed: usize, built: usize) -> usize {
        let written = committed
            .saturating_mul(self.limits.write_bytes)
            .saturating_add(built);
        DISK_PER_BYTE_WRITTEN
            .saturating_mul(written)
            .saturating_add(DISK_STEP)
    }

    /// What does not hold of latency and memory.
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

/// A number of bytes, to be read.
pub(crate) fn mib(bytes: usize) -> String {
    format!("{} MiB", bytes / MIB)
}
