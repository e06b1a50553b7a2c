//! Checks the references that a transaction has written: that the documents to which they lead exist, and that
//! no chain of references is a circle.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures::future::try_join_all;

use crate::budget::{Budget, Reservation, begun_in_turns};
use crate::database::document_key::{DocumentKey, is_pending};
use crate::database::edit::exists;
use crate::database::types::pending_references::{WrittenReference, take_written};
use crate::database::types::type_guard::stored_references;
use crate::database::types::validate::check;
use crate::document::id::DocumentId;
use crate::document::path::Place;
use crate::error::{Error, ErrorKind, Limit, Result, TypeViolation};
use crate::key::decode_leaf;
use crate::limits::{FOLLOWED_DOCUMENTS_MAX, PARTS_AT_ONCE};
use crate::store::Transaction;
use crate::types::SeenReference;

/// Why the references of a transaction keep it from being committed.
#[derive(Debug)]
pub struct ReferenceViolation {
    /// The document that was written or deleted.
    pub document: DocumentKey,
    /// `TYPE_MISMATCH`: a reference leads to no document, or closes a circle. `TOO_LARGE`: a chain is too long.
    /// `REFERENCE_VIOLATION`: a document refers to one that was deleted.
    pub error: Error,
}

impl ReferenceViolation {
    /// The error of a violation for callers who may not know the documents that refer to a deleted one.
    pub fn without_documents(error: Error) -> Error {
        match error.kind() {
            ErrorKind::ReferenceViolation => Error::new(
                ErrorKind::ReferenceViolation,
                "another document refers to the deleted one, and its type restricts the deletion",
            ),
            _ => error,
        }
    }

    /// An error of [`settle_references`](super::settle_references::settle_references) for such callers.
    pub fn settling_failed(error: Error) -> Error {
        // These can name a document that refers to a deleted one, or its collection.
        match error.kind() {
            ErrorKind::TypeMismatch
            | ErrorKind::TooLarge
            | ErrorKind::TooComplex
            | ErrorKind::KeyTooLong => Error::new(
                ErrorKind::ReferenceViolation,
                "what the deletion does to the documents that refer to the deleted one is not possible",
            ),
            _ => error,
        }
    }
}

/// Approximate memory of a key besides its text.
const HELD_PER_KEY: usize = 128;

/// Approximate memory of keys.
fn held_by<'i>(ids: impl Iterator<Item = &'i DocumentId>) -> usize {
    ids.map(|id| HELD_PER_KEY + id.bytes()).sum()
}

/// What was seen to lead to no document: the collection, the key, and the value.
type Broken<'w> = HashSet<(&'w str, Option<&'w DocumentId>, &'w str)>;

/// Checks the references that a transaction has written. `hidden` documents are as absent ones.
///
/// # Errors
/// Errors of the store. As [`Budget::pace`] and [`Reservation::hold`].
pub(super) async fn check_written(
    transaction: &dyn Transaction,
    budget: &Budget,
    hidden: &HashSet<DocumentKey>,
) -> Result<Option<ReferenceViolation>> {
    let written = take_written(transaction);
    if written.is_empty() {
        return Ok(None);
    }
    if let Some(violation) = check_targets(transaction, budget, &written, hidden).await? {
        return Ok(Some(violation));
    }
    check_chains(transaction, budget, &written).await
}

async fn check_targets(
    transaction: &dyn Transaction,
    budget: &Budget,
    written: &[Arc<WrittenReference>],
    hidden: &HashSet<DocumentKey>,
) -> Result<Option<ReferenceViolation>> {
    budget.pace(written.len() as u64).await?;
    let required = || written.iter().filter(|it| it.seen.reference.exists);
    let held = budget.reserve();
    let targets: HashSet<DocumentKey> = required().filter_map(|it| it.target()).collect();
    let targets: Vec<DocumentKey> = targets.into_iter().collect();
    held.hold(held_by(targets.iter().map(|it| &it.id)))?;
    let mut present: HashSet<&DocumentKey> = HashSet::new();
    for some in targets.chunks(PARTS_AT_ONCE) {
        budget.pace(some.len() as u64).await?;
        let found = some.iter().map(|target| exists(transaction, target));
        let found = try_join_all(begun_in_turns(found)).await?;
        let found = some
            .iter()
            .zip(found)
            .filter(|(_, exists)| *exists)
            .map(|(target, _)| target);
        present.extend(found.filter(|target| !hidden.contains(target)));
    }
    let is_broken = |it: &&Arc<WrittenReference>| {
        let target = it.target();
        !target.is_some_and(|target| present.contains(&target))
    };
    let broken: Vec<&Arc<WrittenReference>> = required().filter(is_broken).collect();
    let seen = broken.iter().map(|it| identity(&it.seen)).collect();
    let mut from: HashSet<&DocumentKey> = HashSet::new();
    for reference in broken {
        if from.insert(&reference.from)
            && let Some(violation) = still_broken(transaction, budget, reference, &seen).await?
        {
            return Ok(Some(violation));
        }
    }
    Ok(None)
}

fn identity(seen: &SeenReference) -> (&str, Option<&DocumentId>, &str) {
    (&seen.reference.collection, seen.to.as_ref(), &seen.value)
}

/// The violation if the document still has a broken reference: the operation may have changed it afterwards.
async fn still_broken(
    transaction: &dyn Transaction,
    budget: &Budget,
    written: &WrittenReference,
    broken: &Broken<'_>,
) -> Result<Option<ReferenceViolation>> {
    let from = &*written.from;
    let stored = if is_pending(&from.id) {
        vec![written.seen.clone()]
    } else {
        stored_references(transaction, budget, from).await?
    };
    budget.pace(stored.len() as u64).await?;
    let mut stored = stored.iter();
    let found = stored.find(|it| it.reference.exists && broken.contains(&identity(it)));
    Ok(found.and_then(|seen| {
        let collection = &seen.reference.collection;
        let expected = format!("the key of a document of the collection {collection:?}");
        violation(from, seen, expected)
    }))
}

fn violation(
    from: &DocumentKey,
    seen: &SeenReference,
    expected: String,
) -> Option<ReferenceViolation> {
    let violation = TypeViolation {
        place: seen.place.to_string(),
        keyword: "x-reference".to_owned(),
        expected,
        value: Some(seen.value.clone()),
    };
    let error = check(from, vec![violation]).err()?;
    Some(ReferenceViolation {
        document: from.clone(),
        error,
    })
}

/// References of one member to the own collection.
type Chained<'w> = HashMap<(&'w str, &'w Place), Vec<&'w WrittenReference>>;

/// Checks that no reference with a chain leads back to its document.
async fn check_chains(
    transaction: &dyn Transaction,
    budget: &Budget,
    written: &[Arc<WrittenReference>],
) -> Result<Option<ReferenceViolation>> {
    let has_chain = |it: &&Arc<WrittenReference>| {
        let seen = &it.seen;
        seen.reference.chain.is_some() && seen.to.is_some() && !is_pending(&it.from.id)
    };
    let mut chained = Chained::new();
    for reference in written.iter().filter(has_chain) {
        let of = (&*reference.from.collection, &reference.seen.place);
        chained.entry(of).or_default().push(reference);
        budget.pace(1).await?;
    }
    for ((collection, place), references) in chained {
        let from: HashSet<DocumentId> = references.iter().map(|it| it.from.id.clone()).collect();
        let held = budget.reserve();
        let next = follow(transaction, &held, (collection, place), from).await?;
        for reference in references {
            budget.pace(FOLLOWED_DOCUMENTS_MAX as u64).await?;
            match walk(&next, &reference.from.id) {
                Walked::Ends => {}
                Walked::Returns => {
                    let expected =
                        "the key of a document whose chain does not lead to this one".to_owned();
                    return Ok(violation(&reference.from, &reference.seen, expected));
                }
                Walked::IsTooLong => return Ok(Some(too_long(reference))),
            }
        }
    }
    Ok(None)
}

/// The documents that were read, each with the one that follows.
type NextDocuments = HashMap<DocumentId, Option<DocumentId>>;

/// Reads the keys at a place of documents, of those to which they lead, and so on. `held` is the memory for
/// them.
async fn follow(
    transaction: &dyn Transaction,
    held: &Reservation,
    at: (&str, &Place),
    from: HashSet<DocumentId>,
) -> Result<NextDocuments> {
    let mut known = NextDocuments::new();
    let mut unread: Vec<DocumentId> = from.into_iter().collect();
    let mut round = 0;
    while !unread.is_empty() && round <= FOLLOWED_DOCUMENTS_MAX {
        round += 1;
        let mut further: HashSet<DocumentId> = HashSet::new();
        for some in unread.chunks(PARTS_AT_ONCE) {
            held.budget().pace(some.len() as u64).await?;
            let read = some.iter().map(|id| key_at(transaction, at, id));
            let read = try_join_all(begun_in_turns(read)).await?;
            held.hold(held_by(some.iter().chain(read.iter().flatten())))?;
            further.extend(read.iter().flatten().cloned());
            known.extend(some.iter().cloned().zip(read));
        }
        unread = further
            .into_iter()
            .filter(|id| !known.contains_key(id))
            .collect();
    }
    Ok(known)
}

/// The key of a document that is at a place of another one.
async fn key_at(
    transaction: &dyn Transaction,
    (collection, place): (&str, &Place),
    id: &DocumentId,
) -> Result<Option<DocumentId>> {
    let document = DocumentKey {
        collection: collection.to_owned(),
        id: id.clone(),
    };
    // No document has a key that is too long.
    let Ok(key) = document.place(place) else {
        return Ok(None);
    };
    let value = transaction.get(&key).await?;
    let leaf = value.as_deref().and_then(decode_leaf);
    Ok(leaf.as_ref().and_then(DocumentId::of_leaf))
}

/// How a chain ends.
enum Walked {
    Ends,
    /// It leads back to its first document.
    Returns,
    IsTooLong,
}

fn walk(next: &NextDocuments, from: &DocumentId) -> Walked {
    let mut passed = HashSet::from([from]);
    let mut at = from;
    loop {
        match next.get(at) {
            Some(Some(to)) if to == from => return Walked::Returns,
            Some(Some(to)) if passed.insert(to) => at = to,
            // A circle that was stored before, in which the document is not.
            Some(_) => return Walked::Ends,
            None => return Walked::IsTooLong,
        }
        if passed.len() > FOLLOWED_DOCUMENTS_MAX + 1 {
            return Walked::IsTooLong;
        }
    }
}

fn too_long(reference: &WrittenReference) -> ReferenceViolation {
    let document = &*reference.from;
    let DocumentKey { collection, id } = document;
    let error = Error::too_large(
        Limit::new("chainDocuments", FOLLOWED_DOCUMENTS_MAX),
        format!(
            "the chain from {:?} of the document {id} of the collection {collection:?} has more than \
             {FOLLOWED_DOCUMENTS_MAX} documents, which is the limit",
            reference.seen.place.to_string()
        ),
    );
    ReferenceViolation {
        document: document.clone(),
        error,
    }
}
