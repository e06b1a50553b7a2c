//! Giving a collection a type.

use serde_json::Value;

use crate::cli::connect::client::Client;
use crate::cli::connect::data::OperationVariables;
use crate::error::Result;

const SET_TYPE: &str = "mutation SetType($collection: String!, $schema: JSON!, $dryRun: Boolean!) {
  setCollectionType(collection: $collection, schema: $schema, dryRun: $dryRun) {
    effect examined complete violations { key place keyword expected value }
  }
}";

/// Gives a collection a type, which must be JSON, or only says what it would mean. Returns what the operation says.
///
/// # Errors
/// Errors of the server.
pub(crate) async fn set_type(
    client: &Client,
    collection: &str,
    schema: &str,
    dry_run: bool,
) -> Result<Value> {
    let variables = OperationVariables::of_collection(collection)
        .json("schema", schema)
        .json("dryRun", if dry_run { "true" } else { "false" });
    let data = client.execute(SET_TYPE, variables).await?;
    data.parsed("setCollectionType")
}
