//! Changing the documents that match a filter, one portion in each transaction.

use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;

use super::transact::transact;
use crate::budget::{Budget, Steps};
use crate::database::{Bulk, Database, Swept, Update, UpdateOperation, UpdateOperator, sweep};
use crate::document::filter::Filter;
use crate::document::id::DocumentId;
use crate::document::jsonpath::Query;
use crate::error::{Error, Result};
use crate::graphql::read_filter;
use crate::store::{Decision, Transaction};

/// The documents to change, and the change.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The collection.
    pub collection: String,
    /// The filter that documents must match, as JSON.
    pub filter: String,
    /// Whether the filter may be always true, as an empty one, so that it matches every document.
    pub everything: bool,
    /// What happens to each document.
    pub change: SweepChange,
}

/// What a sweep does to each matching document.
#[derive(Clone, Debug)]
pub enum SweepChange {
    /// Deletes it.
    Delete,
    /// Applies these updates in order.
    Update(Vec<UpdateArgument>),
}

/// An update as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateArgument {
    /// The operator.
    pub operator: UpdateOperator,
    /// The JSONPath that selects the places.
    pub at: String,
    /// The operand as JSON. Ignored for `unset`.
    pub operand: String,
}

impl UpdateArgument {
    /// Parses the update.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the path or the operand is invalid. `TOO_LARGE`, `TOO_COMPLEX`: one of them
    /// exceeds a limit.
    pub fn parse(&self) -> Result<Update> {
        let operand = Bytes::copy_from_slice(self.operand.as_bytes());
        let operation = UpdateOperation::parse(self.operator, &operand)?;
        Update::new(Query::parse(&self.at)?, operation)
    }
}

impl Sweep {
    /// Parses the filter and the updates.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the filter or an update is invalid, or the filter is always true and
    /// `everything` is not set. `TOO_LARGE`, `TOO_COMPLEX`: they exceed a limit.
    pub async fn parse(&self) -> Result<(Filter, Bulk)> {
        let filter = read_filter(&self.filter).await;
        let filter = filter.map_err(|error| error.at("the filter"))?;
        let budget = Budget::of_background();
        let is_always_true = |steps: &Steps<'_>| filter.is_always_true(steps);
        if !self.everything && budget.compute(is_always_true).await? {
            let what = if filter.is_empty() {
                "the filter is empty and matches every document"
            } else {
                "the filter is always true and matches every document"
            };
            return Err(Error::bad_input(format!(
                "{what}: add --everything to confirm"
            )));
        }
        let change = match &self.change {
            SweepChange::Delete => Bulk::Delete,
            SweepChange::Update(updates) => {
                let updates = updates.iter().map(|update| {
                    let parsed = update.parse();
                    parsed.map_err(|error| error.at(format!("--{}", update.operator.name())))
                });
                Bulk::Update(updates.collect::<Result<_>>()?)
            }
        };
        Ok((filter, change))
    }
}

/// Changes the next matching documents of a collection, after the id `after`, in one transaction.
///
/// # Errors
/// Errors of [`Sweep::parse`] and [`sweep`].
pub async fn sweep_portion(
    database: &Database,
    swept: &Sweep,
    after: Option<DocumentId>,
    documents_max: usize,
) -> Result<Swept> {
    let parsed = Arc::new(swept.parse().await?);
    let body = |transaction: Arc<dyn Transaction>| -> BoxFuture<'static, _> {
        let (collection, parsed) = (swept.collection.clone(), parsed.clone());
        let after = after.clone();
        Box::pin(async move {
            let budget = Budget::of_background();
            let (filter, change) = &*parsed;
            let swept = sweep(
                &*transaction,
                &budget,
                &collection,
                filter,
                change,
                after.as_ref(),
                documents_max,
            )
            .await?;
            Ok(if swept.changed > 0 {
                Decision::Commit(swept)
            } else {
                Decision::Abort(swept)
            })
        })
    };
    transact(database, body).await
}
