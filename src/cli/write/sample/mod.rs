//! `phyllo sample`
//!
//! The data are lines of an export, a file for each collection, in the program itself, with the types of the
//! collections.

use serde_json::Value;

use super::set_type::set_type;
use super::upload::{UploadPolicy, upload};
use crate::cli::connect::client::{Client, DataSource};
use crate::cli::connect::data::OperationVariables;
use crate::cli::connect::opening::StorePurpose;
use crate::cli::outcome::Done;
use crate::cli::terminal::output::Output;
use crate::error::Result;

/// The collections, their documents and their types.
const SAMPLES: [(&str, &str, &str); 2] = [
    (
        "countries",
        include_str!("countries.ndjson"),
        include_str!("countries.schema.json"),
    ),
    (
        "guides",
        include_str!("guides.ndjson"),
        include_str!("guides.schema.json"),
    ),
];

/// Stores the sample data. Documents that are stored already stay as they are, and so do collections with
/// other documents or a type.
pub(crate) async fn run(source: DataSource<'_>) -> Done {
    let client = Client::open(source, StorePurpose::Create).await?;
    let mut output = Output::stdout();
    let query = "{ collections { name count type { state } } }";
    let data = client.execute(query, OperationVariables::default()).await?;
    let existing = data.parsed("collections")?;
    for (collection, lines, schema) in SAMPLES {
        let existing = existing.as_array().into_iter().flatten();
        let is_taken = |it: &Value| it["count"] != 0 || !it["type"].is_null();
        let is_taken = existing.filter(|it| it["name"] == collection).any(is_taken);
        if !is_taken {
            set_type(&client, collection, schema, false).await?;
        }
        let count = put(&client, collection, lines).await?;
        output.write(format!("{collection}\t{count}\n").as_bytes())?;
    }
    output.finish()
}

/// Stores the documents of a collection in one transaction. Returns their number.
async fn put(client: &Client, collection: &str, lines: &'static str) -> Result<u64> {
    let policy = UploadPolicy {
        mode: "skip",
        go_on: false,
    };
    let uploaded = upload(client, collection, policy, lines.into(), None).await?;
    match uploaded.rejected.first() {
        Some((_, error)) => Err(error.clone()),
        None => Ok(uploaded.written()),
    }
}
