//! The types of collections, as a command reads them.

use serde_json::Value;

use crate::cli::connect::client::Client;
use crate::cli::connect::data::OperationVariables;
use crate::cli::connect::raw_json::RawJson;
use crate::cli::connect::reply::other_version;
use crate::error::Result;
use crate::operations::parse_type;
use crate::types::CollectionType;

const TYPES: &str = "query Types($collection: String) {
  collections(name: $collection) {
    name
    type { text state violations { key place keyword expected value } }
  }
}";

/// The type of a collection.
pub(crate) struct ReadType {
    pub(crate) collection: String,
    /// The JSON Schema, as it was set.
    pub(crate) schema: String,
    /// `CHECKING`, `ENFORCED` or `FAILED`.
    pub(crate) state: String,
    /// The places of stored documents that do not fit: objects of strings.
    pub(crate) violations: Vec<Value>,
}

impl ReadType {
    fn of(collection: RawJson<'_>) -> Result<Option<Self>> {
        let Some(ty) = collection.member("type")? else {
            return Ok(None);
        };
        Ok(Some(Self {
            collection: text(collection.member("name")?),
            schema: text(ty.member("text")?),
            state: text(ty.member("state")?),
            violations: match ty.member("violations")? {
                Some(violations) => serde_json::from_str(violations.text())
                    .map_err(|error| other_version(&error.to_string()))?,
                None => Vec::new(),
            },
        }))
    }

    /// The type, for this process.
    ///
    /// # Errors
    /// As [`parse_type`].
    pub(crate) fn parsed(&self) -> Result<CollectionType> {
        parse_type(&self.collection, &self.schema)
    }
}

/// The type of a collection, if it has one, or the types of all collections, in the order of their names.
///
/// # Errors
/// Errors of the server.
pub(crate) async fn stored_types(
    client: &Client,
    collection: Option<&str>,
) -> Result<Vec<ReadType>> {
    let mut variables = OperationVariables::default();
    if let Some(collection) = collection {
        variables = variables.string("collection", collection);
    }
    let data = client.execute(TYPES, variables).await?;
    let mut types = Vec::new();
    let Some(collections) = data.field("collections")? else {
        return Ok(types);
    };
    for collection in collections.elements()? {
        types.extend(ReadType::of(collection)?);
    }
    Ok(types)
}

fn text(json: Option<RawJson<'_>>) -> String {
    let text = json.and_then(|json| serde_json::from_str(json.text()).ok());
    text.unwrap_or_default()
}
