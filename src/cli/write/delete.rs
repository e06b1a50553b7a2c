//! `phyllo delete`

use super::sweep;
use super::sweep::SweepReport;
use crate::cli::arguments::removal::Delete;
use crate::cli::connect::client::{Client, DataSource};
use crate::cli::connect::data::OperationVariables;
use crate::cli::connect::opening::StorePurpose;
use crate::cli::outcome::{Done, Ended};
use crate::cli::read::get::nothing_at;
use crate::cli::read::names;
use crate::document::id::DocumentId;
use crate::operations::{Sweep, SweepChange};

const DELETE: &str = "mutation Delete(
  $collection: String!, $id: ID!, $path: Path!, $ifVersion: DocumentVersion
) {
  deleteDocument(collection: $collection, id: $id, path: $path, ifVersion: $ifVersion) { deleted }
}";

/// Deletes a document, a part of it, or the documents that match a filter.
pub(crate) async fn run(source: DataSource<'_>, arguments: Delete) -> Done {
    if arguments.matching.filter.is_none() && !arguments.matching.everything {
        return delete_one(source, arguments).await;
    }
    let collection = arguments.collection().map_err(Ended::Misused)?;
    let client = Client::open(source, StorePurpose::Change).await?;
    let deletion = Sweep {
        collection,
        filter: arguments.matching.filter(),
        everything: arguments.matching.everything,
        change: SweepChange::Delete,
    };
    sweep::run(&client, &deletion, &mut SweepReport::new("deleted", None)).await
}

async fn delete_one(source: DataSource<'_>, arguments: Delete) -> Done {
    let id = DocumentId::parse(&arguments.target).map_err(Ended::Misused)?;
    let collection = arguments.in_collection.name;
    let client = Client::open(source, StorePurpose::Change).await?;
    let mut variables = OperationVariables::of_collection(&collection)
        .string("id", &id.to_string())
        .path(&arguments.path);
    if let Some(version) = &arguments.if_version {
        variables = variables.string("ifVersion", version);
    }
    let data = client.execute(DELETE, variables).await?;
    if data.parsed("deleteDocument")?["deleted"] == true {
        return Ok(());
    }
    names::check(&client, &collection).await?;
    Err(nothing_at(&collection, &id, &arguments.path).into())
}
