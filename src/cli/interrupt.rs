//! SIGINT and SIGTERM.

use tokio::signal::unix::{SignalKind, signal};

use super::{Done, failed};

/// Returns when the process is told to stop.
pub(super) async fn interrupted() {
    let (Ok(mut interrupt), Ok(mut terminate)) = (
        signal(SignalKind::interrupt()),
        signal(SignalKind::terminate()),
    ) else {
        // They then end the process without asking.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

/// Runs a command until it is done or the process is told to stop; what it holds is released.
pub(super) async fn or(command: impl Future<Output = Done>) -> Done {
    tokio::select! {
        done = command => done,
        () = interrupted() => Err(failed("interrupted").into()),
    }
}
