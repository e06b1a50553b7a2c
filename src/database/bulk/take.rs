//! The first documents of a collection, for queues.

use std::sync::Arc;

use crate::budget::Budget;
use crate::database::document_key::{DocumentKey, check_collection};
use crate::database::query::KeySet;
use crate::database::query::search::Search;
use crate::document::filter::Filter;
use crate::error::Result;
use crate::store::Transaction;

/// The first documents in the catalog of a collection whose keys are in a set, at most
/// `documents_max`, in the order of their ids. The transaction conflicts with others that create or
/// delete a document before the last one of them. If there are fewer than `documents_max`, it
/// conflicts with the creation of any in the set.
///
/// # Errors
/// `BAD_USER_INPUT`: the collection's name is empty. Errors of the store.
pub async fn first_documents(
    transaction: &dyn Transaction,
    budget: &Budget,
    collection: &str,
    keys: &KeySet,
    documents_max: usize,
) -> Result<Vec<Arc<DocumentKey>>> {
    check_collection(collection)?;
    let every = Filter::default();
    let mut search = Search::new(
        transaction,
        budget,
        collection,
        &every,
        usize::MAX,
        String::new(),
    );
    search.keys = keys;
    let mut ids = search.source(documents_max, false, None).every()?;
    let ids = ids.next(documents_max, false, budget).await?.into_iter();
    ids.map(|id| DocumentKey::new(collection, id).map(Arc::new))
        .collect()
}
