//! Edits of one document, leaf by leaf, in a transaction.
//!
//! # What conflicts with what
//! A transaction conflicts if another one, committed after its snapshot, has written a key that it
//! has read. (On the embedded engine transactions never conflict.) Patches of different leaves of
//! one document should both succeed. So should additions of different members to one object. Each
//! edit therefore reads under conflict, or declares as read, only what its outcome depends on:
//!
//! * The edited place. If an array element is inserted or removed: also all elements after it,
//!   which are renumbered.
//! * The document's existence key. Only creation, adoption and deletion write it.
//! * The definitions of the collection's indexes. If the place is one that an index is on: also the
//!   values from which the document's entries in that index follow.
//! * For a new member or element: that the parent still exists and has the same kind and, if it is
//!   an array, the same length. A transaction that removes or replaces a value clears the whole
//!   range of its place. Near its end that range contains a phantom range, in which no key is ever
//!   stored. [`Editor::depend_on`] declares the phantom range of the parent (or of an array's last
//!   element) as read. This conflicts with a transaction that removes or replaces that value, and
//!   not with a patch of a leaf inside it.
//! * For a new member or element: the marker of an empty parent, which a transaction that removes
//!   the last member writes.
//! * For a removed member: that a certain other member remains, or that none does.
//!
//! Everything else is read without conflict ([`Transaction::without_conflict`]). An edit writes the
//! document's version but does not read it. A request for an expected version adds that dependency
//! with [`depend_on_version`].

pub(crate) mod append;
pub(crate) mod apply_merge_patch;
pub(crate) mod apply_update;
pub(crate) mod editor;
pub(crate) mod increment;
pub(crate) mod patch;
pub(crate) mod rename;
pub(crate) mod source;
pub(crate) mod stored_response;
pub(crate) mod update_operation;
pub(crate) mod write_document;

use std::sync::Arc;

use futures::future::{join, try_join};

pub use apply_merge_patch::{merge, merge_document};
pub use editor::location::MissingParents;
use editor::location::Target;
use editor::{Editor, Put, depend_on_value};
pub use increment::increment;
pub use patch::patch;

use super::document_key::{DocumentKey, prefix_end};
use super::read::load::version;
use super::types::referring_types::ReferringTypes;
use crate::budget::Budget;
use crate::document::path::{Path, Place, Token};
use crate::error::{Error, ErrorKind, Result};
use crate::key::{Family, Leaves, Version};
use crate::store::{RangeRead, Transaction, key_after};

/// Stores a document, or a part of one, at `path` and replaces any value there. Returns whether the
/// document changed.
///
/// # Errors
/// `NOT_FOUND`: the place has no parent, and it is not created. `INVALID_PATH`: the parent cannot have such
/// a member or element. `TOO_LARGE`: a key exceeds the limit. Errors of the store.
pub async fn replace(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &Arc<DocumentKey>,
    path: &Path,
    leaves: &Leaves,
    parents: MissingParents,
) -> Result<bool> {
    let (mut editor, target) = Editor::begin(transaction, budget, document, path).await?;
    editor.put(target, path, leaves, parents).await?;
    editor.finish().await
}

/// Stores a value as [`replace`], unless one is stored there. Returns whether it was stored.
///
/// # Errors
/// As [`replace`].
pub async fn put_if_absent(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &Arc<DocumentKey>,
    path: &Path,
    leaves: &Leaves,
    parents: MissingParents,
) -> Result<bool> {
    let (mut editor, target) = Editor::begin(transaction, budget, document, path).await?;
    if !matches!(target, Target::Present(_)) {
        editor.put(target, path, leaves, parents).await?;
    }
    editor.finish().await
}

/// Stores a whole document and replaces any document there, or fails if another one is there and it
/// `must_be_equal`.
pub(crate) async fn write_document(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &DocumentKey,
    leaves: &Leaves,
    must_be_equal: bool,
) -> Result<Put> {
    let document = Arc::new(document.clone());
    let whole = Path::default();
    let (mut editor, target) = Editor::begin(transaction, budget, &document, &whole).await?;
    let parents = MissingParents::Fail;
    let put = editor.put(target, &whole, leaves, parents).await?;
    let existed = must_be_equal && put == Put::Replaced;
    if existed && editor.changed {
        let DocumentKey { collection, id } = &*document;
        return Err(Error::new(
            ErrorKind::AlreadyExists,
            format!(
                "another document is already stored under the id {id} in the collection \
                 {collection:?}"
            ),
        ));
    }
    editor.finish().await?;
    Ok(if existed { Put::Skipped } else { put })
}

/// Removes the value at a place, or the whole document. Returns whether there was a value.
///
/// # Errors
/// `INVALID_PATH`: the path is the place after the last element of an array. Errors of the store.
pub async fn delete(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &Arc<DocumentKey>,
    path: &Path,
) -> Result<bool> {
    let is_whole = path.tokens().is_empty();
    let (begun, referring) = join(Editor::begin(transaction, budget, document, path), async {
        // The deletion of a document reads them anyway.
        if is_whole {
            ReferringTypes::of(transaction).await.map(drop)
        } else {
            Ok(())
        }
    })
    .await;
    let (mut editor, target) = begun?;
    referring?;
    match target {
        Target::Present(location) if !location.place.0.is_empty() => {
            editor.remove(&location).await?;
            editor.finish().await
        }
        Target::Present(_) => {
            editor.delete_document().await?;
            Ok(true)
        }
        // A catalog entry without leaves is damage. Deletion repairs it.
        Target::Vacant(_) if editor.entered && is_whole => {
            editor.delete_document().await?;
            Ok(true)
        }
        Target::Vacant(location) if is_dash(path) && location.element().is_some() => {
            let place = location.place.to_string();
            let array = path
                .split_last()
                .map_or(String::new(), |(array, _)| array.to_string());
            let message = format!(
                "\"-\" is the place after the last element of the array at {array:?}, and nothing \
                 is stored there: the last element is -1 in the list form of a path, such as \
                 [\"queue\", -1]"
            );
            Err(Error::invalid_path(Some(place), message))
        }
        Target::Vacant(_) | Target::Orphan | Target::Unfit(_) => editor.finish().await,
    }
}

fn is_dash(path: &Path) -> bool {
    matches!(path.tokens().last(), Some(Token::Dash))
}

/// The commit that last changed a document. The read causes no conflict; call
/// [`depend_on_version`] to depend on the version.
///
/// # Errors
/// Errors of the store.
pub async fn version_before(
    transaction: &dyn Transaction,
    document: &DocumentKey,
) -> Result<Option<Version>> {
    version(transaction.without_conflict(), document).await
}

/// Returns whether a document exists. The transaction conflicts with others that store, replace or remove
/// the whole document.
///
/// # Errors
/// `TOO_LARGE`: a key of the document exceeds the limit. Errors of the store.
pub async fn exists(transaction: &dyn Transaction, document: &DocumentKey) -> Result<bool> {
    let existence = Family::Existence(&document.collection, &document.id).key()?;
    let key = document.place(&Place::default())?;
    let end = prefix_end(&key);
    let first = RangeRead::new(&key, &end).at_most(1);
    let (_, first) = try_join(
        transaction.get(&existence),
        transaction.without_conflict().range(first),
    )
    .await?;
    let exists = !first.pairs.is_empty();
    if exists {
        depend_on_value(transaction, &key);
    }
    Ok(exists)
}

/// Makes the transaction conflict with every other change of a document.
///
/// # Errors
/// `TOO_LARGE`: the key of the version exceeds the limit.
pub fn depend_on_version(transaction: &dyn Transaction, document: &DocumentKey) -> Result<()> {
    let key = Family::Version(&document.collection, &document.id).key()?;
    transaction.add_read_conflict(&key, &key_after(&key));
    Ok(())
}
