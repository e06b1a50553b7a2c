//! The longest poll of a task.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

use crate::budget::{long_polls, longest_poll, longest_poll_steps};

/// Reports the longest poll of any task of the process that serves clients, and how many were long.
#[derive(Debug)]
pub(super) struct LongestPoll;

impl Collector for LongestPoll {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let counter = ConstCounter::new(long_polls());
        let long = encoder.encode_descriptor(
            "long_polls",
            "Times for which a task of a connection kept its thread for more than two milliseconds.",
            None,
            counter.metric_type(),
        )?;
        counter.encode(long)?;
        let gauge = ConstGauge::new(longest_poll().as_secs_f64());
        let seconds = encoder.encode_descriptor(
            "longest_poll_seconds",
            "Longest time for which a task of a connection kept its thread, since the start.",
            None,
            gauge.metric_type(),
        )?;
        gauge.encode(seconds)?;
        let steps = i64::try_from(longest_poll_steps()).unwrap_or(i64::MAX);
        let gauge = ConstGauge::new(steps);
        let steps = encoder.encode_descriptor(
            "longest_poll_steps",
            "Most steps of work that a task of a connection did before it yielded, since the start.",
            None,
            gauge.metric_type(),
        )?;
        gauge.encode(steps)
    }
}
