//! `phyllo get` and `phyllo pairs`

use std::io::IsTerminal;

use super::{follow, names};
use crate::cli::arguments::location::StoreLocation;
use crate::cli::arguments::{Get, PairsArguments, PlaceArguments};
use crate::cli::connect::access::DatabaseAccess;
use crate::cli::connect::opening::StorePurpose;
use crate::cli::outcome::Done;
use crate::cli::terminal::output::Output;
use crate::cli::terminal::pretty;
use crate::database::DocumentKey;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{hex, tuple_text};

pub(crate) async fn get(store: &StoreLocation, get: Get) -> Done {
    let document = document(&get.place)?;
    let access = DatabaseAccess::open(store, StorePurpose::Read).await?;
    let path = get.place.path.clone();
    if get.watch {
        return follow::watch(&access, document, path).await;
    }
    let Some(mut json) = access.get(document, path).await? else {
        names::check(&access, &get.place.collection.name).await?;
        return Err(nothing(&get.place).into());
    };
    if get.pretty || std::io::stdout().is_terminal() {
        json = pretty::pretty(&json)?;
    }
    json.push(b'\n');
    let mut output = Output::stdout();
    output.write(&json)?;
    output.finish()
}

pub(crate) async fn pairs(store: &StoreLocation, arguments: PairsArguments) -> Done {
    let document = document(&arguments.place)?;
    let access = DatabaseAccess::open(store, StorePurpose::Read).await?;
    let pairs = access.pairs(document, arguments.place.path.clone()).await?;
    if pairs.is_empty() {
        names::check(&access, &arguments.place.collection.name).await?;
        return Err(nothing(&arguments.place).into());
    }
    let mut output = Output::stdout();
    for (key, value) in pairs.iter() {
        let line = if arguments.hex {
            format!("{} {}\n", hex(key), hex(value))
        } else {
            format!("{} → {}\n", tuple_text(key), tuple_text(value))
        };
        output.write(line.as_bytes())?;
    }
    output.finish()
}

fn document(place: &PlaceArguments) -> Result<DocumentKey> {
    DocumentKey::new(&*place.collection.name, place.id.clone())
}

fn nothing(place: &PlaceArguments) -> Error {
    let id = place.id.to_string();
    let collection = &place.collection.name;
    let at = match &*place.path.text {
        "" => String::new(),
        path => format!(" at the path {path}"),
    };
    Error::new(
        ErrorKind::NotFound,
        format!("nothing is stored under the id {id} in the collection {collection:?}{at}"),
    )
}
