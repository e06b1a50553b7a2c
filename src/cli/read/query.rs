//! `phyllo query`

use std::io::IsTerminal as _;
use std::path::Path;

use crate::cli::arguments::find::QueryArguments;
use crate::cli::connect::client::{Client, DataSource, effect_of};
use crate::cli::connect::data::body;
use crate::cli::connect::opening::StorePurpose;
use crate::cli::connect::raw_json::RawJson;
use crate::cli::connect::server_connection::Effect;
use crate::cli::input::{read_file, read_json};
use crate::cli::outcome::{Done, Ended};
use crate::cli::terminal::output::Output;
use crate::cli::terminal::pretty;
use crate::document::flatten::json_text;
use crate::error::{Error, Result};

/// Executes an operation and prints its responses.
pub(crate) async fn run(source: DataSource<'_>, arguments: QueryArguments) -> Done {
    let operation = read_operation(&arguments.operation)?;
    let variables = match arguments.variables.as_deref() {
        Some("-") if arguments.operation == "-" => {
            let message = "standard input is either the operation or the variables";
            return Err(Ended::Misused(Error::bad_input(message)));
        }
        Some(variables) => read_json(variables)?,
        None => "{}".to_owned(),
    };
    let effect = effect_of(&operation);
    let purpose = match effect {
        Effect::Read => StorePurpose::Read,
        Effect::Write => StorePurpose::Change,
    };
    let client = Client::open(source, purpose).await?;
    client.serve_types().await?;
    let body = body(&operation, variables.as_bytes(), arguments.name.as_deref());
    let mut responses = client.start(body, effect).await?;
    let is_pretty = arguments.pretty || std::io::stdout().is_terminal();
    let mut output = Output::stdout();
    let mut has_errors = false;
    while let Some(response) = responses.next_response().await? {
        has_errors |= RawJson::new(json_text(&response)?)
            .member("errors")?
            .is_some();
        if is_pretty {
            output.write(&pretty::pretty(&response)?)?;
        } else {
            output.write(&response)?;
        }
        output.write(b"\n")?;
        output.flush()?;
    }
    output.finish()?;
    if has_errors {
        return Err(Ended::Told);
    }
    Ok(())
}

/// The text of the operation: the argument itself if it has a brace, or else a file.
fn read_operation(argument: &str) -> Result<String> {
    if argument.contains('{') && !Path::new(argument).exists() {
        return Ok(argument.to_owned());
    }
    read_file(argument)
}
