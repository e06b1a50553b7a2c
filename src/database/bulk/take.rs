//! The first documents of a collection, for queues.

use std::sync::Arc;

use crate::budget::Budget;
use crate::database::document_key::{DocumentKey, check_collection};
use crate::database::query::search::Search;
use crate::database::query::{KeySet, Order, Page};
use crate::document::filter::Filter;
use crate::error::Result;
use crate::limits::BULK_DOCUMENTS_MAX;
use crate::store::Transaction;

/// The first documents in the catalog of a collection that match a filter and whose keys are in a
/// set, at most `documents_max`, in the order of their ids. The transaction conflicts with others that create or
/// delete a document before the last one of them. If there are fewer than `documents_max`, it
/// conflicts with the creation of any in the set.
///
/// # Errors
/// `BAD_USER_INPUT`: the collection's name is empty. `TOO_COMPLEX`: the filter would examine more documents
/// than allowed. Errors of the store.
pub async fn first_documents(
    transaction: &dyn Transaction,
    budget: &Budget,
    collection: &str,
    (filter, keys): (&Filter, &KeySet),
    documents_max: usize,
) -> Result<Vec<Arc<DocumentKey>>> {
    check_collection(collection)?;
    let examined_max = if filter.is_empty() {
        usize::MAX
    } else {
        BULK_DOCUMENTS_MAX
    };
    let mut search = Search::new(
        transaction,
        budget,
        collection,
        filter,
        examined_max,
        "take fewer documents".to_owned(),
    );
    search.keys = keys;
    let ids = if filter.is_empty() {
        let mut ids = search.source(documents_max, false, None).every()?;
        let memory = budget.share();
        ids.next(documents_max, false, (budget, &memory)).await?
    } else {
        let page = Page {
            size: documents_max,
            backward: false,
            from: None,
        };
        let found = search.by_id(&Order::default(), &page).await?;
        found.rows.into_iter().map(|row| row.position.id).collect()
    };
    let ids = ids.into_iter();
    ids.map(|id| DocumentKey::new(collection, id).map(Arc::new))
        .collect()
}
