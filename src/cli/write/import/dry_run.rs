//! Validates documents without storing them.

use crate::budget::{Budget, Steps};
use crate::database::DocumentKey;
use crate::document::path::Place;
use crate::error::{Error, Result};
use crate::operations::NewDocument;
use crate::types::{CollectionType, NotValidated};

/// Validates a document as far as that needs no stored document: its keys, and the type of the collection.
///
/// # Errors
/// `TOO_LARGE`: a key exceeds its limit. `BAD_USER_INPUT`: the document does not fit the type.
pub(crate) fn validate(
    collection: &str,
    collection_type: Option<&CollectionType>,
    document: NewDocument,
) -> Result<()> {
    let leaves = document.leaves?;
    let key = DocumentKey {
        collection: collection.to_owned(),
        id: document.id,
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
