//! Changing one document, leaf by leaf, in a transaction.
//!
//! # What conflicts with what
//! Two transactions conflict if one has written what the other has read. So each change reads
//! under conflict exactly what its outcome depends on:
//!
//! * what stands at its own place, and all that it renumbers;
//! * where it adds a member or an element: that its parent still is what it was. Whoever removes
//!   or replaces the value at a place clears the whole range of that place, so it is enough to
//!   look at an end of that range where no key ever stands ([`Editor::depend_on`]); a patch of a
//!   leaf, or of one further down, does not touch it;
//! * the document's existence, which only creation, adoption and deletion write.
//!
//! * where a place is one that an index is on: all that the document's entries in it depend on.
//!
//! Patches of different leaves of one document, and additions of different members to one object,
//! therefore go through side by side.

pub(crate) mod editor;
pub(crate) mod increment;
pub(crate) mod merge;
pub(crate) mod patch;
pub(crate) mod set;
pub(crate) mod stored_response;
pub(crate) mod write;

use editor::Editor;
use std::sync::Arc;

use super::document_key::DocumentKey;
use super::read::load::version;
use crate::budget::Budget;
use crate::document::path::Path;
use crate::error::Result;
use crate::key::{Family, Leaves, Version};
use crate::store::{Transaction, key_after};
use editor::Put;
use editor::location::Target;

pub use increment::increment;
pub use merge::merge;
pub use patch::patch;
pub(crate) use set::set;

/// Puts a document, or a part of one, in the place of whatever stands there. Whether that changed
/// anything.
///
/// # Errors
/// `NOT_FOUND`: the place has no parent. `INVALID_PATH`: the parent cannot have such a member or
/// element. `TOO_LARGE`: a key passes the limit. What the store fails with.
pub async fn replace(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &Arc<DocumentKey>,
    path: &Path,
    leaves: &Leaves,
) -> Result<bool> {
    let (mut editor, target) = Editor::begin(transaction, budget, document, path).await?;
    editor.put(target, path, leaves).await?;
    editor.finish().await
}

/// Puts a whole document in the place of whatever stands there.
pub(crate) async fn replace_document(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &DocumentKey,
    leaves: &Leaves,
) -> Result<Put> {
    let document = Arc::new(document.clone());
    let whole = Path::default();
    let (mut editor, target) = Editor::begin(transaction, budget, &document, &whole).await?;
    let put = editor.put(target, &whole, leaves).await?;
    editor.finish().await?;
    Ok(put)
}

/// Removes what stands at a place, or the whole document. Whether anything stood there.
///
/// # Errors
/// What the store fails with.
pub async fn delete(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &Arc<DocumentKey>,
    path: &Path,
) -> Result<bool> {
    let (mut editor, target) = Editor::begin(transaction, budget, document, path).await?;
    match target {
        Target::Present(spot) if !spot.place.0.is_empty() => {
            editor.remove(&spot).await?;
            editor.finish().await
        }
        Target::Present(_) => {
            editor.delete_document().await?;
            Ok(true)
        }
        // An entry of the catalog without a document is damage, which this repairs.
        Target::Vacant(_) if editor.entered && path.tokens().is_empty() => {
            editor.delete_document().await?;
            Ok(true)
        }
        Target::Vacant(_) | Target::Orphan | Target::Unfit(_) => Ok(false),
    }
}

/// The commit that last changed a document, read so that a transaction depends on it only where
/// [`depend_on_version`] says so.
///
/// # Errors
/// What the store fails with.
pub async fn version_before(
    transaction: &dyn Transaction,
    document: &DocumentKey,
) -> Result<Option<Version>> {
    version(transaction.without_conflict(), document).await
}

/// Makes the transaction conflict with every other change of a document.
///
/// # Errors
/// `TOO_LARGE`: its key passes the limit.
pub fn depend_on_version(transaction: &dyn Transaction, document: &DocumentKey) -> Result<()> {
    let key = Family::Version(&document.collection, &document.id).key()?;
    transaction.add_read_conflict(&key, &key_after(&key));
    Ok(())
}
