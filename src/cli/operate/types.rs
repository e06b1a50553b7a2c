//! `phyllo types`

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read};
use std::path::Path;

use indicatif::HumanCount;
use tokio::task::yield_now;
use tokio::time::sleep;

use crate::cli::arguments::location::StoreLocation;
use crate::cli::arguments::types::{SetType, TypedCollection, TypesArguments, TypesCommand};
use crate::cli::connect::access::{DatabaseAccess, ExportedDocuments};
use crate::cli::connect::opening::StorePurpose;
use crate::cli::outcome::{Done, Ended, failed};
use crate::cli::read::names;
use crate::cli::terminal::output::{Output, say};
use crate::database::{Misfit, StoredType, TypeChange, TypeChecker, TypeState};
use crate::document::leaf::abridged;
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{INDEX_POLL_TIME, TYPE_BYTES_MAX, TYPE_VIOLATIONS_MAX};
use crate::operations::InferredType;

pub(crate) async fn run(store: &StoreLocation, arguments: TypesArguments) -> Done {
    let purpose = match &arguments.command {
        TypesCommand::Infer(_) | TypesCommand::Show(_) | TypesCommand::List => StorePurpose::Read,
        TypesCommand::Set(_) | TypesCommand::Check(_) | TypesCommand::Drop(_) => {
            StorePurpose::Change
        }
    };
    let access = DatabaseAccess::open(store, purpose).await?;
    match arguments.command {
        TypesCommand::Infer(TypedCollection { collection }) => infer(&access, &collection).await,
        TypesCommand::Set(arguments) => set(&access, arguments).await,
        TypesCommand::Show(TypedCollection { collection }) => show(&access, &collection).await,
        TypesCommand::List => list(&access).await,
        TypesCommand::Check(TypedCollection { collection }) => check(&access, &collection).await,
        TypesCommand::Drop(TypedCollection { collection }) => drop_type(&access, &collection).await,
    }
}

async fn infer(access: &DatabaseAccess, collection: &str) -> Done {
    names::check(access, collection).await?;
    let mut documents: ExportedDocuments = access.scan(collection).await?;
    let mut inferred = InferredType::default();
    while let Some(document) = documents.next().await? {
        // Documents of other programs without a GraphQL ID are not validated either.
        if let Ok(document) = document {
            inferred.add(&document.json)?;
        }
        // Allows an interrupt here.
        yield_now().await;
    }
    print(&inferred.into_schema()?)
}

async fn set(access: &DatabaseAccess, arguments: SetType) -> Done {
    let SetType {
        of: TypedCollection { collection },
        file,
        dry_run,
    } = arguments;
    let schema = read_schema(&file)?;
    let defined = access.set_type(&collection, &schema, dry_run).await?;
    if !dry_run {
        return checked(access, &collection).await;
    }
    print_misfits(&defined.misfits)?;
    let examined = HumanCount(defined.examined.unwrap_or_default());
    let meaning = match (defined.effect, defined.complete) {
        (TypeChange::Unchanged, _) => {
            format!("the collection {collection:?} has this type already")
        }
        (TypeChange::Compatible, _) => "all stored documents certainly fit".to_owned(),
        (TypeChange::NeedsCheck, true) => format!("{examined} documents were read"),
        (TypeChange::NeedsCheck, false) => {
            format!("{examined} documents were read; there are more, which were not")
        }
    };
    say(format_args!("{meaning}"));
    fail_if_any(&defined.misfits)
}

async fn show(access: &DatabaseAccess, collection: &str) -> Done {
    let stored = stored(access, collection).await?;
    print(stored.schema.as_deref().unwrap_or_default())
}

async fn list(access: &DatabaseAccess) -> Done {
    let mut output = Output::stdout();
    for stored in access.types(None).await? {
        let state = stored.state.name();
        let collection = on_one_line(&stored.collection);
        let line = format!("{collection}\t{state}\t{}\n", stored.misfits.len());
        output.write(line.as_bytes())?;
    }
    output.finish()
}

async fn check(access: &DatabaseAccess, collection: &str) -> Done {
    if !access.check_type(collection).await? {
        return Err(no_type(collection));
    }
    checked(access, collection).await
}

async fn drop_type(access: &DatabaseAccess, collection: &str) -> Done {
    if !access.drop_type(collection).await? {
        return Err(no_type(collection));
    }
    say(format_args!(
        "the type of the collection {collection:?} is dropped"
    ));
    Ok(())
}

/// Waits until the stored documents are checked, and reports the result.
async fn checked(access: &DatabaseAccess, collection: &str) -> Done {
    loop {
        if let DatabaseAccess::Direct(database) = access {
            // No server does it, unless it is one of a cluster.
            let mut checker = TypeChecker::of_collection(database.clone(), collection);
            checker.finish().await?;
        }
        let stored = stored(access, collection).await?;
        match stored.state {
            TypeState::Checking => sleep(INDEX_POLL_TIME).await,
            TypeState::Enforced => {
                say(format_args!(
                    "all documents of the collection {collection:?} fit its type"
                ));
                return Ok(());
            }
            TypeState::Failed => {
                print_misfits(&stored.misfits)?;
                return fail_if_any(&stored.misfits);
            }
        }
    }
}

async fn stored(
    access: &DatabaseAccess,
    collection: &str,
) -> std::result::Result<StoredType, Ended> {
    let mut types = access.types(Some(collection)).await?;
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
fn print_misfits(misfits: &[Misfit]) -> Done {
    let mut output = Output::stdout();
    for Misfit { id, violation } in misfits {
        let value = match &violation.value {
            Some(value) => format!(", not {}", abridged(value)),
            None => String::new(),
        };
        let id = on_one_line(&id.to_string());
        let place = on_one_line(&violation.place);
        let reason = format!("{}: {}{value}", violation.keyword, violation.expected);
        let line = format!("{id}\t{place}\t{}\n", on_one_line(&reason));
        output.write(line.as_bytes())?;
    }
    output.finish()
}

/// Text with its control characters escaped as in JSON, so that it stays in its line and column.
fn on_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => line.push_str("\\n"),
            '\t' => line.push_str("\\t"),
            control if control.is_control() => {
                // Writing to a string cannot fail.
                let _ = write!(line, "\\u{:04x}", u32::from(control));
            }
            other => line.push(other),
        }
    }
    line
}

/// Fails if there are places that do not fit, and reports how many.
fn fail_if_any(misfits: &[Misfit]) -> Done {
    if misfits.is_empty() {
        return Ok(());
    }
    let count = misfits.len();
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
