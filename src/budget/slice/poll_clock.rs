//! The clock that measures polls.

use std::time::Duration;

/// The time that this thread has used. In builds with debug assertions on Linux it is time of the
/// processor, so that tests on a busy machine measure what a poll did. Otherwise it is wall time,
/// which needs no call of the system.
#[cfg(all(target_os = "linux", debug_assertions))]
pub(super) fn thread_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // The clock of a thread begins at zero.
    Duration::try_from(time).unwrap_or_default()
}

/// The wall time since this clock was first read.
#[cfg(not(all(target_os = "linux", debug_assertions)))]
pub(super) fn thread_time() -> Duration {
    use std::sync::LazyLock;
    use std::time::Instant;
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    BEGIN.elapsed()
}
