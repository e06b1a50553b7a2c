//! The arguments of changes to the documents that match a filter.

use bytes::Bytes;

use crate::budget::{Budget, Steps};
use crate::database::{Bulk, Update, UpdateOperation, UpdateOperator};
use crate::document::filter::Filter;
use crate::document::jsonpath::Query;
use crate::error::{Error, Result};
use crate::graphql::read_filter;

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
