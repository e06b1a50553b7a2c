//! `phyllo get` and `phyllo pairs`

use std::io::IsTerminal;

use form_urlencoded::Serializer;
use serde_json::Value;

use super::{follow, names};
use crate::cli::arguments::location::StoreLocation;
use crate::cli::arguments::parse::WrittenPath;
use crate::cli::arguments::{Get, PairsArguments, PlaceArguments};
use crate::cli::connect::client::{Client, DataSource};
use crate::cli::connect::data::OperationVariables;
use crate::cli::connect::opening::StorePurpose;
use crate::cli::connect::raw_json::RawJson;
use crate::cli::connect::reply::other_version;
use crate::cli::outcome::Done;
use crate::cli::terminal::output::Output;
use crate::cli::terminal::pretty;
use crate::document::id::DocumentId;
use crate::error::{Error, ErrorKind, Result};
use crate::server::local::operator_routes::PAIRS;

const GET: &str = "query Get($collection: String!, $id: ID!, $path: Path!) {
  document(collection: $collection, id: $id, path: $path) { value }
}";

/// Prints the value at a place.
pub(crate) async fn get(source: DataSource<'_>, get: Get) -> Done {
    let client = Client::open(source, StorePurpose::Read).await?;
    let place = &get.place;
    if get.watch {
        return follow::watch(&client, place).await;
    }
    let variables = OperationVariables::of_collection(&place.collection.name)
        .string("id", &place.id.to_string())
        .path(&place.path);
    let data = client.execute(GET, variables).await?;
    let Some(found) = data.field("document")? else {
        names::check(&client, &place.collection.name).await?;
        return Err(nothing(place).into());
    };
    let value = found.member("value")?.map_or("null", RawJson::text);
    print_value(value, get.pretty)
}

/// Prints a value as JSON on one line, or indented.
pub(crate) fn print_value(json: &str, is_pretty: bool) -> Done {
    let mut json = json.as_bytes().to_vec();
    if is_pretty || std::io::stdout().is_terminal() {
        json = pretty::pretty(&json)?;
    }
    json.push(b'\n');
    let mut output = Output::stdout();
    output.write(&json)?;
    output.finish()
}

/// Prints the pairs at a place.
pub(crate) async fn pairs(store: &StoreLocation, arguments: PairsArguments) -> Done {
    let client = Client::open_store(store, StorePurpose::Read).await?;
    let place = &arguments.place;
    let query = Serializer::new(String::new())
        .append_pair("collection", &place.collection.name)
        .append_pair("id", &place.id.to_string())
        .append_pair("path", &place.path.text)
        .finish();
    let mut lines = client.get(&format!("{PAIRS}?{query}")).await?;
    let mut output = Output::stdout();
    let mut is_empty = true;
    while let Some(line) = lines.line().await? {
        output.write(pair_line(&line, arguments.hex)?.as_bytes())?;
        is_empty = false;
    }
    if is_empty {
        names::check(&client, &place.collection.name).await?;
        return Err(nothing(place).into());
    }
    output.finish()
}

fn pair_line(line: &[u8], is_hex: bool) -> Result<String> {
    let pair: Value =
        serde_json::from_slice(line).map_err(|error| other_version(&error.to_string()))?;
    let text = |name: &str| pair[name].as_str().unwrap_or_default().to_owned();
    Ok(if is_hex {
        format!("{} {}\n", text("keyHex"), text("valueHex"))
    } else {
        format!("{} → {}\n", text("key"), text("value"))
    })
}

fn nothing(place: &PlaceArguments) -> Error {
    nothing_at(&place.collection.name, &place.id, &place.path)
}

/// The error of a command that needs a value at a place.
pub(crate) fn nothing_at(collection: &str, id: &DocumentId, path: &WrittenPath) -> Error {
    let at = match &*path.text {
        "" => String::new(),
        path => format!(" at the path {path}"),
    };
    Error::new(
        ErrorKind::NotFound,
        format!("nothing is stored under the id {id} in the collection {collection:?}{at}"),
    )
}
