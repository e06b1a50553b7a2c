//! `phyllo schema`

use crate::cli::arguments::Schema;
use crate::cli::connect::client::{Client, DataSource};
use crate::cli::connect::opening::StorePurpose;
use crate::cli::outcome::Done;
use crate::cli::read::collection_types::stored_types;
use crate::cli::terminal::output::{Output, say};
use crate::error::Result;
use crate::graphql::{SchemaScope, SchemaSource};
use crate::types::CollectionType;

pub(crate) async fn run(source: DataSource<'_>, arguments: Schema) -> Done {
    let scope = SchemaScope::of(arguments.read_only, !arguments.no_admin);
    let mut schema = SchemaSource::of(scope);
    if arguments.types {
        let client = Client::open(source, StorePurpose::Read).await?;
        let (typed, unnamed) = schema.with_collections(&types(&client).await?)?;
        for it in unnamed {
            say(format_args!("not in the schema: {}", it.error));
        }
        schema = typed;
    }
    let text = if arguments.subgraph {
        schema.subgraph_text()?
    } else {
        schema.text()?
    };
    let mut output = Output::stdout();
    output.write(text.as_bytes())?;
    output.finish()
}

/// The types of all collections, in the order of their names.
async fn types(client: &Client) -> Result<Vec<CollectionType>> {
    let mut types = Vec::new();
    for stored in stored_types(client, None).await? {
        types.push(stored.parsed()?);
    }
    Ok(types)
}
