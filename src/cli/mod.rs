//! The command line. Every command works on a store, which is a directory or a FoundationDB
//! cluster. If a server holds the directory, the command works through that server. Commands about data send the
//! requests that any client can send, also to the server at a URL (`connect`).

mod arguments;
mod connect;
mod input;
mod operate;
mod outcome;
mod read;
mod terminal;
mod write;

use std::process::ExitCode;

pub use write::import::extended_json::{ExtendedError, plain as plain_of_extended_json};
pub use write::import::table::table_documents;

use arguments::location::StoreLocation;
use arguments::server::{OnServer, ServerArguments};
use arguments::{Command, CommandArguments};
use clap::Parser;
use connect::client::DataSource;
use outcome::{Done, Ended, FAILED, MISUSED, failed};
use terminal::interrupt;
use terminal::output::say;
use tokio::runtime::Runtime;

use crate::error::Error;
use crate::limits::TASKS_END_TIME_MAX;

/// Runs the command given by the arguments of the process.
pub fn run() -> ExitCode {
    let arguments = CommandArguments::parse();
    let done = match Runtime::new() {
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
        // They end at an interrupt by themselves.
        Command::Import(OnServer { server, arguments }) => {
            let server = &server;
            write::import::run(DataSource { store, server }, arguments).await
        }
        Command::Update(update) => {
            let OnServer { server, arguments } = *update;
            let server = &server;
            write::update::run(DataSource { store, server }, arguments).await
        }
        Command::Delete(OnServer { server, arguments }) => {
            let server = &server;
            write::delete::run(DataSource { store, server }, arguments).await
        }
        Command::Compact => operate::compact::run(store).await,
        Command::Rules(arguments) => operate::rules::run(*arguments).await,
        other => interrupt::or(until_interrupt(store, other)).await,
    }
}

/// A command that an interrupt ends at any time.
async fn until_interrupt(store: &StoreLocation, command: Command) -> Done {
    match command {
        Command::Sample(it) => write::sample::run(of(store, &it.server)).await,
        Command::Export(it) => read::export::run(of(store, &it.server), it.arguments).await,
        Command::Get(it) => read::get::get(of(store, &it.server), it.arguments).await,
        Command::Put(it) => write::documents::put(of(store, &it.server), it.arguments).await,
        Command::Insert(it) => write::documents::insert(of(store, &it.server), it.arguments).await,
        Command::Merge(it) => write::documents::merge(of(store, &it.server), it.arguments).await,
        Command::Patch(it) => write::documents::patch(of(store, &it.server), it.arguments).await,
        Command::Find(it) => read::find::run(of(store, &it.server), it.arguments).await,
        Command::Query(it) => read::query::run(of(store, &it.server), it.arguments).await,
        Command::Changes(it) => read::follow::changes(of(store, &it.server), it.arguments).await,
        Command::Collections(it) => {
            read::collections::run(of(store, &it.server), it.arguments).await
        }
        Command::Stats(it) => read::collections::stats(of(store, &it.server), it.arguments).await,
        Command::Drop(it) => write::drop::run(of(store, &it.server), it.arguments).await,
        Command::Index(it) => operate::index::run(of(store, &it.server), it.arguments).await,
        Command::Types(it) => operate::types::run(of(store, &it.server), it.arguments).await,
        Command::Schema(it) => operate::schema::run(of(store, &it.server), it.arguments).await,
        Command::Pairs(pairs) => read::get::pairs(store, pairs).await,
        Command::Check(check) => operate::check::run(store, check).await,
        Command::Adopt(adopt) => write::adopt::run(store, adopt).await,
        Command::Backup(backup) => operate::backup::run(store, backup).await,
        Command::Salvage(salvage) => operate::salvage::run(store, salvage).await,
        Command::Copy(copy) => operate::copy::run(copy).await,
        Command::Serve(_)
        | Command::Import(_)
        | Command::Update(_)
        | Command::Delete(_)
        | Command::Compact
        | Command::Rules(_) => Err(Error::internal("a command that handles interrupts").into()),
    }
}

fn of<'a>(store: &'a StoreLocation, server: &'a ServerArguments) -> DataSource<'a> {
    DataSource { store, server }
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
