//! The end of an operation, as far as references are concerned: deletions act on the documents that refer to
//! the deleted ones, then the references that were written are checked, then it is checked that no document
//! refers to a deleted one of which that restricts the deletion.
//!
//! Everything is read under conflict, so another transaction cannot delete what a reference was checked
//! against, and cannot add a reference to what is deleted.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use futures::future::try_join_all;

use super::check_references::{ReferenceViolation, check_written};
use crate::budget::{Budget, begun_in_turns, in_turns};
use crate::database::document_key::DocumentKey;
use crate::database::edit::apply_update::update;
use crate::database::edit::update_operation::{Update, UpdateOperation};
use crate::database::edit::{delete, exists};
use crate::database::query::search::Search;
use crate::database::query::{KeySet, Order, Page, matching};
use crate::database::types::pending_references::{take_deleted, written_references};
use crate::database::types::referring_types::{ReferringPlace, ReferringTypes};
use crate::document::filter::{Condition, Filter, Test};
use crate::document::id::DocumentId;
use crate::document::jsonpath::Query;
use crate::document::leaf::Leaf;
use crate::document::path::Path;
use crate::document::tree::Tree;
use crate::error::{Error, ErrorKind, Limit, Result};
use crate::key::Leaves;
use crate::limits::{
    BULK_DOCUMENTS_MAX, KEYS_COMPARED_AT_ONCE, PARTS_AT_ONCE, REFERRED_KEYS_AT_ONCE,
};
use crate::store::Transaction;
use crate::types::OnDelete;

/// The documents that must exist because the transaction has written references to them.
///
/// # Errors
/// As [`Budget::pace`].
pub async fn required_documents(
    transaction: &dyn Transaction,
    budget: &Budget,
) -> Result<HashSet<DocumentKey>> {
    let written = written_references(transaction);
    budget.pace(written.len() as u64).await?;
    let required = written.iter().filter(|it| it.seen.reference.exists);
    Ok(required.filter_map(|it| it.target()).collect())
}

/// Acts on the documents that refer to deleted ones, and checks the references that were written. `hidden`
/// documents are as absent ones.
///
/// # Errors
/// `TOO_LARGE`: more than [`BULK_DOCUMENTS_MAX`] documents refer to the deleted ones. `TYPE_MISMATCH`: a document
/// does not fit its type at another place than that of the reference. Errors of the store and of
/// the budget.
#[expect(clippy::implicit_hasher, reason = "it is that of required_documents")]
pub async fn settle_references(
    transaction: &dyn Transaction,
    budget: &Budget,
    hidden: &HashSet<DocumentKey>,
) -> Result<Option<ReferenceViolation>> {
    let deleted = act_on_referring(transaction, budget).await?;
    if let Some(violation) = check_written(transaction, budget, hidden).await? {
        return Ok(Some(violation));
    }
    restriction(transaction, budget, &deleted).await
}

/// Deletes the documents that refer to deleted ones, or removes their references, as the types say, and continues
/// with those that this deletes. Returns all documents that were deleted.
async fn act_on_referring(
    transaction: &dyn Transaction,
    budget: &Budget,
) -> Result<Vec<Arc<DocumentKey>>> {
    let mut all: Vec<Arc<DocumentKey>> = Vec::new();
    let mut left = BULK_DOCUMENTS_MAX;
    loop {
        let deleted = absent(transaction, budget, take_deleted(transaction)).await?;
        if deleted.is_empty() {
            return Ok(all);
        }
        let referring = ReferringTypes::of(transaction).await?;
        for (collection, ids) in ids_by_collection(&deleted) {
            let places = referring.to(collection).iter();
            for place in places.filter(|it| it.reference.on_delete != OnDelete::Restrict) {
                for ids in ids.chunks(REFERRED_KEYS_AT_ONCE) {
                    left -= act(transaction, budget, place, ids, left).await?;
                }
            }
        }
        all.extend(deleted);
    }
}

/// Those documents that were not stored again.
async fn absent(
    transaction: &dyn Transaction,
    budget: &Budget,
    deleted: Vec<Arc<DocumentKey>>,
) -> Result<Vec<Arc<DocumentKey>>> {
    let mut left = Vec::with_capacity(deleted.len());
    for some in deleted.chunks(PARTS_AT_ONCE) {
        budget.pace(some.len() as u64).await?;
        let found = some.iter().map(|document| exists(transaction, document));
        let found = try_join_all(begun_in_turns(found)).await?;
        let absent = some.iter().zip(found).filter(|(_, exists)| !exists);
        left.extend(absent.map(|(document, _)| document.clone()));
    }
    Ok(left)
}

fn ids_by_collection(deleted: &[Arc<DocumentKey>]) -> BTreeMap<&str, Vec<DocumentId>> {
    let mut found: BTreeMap<&str, Vec<DocumentId>> = BTreeMap::new();
    for document in deleted {
        let ids = found.entry(&document.collection).or_default();
        ids.push(document.id.clone());
    }
    found
}

/// The keys that lead to documents.
fn keys_of(place: &ReferringPlace, ids: &[DocumentId]) -> Vec<Leaf<'static>> {
    let keys = ids.iter().filter_map(|id| place.reference.keys.key_of(id));
    keys.collect()
}

/// Whether a document has one of these keys at a place.
fn refers(place: &ReferringPlace, keys: Vec<Leaf<'static>>) -> Filter {
    let keys = keys.into_iter().map(Tree::Leaf);
    Filter::Where(Condition {
        at: place.keys.clone(),
        tests: vec![Test::one_of(keys.collect())].into(),
    })
}

/// Acts on the documents that refer to deleted ones at a place. Returns their number.
async fn act(
    transaction: &dyn Transaction,
    budget: &Budget,
    place: &ReferringPlace,
    ids: &[DocumentId],
    documents_max: usize,
) -> Result<usize> {
    let keys = keys_of(place, ids);
    if keys.is_empty() {
        return Ok(0);
    }
    if documents_max == 0 {
        return Err(too_many(place));
    }
    let filter = refers(place, keys.clone());
    let collection = &*place.collection;
    let selected = (&filter, &KeySet::All);
    let found = matching(transaction, budget, collection, selected, documents_max)
        .await
        .map_err(|error| match error.kind() {
            ErrorKind::TooLarge => too_many(place),
            _ => error.at(format!(
                "the documents of the collection {collection:?} that refer to deleted ones"
            )),
        })?;
    let updates = match place.reference.on_delete {
        OnDelete::Nullify => nullify(place, &keys)?,
        _ => Vec::new(),
    };
    let count = found.len();
    for id in found {
        let document = Arc::new(DocumentKey::new(collection, id)?);
        let acted = match place.reference.on_delete {
            OnDelete::Nullify => {
                let mut places = vec![0; updates.len()];
                update(transaction, budget, &document, &updates, &mut places).await
            }
            OnDelete::Cascade => delete(transaction, budget, &document, &Path::default()).await,
            OnDelete::Ignore | OnDelete::Restrict => Ok(false),
        };
        acted.map_err(|error| {
            let DocumentKey { collection, id } = &*document;
            error.at(format!(
                "the document {id} of the collection {collection:?}, which refers to a deleted one"
            ))
        })?;
        budget.pace(1).await?;
    }
    Ok(count)
}

/// The updates that replace keys at a place with null.
fn nullify(place: &ReferringPlace, keys: &[Leaf<'static>]) -> Result<Vec<Update>> {
    let null = Leaves::from_json("null")?;
    let mut updates = Vec::new();
    for keys in keys.chunks(KEYS_COMPARED_AT_ONCE) {
        let at = Query::parse(&place.reference.keys.path_of(keys))?;
        updates.push(Update::new(at, UpdateOperation::Set(null.clone()))?);
        if !place.reference.keys.has_several() {
            // The document was found because it has one of the keys there.
            break;
        }
    }
    Ok(updates)
}

fn too_many(place: &ReferringPlace) -> Error {
    Error::too_large(
        Limit::new("referringDocuments", BULK_DOCUMENTS_MAX),
        format!(
            "more than {BULK_DOCUMENTS_MAX} documents, of the collection {:?} and others, refer to deleted ones, which is \
             the limit of one operation; nothing was changed: delete fewer documents at once, or those that refer to \
             them first",
            place.collection
        ),
    )
}

/// The violation if a document refers to a deleted one, and its type restricts the deletion.
async fn restriction(
    transaction: &dyn Transaction,
    budget: &Budget,
    deleted: &[Arc<DocumentKey>],
) -> Result<Option<ReferenceViolation>> {
    if deleted.is_empty() {
        return Ok(None);
    }
    let referring = ReferringTypes::of(transaction).await?;
    for (collection, ids) in ids_by_collection(deleted) {
        let places = referring.to(collection).iter();
        for place in places.filter(|it| it.reference.on_delete == OnDelete::Restrict) {
            for ids in ids.chunks(REFERRED_KEYS_AT_ONCE) {
                if let Some(found) = restricted(transaction, budget, place, ids).await? {
                    return Ok(Some(found));
                }
            }
        }
    }
    Ok(None)
}

/// The violation if a document refers to one of these at a place.
async fn restricted(
    transaction: &dyn Transaction,
    budget: &Budget,
    place: &ReferringPlace,
    ids: &[DocumentId],
) -> Result<Option<ReferenceViolation>> {
    if first_referring(transaction, budget, place, ids)
        .await?
        .is_none()
    {
        return Ok(None);
    }
    let mut each = in_turns(ids.iter());
    while let Some(id) = each.next().await {
        let one = std::slice::from_ref(id);
        if let Some(other) = first_referring(transaction, budget, place, one).await? {
            return violation(place, id, &other).map(Some);
        }
    }
    Ok(None)
}

/// A document that refers to one of these at a place.
async fn first_referring(
    transaction: &dyn Transaction,
    budget: &Budget,
    place: &ReferringPlace,
    ids: &[DocumentId],
) -> Result<Option<DocumentId>> {
    let keys = keys_of(place, ids);
    if keys.is_empty() {
        return Ok(None);
    }
    let filter = refers(place, keys);
    let remedy = "delete fewer documents at once".to_owned();
    let collection = &*place.collection;
    let search = Search::new(
        transaction,
        budget,
        collection,
        &filter,
        BULK_DOCUMENTS_MAX,
        remedy,
    );
    let page = Page {
        size: 1,
        backward: false,
        from: None,
    };
    let found = search
        .by_id(&Order::default(), &page)
        .await
        .map_err(|error| {
            error.at(format!(
                "the documents of the collection {collection:?} that refer to deleted ones"
            ))
        })?;
    let first = found.rows.into_iter().next();
    Ok(first.map(|row| row.position.id))
}

fn violation(
    place: &ReferringPlace,
    id: &DocumentId,
    other: &DocumentId,
) -> Result<ReferenceViolation> {
    let target = &place.reference.target;
    let error = Error::new(
        ErrorKind::ReferenceViolation,
        format!(
            "the document {id} of the collection {target:?} cannot be deleted: the document {other} of the \
             collection {:?} refers to it at {}, and its type restricts the deletion",
            place.collection,
            place.reference.keys.path()
        ),
    );
    Ok(ReferenceViolation {
        document: DocumentKey::new(&**target, id.clone())?,
        error,
    })
}
