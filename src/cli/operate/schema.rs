//! `phyllo schema`

use crate::cli::arguments::Schema;
use crate::cli::arguments::location::StoreLocation;
use crate::cli::connect::access::DatabaseAccess;
use crate::cli::connect::opening::StorePurpose;
use crate::cli::outcome::Done;
use crate::cli::terminal::output::{Output, say};
use crate::error::Result;
use crate::graphql::{SchemaScope, SchemaSource};
use crate::operations::parsed_type;
use crate::types::CollectionType;

pub(crate) async fn run(store: &StoreLocation, arguments: Schema) -> Done {
    let scope = SchemaScope::of(arguments.read_only, !arguments.no_admin);
    let mut source = SchemaSource::of(scope);
    if arguments.types {
        let access = DatabaseAccess::open(store, StorePurpose::Read).await?;
        let (typed, unnamed) = source.with_collections(&types(&access).await?)?;
        for it in unnamed {
            say(format_args!("not in the schema: {}", it.error));
        }
        source = typed;
    }
    let text = if arguments.subgraph {
        source.subgraph_text()?
    } else {
        source.text()?
    };
    let mut output = Output::stdout();
    output.write(text.as_bytes())?;
    output.finish()
}

/// The types of all collections, in the order of their names.
async fn types(access: &DatabaseAccess) -> Result<Vec<CollectionType>> {
    let mut types = Vec::new();
    for listed in access.types(None).await? {
        let collection = listed.collection;
        for stored in access.types(Some(&collection)).await? {
            types.push(parsed_type(&stored)?);
        }
    }
    Ok(types)
}
