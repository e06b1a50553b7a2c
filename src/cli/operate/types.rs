//! `phyllo types`

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use bytes::Bytes;
use form_urlencoded::Serializer;
use indicatif::HumanCount;
use serde_json::Value;
use tokio::task::yield_now;
use tokio::time::sleep;

use crate::cli::arguments::types::{SetType, TypedCollection, TypesArguments, TypesCommand};
use crate::cli::connect::client::{Client, DataSource};
use crate::cli::connect::data::{OperationVariables, check_json};
use crate::cli::connect::opening::StorePurpose;
use crate::cli::outcome::{Done, Ended, failed};
use crate::cli::read::collection_types::{ReadType, stored_types};
use crate::cli::read::export::{exported, omitted};
use crate::cli::read::names;
use crate::cli::terminal::output::{Output, on_one_line, say};
use crate::cli::write::set_type::set_type;
use crate::database::TypeChecker;
use crate::document::flatten::json_text;
use crate::document::leaf::abridged;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{INDEX_POLL_TIME, TYPE_BYTES_MAX, TYPE_VIOLATIONS_MAX};
use crate::operations::{InferredType, parse_line};
use crate::server::local::operator_routes::CHECK_TYPE;

const DROP_TYPE: &str = "mutation DropType($collection: String!) {
  dropCollectionType(collection: $collection)
}";

pub(crate) async fn run(source: DataSource<'_>, arguments: TypesArguments) -> Done {
    let purpose = match &arguments.command {
        TypesCommand::Infer(_) | TypesCommand::Show(_) | TypesCommand::List => StorePurpose::Read,
        TypesCommand::Set(_) | TypesCommand::Check(_) | TypesCommand::Drop(_) => {
            StorePurpose::Change
        }
    };
    let client = Client::open(source, purpose).await?;
    match arguments.command {
        TypesCommand::Infer(TypedCollection { collection }) => infer(&client, &collection).await,
        TypesCommand::Set(arguments) => set(&client, arguments).await,
        TypesCommand::Show(TypedCollection { collection }) => show(&client, &collection).await,
        TypesCommand::List => list(&client).await,
        TypesCommand::Check(TypedCollection { collection }) => check(&client, &collection).await,
        TypesCommand::Drop(TypedCollection { collection }) => drop_type(&client, &collection).await,
    }
}

async fn infer(client: &Client, collection: &str) -> Done {
    names::check(client, collection).await?;
    let mut documents = exported(client, collection).await?;
    let mut inferred = InferredType::default();
    while let Some(line) = documents.line().await? {
        match omitted(&line)? {
            None => inferred.add(parse_line(json_text(&line)?)?.document.as_bytes())?,
            Some(why) if why["code"] == "INTERNAL" => {
                let why = why["omitted"].as_str().unwrap_or_default();
                return Err(Error::new(ErrorKind::Internal, why).into());
            }
            // Documents of other programs without a GraphQL ID are not validated either.
            Some(_) => {}
        }
        // Allows an interrupt here.
        yield_now().await;
    }
    print(&inferred.into_schema()?)
}

async fn set(client: &Client, arguments: SetType) -> Done {
    let SetType {
        of: TypedCollection { collection },
        file,
        dry_run,
    } = arguments;
    let schema = read_schema(&file)?;
    check_json(&schema)?;
    let defined = set_type(client, &collection, &schema, dry_run).await?;
    if !dry_run {
        return checked(client, &collection).await;
    }
    let violations = defined["violations"].as_array();
    let violations = violations.map(Vec::as_slice).unwrap_or_default();
    print_violations(violations)?;
    let examined = HumanCount(defined["examined"].as_u64().unwrap_or_default());
    let effect = defined["effect"].as_str().unwrap_or_default();
    let meaning = match (effect, defined["complete"] == true) {
        ("UNCHANGED", _) => {
            format!("the collection {collection:?} has this type already")
        }
        ("COMPATIBLE", _) => "all stored documents certainly fit".to_owned(),
        (_, true) => format!("{examined} documents were read"),
        (_, false) => {
            format!("{examined} documents were read; there are more, which were not")
        }
    };
    say(format_args!("{meaning}"));
    fail_if_any(violations)
}

async fn show(client: &Client, collection: &str) -> Done {
    print(&stored(client, collection).await?.schema)
}

async fn list(client: &Client) -> Done {
    let mut output = Output::stdout();
    for stored in stored_types(client, None).await? {
        let collection = on_one_line(&stored.collection);
        let (state, count) = (&stored.state, stored.violations.len());
        output.write(format!("{collection}\t{state}\t{count}\n").as_bytes())?;
    }
    output.finish()
}

async fn check(client: &Client, collection: &str) -> Done {
    if !client.is_of_operator() {
        let message = "`phyllo types check` reads the store itself: run it on the server's machine, without --url";
        return Err(Ended::Misused(Error::bad_input(message)));
    }
    let query = Serializer::new(String::new())
        .append_pair("collection", collection)
        .finish();
    let path = format!("{CHECK_TYPE}?{query}");
    let reply = client.post(&path, [], Bytes::new()).await?;
    let begun: Value = serde_json::from_slice(&reply.whole().await?).unwrap_or_default();
    if begun["begun"] != true {
        return Err(no_type(collection));
    }
    checked(client, collection).await
}

async fn drop_type(client: &Client, collection: &str) -> Done {
    let variables = OperationVariables::of_collection(collection);
    let data = client.execute(DROP_TYPE, variables).await?;
    if data.parsed("dropCollectionType")? != true {
        return Err(no_type(collection));
    }
    say(format_args!(
        "the type of the collection {collection:?} is dropped"
    ));
    Ok(())
}

/// Waits until the stored documents are checked, and reports the result.
async fn checked(client: &Client, collection: &str) -> Done {
    loop {
        if let Some(database) = client.database() {
            // No server does it, unless it is one of a cluster.
            let mut checker = TypeChecker::of_collection(database.clone(), collection);
            checker.finish().await?;
        }
        let stored = stored(client, collection).await?;
        match &*stored.state {
            "ENFORCED" => {
                say(format_args!(
                    "all documents of the collection {collection:?} fit its type"
                ));
                return Ok(());
            }
            "FAILED" => {
                print_violations(&stored.violations)?;
                return fail_if_any(&stored.violations);
            }
            _ => sleep(INDEX_POLL_TIME).await,
        }
    }
}

async fn stored(client: &Client, collection: &str) -> std::result::Result<ReadType, Ended> {
    let mut types = stored_types(client, Some(collection)).await?;
    types.pop().ok_or_else(|| no_type(collection))
}

fn no_type(collection: &str) -> Ended {
    let message =
        format!("the collection {collection:?} has no type; `phyllo types list` lists the types");
    Ended::Misused(Error::new(ErrorKind::NotFound, message))
}

/// The text of a schema.
fn read_schema(file: &Path) -> Result<String> {
    let cannot = |error: io::Error| failed(format!("{} cannot be read: {error}", file.display()));
    let reader: Box<dyn Read> = if file == Path::new("-") {
        Box::new(io::stdin())
    } else {
        Box::new(fs::File::open(file).map_err(cannot)?)
    };
    let mut bytes = Vec::new();
    // One byte more is read, so that a larger schema is rejected and not cut.
    let mut reader = reader.take(TYPE_BYTES_MAX as u64 + 1);
    reader.read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() > TYPE_BYTES_MAX {
        // It is rejected because of its length. Its last character may be cut.
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    String::from_utf8(bytes)
        .map_err(|_| Error::bad_input(format!("{} is not UTF-8", file.display())))
}

/// Prints a schema, which ends with a line break.
fn print(schema: &str) -> Done {
    let mut output = Output::stdout();
    output.write(schema.trim_end().as_bytes())?;
    output.write(b"\n")?;
    output.finish()
}

/// Prints a line for each place that does not fit.
fn print_violations(violations: &[Value]) -> Done {
    let mut output = Output::stdout();
    for violation in violations {
        let text = |name: &str| violation[name].as_str().unwrap_or_default();
        let value = match violation["value"].as_str() {
            Some(value) => format!(", not {}", abridged(value)),
            None => String::new(),
        };
        let key = on_one_line(text("key"));
        let place = on_one_line(text("place"));
        let reason = format!("{}: {}{value}", text("keyword"), text("expected"));
        let line = format!("{key}\t{place}\t{}\n", on_one_line(&reason));
        output.write(line.as_bytes())?;
    }
    output.finish()
}

/// Fails if there are places that do not fit, and reports how many.
fn fail_if_any(violations: &[Value]) -> Done {
    if violations.is_empty() {
        return Ok(());
    }
    let count = violations.len();
    // A check ends after so many.
    let at_least = if count >= TYPE_VIOLATIONS_MAX {
        "at least "
    } else {
        ""
    };
    if count == 1 {
        say(format_args!("1 place does not fit the type"));
    } else {
        say(format_args!("{at_least}{count} places do not fit the type"));
    }
    Err(Ended::Told)
}
