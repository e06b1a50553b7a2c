//! Writes of whole documents.

use futures::future::try_join;

use super::editor::{Put, enter, write_leaves, write_version};
use super::write_document;
use crate::budget::Budget;
use crate::database::changes::record::{self, Edited};
use crate::database::document_key::{DocumentKey, prefix_end};
use crate::database::index::definition::{Definitions, definitions};
use crate::database::index::maintainer::insert_entries;
use crate::database::open::unfinished_write::UnfinishedWrite;
use crate::database::types::type_guard::validate_new;
use crate::document::id::DocumentId;
use crate::document::path::Place;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{Family, Leaves};
use crate::store::{RangeRead, Read, Transaction};

/// What to do if the document already exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Fail with `ALREADY_EXISTS`.
    Fail,
    /// Leave the stored document unchanged.
    Skip,
    /// Replace the stored document.
    Replace,
    /// Leave the stored document unchanged if it is equal to the new one. Otherwise fail with
    /// `ALREADY_EXISTS`.
    MustEqual,
}

impl Existing {
    /// All values.
    pub const ALL: [Self; 4] = [Self::Fail, Self::Skip, Self::Replace, Self::MustEqual];
}

/// Stores a new document under `id`, or under its own id (`doc_id`), or under a random unused
/// positive 63-bit integer. Returns its key.
///
/// # Errors
/// `ALREADY_EXISTS`: something is stored under the id. `BAD_USER_INPUT`: `doc_id` is not a valid
/// id. `TYPE_MISMATCH`. `TOO_LARGE`: a key exceeds the limit. Errors of the store.
pub async fn insert(
    transaction: &dyn Transaction,
    budget: &Budget,
    collection: &str,
    id: Option<DocumentId>,
    leaves: &Leaves,
) -> Result<DocumentKey> {
    let inserted = insert_or(
        transaction,
        budget,
        (collection, id),
        leaves,
        Existing::Fail,
    );
    Ok(inserted.await?.0)
}

/// Stores a document as [`insert`], unless something is stored under its id. Returns its key, and whether it was
/// stored.
///
/// # Errors
/// As [`insert`], without `ALREADY_EXISTS`.
pub async fn insert_if_absent(
    transaction: &dyn Transaction,
    budget: &Budget,
    collection: &str,
    id: Option<DocumentId>,
    leaves: &Leaves,
) -> Result<(DocumentKey, bool)> {
    let inserted = insert_or(
        transaction,
        budget,
        (collection, id),
        leaves,
        Existing::Skip,
    );
    let (document, put) = inserted.await?;
    Ok((document, put == Put::Created))
}

async fn insert_or(
    transaction: &dyn Transaction,
    budget: &Budget,
    (collection, id): (&str, Option<DocumentId>),
    leaves: &Leaves,
    existing: Existing,
) -> Result<(DocumentKey, Put)> {
    let id = match id {
        Some(id) => Some(id),
        None => leaves.own_id()?,
    };
    let Some(id) = id else {
        let document = insert_anywhere(transaction, budget, collection, leaves).await?;
        return Ok((document, Put::Created));
    };
    let document = DocumentKey::new(collection, id)?;
    let put = put(transaction, budget, &document, leaves, existing).await?;
    Ok((document, put))
}

/// Stores a document under a random unused integer.
async fn insert_anywhere(
    transaction: &dyn Transaction,
    budget: &Budget,
    collection: &str,
    leaves: &Leaves,
) -> Result<DocumentKey> {
    loop {
        let id = DocumentId::Integer(rand::random_range(1..=i64::MAX));
        let document = DocumentKey::new(collection, id)?;
        if create(transaction, budget, &document, leaves).await? {
            return Ok(document);
        }
    }
}

/// Stores a document. If one exists, does what `existing` says.
///
/// # Errors
/// `ALREADY_EXISTS`: a document exists and `existing` is [`Existing::Fail`], or another document exists
/// and it is [`Existing::MustEqual`]. `TYPE_MISMATCH`. `TOO_LARGE`: a key exceeds the limit. Errors of the store.
pub async fn put(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &DocumentKey,
    leaves: &Leaves,
    existing: Existing,
) -> Result<Put> {
    match existing {
        Existing::Replace | Existing::MustEqual => {
            let must_be_equal = existing == Existing::MustEqual;
            write_document(transaction, budget, document, leaves, must_be_equal).await
        }
        Existing::Fail | Existing::Skip => {
            match create(transaction, budget, document, leaves).await? {
                true => Ok(Put::Created),
                false if existing == Existing::Skip => Ok(Put::Skipped),
                false => Err(already_exists(document)),
            }
        }
    }
}

/// Stores a document if there is none. Returns whether it was stored.
async fn create(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &DocumentKey,
    leaves: &Leaves,
) -> Result<bool> {
    let prefix = document.place(&Place::default())?;
    leaves.check_fits(prefix.len(), 0)?;
    let (present, defined) = try_join(
        stored(transaction, document, &prefix),
        definitions(transaction, &document.collection),
    )
    .await?;
    if present.anything() {
        return Ok(false);
    }
    let Definitions { indexes, type_head } = defined;
    validate_new(transaction, budget, document, type_head.as_ref(), leaves).await?;
    let write = UnfinishedWrite::begin(transaction);
    enter(transaction, document).await?;
    write_leaves(transaction, budget, &prefix, leaves).await?;
    insert_entries(transaction, budget, document, leaves, &indexes).await?;
    write_version(transaction, document)?;
    record::written(transaction, Edited::new(document), leaves);
    write.finish();
    Ok(true)
}

/// The stored state of a document.
pub(crate) struct Present {
    /// The catalog has an entry for the document.
    pub(crate) entered: bool,
    /// The document has leaves, possibly stored by another program.
    pub(crate) leaves: bool,
}

impl Present {
    fn anything(&self) -> bool {
        self.entered || self.leaves
    }
}

pub(crate) async fn stored(
    read: &dyn Read,
    document: &DocumentKey,
    prefix: &[u8],
) -> Result<Present> {
    let existence = Family::Existence(&document.collection, &document.id).key()?;
    let end = prefix_end(prefix);
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
