//! The client's network thread. It is started once per process, and stopped after everything that
//! uses it is dropped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use foundationdb::api::{FdbApiBuilder, NetworkAutoStop, NetworkBuilder};
use foundationdb::options::NetworkOption;

use super::failure;
use crate::error::{Error, Result};

/// Options of the client.
#[derive(Clone, Copy, Debug, Default)]
pub struct NetworkOptions {
    /// The percentage of calls for which the client simulates a failure, including commits with an
    /// unknown outcome. For tests.
    pub failures_percent: Option<u8>,
}

/// The client's network thread. It stops when this and all stores opened on it are dropped, and
/// cannot be restarted in the same process. Drop all of them before the process exits.
#[derive(Clone)]
pub struct Network {
    _running: Arc<NetworkAutoStop>,
}

impl Network {
    /// Starts the thread.
    ///
    /// # Errors
    /// `INTERNAL`: it was already started in this process. `UNAVAILABLE`: the client library cannot
    /// be used.
    pub fn start(options: NetworkOptions) -> Result<Self> {
        static STARTED: AtomicBool = AtomicBool::new(false);
        if STARTED.swap(true, Ordering::AcqRel) {
            return Err(Error::internal(
                "FoundationDB's client was already started in this process; it starts once",
            ));
        }
        let mut builder = FdbApiBuilder::default()
            .build()
            .map_err(failure::of_client)?;
        if let Some(percent) = options.failures_percent {
            for option in [
                NetworkOption::ClientBuggifyEnable,
                NetworkOption::ClientBuggifySectionActivatedProbability(100),
                NetworkOption::ClientBuggifySectionFiredProbability(percent.into()),
            ] {
                builder = builder.set_option(option).map_err(failure::of_client)?;
            }
        }
        let running = Arc::new(boot(builder)?);
        Ok(Self { _running: running })
    }
}

/// Converts a duration for the client's options.
pub(super) fn millis(time: std::time::Duration) -> i32 {
    i32::try_from(time.as_millis()).unwrap_or(i32::MAX)
}

#[expect(
    unsafe_code,
    reason = "the client requires a guarantee that no type can express: see SAFETY"
)]
fn boot(builder: NetworkBuilder) -> Result<NetworkAutoStop> {
    // SAFETY: the returned value must be dropped before the process exits, except in a crash. Only
    // `Network` has it, and every `Cluster` has a `Network`. `cli::run` and the tests drop all of
    // them, and the runtime whose tasks may use them, before they return from `main`.
    unsafe { builder.boot() }.map_err(failure::of_client)
}
