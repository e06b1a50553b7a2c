//! Changes to every document that matches a filter, in one transaction.

use std::sync::Arc;

use crate::budget::Budget;
use crate::database::document_key::{DocumentKey, check_collection};
use crate::database::edit::set::SetValue;
use crate::database::edit::{delete, set};
use crate::database::query::matching;
use crate::document::filter::Filter;
use crate::document::path::Path;
use crate::error::{Error, Limit, Result};
use crate::limits::{BULK_DOCUMENTS_MAX, BULK_DOCUMENTS_PER_MEASURE};
use crate::store::Transaction;

/// The change to apply to each document.
#[derive(Clone, Debug)]
pub enum Bulk {
    /// Sets values at the places that JSONPaths select.
    Set(Vec<SetValue>),
    /// Removes the document.
    Delete,
}

/// The result of a change to many documents.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// The number of documents that matched.
    pub matched: usize,
    /// The documents that were changed or removed.
    pub changed: Vec<Arc<DocumentKey>>,
}

/// Returns the documents of a collection that match a filter, in the order of their ids.
///
/// # Errors
/// `BAD_USER_INPUT`: the collection's name is empty. `TOO_LARGE`: more than [`BULK_DOCUMENTS_MAX`]
/// documents match. `TOO_COMPLEX`: the query would examine more documents than allowed. Errors of
/// the store.
pub async fn bulk_documents(
    transaction: &dyn Transaction,
    budget: &Budget,
    collection: &str,
    filter: &Filter,
) -> Result<Vec<Arc<DocumentKey>>> {
    check_collection(collection)?;
    let ids = matching(transaction, budget, collection, filter, BULK_DOCUMENTS_MAX).await?;
    let documents = ids.into_iter().map(|id| {
        let document = DocumentKey::new(collection, id);
        document.map(Arc::new)
    });
    documents.collect()
}

/// Changes documents that matched a filter in the same transaction.
///
/// # Errors
/// `TOO_LARGE`: the transaction exceeds `bytes_max`. The message gives the number of documents and
/// the number changed when the limit was exceeded. `UNIQUE_VIOLATION`. Errors of the store.
pub async fn bulk(
    transaction: &dyn Transaction,
    budget: &Budget,
    documents: Vec<Arc<DocumentKey>>,
    change: &Bulk,
    bytes_max: Option<usize>,
) -> Result<Changes> {
    let mut changes = Changes {
        matched: documents.len(),
        changed: Vec::new(),
    };
    let matched = documents.len();
    for (at, document) in documents.into_iter().enumerate() {
        let changed = match change {
            Bulk::Set(values) => set(transaction, budget, &document, values).await,
            Bulk::Delete => delete(transaction, budget, &document, &Path::default()).await,
        };
        let in_document = |error: Error| error.at(format!("the document {}", document.id));
        if changed.map_err(in_document)? {
            changes.changed.push(document);
        }
        // An engine may complete every call without waiting, so yield explicitly.
        tokio::task::yield_now().await;
        budget.check()?;
        let last = at + 1 == matched;
        if let Some(bytes_max) = bytes_max
            && (last || (at + 1).is_multiple_of(BULK_DOCUMENTS_PER_MEASURE))
        {
            check_bytes(transaction, bytes_max, matched, at + 1).await?;
        }
    }
    Ok(changes)
}

async fn check_bytes(
    transaction: &dyn Transaction,
    bytes_max: usize,
    matched: usize,
    done: usize,
) -> Result<()> {
    let bytes = transaction.bytes().await?;
    if bytes <= bytes_max {
        return Ok(());
    }
    Err(Error::too_large(
        Limit::new("transactionBytes", bytes_max),
        format!(
            "{matched} documents match, and changing {done} of them takes {bytes} bytes of a \
         transaction; the limit is {bytes_max} bytes; nothing was changed"
        ),
    ))
}
