//! The mutations that change every document which passes a filter.

use std::sync::Arc;

use async_graphql::{Context, InputObject, MaybeUndefined, Object, SimpleObject};

use super::arguments::{given, in_argument};
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

/// A value, and the places to put it at.
#[derive(InputObject)]
#[graphql(name = "DocumentValueUpdate")]
pub(crate) struct SetValueInput {
    /// What selects the places; where it selects nothing, nothing is changed. A place inside another goes with that.
    at: JsonPath,
    /// Any JSON value. It must be given, but may be null.
    value: MaybeUndefined<Json>,
}

/// What became of the documents that passed.
#[derive(SimpleObject)]
#[graphql(name = "DocumentBulkResult")]
pub(crate) struct BulkResult {
    /// How many passed.
    matched: usize,
    /// How many of them are others now, or gone.
    changed: usize,
}

#[derive(Default)]
pub(crate) struct BulkMutations;

#[Object]
impl BulkMutations {
    /// Changes every document that passes `where`: puts `value` at each place that `at` selects in it, so `$.ancestors[?@._id == 'x'].name` is what it seems. An empty filter is refused here and below unless `everything` is true. What is too much for one transaction is refused.
    async fn update_documents(
        &self,
        context: &Context<'_>,
        #[graphql(default = "D", desc = "The collection that holds the documents.")]
        collection: String,
        #[graphql(name = "where", desc = "What documents must satisfy.")] filter: FilterInput,
        #[graphql(desc = "What to put where, one after another.")] set: Vec<SetValueInput>,
        #[graphql(
            default = false,
            desc = "Whether the filter may be one that every document passes."
        )]
        everything: bool,
    ) -> Result<BulkResult> {
        let filter = read(context, &filter, everything).await?;
        let mut values = Vec::new();
        for value in &set {
            let value = value.read(Session::of(context).request_budget()).await;
            values.push(value.map_err(|error| in_argument("set", error))?);
        }
        change(context, &collection, &filter, &Bulk::Set(values)).await
    }

    /// Removes every document that passes `where`.
    async fn delete_documents(
        &self,
        context: &Context<'_>,
        #[graphql(default = "D", desc = "The collection that holds the documents.")]
        collection: String,
        #[graphql(name = "where", desc = "What documents must satisfy.")] filter: FilterInput,
        #[graphql(
            default = false,
            desc = "Whether the filter may be one that every document passes."
        )]
        everything: bool,
    ) -> Result<BulkResult> {
        let filter = read(context, &filter, everything).await?;
        change(context, &collection, &filter, &Bulk::Delete).await
    }
}

async fn read(
    context: &Context<'_>,
    filter: &FilterInput,
    everything: bool,
) -> Result<filter::Filter> {
    let filter = filter.read(Session::of(context).request_budget()).await;
    let filter = filter.map_err(|error| in_argument("where", error))?;
    if filter.is_empty() && !everything {
        return Err(Error::bad_input(
            "the filter is empty, so every document passes it: give `everything: true` if that is \
             what you want",
        ));
    }
    Ok(filter)
}

impl SetValueInput {
    async fn read(&self, request_budget: &RequestBudget) -> Result<SetValue> {
        let text = given("value", &self.value)?;
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
