//! SIGINT and SIGTERM: the first asks a command to stop, the second makes it.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

use crate::cli::outcome::{Done, FAILED, failed};

/// Returns when the process is told to stop. Told again from then on, it ends at once: the command
/// may be waiting for somebody to read its output.
pub(crate) async fn interrupted() {
    let (tell, told) = oneshot::channel();
    tokio::spawn(async {
        // Without signals of our own the first ends the process without asking.
        if let Ok((mut interrupt, mut terminate)) = signals() {
            either(&mut interrupt, &mut terminate).await;
            let _told = tell.send(());
            either(&mut interrupt, &mut terminate).await;
            std::process::exit(FAILED.into());
        }
        std::future::pending::<()>().await;
    });
    let _told = told.await;
}

fn signals() -> io::Result<(Signal, Signal)> {
    let interrupt = signal(SignalKind::interrupt())?;
    Ok((interrupt, signal(SignalKind::terminate())?))
}

async fn either(interrupt: &mut Signal, terminate: &mut Signal) {
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

/// Runs a command until it is done or the process is told to stop; what it holds is released.
pub(crate) async fn or(command: impl Future<Output = Done>) -> Done {
    tokio::select! {
        biased;
        () = interrupted() => Err(failed("interrupted").into()),
        done = command => done,
    }
}
