//! The command line. Every command works on a store, which is a directory or a FoundationDB
//! cluster. If a server holds the directory, the command works through that server (`connect`).

mod arguments;
mod connect;
mod operate;
mod outcome;
mod read;
mod terminal;
mod write;

use std::process::ExitCode;

pub use write::import::extended_json::{ExtendedError, plain as plain_of_extended_json};
pub use write::import::table::table_documents;

use arguments::{Command, CommandArguments};
use clap::Parser;
use outcome::{Done, Ended, FAILED, MISUSED, failed};
use terminal::output::say;

use crate::limits::TASKS_END_TIME_MAX;

/// Runs the command given by the arguments of the process.
pub fn run() -> ExitCode {
    let arguments = CommandArguments::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let done = match runtime {
        Ok(runtime) => {
            let done = runtime.block_on(dispatch(arguments));
            // Waits for tasks, and so for the store to close, but not for a thread that reads
            // standard input.
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
        Command::Serve(serve) => operate::serve::run(store, *serve).await,
        Command::Sample => terminal::interrupt::or(write::sample::run(store)).await,
        Command::Import(import) => write::import::run(store, import).await,
        Command::Export(export) => terminal::interrupt::or(read::export::run(store, export)).await,
        Command::Get(get) => terminal::interrupt::or(read::get::get(store, get)).await,
        Command::Changes(changes) => {
            terminal::interrupt::or(read::follow::changes(store, changes)).await
        }
        Command::Pairs(pairs) => terminal::interrupt::or(read::get::pairs(store, pairs)).await,
        Command::Check(check) => terminal::interrupt::or(operate::check::run(store, check)).await,
        Command::Adopt(adopt) => terminal::interrupt::or(write::adopt::run(store, adopt)).await,
        Command::Backup(backup) => {
            terminal::interrupt::or(operate::backup::run(store, backup)).await
        }
        Command::Compact => operate::compact::run(store).await,
        Command::Salvage(salvage) => {
            terminal::interrupt::or(operate::salvage::run(store, salvage)).await
        }
        Command::Copy(copy) => terminal::interrupt::or(operate::copy::run(copy)).await,
        Command::Update(update) => write::update::run(store, *update).await,
        Command::Delete(delete) => write::delete::run(store, delete).await,
        Command::Drop(drop) => terminal::interrupt::or(write::drop::run(store, drop)).await,
        Command::Collections => terminal::interrupt::or(read::collections::run(store)).await,
        Command::Types(types) => terminal::interrupt::or(operate::types::run(store, types)).await,
        Command::Schema(schema) => {
            terminal::interrupt::or(operate::schema::run(store, schema)).await
        }
        Command::Rules(arguments) => operate::rules::run(*arguments).await,
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
        Err(Ended::Interrupted(interrupt)) => {
            say(format_args!("error: interrupted"));
            ExitCode::from(interrupt.exit_code())
        }
        Err(Ended::InterruptedAndTold(interrupt)) => ExitCode::from(interrupt.exit_code()),
        Err(Ended::Misused(error)) => {
            say(format_args!("error: {error}"));
            ExitCode::from(MISUSED)
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        crate::cli::CommandArguments::command().debug_assert();
    }
}
