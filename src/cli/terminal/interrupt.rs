//! SIGINT and SIGTERM: the first asks a command to stop, the second ends the process.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

use crate::cli::outcome::{Done, Ended, Interrupt};

/// At the first signal, which is returned. A second signal ends the process at once, because the command may
/// be blocked on its output.
pub(crate) async fn interrupted() -> Interrupt {
    let (sender, receiver) = oneshot::channel();
    tokio::spawn(async {
        // If no handler can be installed, the first signal ends the process.
        if let Ok((mut interrupt, mut terminate)) = signals() {
            let first = either(&mut interrupt, &mut terminate).await;
            let _sent = sender.send(first);
            let second = either(&mut interrupt, &mut terminate).await;
            std::process::exit(second.exit_code().into());
        }
        std::future::pending::<()>().await;
    });
    match receiver.await {
        Ok(interrupt) => interrupt,
        Err(_) => std::future::pending().await,
    }
}

fn signals() -> io::Result<(Signal, Signal)> {
    let interrupt = signal(SignalKind::interrupt())?;
    Ok((interrupt, signal(SignalKind::terminate())?))
}

async fn either(interrupt: &mut Signal, terminate: &mut Signal) -> Interrupt {
    tokio::select! {
        _ = interrupt.recv() => Interrupt::Interrupt,
        _ = terminate.recv() => Interrupt::Terminate,
    }
}

/// Runs a command until it completes or the process receives a signal. Dropping the command
/// releases its resources.
pub(crate) async fn or(command: impl Future<Output = Done>) -> Done {
    tokio::select! {
        biased;
        interrupt = interrupted() => Err(Ended::Interrupted(interrupt)),
        done = command => done,
    }
}
