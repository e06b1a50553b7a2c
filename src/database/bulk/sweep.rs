//! Changes to the documents that match a filter, in many transactions of one portion each.

use std::sync::Arc;
use std::time::Instant;

use super::bulk_update::Bulk;
use crate::budget::{Budget, pause};
use crate::database::document_key::{DocumentKey, check_collection};
use crate::database::query::portion;
use crate::document::filter::Filter;
use crate::document::id::DocumentId;
use crate::error::Result;
use crate::limits::{CLUSTER_SWEEP_TIME, SWEEP_TIME};
use crate::store::Transaction;

/// The result of one transaction of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Documents examined.
    pub examined: u64,
    /// Documents that matched.
    pub matched: u64,
    /// Documents that matched and were changed or removed.
    pub changed: u64,
    /// For each update, the number of places to which it was applied.
    pub places: Vec<u64>,
    /// The last processed document. None if no documents follow it.
    pub next: Option<DocumentId>,
}

/// Changes the documents after `after` that match, in the order of their ids. Examines at most
/// `documents_max` documents. Ends early after a time limit, so that other transactions do not wait
/// long.
///
/// Each document is examined once, even if a change makes it match again: the next portion begins
/// after it.
///
/// # Errors
/// `BAD_USER_INPUT`: the collection's name is empty, or an update does not fit a value.
/// `TOO_LARGE`, `TIMEOUT`, `CONFLICT`: a smaller portion may succeed. Errors of the store.
pub async fn sweep(
    transaction: &dyn Transaction,
    budget: &Budget,
    collection: &str,
    filter: &Filter,
    change: &Bulk,
    after: Option<&DocumentId>,
    documents_max: usize,
) -> Result<Swept> {
    check_collection(collection)?;
    let time_max = if transaction.is_remote() {
        CLUSTER_SWEEP_TIME
    } else {
        SWEEP_TIME
    };
    let begun = Instant::now();
    let found = portion(
        transaction,
        budget,
        collection,
        filter,
        after,
        documents_max,
    )
    .await?;
    let mut swept = Swept {
        places: change.no_places(),
        ..Swept::default()
    };
    let last = found.documents.len();
    for (at, (id, passes)) in found.documents.into_iter().enumerate() {
        let done = at + 1 == last;
        if passes {
            let document = Arc::new(DocumentKey::new(collection, id.clone())?);
            let applied = change.apply(transaction, budget, &document, &mut swept.places);
            swept.changed += u64::from(applied.await?);
            swept.matched += 1;
            // An engine may complete every call without waiting, so yield explicitly.
            pause().await;
        }
        swept.examined += 1;
        if done && !found.more {
            break;
        }
        if done || begun.elapsed() >= time_max {
            swept.next = Some(id);
            break;
        }
    }
    Ok(swept)
}
