//! Definition and removal of types.

use super::head::{TypeCheckProgress, TypeHead, TypeState, write_text};
use super::misfits::{Misfit, misfits};
use super::type_cache::TypeCache;
use crate::budget::Budget;
use crate::database::document_key::check_collection;
use crate::database::format;
use crate::document::leaf::abridged;
use crate::error::{Error, Result};
use crate::key::{Family, Version, name_of_collection};
use crate::store::{Batches, RangeRead, Read, Transaction};
use crate::types::{CollectionType, OnDelete, is_compatible};

/// The type of a collection as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredType {
    /// The collection.
    pub collection: String,
    /// The JSON Schema, as it was given.
    pub schema: String,
    /// Whether the stored documents fit.
    pub state: TypeState,
    /// The stored documents that the background check has read so far. `None` if there is no check.
    pub checked: Option<u64>,
    /// The first places of stored documents that do not fit, of a failed type.
    pub misfits: Vec<Misfit>,
}

impl StoredType {
    /// The JSON Schema without line breaks.
    pub fn schema_line(&self) -> String {
        // Line breaks and tabs of JSON are outside of strings.
        self.schema.replace(['\n', '\r', '\t'], " ")
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

/// What a definition of a type does, given what is stored. Reads under conflict.
///
/// # Errors
/// `BAD_USER_INPUT`: a reference of the type requires what writes do not enforce. `INTERNAL`: the stored type is damaged. Errors of the store. As [`Budget::compute`].
pub(crate) async fn type_change(
    transaction: &dyn Transaction,
    budget: &Budget,
    new: &CollectionType,
) -> Result<TypeChange> {
    check_references(new)?;
    let collection = new.collection();
    let head = TypeHead::read(transaction, collection).await?;
    let change = change(transaction, budget, head.as_ref(), new).await?;
    Ok(match change {
        Some(_) if head.is_some_and(|head| head.is_of(new)) => TypeChange::Unchanged,
        Some(_) => TypeChange::Compatible,
        None => TypeChange::NeedsCheck,
    })
}

/// # Errors
/// `BAD_USER_INPUT`: a reference of the type requires what writes do not enforce.
fn check_references(new: &CollectionType) -> Result<()> {
    let references = new
        .shapes()
        .filter_map(|(_, shape)| shape.reference.as_ref());
    for reference in references {
        let keyword = match (reference.exists, reference.on_delete) {
            (true, _) => "exists",
            (_, OnDelete::Ignore) => continue,
            _ => "onDelete",
        };
        return Err(Error::bad_input(format!(
            "the schema of the collection {:?}: `x-reference` to {:?} has `{keyword}`, which this \
             version does not enforce: leave it out",
            abridged(new.collection()),
            abridged(&reference.collection)
        )));
    }
    Ok(())
}

/// The state that the type has without a check from the beginning. None if there must be one.
async fn change(
    transaction: &dyn Transaction,
    budget: &Budget,
    head: Option<&TypeHead>,
    new: &CollectionType,
) -> Result<Option<TypeState>> {
    let collection = new.collection();
    let (begin, end) = Family::existences(collection);
    let first = transaction.range(RangeRead::new(&begin, &end).at_most(1));
    if first.await?.pairs.is_empty() {
        return Ok(Some(TypeState::Enforced));
    }
    let Some(head) = head.filter(|head| head.state != TypeState::Failed) else {
        return Ok(None);
    };
    if head.is_of(new) {
        return Ok(Some(head.state));
    }
    if !misfits(transaction, collection).await?.is_empty() {
        // A check has found that some documents do not fit the old type.
        return Ok(None);
    }
    let cache = TypeCache::of(transaction);
    let old = cache.find(transaction, budget, collection, head).await?;
    let compatible = budget.compute(|steps| is_compatible(&old, new, steps));
    // A check that goes on has found that the documents before its position fit the old type.
    Ok(compatible.await?.then_some(head.state))
}

/// Gives a collection a type. Writes are validated from this commit on. The stored documents are
/// checked in the background, unless they certainly fit. If a type with the same schema has
/// failed, they are checked again. Returns the state.
///
/// # Errors
/// `BAD_USER_INPUT`: the collection's name is empty. `TOO_LARGE`: it is too long. `INTERNAL`: the
/// stored type is damaged. Errors of the store. As [`Budget::compute`].
pub(crate) async fn set_type(
    transaction: &dyn Transaction,
    budget: &Budget,
    new: &CollectionType,
) -> Result<TypeState> {
    let collection = new.collection();
    check_collection(collection)?;
    let head = TypeHead::read(transaction, collection).await?;
    let state = change(transaction, budget, head.as_ref(), new).await?;
    let new_head = TypeHead::new(collection, new.text(), state.unwrap_or(TypeState::Checking));
    if head != Some(new_head) {
        format::write_types_format(transaction).await?;
        new_head.write(transaction, collection)?;
        write_text(transaction, collection, new.text())?;
        write_types_version(transaction)?;
        let (begin, end) = Family::type_misfits(collection);
        transaction.clear_range(&begin, &end);
    }
    match state {
        None => TypeCheckProgress::default().write(transaction, collection)?,
        Some(TypeState::Checking) => {}
        Some(_) => transaction.clear(&Family::TypeCheck(collection).key()?),
    }
    Ok(new_head.state)
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
        None if head.state == TypeState::Failed => TypeCheckProgress::default(),
        None => TypeCheckProgress {
            position: id.to_vec(),
            ..TypeCheckProgress::default()
        },
    };
    if head.state != TypeState::Checking {
        let state = TypeState::Checking;
        TypeHead { state, ..*head }.write(transaction, collection)?;
        let (begin, end) = Family::type_misfits(collection);
        transaction.clear_range(&begin, &end);
        write_types_version(transaction)?;
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
    let progress = TypeCheckProgress::read(read, collection).await?;
    Ok(Some(StoredType {
        collection: collection.to_owned(),
        schema: head.text(read, collection).await?,
        state: head.state,
        checked: progress.map(|progress| progress.documents),
        misfits: misfits(read, collection).await?,
    }))
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
