//! The limits of the tested server, and their flags.

use std::time::Duration;

const MIB: usize = 1 << 20;

/// The limits on requests. They are low, so that a debug build reaches them quickly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) body_bytes: usize,
    pub(crate) response_bytes: usize,
    pub(crate) held_bytes: usize,
    pub(crate) request_time: Duration,
    pub(crate) steps: usize,
    pub(crate) read_bytes: usize,
    pub(crate) write_bytes: usize,
    pub(crate) batch: usize,
}

impl Limits {
    pub(crate) const LOW: Self = Self {
        body_bytes: 4 * MIB,
        response_bytes: 8 * MIB,
        held_bytes: 128 * MIB,
        request_time: Duration::from_secs(5),
        steps: 2_000_000,
        read_bytes: 32 * MIB,
        write_bytes: 16 * MIB,
        batch: 8,
    };

    /// The flags of `phyllo serve`.
    pub(crate) fn flags(&self) -> [(&'static str, String); 8] {
        [
            ("--body-bytes-max", self.body_bytes.to_string()),
            ("--response-bytes-max", self.response_bytes.to_string()),
            ("--held-bytes-max", self.held_bytes.to_string()),
            (
                "--request-time-max",
                format!("{}ms", self.request_time.as_millis()),
            ),
            ("--steps-max", self.steps.to_string()),
            ("--read-bytes-max", self.read_bytes.to_string()),
            ("--write-bytes-max", self.write_bytes.to_string()),
            ("--batch-max", self.batch.to_string()),
        ]
    }
}
