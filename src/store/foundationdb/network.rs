//! The client's network thread: started once in a process, and stopped after everything that
//! uses it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use foundationdb::api::{FdbApiBuilder, NetworkAutoStop, NetworkBuilder};
use foundationdb::options::NetworkOption;

use super::failure;
use crate::error::{Error, Result};

/// How the client is started.
#[derive(Clone, Copy, Debug, Default)]
pub struct NetworkOptions {
    /// The client makes up failures, commits of unknown outcome among them, each time in so many
    /// of a hundred cases. For tests.
    pub failures_percent: Option<u8>,
}

/// The client's network thread. It stops when this and every store opened on it are dropped, and
/// cannot be started again in the same process. Drop all of them before the process exits.
#[derive(Clone)]
pub struct Network {
    _running: Arc<NetworkAutoStop>,
}

impl Network {
    /// Starts the thread.
    ///
    /// # Errors
    /// `INTERNAL`: it was started before in this process. `UNAVAILABLE`: the client library does
    /// not take part.
    pub fn start(options: NetworkOptions) -> Result<Self> {
        static STARTED: AtomicBool = AtomicBool::new(false);
        if STARTED.swap(true, Ordering::AcqRel) {
            return Err(Error::internal(
                "FoundationDB's client is started once in a process, and it was started before",
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

/// A time as options of the client have it.
pub(super) fn millis(time: std::time::Duration) -> i32 {
    i32::try_from(time.as_millis()).unwrap_or(i32::MAX)
}

#[expect(
    unsafe_code,
    reason = "the client asks for a promise that no type can keep: see SAFETY"
)]
fn boot(builder: NetworkBuilder) -> Result<NetworkAutoStop> {
    // SAFETY: what this returns must be dropped before the process exits, other than by a crash.
    // Only `Network` holds it, and every `Cluster` a `Network`; `cli::run` and the tests drop all
    // of them, and the runtime whose tasks may use them, before they return from `main`.
    unsafe { builder.boot() }.map_err(failure::of_client)
}
