//! The first documents of a collection, for queues.

use std::sync::Arc;

use crate::budget::Budget;
use crate::database::document_key::{DocumentKey, check_collection};
use crate::database::query::portion;
use crate::document::filter::Filter;
use crate::error::Result;
use crate::store::Transaction;

/// Returns the first documents in the catalog of a collection, at most `documents_max`, in the order
/// of their ids. The transaction conflicts with others that create or delete a document before the
/// last one of them. If there are fewer than `documents_max`, it conflicts with the creation of any.
///
/// # Errors
/// `BAD_USER_INPUT`: the collection's name is empty. Errors of the store.
pub async fn first_documents(
    transaction: &dyn Transaction,
    budget: &Budget,
    collection: &str,
    documents_max: usize,
) -> Result<Vec<Arc<DocumentKey>>> {
    check_collection(collection)?;
    let every = Filter::default();
    let found = portion(transaction, budget, collection, &every, None, documents_max).await?;
    let documents = found.documents.into_iter();
    documents
        .map(|(id, _)| DocumentKey::new(collection, id).map(Arc::new))
        .collect()
}
