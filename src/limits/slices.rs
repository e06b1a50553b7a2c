//! Limits of the slices of time in which tasks work.

use std::time::Duration;

/// Steps of work, at most half a millisecond, between which a task checks its budget and reads the clock. Work that
/// cannot yield moves to a blocking thread.
pub const STEPS_AT_A_TIME: u64 = 10_000;
/// Steps of work after which a slice is over. The clock ends it first where steps take longer than those of large
/// reads, of which this many take a millisecond.
pub const SLICE_STEPS_MAX: u64 = 60_000;
/// Steps of synchronous work of a known length that run on the thread of its task: as long as a slice
/// after the first. To move to a blocking thread costs as much as some thousand steps.
pub const PORTION_STEPS_MAX: u64 = 10_000;
/// Steps of work, about a microsecond, after which a task reads the clock before its next portion.
pub const UNTIMED_STEPS_MAX: u64 = 64;
/// Bytes of a growing list that are moved on the thread of its task. A larger list is moved on a blocking
/// thread, and grows by a quarter instead of doubling.
pub const MOVED_BYTES_AT_ONCE: usize = 1 << 20;
/// Items of a loop without steps that are visited before the loop asks for the slice.
pub const ITEMS_PER_TURN: u64 = 64;
/// Steps that one of these items counts as.
pub const STEPS_PER_ITEM: u64 = 4;
/// The most steps of one poll of a task: a slice, what is paid at once before its end, and the portion of
/// work that is then done.
pub const POLL_STEPS_MAX: u64 = SLICE_STEPS_MAX + STEPS_AT_A_TIME + PORTION_STEPS_MAX;
/// The time after which the parts of a task wait for its next poll. Parts ask between portions of
/// work, which take about as long, so a poll takes about twice this time.
pub const SLICE_TIME: Duration = Duration::from_micros(500);
/// The time of the first slice after which a task waits for the next one. A whole document of 10,000 leaves is read and
/// written in it.
pub const FIRST_SLICE_TIME: Duration = Duration::from_micros(1_500);
/// Tasks for each processor that wait for their next slice, beside which first slices are not shorter.
pub const FIRST_SLICES_AMONG: u32 = 16;
/// The time in which all tasks that wait for their next slice have had it, besides the portions of work
/// that they do after it. Their slices are as much shorter.
pub const ROUND_TIME: Duration = Duration::from_millis(10);
/// A slice is never shorter.
pub const SLICE_TIME_MIN: Duration = Duration::from_micros(50);
/// Polls of a task that take longer are counted (`phyllo_long_polls_total`). A build with debug
/// assertions needs ten times as long for the same work.
pub const LONG_POLL_TIME: Duration =
    Duration::from_millis(if cfg!(debug_assertions) { 20 } else { 2 });
/// Steps that synchronous work draws from its budget at a time.
pub const STEPS_PER_DRAW: u64 = 1_024;
/// The most parts of a task that have begun and have not ended, among those whose number depends on what clients
/// send or store.
pub const PARTS_AT_ONCE: usize = 64;
/// The most parts of a task that are woken at a time to continue in its slice.
pub const PARTS_RESUMED_AT_ONCE: usize = 64;
/// Bytes of keys and values of a scan that count as one step.
pub const SCANNED_BYTES_PER_STEP: usize = 32;
/// Bytes of keys and values of a scan that are written as JSON at a time.
pub const SCANNED_BYTES_AT_A_TIME: usize = 8 << 10;
/// Values that are freed on the thread of their task. More are freed on a blocking thread.
pub const FREED_VALUES_MAX: usize = 10_000;
