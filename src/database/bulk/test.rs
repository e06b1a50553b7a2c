//! A test of one document by a filter.

use std::sync::Arc;

use crate::budget::Budget;
use crate::database::document_key::{DocumentKey, prefix_end};
use crate::database::edit::editor::depend_on_value;
use crate::database::query::matcher::Matcher;
use crate::document::filter::Filter;
use crate::document::path::Place;
use crate::error::{Error, Result};
use crate::store::{RangeRead, Transaction};

/// Fails unless a document exists and matches a filter. The transaction conflicts with others that
/// change what the filter reads, or remove or replace the document.
///
/// # Errors
/// `TEST_FAILED`: the document does not exist, or does not match. `TOO_COMPLEX`: a JSONPath
/// examines more nodes than allowed. Errors of the store.
pub async fn test_document(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &Arc<DocumentKey>,
    filter: &Filter,
) -> Result<()> {
    let DocumentKey { collection, id } = &**document;
    let failed = |why: &str| {
        let message =
            format!("the test fails: the document {id} in the collection {collection:?} {why}");
        Err(Error::test_failed(String::new(), message))
    };
    let key = document.place(&Place::default())?;
    let end = prefix_end(&key);
    let first = RangeRead::new(&key, &end).at_most(1);
    let found = transaction.without_conflict().range(first).await?;
    if found.pairs.is_empty() {
        return failed("does not exist");
    }
    depend_on_value(transaction, &key);
    let filter = filter.clone();
    let mut matcher = Matcher::new(transaction, budget, collection, filter, None);
    match matcher.at(std::slice::from_ref(id)).await?.pop().flatten() {
        Some(_) => Ok(()),
        None => failed("does not match"),
    }
}
