//! Changes to every document that matches a filter, in one transaction.

use std::sync::Arc;

use crate::budget::{Budget, pause};
use crate::database::document_key::{DocumentKey, check_collection};
use crate::database::edit::apply_update::update;
use crate::database::edit::delete;
use crate::database::edit::update_operation::Update;
use crate::database::query::{KeySet, matching};
use crate::document::filter::Filter;
use crate::document::path::Path;
use crate::error::{Error, Limit, Result};
use crate::limits::{BULK_DOCUMENTS_MAX, BULK_DOCUMENTS_PER_MEASURE};
use crate::store::Transaction;

/// The change to apply to each document.
#[derive(Clone, Debug)]
pub enum Bulk {
    /// Applies updates, in order.
    Update(Vec<Update>),
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
    /// For each update, the number of places to which it was applied.
    pub places: Vec<u64>,
}

impl Bulk {
    /// A count of places for each update, all 0.
    pub(crate) fn no_places(&self) -> Vec<u64> {
        match self {
            Self::Update(updates) => vec![0; updates.len()],
            Self::Delete => Vec::new(),
        }
    }

    /// Changes one document. Adds the places of each update to `places`. Returns whether the
    /// document changed.
    ///
    /// # Errors
    /// Each error names the document. Errors of [`update`] and [`delete`].
    pub(crate) async fn apply(
        &self,
        transaction: &dyn Transaction,
        budget: &Budget,
        document: &Arc<DocumentKey>,
        places: &mut [u64],
    ) -> Result<bool> {
        let changed = match self {
            Self::Update(updates) => update(transaction, budget, document, updates, places).await,
            Self::Delete => delete(transaction, budget, document, &Path::default()).await,
        };
        changed.map_err(|error| error.at(format!("the document {}", document.id)))
    }
}

/// The documents of a collection that match a filter, in the order of their ids.
///
/// # Errors
/// `BAD_USER_INPUT`: the collection's name is empty. `TOO_LARGE`: more than [`BULK_DOCUMENTS_MAX`]
/// documents match. `TOO_COMPLEX`: the query would examine more documents than allowed. Errors of
/// the store.
pub async fn bulk_documents(
    transaction: &dyn Transaction,
    budget: &Budget,
    collection: &str,
    (filter, keys): (&Filter, &KeySet),
) -> Result<Vec<Arc<DocumentKey>>> {
    check_collection(collection)?;
    let selected = (filter, keys);
    let ids = matching(
        transaction,
        budget,
        collection,
        selected,
        BULK_DOCUMENTS_MAX,
    )
    .await?;
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
        places: change.no_places(),
    };
    let matched = documents.len();
    for (at, document) in documents.into_iter().enumerate() {
        let applied = change.apply(transaction, budget, &document, &mut changes.places);
        if applied.await? {
            changes.changed.push(document);
        }
        // An engine may complete every call without waiting, so yield explicitly.
        pause().await;
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
