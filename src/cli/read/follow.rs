//! `phyllo changes` and `phyllo get --watch`

use serde_json::Value;

use crate::cli::arguments::{ChangesArguments, PlaceArguments};
use crate::cli::connect::client::{Client, DataSource};
use crate::cli::connect::data::{OperationData, OperationVariables};
use crate::cli::connect::opening::StorePurpose;
use crate::cli::connect::raw_json::RawJson;
use crate::cli::outcome::Done;
use crate::cli::terminal::output::Output;
use crate::document::json::write_string;
use crate::document::path::Path;
use crate::error::Result;

const CHANGES: &str = "subscription Changes(
  $collection: String!, $id: ID, $path: Path, $after: String, $fromStart: Boolean!, $follow: Boolean!
) {
  changes(
    collection: $collection, id: $id, path: $path, after: $after, fromStart: $fromStart, follow: $follow
  ) { cursor version collection key kind time paths patch resync }
}";

const WATCH: &str = "subscription Watch($collection: String!, $id: ID!, $path: Path!) {
  document(collection: $collection, id: $id, path: $path) { value }
}";

/// Members of the line of a change, in their order.
const MEMBERS: [&str; 9] = [
    "cursor",
    "version",
    "collection",
    "key",
    "kind",
    "time",
    "paths",
    "patch",
    "resync",
];

/// Prints a line for each change.
pub(crate) async fn changes(source: DataSource<'_>, arguments: ChangesArguments) -> Done {
    let client = Client::open(source, StorePurpose::Read).await?;
    let ChangesArguments {
        collection,
        id,
        path,
        after,
        follow,
    } = arguments;
    let from_start = after.is_none() && !follow;
    let mut variables = OperationVariables::of_collection(&collection.name)
        .path(&path)
        .json("fromStart", flag(from_start))
        .json("follow", flag(follow));
    if let Some(id) = id {
        variables = variables.string("id", &id.to_string());
    }
    if let Some(after) = after {
        variables = variables.string("after", &after);
    }
    let mut changes = client.subscribe(CHANGES, variables).await?;
    let mut output = Output::stdout();
    while let Some(data) = changes.next().await? {
        output.write(&change_line(&data)?)?;
        output.flush()?;
    }
    output.finish()
}

/// Prints the value at a place, now and after each change. A line is empty while nothing is stored there.
pub(super) async fn watch(client: &Client, place: &PlaceArguments) -> Done {
    let variables = OperationVariables::of_collection(&place.collection.name)
        .string("id", &place.id.to_string())
        .path(&place.path);
    let mut values = client.subscribe(WATCH, variables).await?;
    let mut output = Output::stdout();
    let mut last = None;
    while let Some(data) = values.next().await? {
        let line = match data.field("document")? {
            Some(found) => found
                .member("value")?
                .map_or("null", RawJson::text)
                .to_owned(),
            None => String::new(),
        };
        if last.as_ref() != Some(&line) {
            output.write(format!("{line}\n").as_bytes())?;
            output.flush()?;
            last = Some(line);
        }
    }
    output.finish()
}

fn flag(flag: bool) -> &'static str {
    if flag { "true" } else { "false" }
}

/// The line of a change. Its paths are JSON Pointers.
fn change_line(data: &OperationData) -> Result<Vec<u8>> {
    let mut line = Vec::new();
    let Some(change) = data.field("changes")? else {
        return Ok(line);
    };
    for name in MEMBERS {
        let value = change.member(name)?;
        if value.is_none() && name == "key" {
            continue;
        }
        line.push(if line.is_empty() { b'{' } else { b',' });
        write_string(&mut line, name);
        line.push(b':');
        match (name, value) {
            ("paths", Some(paths)) => write_pointers(&mut line, paths)?,
            (_, Some(value)) => line.extend_from_slice(value.text().as_bytes()),
            (_, None) => line.extend_from_slice(b"null"),
        }
    }
    line.extend_from_slice(b"}\n");
    Ok(line)
}

fn write_pointers(line: &mut Vec<u8>, paths: RawJson<'_>) -> Result<()> {
    line.push(b'[');
    for (at, path) in paths.elements()?.into_iter().enumerate() {
        if at > 0 {
            line.push(b',');
        }
        let text = match serde_json::from_str(path.text()) {
            Ok(Value::String(pointer)) => pointer,
            _ => Path::parse(path.text())?.to_string(),
        };
        write_string(line, &text);
    }
    line.push(b']');
    Ok(())
}
