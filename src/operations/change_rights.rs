//! What the rules allow the changes of a batch. Each is decided by itself, as a field of a mutation is.

use std::collections::HashSet;

use super::batch_changes::{BatchChanges, ChangedPlace};
use crate::budget::{Budget, in_turns};
use crate::database::query::passing;
use crate::database::{DocumentKey, Put, exists};
use crate::document::filter::Filter;
use crate::document::path::Path;
use crate::error::{Error, ErrorKind, Result};
use crate::rights::{Action, Decision, PlaceUsed, RequestRights};
use crate::store::Transaction;

/// What the rules decide about an action at a place of one document.
enum Permission {
    Always,
    /// If the document passes the filter.
    If(Filter, Error),
    Never(Error),
}

/// Makes one of the changes, if the rules allow it: a condition must hold before and after the change, and
/// of a document that is stored afterwards.
///
/// # Errors
/// `FORBIDDEN`: no rule allows the change. The transaction must then be aborted. Errors of the change.
pub(super) async fn apply_allowed(
    changes: &BatchChanges,
    transaction: &dyn Transaction,
    (budget, rights): (&Budget, &RequestRights),
    collection: &str,
    at: usize,
) -> Result<Put> {
    let Some(ChangedPlace { id, path, inserts }) = changes.place(at) else {
        return Err(Error::internal("a change that is not in the batch"));
    };
    let document = DocumentKey::new(collection, id.clone())?;
    let decide = |action, path| {
        decided(
            rights,
            &PlaceUsed::in_document(action, collection, id, path),
        )
    };
    let write = if inserts {
        Permission::Always
    } else {
        decide(Action::Write, path)
    };
    let create = decide(Action::Create, Path::root());
    let creates = match (&write, &create) {
        (Permission::Never(refusal), _) => return Err(refusal.clone()),
        (_, Permission::Never(refusal)) if inserts => return Err(refusal.clone()),
        (Permission::Always, Permission::Always) => false,
        _ if inserts => true,
        _ => !exists(transaction, &document).await?,
    };
    match (&write, &create) {
        // Not told apart from a document that does not pass.
        (Permission::If(_, refusal), Permission::Never(_)) if creates => {
            return Err(refusal.clone());
        }
        (_, Permission::Never(refusal)) if creates => return Err(refusal.clone()),
        (Permission::If(filter, refusal), _) if !creates => {
            check(transaction, budget, &document, filter, refusal).await?;
        }
        _ => {}
    }
    let put = changes.apply(transaction, budget, collection, at).await?;
    let create = if creates {
        &create
    } else {
        &Permission::Always
    };
    for permission in [&write, create] {
        if let Permission::If(filter, refusal) = permission {
            check(transaction, budget, &document, filter, refusal).await?;
        }
    }
    Ok(put)
}

fn decided(rights: &RequestRights, used: &PlaceUsed<'_>) -> Permission {
    let refusal = || {
        let message = format!("no rule allows this request to {used}");
        Error::new(ErrorKind::Forbidden, message)
    };
    match rights.decide(std::slice::from_ref(used)) {
        Decision::Allowed => Permission::Always,
        Decision::Refused(_) => Permission::Never(refusal()),
        Decision::Depends(conditions) => Permission::If(conditions.filter(|_| true), refusal()),
    }
}

/// Checks that a document exists and passes a filter.
async fn check(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &DocumentKey,
    filter: &Filter,
    refusal: &Error,
) -> Result<()> {
    let DocumentKey { collection, id } = document;
    let is_there = exists(transaction, document).await?;
    let ids = std::slice::from_ref(id);
    if is_there && passing(transaction, budget, collection, filter, ids).await? == [true] {
        return Ok(());
    }
    Err(refusal.clone())
}

/// Those of these documents that the rules do not allow to read, so that the caller may not know whether they
/// exist.
///
/// # Errors
/// As [`passing`].
pub(super) async fn hidden_documents(
    transaction: &dyn Transaction,
    (budget, rights): (&Budget, &RequestRights),
    documents: HashSet<DocumentKey>,
) -> Result<HashSet<DocumentKey>> {
    let mut hidden = HashSet::new();
    let mut each = in_turns(documents);
    while let Some(document) = each.next().await {
        let DocumentKey { collection, id } = &document;
        let whole = PlaceUsed::in_document(Action::Read, collection, id, Path::root());
        let is_shown = match decided(rights, &whole) {
            Permission::Always => true,
            Permission::Never(_) => false,
            Permission::If(filter, _) => {
                let ids = std::slice::from_ref(id);
                passing(transaction, budget, collection, &filter, ids).await? == [true]
            }
        };
        if !is_shown {
            hidden.insert(document);
        }
    }
    Ok(hidden)
}
