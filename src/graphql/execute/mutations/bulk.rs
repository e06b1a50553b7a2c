//! The functions that change every document that matches a filter.

use std::borrow::Cow;
use std::sync::Arc;

use super::call::{Call, CallError};
use crate::database::query::KeySet;
use crate::database::{Bulk, DocumentKey, Update, bulk, bulk_documents};
use crate::document::filter;
use crate::error::{Error, Result};
use crate::graphql::arguments::filter_input::{FilterInput, KeyFilterInput, read_documents};
use crate::graphql::execute::planned::given::{BulkResult, Outcome, UpdateResult};
use crate::graphql::execute::planned::permit::plan_permit::without_advice;

/// The arguments that say which documents are changed.
struct BulkTargets {
    collection: String,
    filter: FilterInput,
    keys: Option<KeyFilterInput>,
}

pub(super) async fn update_documents(call: &Call<'_>) -> Result<Outcome, CallError> {
    let targets = BulkTargets::of(call)?;
    let lists = call.update_lists()?;
    let everything = call.argument_or("everything", false)?;
    let (collection, selected) = targets.selected(call, everything).await?;
    let session = call.session;
    let memory = session.budget().reserve();
    let updates = lists
        .read(
            session.transaction(),
            &session.request_budget,
            &memory,
            None,
        )
        .await?;
    change(call, &collection, &selected, &Bulk::Update(updates)).await
}

pub(super) async fn delete_documents(call: &Call<'_>) -> Result<Outcome, CallError> {
    let targets = BulkTargets::of(call)?;
    let everything = call.argument_or("everything", false)?;
    let (collection, selected) = targets.selected(call, everything).await?;
    change(call, &collection, &selected, &Bulk::Delete).await
}

impl BulkTargets {
    fn of(call: &Call<'_>) -> Result<Self, CallError> {
        Ok(Self {
            collection: call.collection()?,
            filter: call.argument("where")?,
            keys: call.argument("keys")?,
        })
    }

    /// The collection, and the filter and the keys of the documents to change.
    async fn selected(
        self,
        call: &Call<'_>,
        everything: bool,
    ) -> Result<(String, (filter::Filter, KeySet))> {
        let request_budget = &call.session.request_budget;
        let collection = self.collection;
        let selected = read_documents(&collection, Some(self.filter), self.keys, request_budget);
        let (filter, keys) = selected.await?;
        if everything || !keys.is_all() {
            return Ok((collection, (filter, keys)));
        }
        let budget = request_budget.budget();
        if budget.compute(|steps| filter.is_always_true(steps)).await? {
            let what = if filter.is_empty() {
                "the filter is empty, so every document matches it"
            } else {
                "the filter is always true, so every document matches it"
            };
            return Err(Error::bad_input(format!(
                "{what}: give `everything: true` to confirm"
            )));
        }
        Ok((collection, (filter, keys)))
    }
}

async fn change(
    call: &Call<'_>,
    collection: &str,
    (filter, keys): &(filter::Filter, KeySet),
    change: &Bulk,
) -> Result<Outcome, CallError> {
    let session = call.session;
    let (transaction, budget) = (session.transaction(), session.budget());
    let permitted = call.permit.and_then(|permit| permit.selected.as_ref());
    let filter = match permitted {
        Some(condition) => Cow::Owned(filter.clone().and(condition.filter.clone())),
        None => Cow::Borrowed(filter),
    };
    let documents = bulk_documents(transaction, budget, collection, (&*filter, keys)).await;
    let documents: Vec<Arc<DocumentKey>> = match call.permit {
        Some(_) => documents.map_err(without_advice)?,
        None => documents?,
    };
    for document in &documents {
        session.expect_version(document, None).await?;
    }
    let changes = bulk(transaction, budget, documents, change, session.bytes_max).await?;
    let updates: &[Update] = match change {
        Bulk::Update(updates) => updates,
        Bulk::Delete => &[],
    };
    if let Some(permit) = call.permit
        && matches!(change, Bulk::Update(_))
    {
        permit
            .check_selected(session, collection, &changes.changed)
            .await?;
    }
    let updates = updates.iter().zip(changes.places);
    let result = BulkResult {
        matched: changes.matched,
        changed: changes.changed.len(),
        updates: updates
            .map(|(update, places)| UpdateResult::new(update, places))
            .collect(),
    };
    session.wrote(call.field, changes.changed);
    Ok(Outcome::Bulk(result))
}
