//! The command line. Every command works on a store: a directory, through the server that holds
//! it where there is one (`access`), or a FoundationDB cluster.

mod access;
mod adopt;
mod arguments;
mod backup;
mod bounds;
mod check;
mod client;
mod cluster;
mod collections;
mod copy;
mod delete;
mod drop;
mod export;
mod files;
mod get;
mod import;
mod interrupt;
mod location;
mod names;
mod output;
mod pretty;
mod schema;
mod serve;
mod units;

use std::process::ExitCode;

use clap::Parser;

use crate::error::{Error, ErrorKind};
use crate::limits::TASKS_END_TIME_MAX;
use arguments::{Command, CommandArguments};
use output::say;

/// Exit code of a command that did not do what it was told to.
const FAILED: u8 = 1;
/// Exit code of a command line that means nothing, as clap has it, or that names a collection which
/// is not there.
const MISUSED: u8 = 2;

/// How a command ended early.
enum Ended {
    /// It failed, and this is to be said.
    Failed(Error),
    /// The command line means nothing, as this says.
    Misused(Error),
    /// It failed, and has said so.
    Told,
    /// Nobody reads its output any more, as in `phyllo export | head`, so it was done.
    Unread,
}

type Done = Result<(), Ended>;

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Runs the command that the process was started with.
pub fn run() -> ExitCode {
    let arguments = CommandArguments::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let done = match runtime {
        Ok(runtime) => {
            let done = runtime.block_on(dispatch(arguments));
            // Tasks end, and with the last of them the store is closed; a thread that waits for
            // standard input must not be waited for.
            runtime.shutdown_timeout(TASKS_END_TIME_MAX);
            done
        }
        Err(error) => Err(failed(format!("threads cannot be started: {error}")).into()),
    };
    exit_code(done)
}

async fn dispatch(arguments: CommandArguments) -> Done {
    let store = &arguments.store;
    match arguments.command {
        Command::Serve(serve) => serve::run(store, *serve).await,
        Command::Import(import) => import::run(store, import).await,
        Command::Export(export) => interrupt::or(export::run(store, export)).await,
        Command::Get(get) => interrupt::or(get::get(store, get)).await,
        Command::Pairs(pairs) => interrupt::or(get::pairs(store, pairs)).await,
        Command::Check(check) => interrupt::or(check::run(store, check)).await,
        Command::Adopt(adopt) => interrupt::or(adopt::run(store, adopt)).await,
        Command::Backup(backup) => interrupt::or(backup::run(store, backup)).await,
        Command::Copy(copy) => interrupt::or(copy::run(copy)).await,
        Command::Delete(delete) => interrupt::or(delete::run(store, delete)).await,
        Command::Drop(drop) => interrupt::or(drop::run(store, drop)).await,
        Command::Collections => interrupt::or(collections::run(store)).await,
        Command::Schema(asked) => schema::run(&asked),
    }
}

fn exit_code(done: Done) -> ExitCode {
    match done {
        Ok(()) | Err(Ended::Unread) => ExitCode::SUCCESS,
        Err(Ended::Told) => ExitCode::from(FAILED),
        Err(Ended::Failed(error)) => {
            say(format_args!("error: {error}"));
            ExitCode::from(FAILED)
        }
        Err(Ended::Misused(error)) => {
            say(format_args!("error: {error}"));
            ExitCode::from(MISUSED)
        }
    }
}

/// The error of a command that the machine, and not what it was given, makes fail.
fn failed(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Unavailable, message)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::CommandArguments::command().debug_assert();
    }
}
