//! Removal of the documents that match a filter, in many transactions of one portion each.

use std::sync::Arc;
use std::time::Instant;

use crate::budget::Budget;
use crate::database::document_key::{DocumentKey, check_collection};
use crate::database::edit::delete;
use crate::database::query::portion;
use crate::document::filter::Filter;
use crate::document::id::DocumentId;
use crate::document::path::Path;
use crate::error::Result;
use crate::limits::{CLUSTER_SWEEP_TIME, SWEEP_TIME};
use crate::store::Transaction;

/// The result of one transaction of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Documents examined.
    pub examined: u64,
    /// Documents that matched and were removed.
    pub deleted: u64,
    /// The last processed document. None if no documents follow it.
    pub next: Option<DocumentId>,
}

/// Removes the documents after `after` that match, in the order of their ids. Examines at most
/// `documents_max` documents. Ends early after a time limit, so that other transactions do not wait
/// long.
///
/// # Errors
/// `BAD_USER_INPUT`: the collection's name is empty. `TOO_LARGE`, `TIMEOUT`, `CONFLICT`: a smaller
/// portion may succeed. Errors of the store.
pub async fn sweep(
    transaction: &dyn Transaction,
    budget: &Budget,
    collection: &str,
    filter: &Filter,
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
    let mut swept = Swept::default();
    let last = found.documents.len();
    for (at, (id, passes)) in found.documents.into_iter().enumerate() {
        let done = at + 1 == last;
        if passes {
            let document = Arc::new(DocumentKey::new(collection, id.clone())?);
            let deleted = delete(transaction, budget, &document, &Path::default()).await;
            swept.deleted +=
                u64::from(deleted.map_err(|error| error.at(format!("the document {id}")))?);
            // An engine may complete every call without waiting, so yield explicitly.
            tokio::task::yield_now().await;
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
