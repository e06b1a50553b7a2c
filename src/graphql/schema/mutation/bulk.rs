//! The mutations that change every document that matches a filter.

use std::sync::Arc;

use async_graphql::{Context, InputObject, MaybeUndefined, Object, SimpleObject};

use super::arguments::{in_argument, required_json};
use super::json_argument::parsed;
use crate::database::{Bulk, DocumentKey, SetValue, bulk, bulk_documents};
use crate::document::filter;
use crate::document::flatten::json_text;
use crate::error::{Error, Result};
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::context::session::Session;
use crate::graphql::objects::filter::FilterInput;
use crate::graphql::scalars::types::{Json, JsonPath};
use crate::key::Leaves;

/// A value, and the paths at which to store it.
#[derive(InputObject)]
#[graphql(name = "DocumentValueUpdate")]
pub(crate) struct SetValueInput {
    /// Selects the values to replace; a document in which it selects nothing is not changed. If one selected value contains another, the outer one is replaced.
    at: JsonPath,
    /// Any JSON value. It is required, but may be null.
    value: MaybeUndefined<Json>,
}

/// The result of `updateDocuments` or `deleteDocuments`.
#[derive(SimpleObject)]
#[graphql(name = "DocumentBulkResult")]
pub(crate) struct BulkResult {
    /// The number of documents that match the filter.
    matched: usize,
    /// The number of matching documents that were changed or removed.
    changed: usize,
}

#[derive(Default)]
pub(crate) struct BulkMutations;

#[Object]
impl BulkMutations {
    /// Changes every document that matches `where`: stores `value` at each path that `at` selects in it, for example `$.ancestors[?@._id == 'x'].name`. Like `deleteDocuments`, rejects an empty filter unless `everything` is true, and changes that exceed one transaction.
    async fn update_documents(
        &self,
        context: &Context<'_>,
        #[graphql(default = "D", desc = "The collection that holds the documents.")]
        collection: String,
        #[graphql(name = "where", desc = "The filter that documents must match.")]
        filter: FilterInput,
        #[graphql(desc = "The updates, applied in order.")] set: Vec<SetValueInput>,
        #[graphql(
            default = false,
            desc = "Whether to accept an empty filter, which matches every document."
        )]
        everything: bool,
    ) -> Result<BulkResult> {
        let filter = filter_argument(context, &filter, everything).await?;
        let mut values = Vec::new();
        for value in &set {
            let value = value.read(Session::of(context).request_budget()).await;
            values.push(value.map_err(|error| in_argument("set", error))?);
        }
        change(context, &collection, &filter, &Bulk::Set(values)).await
    }

    /// Removes every document that matches `where`.
    async fn delete_documents(
        &self,
        context: &Context<'_>,
        #[graphql(default = "D", desc = "The collection that holds the documents.")]
        collection: String,
        #[graphql(name = "where", desc = "The filter that documents must match.")]
        filter: FilterInput,
        #[graphql(
            default = false,
            desc = "Whether to accept an empty filter, which matches every document."
        )]
        everything: bool,
    ) -> Result<BulkResult> {
        let filter = filter_argument(context, &filter, everything).await?;
        change(context, &collection, &filter, &Bulk::Delete).await
    }
}

async fn filter_argument(
    context: &Context<'_>,
    filter: &FilterInput,
    everything: bool,
) -> Result<filter::Filter> {
    let filter = filter.read(Session::of(context).request_budget()).await;
    let filter = filter.map_err(|error| in_argument("where", error))?;
    if filter.is_empty() && !everything {
        return Err(Error::bad_input(
            "the filter is empty, so every document matches it: give `everything: true` to \
             confirm",
        ));
    }
    Ok(filter)
}

impl SetValueInput {
    async fn read(&self, request_budget: &RequestBudget) -> Result<SetValue> {
        let text = required_json("value", &self.value)?;
        let at = self.at.query(request_budget.budget()).await?;
        let leaves = parsed(text, request_budget, |text| {
            Leaves::from_argument(json_text(text)?)
        })
        .await;
        let leaves = leaves.map_err(|error| in_argument("value", error))?;
        Ok(SetValue { at, leaves })
    }
}

async fn change(
    context: &Context<'_>,
    collection: &str,
    filter: &filter::Filter,
    change: &Bulk,
) -> Result<BulkResult> {
    let session = Session::of(context);
    let transaction = session.transaction()?;
    let documents: Vec<Arc<DocumentKey>> =
        bulk_documents(transaction, session.budget(), collection, filter).await?;
    for document in &documents {
        session.expect_version(document, None).await?;
    }
    let changes = bulk(
        transaction,
        session.budget(),
        documents,
        change,
        session.bytes_max(),
    )
    .await?;
    let result = BulkResult {
        matched: changes.matched,
        changed: changes.changed.len(),
    };
    for document in changes.changed {
        session.wrote(document);
    }
    Ok(result)
}
