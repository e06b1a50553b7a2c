//! `phyllo sample`
//!
//! The data are lines of an export, a file for each collection, in the program itself, with the types of the
//! collections.

use crate::cli::arguments::location::StoreLocation;
use crate::cli::connect::access::DatabaseAccess;
use crate::cli::connect::opening::StorePurpose;
use crate::cli::outcome::Done;
use crate::cli::terminal::output::Output;
use crate::database::Existing;
use crate::document::id::DocumentId;
use crate::error::Result;
use crate::key::Leaves;
use crate::operations::{NewDocument, Policy, parse_line};

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
pub(crate) async fn run(store: &StoreLocation) -> Done {
    let access = DatabaseAccess::open(store, StorePurpose::Create).await?;
    let mut output = Output::stdout();
    let existing = access.collections().await?;
    for (collection, lines, schema) in SAMPLES {
        let is_new = !existing.iter().any(|existing| existing.name == collection);
        let is_typed = !access.types(Some(collection)).await?.is_empty();
        if is_new && !is_typed {
            access.set_type(collection, schema, false).await?;
        }
        let count = put(&access, collection, lines).await?;
        output.write(format!("{collection}\t{count}\n").as_bytes())?;
    }
    output.finish()
}

/// Stores the documents of a collection in one transaction. Returns their number.
async fn put(access: &DatabaseAccess, collection: &str, lines: &str) -> Result<usize> {
    let policy = Policy {
        existing: Existing::Skip,
        go_on: false,
    };
    let (mut documents, mut texts) = (Vec::new(), Vec::new());
    for line in lines.lines() {
        let record = parse_line(line)?;
        documents.push(NewDocument {
            id: DocumentId::parse(&record.id)?,
            leaves: Leaves::from_json(record.document),
        });
        texts.push(record.document.as_bytes().to_vec());
    }
    let results = access.put_batch(collection, documents, &texts, policy);
    let stored: Result<Vec<_>> = results.await?.into_iter().collect();
    stored.map(|stored| stored.len())
}
