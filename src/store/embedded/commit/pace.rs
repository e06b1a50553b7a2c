//! How fast writers may be while they outrun the checkpoints.
//!
//! Without a pace, writers run at full speed until memory or the log is full, and then all of them wait
//! until a checkpoint ends, which takes seconds if redb is larger than its cache. So beyond a share of
//! the limits, each transaction is delayed before it takes the write lock. The rate depends on the
//! *backlog*: the changes that are not written to redb yet. It is that of the checkpoints at
//! [`PACED_SHARE`] + 1/8, twice as much at [`PACED_SHARE`], and falls to a tenth. So the backlog settles
//! where writers are as fast as checkpoints.
//!
//! A checkpoint frees memory only at its end. Until then, the backlog counts its changes as written in
//! proportion to the time that it is likely to take.

use std::time::{Duration, Instant};

/// The share of a limit from which on writers are delayed. A backlog of half of the limit fills it, because
/// the changes of a checkpoint are kept until its end.
const PACED_SHARE: f64 = 0.25;
/// The share of the limit at which writers would be stopped.
const STOPPED_SHARE: f64 = 0.5;
/// The least rate, as a part of that of the checkpoints.
const RATE_MIN: f64 = 0.1;
/// A checkpoint that takes longer than expected is expected to take so much longer than its time so far.
const LATE: f64 = 1.25;
/// A transaction delays the next one by no more than this. So all of the room can be used while a
/// checkpoint makes no progress.
const DELAY_MAX: Duration = Duration::from_millis(250);
/// Time for which a writer may be late, because timers are coarse. Others then make up for it.
const CREDIT: Duration = Duration::from_millis(4);

/// The changes that are not written to redb yet, and how fast they are written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Backlog {
    /// The changes that a checkpoint writes now.
    pub(crate) frozen: Option<Checkpointed>,
    /// The bytes of all changes as a share of their limit, in memory and in the log.
    pub(crate) shares: [f64; 2],
    /// The rate of the last checkpoints in bytes per second, if one was measured.
    pub(crate) rate: Option<f64>,
}

/// The changes of a checkpoint in progress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checkpointed {
    pub(crate) bytes: f64,
    /// The bytes as a share of their limit, in memory and in the log.
    pub(crate) shares: [f64; 2],
    /// The time since the changes are complete.
    pub(crate) elapsed: Duration,
}

impl Backlog {
    /// The rate at which writers may add changes, in bytes per second. `None` if it is not limited.
    pub(crate) fn pace(&self) -> Option<f64> {
        let [memory, log] = self.shares;
        if memory.max(log) < PACED_SHARE {
            return None;
        }
        let (rate, written) = match self.frozen {
            None => (self.rate?, [0.0; 2]),
            Some(frozen) => {
                let elapsed = frozen.elapsed.as_secs_f64().max(0.000_001);
                let expected = self
                    .rate
                    .map_or(0.0, |rate| frozen.bytes / rate)
                    .max(elapsed * LATE);
                let written = frozen.shares.map(|share| share * elapsed / expected);
                (frozen.bytes / expected, written)
            }
        };
        let share = (memory - written[0]).max(log - written[1]);
        if share < PACED_SHARE {
            return None;
        }
        let left = (STOPPED_SHARE - share) / (STOPPED_SHARE - PACED_SHARE);
        Some(rate * (2.0 * left).max(RATE_MIN))
    }
}

/// When the next writer may begin: a token bucket.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NextBegin(Instant);

impl NextBegin {
    pub(crate) fn new(now: Instant) -> Self {
        Self(now)
    }

    /// Begins a transaction of about `bytes`. Returns when, if not now.
    pub(crate) fn begin(&mut self, now: Instant, bytes: f64, rate: f64) -> Option<Instant> {
        if self.0 > now {
            return Some(self.0);
        }
        let earliest = now.checked_sub(CREDIT).unwrap_or(now);
        let takes = Duration::try_from_secs_f64(bytes / rate).unwrap_or(DELAY_MAX);
        self.0 = self.0.max(earliest) + takes.min(DELAY_MAX);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A store in simulated time, whose writers always have another transaction of 20 kB.
    struct Simulated {
        now: Duration,
        start: Instant,
        /// Bytes per second that a checkpoint writes.
        drain: f64,
        newer: f64,
        frozen: Option<(f64, Duration)>,
        rate: Option<f64>,
        next: NextBegin,
    }

    const BYTES: f64 = 20_000.0;
    const BYTES_MAX: f64 = 32_000_000.0;

    impl Simulated {
        fn new(drain: f64) -> Self {
            let start = Instant::now();
            Self {
                now: Duration::ZERO,
                start,
                drain,
                newer: 0.0,
                frozen: None,
                rate: None,
                next: NextBegin::new(start),
            }
        }

        fn held(&self) -> f64 {
            self.newer + self.frozen.map_or(0.0, |(bytes, _)| bytes)
        }

        /// A millisecond. Returns the number of transactions.
        fn step(&mut self) -> u32 {
            self.now += Duration::from_millis(1);
            if let Some((bytes, since)) = self.frozen {
                let took = self.now.saturating_sub(since).as_secs_f64();
                if took >= bytes / self.drain {
                    self.rate = Some(bytes / took);
                    self.frozen = None;
                }
            }
            if self.frozen.is_none() && self.newer > 4_000_000.0 {
                self.frozen = Some((std::mem::take(&mut self.newer), self.now));
            }
            let mut begun = 0;
            while self.held() < BYTES_MAX && begun < 100 {
                let backlog = Backlog {
                    frozen: self.frozen.map(|(bytes, since)| Checkpointed {
                        bytes,
                        shares: [bytes / BYTES_MAX; 2],
                        elapsed: self.now.saturating_sub(since),
                    }),
                    shares: [self.held() / BYTES_MAX; 2],
                    rate: self.rate,
                };
                if let Some(rate) = backlog.pace()
                    && self
                        .next
                        .begin(self.start + self.now, BYTES, rate)
                        .is_some()
                {
                    break;
                }
                self.newer += BYTES;
                begun += 1;
            }
            begun
        }
    }

    /// Writers that could be much faster than the checkpoints get nearly their rate, without pauses, and
    /// never reach the limit.
    #[test]
    fn writers_become_as_fast_as_checkpoints() {
        for drain in [1e6, 10e6, 60e6] {
            let mut store = Simulated::new(drain);
            for _ in 0..60_000 {
                store.step();
            }
            let mut of_windows = Vec::new();
            for _ in 0..100 {
                let begun: u32 = (0..500).map(|_| store.step()).sum();
                assert!(store.held() < BYTES_MAX * 0.9, "{drain}: {}", store.held());
                of_windows.push(f64::from(begun) * BYTES / 0.5 / drain);
            }
            for rate in &of_windows {
                assert!((0.5..2.0).contains(rate), "{drain}: {of_windows:?}");
            }
            let mean = of_windows.iter().sum::<f64>() / 100.0;
            assert!((0.9..1.1).contains(&mean), "{drain}: {mean}");
        }
    }

    #[test]
    fn writers_that_are_slower_than_checkpoints_have_no_pace() {
        let backlog = Backlog {
            frozen: None,
            shares: [0.2, 0.1],
            rate: Some(1e6),
        };
        assert_eq!(backlog.pace(), None);
    }

    #[test]
    fn the_rate_falls_with_the_backlog_and_while_a_checkpoint_is_late() {
        let pace = |share: f64, elapsed: u64| {
            let frozen = Checkpointed {
                bytes: 1e6,
                shares: [0.1; 2],
                elapsed: Duration::from_secs(elapsed),
            };
            let backlog = Backlog {
                frozen: Some(frozen),
                shares: [share, 0.0],
                rate: Some(1e6),
            };
            backlog.pace().expect("a rate")
        };
        assert!(pace(0.4, 0) > pace(0.5, 0) && pace(0.5, 0) > 0.0);
        assert!(pace(0.6, 1) > pace(0.6, 10));
    }
}
