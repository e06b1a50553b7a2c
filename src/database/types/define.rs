//! Definition and removal of types.

use super::head::{TypeCheckProgress, TypeHead, TypeState, write_text};
use super::misfits::{Misfit, misfits};
use super::type_cache::{TypeCache, TypesWritten};
use crate::budget::Budget;
use crate::database::document_key::check_collection;
use crate::database::format;
use crate::document::leaf::abridged;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{Family, Version, name_of_collection};
use crate::store::{Batches, RangeRead, Read, Transaction};
use crate::types::{CollectionType, is_compatible};

/// The type of a collection as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredType {
    /// The collection.
    pub collection: String,
    /// The JSON Schema, as it was given. `None` if it was not read.
    pub schema: Option<String>,
    /// Whether the stored documents fit.
    pub state: TypeState,
    /// The stored documents that the background check has read so far. `None` if there is no check.
    pub checked: Option<u64>,
    /// The first places of stored documents that do not fit, of a failed type.
    pub misfits: Vec<Misfit>,
}

impl StoredType {
    /// The approximate bytes that it holds.
    pub fn held(&self) -> usize {
        self.schema.as_ref().map_or(0, String::len)
            + self.misfits.iter().map(Misfit::held).sum::<usize>()
    }

    /// The JSON Schema without line breaks.
    pub fn schema_line(&self) -> String {
        // Line breaks and tabs of JSON are outside of strings.
        let schema = self.schema.as_deref().unwrap_or_default();
        schema.replace(['\n', '\r', '\t'], " ")
    }
}

/// The effect of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeChange {
    /// The collection has this type already.
    Unchanged,
    /// All stored documents certainly fit: there are none, or they fit the type before.
    Compatible,
    /// The stored documents have to be checked.
    NeedsCheck,
}

/// What a definition of a type means for the stored documents, and the state that the type has after it.
///
/// # Errors
/// `BAD_USER_INPUT`: the collection's name is empty, or no index can find the keys of a reference.
/// `TOO_LARGE`: the name is too long. `INTERNAL`: the stored type is damaged. Errors of the
/// store. As [`Budget::compute`].
pub(crate) async fn type_change(
    read: &dyn Read,
    types: &TypeCache,
    budget: &Budget,
    new: &CollectionType,
) -> Result<(TypeChange, TypeState)> {
    check_collection(new.collection())?;
    check_references(new)?;
    let head = TypeHead::read(read, new.collection()).await?;
    let state = state_without_check(read, types, budget, head.as_ref(), new).await?;
    Ok(match state {
        Some(state) if head == Some(TypeHead::new(new.collection(), new.text(), state)) => {
            (TypeChange::Unchanged, state)
        }
        Some(state) => (TypeChange::Compatible, state),
        None => (TypeChange::NeedsCheck, TypeState::Checking),
    })
}

/// # Errors
/// `BAD_USER_INPUT`: no index can find the keys of a reference.
fn check_references(new: &CollectionType) -> Result<()> {
    let Err(why) = new.indexed_references() else {
        return Ok(());
    };
    let collection = abridged(new.collection());
    Err(Error::bad_input(format!(
        "the schema of the collection {collection:?}: {why}"
    )))
}

/// The state that the type has without a check from the beginning. None if there must be one.
async fn state_without_check(
    read: &dyn Read,
    types: &TypeCache,
    budget: &Budget,
    head: Option<&TypeHead>,
    new: &CollectionType,
) -> Result<Option<TypeState>> {
    let collection = new.collection();
    let (begin, end) = Family::existences(collection);
    let first = read.range(RangeRead::new(&begin, &end).at_most(1));
    if first.await?.pairs.is_empty() {
        return Ok(Some(TypeState::Enforced));
    }
    let Some(head) = head.filter(|head| head.state != TypeState::Failed) else {
        return Ok(None);
    };
    if head.is_of(new) {
        return Ok(Some(head.state));
    }
    if !misfits(read, collection).await?.is_empty() {
        // A check has found that some documents do not fit the old type.
        return Ok(None);
    }
    let old = match types.find(read, collection, head).await {
        Ok(old) => old,
        // The text of the old type is damaged. The new definition repairs it.
        Err(error) if error.kind() == ErrorKind::Internal => return Ok(None),
        Err(error) => return Err(error),
    };
    let compatible = budget.compute(|steps| is_compatible(&old, new, steps));
    // A check that continues has found that the documents before its position fit the old type.
    Ok(compatible.await?.then_some(head.state))
}

/// Gives a collection a type. Writes are validated from this commit on. The stored documents are
/// checked in the background, unless they certainly fit. If a type with the same schema has
/// failed, they are checked again. Returns what the definition means, and the state.
///
/// # Errors
/// As [`type_change`].
pub(crate) async fn set_type(
    transaction: &dyn Transaction,
    budget: &Budget,
    new: &CollectionType,
) -> Result<(TypeChange, TypeState)> {
    let collection = new.collection();
    let types = TypeCache::of(transaction);
    let (change, state) = type_change(transaction, &types, budget, new).await?;
    if change == TypeChange::Unchanged {
        return Ok((change, state));
    }
    format::write_types_format(transaction).await?;
    write_text(transaction, collection, new.text())?;
    let head = TypeHead::new(collection, new.text(), state);
    match (change, state) {
        (TypeChange::NeedsCheck, _) => begin_check(transaction, collection, head)?,
        // The check continues with the new type.
        (_, TypeState::Checking) => write_head(transaction, collection, head)?,
        _ => {
            write_head(transaction, collection, head)?;
            transaction.clear(&Family::TypeCheck(collection).key()?);
        }
    }
    Ok((change, state))
}

/// Checks the stored documents of a collection against its type from the first one on, also if they
/// are being checked. Returns whether the collection has a type.
///
/// # Errors
/// `INTERNAL`: the stored type is damaged. Errors of the store.
pub async fn check_type(transaction: &dyn Transaction, collection: &str) -> Result<bool> {
    let Some(head) = TypeHead::read(transaction, collection).await? else {
        return Ok(false);
    };
    begin_check(transaction, collection, head)?;
    Ok(true)
}

/// Lets the background check begin with the first document.
fn begin_check(transaction: &dyn Transaction, collection: &str, head: TypeHead) -> Result<()> {
    let state = TypeState::Checking;
    write_head(transaction, collection, TypeHead { state, ..head })?;
    TypeCheckProgress::beginning().write(transaction, collection)
}

/// Writes the head of a type that was changed, whose misfits are not known.
fn write_head(transaction: &dyn Transaction, collection: &str, head: TypeHead) -> Result<()> {
    head.write(transaction, collection)?;
    let (begin, end) = Family::type_misfits(collection);
    transaction.clear_range(&begin, &end);
    write_types_version(transaction)
}

/// Removes the type of a collection. Returns whether it had one.
///
/// # Errors
/// `BAD_USER_INPUT`: the collection's name is empty. `TOO_LARGE`: it is too long. Errors of the
/// store.
pub async fn drop_type(transaction: &dyn Transaction, collection: &str) -> Result<bool> {
    check_collection(collection)?;
    let key = Family::Type(collection).key()?;
    if transaction.get(&key).await?.is_none() {
        return Ok(false);
    }
    transaction.clear(&key);
    transaction.clear(&Family::TypeCheck(collection).key()?);
    for (begin, end) in [
        Family::type_text(collection),
        Family::type_misfits(collection),
    ] {
        transaction.clear_range(&begin, &end);
    }
    write_types_version(transaction)?;
    Ok(true)
}

/// Records that this commit changes the type of a collection, so that processes that know all types
/// read them again.
pub(crate) fn write_types_version(transaction: &dyn Transaction) -> Result<()> {
    let value = [&Version::VALUE_PREFIX[..], &Version::PLACEHOLDER].concat();
    let stamp_at = Version::VALUE_PREFIX.len();
    let _marked = transaction.attachments().get::<TypesWritten>();
    transaction.set_versionstamped_value(&Family::TypesVersion.key()?, &value, stamp_at);
    Ok(())
}

/// The commit that last changed the type of any collection. `None` if there was no type yet.
///
/// # Errors
/// Errors of the store.
pub async fn types_version(read: &dyn Read) -> Result<Option<Version>> {
    let value = read.get(&Family::TypesVersion.key()?).await?;
    Ok(value.and_then(|value| Version::decode(&value)))
}

/// Lets the background check read the documents of a collection from one with this key on, because
/// they were entered into the catalog without validation.
///
/// # Errors
/// Errors of the store.
pub(crate) async fn check_from(
    transaction: &dyn Transaction,
    collection: &str,
    document: &[u8],
    head: &TypeHead,
) -> Result<()> {
    let collection_bytes = name_of_collection(document).map_or(0, |(_, bytes)| bytes);
    let id = &document[collection_bytes..];
    let stored = TypeCheckProgress::read(transaction, collection).await?;
    let progress = match stored {
        // The position is at or before the first document that is not checked.
        Some(stored) if &stored.position[..] <= id => return Ok(()),
        Some(stored) => TypeCheckProgress {
            position: id.to_vec(),
            ..stored
        },
        // What was found before is found again.
        None if head.state == TypeState::Failed => TypeCheckProgress::beginning(),
        None => TypeCheckProgress {
            position: id.to_vec(),
            ..TypeCheckProgress::beginning()
        },
    };
    if head.state != TypeState::Checking {
        let state = TypeState::Checking;
        write_head(transaction, collection, TypeHead { state, ..*head })?;
    }
    progress.write(transaction, collection)
}

/// The type of a collection. `None` if it has none.
///
/// # Errors
/// `INTERNAL`: the type is damaged. Errors of the store.
pub async fn stored_type(read: &dyn Read, collection: &str) -> Result<Option<StoredType>> {
    let Some(head) = TypeHead::read(read, collection).await? else {
        return Ok(None);
    };
    let schema = head.text(read, collection).await?;
    let stored = state_of(read, collection, &head).await?;
    Ok(Some(StoredType {
        schema: Some(schema),
        ..stored
    }))
}

/// The type of a collection, if it has one, without its schema.
///
/// # Errors
/// As [`stored_type`].
pub async fn type_state(read: &dyn Read, collection: &str) -> Result<Option<StoredType>> {
    let Some(head) = TypeHead::read(read, collection).await? else {
        return Ok(None);
    };
    state_of(read, collection, &head).await.map(Some)
}

async fn state_of(read: &dyn Read, collection: &str, head: &TypeHead) -> Result<StoredType> {
    let progress = TypeCheckProgress::read(read, collection).await?;
    Ok(StoredType {
        collection: collection.to_owned(),
        schema: None,
        state: head.state,
        checked: progress.map(|progress| progress.documents),
        misfits: misfits(read, collection).await?,
    })
}

/// The names of the collections that have types, in their order.
///
/// # Errors
/// Errors of the store.
pub async fn typed_collections(read: &dyn Read) -> Result<Vec<String>> {
    let (begin, end) = Family::type_texts();
    let mut found: Vec<String> = Vec::new();
    let mut batches = Batches::new(read, begin, end);
    batches.set_pairs_max(TEXTS_PER_READ);
    while let Some(pairs) = batches.next().await? {
        let Some((last, _)) = pairs.last() else {
            break;
        };
        for (key, _) in pairs.iter() {
            if let Some(name) = Family::typed_collection(key)
                && found.last() != Some(&name)
            {
                found.push(name);
            }
        }
        if let Some(name) = Family::typed_collection(last) {
            batches.seek(&Family::type_text(&name).1);
        }
    }
    Ok(found)
}

/// Pieces of texts that a search for the typed collections reads at a time.
const TEXTS_PER_READ: usize = 4;
