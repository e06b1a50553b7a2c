//! Validates documents without storing them.

use super::prepare::Prepared;
use crate::budget::{Budget, Steps};
use crate::cli::write::upload::UploadedBatch;
use crate::database::DocumentKey;
use crate::document::flatten::json_text;
use crate::document::path::Place;
use crate::error::{Error, Result};
use crate::key::Leaves;
use crate::types::{CollectionType, NotValidated};

/// Validates a batch for a collection and its type. Unless it continues, nothing after the first document that is
/// rejected.
pub(crate) fn validate_batch(
    (collection, collection_type): (&str, Option<&CollectionType>),
    batch: &[Prepared],
    go_on: bool,
) -> UploadedBatch {
    let mut validated = UploadedBatch::default();
    for prepared in batch {
        validated.lines += 1;
        match validate(collection, collection_type, prepared) {
            Ok(()) => validated.created += 1,
            Err(error) => {
                validated.rejected.push((validated.lines, error));
                if !go_on {
                    break;
                }
            }
        }
    }
    validated
}

/// Validates a document as far as that needs no stored document: its keys, and the type of the collection.
///
/// # Errors
/// `TOO_LARGE`: a key exceeds its limit. `BAD_USER_INPUT`: the document does not fit the type.
fn validate(
    collection: &str,
    collection_type: Option<&CollectionType>,
    document: &Prepared,
) -> Result<()> {
    let leaves = Leaves::from_json(json_text(&document.text)?)?;
    let key = DocumentKey {
        collection: collection.to_owned(),
        id: document.id.clone(),
    };
    let prefix = key.place(&Place::default())?;
    leaves.check_fits(prefix.len(), 0)?;
    let Some(collection_type) = collection_type else {
        return Ok(());
    };
    let budget = Budget::of_background();
    let steps = Steps::of(&budget);
    let mut validator = collection_type.validator(&[], &steps);
    let pushed = leaves
        .iter()
        .try_for_each(|(key, value)| validator.push(key, value));
    let violations = pushed.and_then(|()| validator.finish());
    let violations = violations.map_err(|error| match error {
        NotValidated::Failed(error) => error,
        NotValidated::Malformed(error) => Error::internal(error.to_string()),
    })?;
    match violations.listed().first() {
        None => Ok(()),
        Some(first) => Err(Error::bad_input(format!(
            "the document {} does not fit the type of the collection {collection:?}: {first}",
            key.id
        ))),
    }
}
