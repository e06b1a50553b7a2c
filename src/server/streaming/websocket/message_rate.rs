//! How fast a client may send messages.

use std::time::Duration;

use tokio::time::Instant;

/// Lets a number of messages through per second. A pause allows as many at once.
pub(crate) struct MessageRate {
    /// The time of one message.
    each: Duration,
    /// When all messages so far are paid for. It is at most a second ago.
    paid_until: Instant,
}

impl MessageRate {
    pub(crate) fn new(per_second: usize, now: Instant) -> Self {
        let per_second = u32::try_from(per_second).unwrap_or(u32::MAX).max(1);
        Self {
            each: Duration::from_secs(1) / per_second,
            paid_until: a_second_before(now),
        }
    }

    /// Counts a message. Returns when the next message may be read.
    pub(crate) fn count(&mut self, now: Instant) -> Instant {
        let begin = self.paid_until.max(a_second_before(now));
        self.paid_until = begin + self.each;
        self.paid_until
    }
}

fn a_second_before(now: Instant) -> Instant {
    now.checked_sub(Duration::from_secs(1)).unwrap_or(now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_past_the_rate_wait() {
        let begin = Instant::now();
        let mut rate = MessageRate::new(10, begin);
        for _ in 0..10 {
            assert!(rate.count(begin) <= begin);
        }
        assert_eq!(rate.count(begin), begin + Duration::from_millis(100));
        assert_eq!(rate.count(begin), begin + Duration::from_millis(200));
        let later = begin + Duration::from_secs(60);
        for _ in 0..10 {
            assert!(rate.count(later) <= later);
        }
        assert!(rate.count(later) > later, "a long pause allows no more");
    }
}
