//! Writing whole documents.

use futures::future::try_join;

use super::edit::{enter, replace_document, write_leaves, write_version};
use super::index::{indexes, insert_entries};
use super::{DocumentKey, end_of};
use crate::budget::Budget;
use crate::document::id::DocumentId;
use crate::document::path::Place;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{Family, Leaves};
use crate::store::{RangeRead, Read, Transaction};

/// What to do where a document is stored already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Fail with `ALREADY_EXISTS`.
    Fail,
    /// Leave it as it is.
    Skip,
    /// Put the new one in its place.
    Replace,
}

/// What [`put`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Put {
    /// There was none; it was created.
    Created,
    /// There was one; it was replaced.
    Replaced,
    /// There was one; it was left as it is.
    Skipped,
}

/// Stores a new document under `id`, or under the id that it names itself (`doc_id`), or under a
/// random unused integer of 63 bits. Returns where.
///
/// # Errors
/// `ALREADY_EXISTS`: something is stored there. `BAD_USER_INPUT`: its `doc_id` is no id.
/// `TOO_LARGE`: a key passes the limit. What the store fails with.
pub async fn insert(
    transaction: &dyn Transaction,
    collection: &str,
    id: Option<DocumentId>,
    leaves: &Leaves,
) -> Result<DocumentKey> {
    let id = match id {
        Some(id) => Some(id),
        None => leaves.own_id()?,
    };
    let Some(id) = id else {
        return insert_anywhere(transaction, collection, leaves).await;
    };
    let document = DocumentKey::new(collection, id)?;
    put(transaction, &document, leaves, Existing::Fail).await?;
    Ok(document)
}

/// Stores a document under a random integer under which none is.
async fn insert_anywhere(
    transaction: &dyn Transaction,
    collection: &str,
    leaves: &Leaves,
) -> Result<DocumentKey> {
    loop {
        let id = DocumentId::Integer(rand::random_range(1..=i64::MAX));
        let document = DocumentKey::new(collection, id)?;
        if create(transaction, &document, leaves).await? {
            return Ok(document);
        }
    }
}

/// Stores a document where there is none, and does as told where there is one.
///
/// # Errors
/// `ALREADY_EXISTS`: there is one, and that was told to fail. `TOO_LARGE`: a key passes the limit.
/// What the store fails with.
pub async fn put(
    transaction: &dyn Transaction,
    document: &DocumentKey,
    leaves: &Leaves,
    existing: Existing,
) -> Result<Put> {
    if existing == Existing::Replace {
        return replace_document(transaction, document, leaves).await;
    }
    match (create(transaction, document, leaves).await?, existing) {
        (true, _) => Ok(Put::Created),
        (false, Existing::Skip) => Ok(Put::Skipped),
        (false, _) => Err(already_exists(document)),
    }
}

/// Stores a document where there is none. Whether there was none.
async fn create(
    transaction: &dyn Transaction,
    document: &DocumentKey,
    leaves: &Leaves,
) -> Result<bool> {
    let prefix = document.place(&Place::default())?;
    leaves.check_keys(prefix.len())?;
    let (present, indexes) = try_join(
        stored(transaction, document, &prefix),
        indexes(transaction, &document.collection),
    )
    .await?;
    if present.anything() {
        return Ok(false);
    }
    enter(transaction, document)?;
    write_leaves(transaction, &prefix, leaves).await;
    insert_entries(
        transaction,
        &Budget::of_background(),
        document,
        leaves,
        &indexes,
    )
    .await?;
    write_version(transaction, document)?;
    Ok(true)
}

/// What is there of a document.
pub(super) struct Present {
    /// The catalog knows the document.
    pub(super) entered: bool,
    /// Leaves are stored, perhaps by another program.
    pub(super) leaves: bool,
}

impl Present {
    fn anything(&self) -> bool {
        self.entered || self.leaves
    }
}

pub(super) async fn stored(
    read: &dyn Read,
    document: &DocumentKey,
    prefix: &[u8],
) -> Result<Present> {
    let existence = Family::Existence(&document.collection, &document.id).key()?;
    let end = end_of(prefix);
    let (entered, first) = try_join(
        read.get(&existence),
        read.range(RangeRead::new(prefix, &end).at_most(1)),
    )
    .await?;
    Ok(Present {
        entered: entered.is_some(),
        leaves: !first.pairs.is_empty(),
    })
}

fn already_exists(document: &DocumentKey) -> Error {
    Error::new(
        ErrorKind::AlreadyExists,
        format!(
            "something is already stored under the id {} in the collection {:?}",
            document.id, document.collection
        ),
    )
}
