//! Adds to a number.

use std::sync::Arc;

use super::editor::Editor;
use super::editor::location::{Location, MissingParents, Target};
use crate::budget::Budget;
use crate::database::document_key::DocumentKey;
use crate::document::leaf::{Leaf, abridged};
use crate::document::number::sum;
use crate::document::path::Path;
use crate::error::{Error, Result};
use crate::key::{Leaves, decode_leaf};
use crate::store::Transaction;

/// Adds `by` to the number at a place. If there is no value, stores `by`. Returns whether the
/// document changed.
///
/// # Errors
/// `BAD_USER_INPUT`: the value is not a number, or the sum exceeds the range of binary64.
/// `TOO_LARGE`: the sum is an integer beyond the limit. `NOT_FOUND`, `INVALID_PATH`: as
/// [`replace`](super::replace). Errors of the store.
pub async fn increment(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &Arc<DocumentKey>,
    path: &Path,
    by: &Leaf<'_>,
    parents: MissingParents,
) -> Result<bool> {
    let (mut editor, target) = Editor::begin(transaction, budget, document, path).await?;
    let leaves = match &target {
        Target::Present(location) => Leaves::from_leaf(&sum(&number_at(location)?, by)?),
        _ => Leaves::from_leaf(by),
    };
    editor.put(target, path, &leaves, parents).await?;
    editor.finish().await
}

/// The number at a location.
///
/// # Errors
/// `BAD_USER_INPUT`: the value is not a number.
pub(crate) fn number_at(location: &Location) -> Result<Leaf<'_>> {
    let leaf = location.leaf().and_then(decode_leaf);
    match leaf {
        Some(leaf @ (Leaf::Integer(_) | Leaf::BigInteger(_) | Leaf::Double(_))) => Ok(leaf),
        _ => Err(Error::bad_input(format!(
            "the value at {:?} is not a number",
            abridged(&location.place.to_string())
        ))),
    }
}
