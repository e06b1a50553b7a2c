//! A gauge that is absent until it is measured.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::sync::atomic::Ordering::Relaxed;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric as _};
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

/// A gauge that `/metrics` does not contain before it has a value. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct MeasuredGauge(Arc<Measured>);

#[derive(Debug)]
struct Measured {
    name: &'static str,
    help: &'static str,
    /// The value. Negative before the first measurement.
    value: AtomicI64,
}

impl MeasuredGauge {
    /// Registers a gauge without a value.
    pub(crate) fn register(
        registry: &mut Registry,
        name: &'static str,
        help: &'static str,
    ) -> Self {
        let value = AtomicI64::new(-1);
        let gauge = Self(Arc::new(Measured { name, help, value }));
        registry.register_collector(Box::new(gauge.clone()));
        gauge
    }

    /// Sets the value.
    pub(crate) fn set(&self, value: u64) {
        let value = i64::try_from(value).unwrap_or(i64::MAX);
        self.0.value.store(value, Relaxed);
    }
}

impl Collector for MeasuredGauge {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let value = self.0.value.load(Relaxed);
        if value < 0 {
            return Ok(());
        }
        let gauge = ConstGauge::new(value);
        // The registry adds a full stop to the texts of the other metrics.
        let help = format!("{}.", self.0.help);
        let encoder = encoder.encode_descriptor(self.0.name, &help, None, gauge.metric_type())?;
        gauge.encode(encoder)
    }
}
