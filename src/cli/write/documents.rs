//! `phyllo put`, `insert`, `merge` and `patch`: each writes one document.

use crate::cli::arguments::documents::{Insert, Merge, Patch, Put, WriteTarget};
use crate::cli::connect::client::{Client, DataSource};
use crate::cli::connect::data::{OperationData, OperationVariables};
use crate::cli::connect::opening::StorePurpose;
use crate::cli::input::read_json;
use crate::cli::outcome::{Done, Ended};
use crate::cli::terminal::output::Output;
use crate::error::{Error, ErrorKind, Result};

const PUT: &str = "mutation Put(
  $collection: String!, $id: ID!, $path: Path!, $document: JSON!, $ifVersion: DocumentVersion,
  $createParents: Boolean!, $ifAbsent: Boolean!
) {
  written: replaceDocument(
    collection: $collection, id: $id, path: $path, document: $document, ifVersion: $ifVersion,
    createParents: $createParents, ifAbsent: $ifAbsent
  ) { key version created }
}";

const INSERT: &str = "mutation Insert($collection: String!, $id: ID, $document: JSON!) {
  written: insertDocument(collection: $collection, id: $id, document: $document) { key version }
}";

const APPEND: &str = "mutation Append($collection: String!, $document: JSON!) {
  written: appendDocument(collection: $collection, document: $document) { key version }
}";

const MERGE: &str = "mutation Merge(
  $collection: String!, $id: ID!, $path: Path!, $patch: JSON!, $ifVersion: DocumentVersion
) {
  written: mergeDocument(
    collection: $collection, id: $id, path: $path, patch: $patch, ifVersion: $ifVersion
  ) { key version }
}";

const PATCH: &str = "mutation Patch(
  $collection: String!, $id: ID!, $path: Path!, $patch: JSON!, $ifVersion: DocumentVersion,
  $createParents: Boolean!
) {
  written: patchDocument(
    collection: $collection, id: $id, path: $path, patch: $patch, ifVersion: $ifVersion,
    createParents: $createParents
  ) { key version }
}";

/// Stores a value at a place.
pub(crate) async fn put(source: DataSource<'_>, arguments: Put) -> Done {
    let Put {
        target,
        create_parents,
        if_absent,
    } = arguments;
    let variables = variables_of(&target)?
        .json("document", &read_json(target.input())?)
        .json("createParents", flag(create_parents))
        .json("ifAbsent", flag(if_absent));
    let client = Client::open(source, StorePurpose::Create).await?;
    let data = client.execute(PUT, variables).await?;
    if data.parsed("written")?["created"] == false {
        let message = "something is stored there already; nothing is changed";
        return Err(Error::new(ErrorKind::AlreadyExists, message).into());
    }
    print_version(&data)
}

/// Stores a new document.
pub(crate) async fn insert(source: DataSource<'_>, arguments: Insert) -> Done {
    let variables = OperationVariables::of_collection(&arguments.collection.name);
    let mut variables = variables.json("document", &read_json(&arguments.input)?);
    if let Some(id) = &arguments.id {
        variables = variables.string("id", &id.to_string());
    }
    let operation = if arguments.append { APPEND } else { INSERT };
    let client = Client::open(source, StorePurpose::Create).await?;
    let written = client.execute(operation, variables).await?;
    let written = written.parsed("written")?;
    let text = |name: &str| {
        written[name]
            .as_str()
            .unwrap_or_default()
            .escape_debug()
            .to_string()
    };
    let mut output = Output::stdout();
    output.write(format!("{}\t{}\n", text("key"), text("version")).as_bytes())?;
    output.finish()
}

/// Applies a JSON Merge Patch.
pub(crate) async fn merge(source: DataSource<'_>, arguments: Merge) -> Done {
    let target = arguments.target;
    let variables = variables_of(&target)?.json("patch", &read_json(target.input())?);
    let client = Client::open(source, StorePurpose::Create).await?;
    print_version(&client.execute(MERGE, variables).await?)
}

/// Applies a JSON Patch.
pub(crate) async fn patch(source: DataSource<'_>, arguments: Patch) -> Done {
    let Patch {
        target,
        create_parents,
    } = arguments;
    let variables = variables_of(&target)?
        .json("patch", &read_json(target.input())?)
        .json("createParents", flag(create_parents));
    let client = Client::open(source, StorePurpose::Change).await?;
    print_version(&client.execute(PATCH, variables).await?)
}

fn variables_of(target: &WriteTarget) -> Result<OperationVariables, Ended> {
    let path = target.path().map_err(Ended::Misused)?;
    let variables = OperationVariables::of_collection(&target.collection.name)
        .string("id", &target.id.to_string())
        .path(&path);
    Ok(match &target.if_version {
        Some(version) => variables.string("ifVersion", version),
        None => variables,
    })
}

fn flag(flag: bool) -> &'static str {
    if flag { "true" } else { "false" }
}

/// Prints the version of the document that was written.
fn print_version(data: &OperationData) -> Done {
    let written = data.parsed("written")?;
    let version = written["version"].as_str().unwrap_or_default();
    let mut output = Output::stdout();
    output.write(format!("{version}\n").as_bytes())?;
    output.finish()
}
