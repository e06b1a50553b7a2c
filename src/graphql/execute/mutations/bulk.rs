//! The functions that change every document that matches a filter.

use std::borrow::Cow;
use std::sync::Arc;

use async_graphql::ID;

use super::call::{Call, CallError};
use crate::database::query::{KeySet, portion};
use crate::database::{Bulk, DocumentKey, Update, bulk, bulk_documents};
use crate::document::filter;
use crate::document::id::DocumentId;
use crate::error::{Error, ErrorKind, Result};
use crate::graphql::arguments::filter_input::{FilterInput, KeyFilterInput, read_documents};
use crate::graphql::execute::planned::given::{BulkResult, ExaminedPortion, Outcome, UpdateResult};
use crate::graphql::execute::planned::permit::apply_rules::without_advice;
use crate::limits::BULK_DOCUMENTS_MAX;

/// The arguments that say which documents are changed.
struct BulkTargets {
    collection: String,
    filter: FilterInput,
    keys: Option<KeyFilterInput>,
    portion: Option<PortionArguments>,
}

/// The arguments that say which documents are examined. By default all are.
struct PortionArguments {
    after: Option<DocumentId>,
    count: usize,
}

/// The documents that are changed, if they match.
struct SelectedDocuments {
    collection: String,
    filter: filter::Filter,
    keys: KeySet,
    portion: Option<PortionArguments>,
}

pub(super) async fn update_documents(call: &Call<'_>) -> Result<Outcome, CallError> {
    let targets = BulkTargets::of(call)?;
    let lists = call.update_lists()?;
    let everything = call.argument_or("everything", false)?;
    let selected = targets.selected(call, everything).await?;
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
    change(call, &selected, &Bulk::Update(updates)).await
}

pub(super) async fn delete_documents(call: &Call<'_>) -> Result<Outcome, CallError> {
    let targets = BulkTargets::of(call)?;
    let everything = call.argument_or("everything", false)?;
    let selected = targets.selected(call, everything).await?;
    change(call, &selected, &Bulk::Delete).await
}

impl BulkTargets {
    fn of(call: &Call<'_>) -> Result<Self, CallError> {
        Ok(Self {
            collection: call.collection()?,
            filter: call.argument("where")?,
            keys: call.argument("keys")?,
            portion: PortionArguments::of(call)?,
        })
    }

    /// The collection, and the filter and the keys of the documents to change.
    async fn selected(self, call: &Call<'_>, everything: bool) -> Result<SelectedDocuments> {
        let request_budget = &call.session.request_budget;
        let Self {
            collection,
            filter,
            keys,
            portion,
        } = self;
        let selected = read_documents(&collection, Some(filter), keys, request_budget);
        let (filter, keys) = selected.await?;
        if portion.is_some() && !keys.is_all() {
            return Err(Error::bad_input("`first` excludes `keys`"));
        }
        let selected = SelectedDocuments {
            collection,
            filter,
            keys,
            portion,
        };
        if everything || !selected.keys.is_all() {
            return Ok(selected);
        }
        let filter = &selected.filter;
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
        Ok(selected)
    }
}

impl PortionArguments {
    fn of(call: &Call<'_>) -> Result<Option<Self>, CallError> {
        let first: Option<i32> = call.argument("first")?;
        let after: Option<ID> = call.argument("after")?;
        let Some(first) = first else {
            return match after {
                None => Ok(None),
                Some(_) => Err(Error::bad_input("`after` needs `first`").into()),
            };
        };
        let count = usize::try_from(first).unwrap_or(0);
        if !(1..=BULK_DOCUMENTS_MAX).contains(&count) {
            let message = format!("`first` is {first}; it must be from 1 to {BULK_DOCUMENTS_MAX}");
            return Err(Error::bad_input(message).into());
        }
        let after = after.map(|after| DocumentId::parse(&after)).transpose()?;
        Ok(Some(Self { after, count }))
    }
}

/// The documents that match, and the portion of which they are, if it is one.
async fn matching_documents(
    call: &Call<'_>,
    selected: &SelectedDocuments,
    filter: &filter::Filter,
) -> Result<(Vec<Arc<DocumentKey>>, Option<ExaminedPortion>), CallError> {
    let session = call.session;
    let (transaction, budget) = (session.transaction(), session.budget());
    let SelectedDocuments {
        collection, keys, ..
    } = selected;
    let Some(PortionArguments { after, count }) = &selected.portion else {
        let documents = bulk_documents(transaction, budget, collection, (filter, keys)).await;
        let documents = match call.permit {
            Some(_) => documents.map_err(without_advice)?,
            None => documents?,
        };
        return Ok((documents, None));
    };
    if call.permit.is_some_and(|permit| permit.selected.is_some()) {
        // The last examined document can be one that the caller may not know.
        let message = "`first` needs rights to the documents without a condition";
        return Err(Error::new(ErrorKind::Forbidden, message).into());
    }
    let found = portion(
        transaction,
        budget,
        collection,
        filter,
        after.as_ref(),
        *count,
    );
    let found = found.await?;
    let last = found.documents.last().map(|(id, _)| id.clone());
    let examined = ExaminedPortion {
        examined: found.documents.len(),
        next: last.filter(|_| found.more),
    };
    let passed = found.documents.into_iter().filter(|(_, passes)| *passes);
    let documents = passed.map(|(id, _)| DocumentKey::new(collection.as_str(), id).map(Arc::new));
    let documents: Result<_> = documents.collect();
    Ok((documents?, Some(examined)))
}

async fn change(
    call: &Call<'_>,
    selected: &SelectedDocuments,
    change: &Bulk,
) -> Result<Outcome, CallError> {
    let SelectedDocuments {
        collection, filter, ..
    } = selected;
    let session = call.session;
    let (transaction, budget) = (session.transaction(), session.budget());
    let permitted = call.permit.and_then(|permit| permit.selected.as_ref());
    let filter = match permitted {
        Some(condition) => Cow::Owned(filter.clone().and(condition.filter.clone())),
        None => Cow::Borrowed(filter),
    };
    let (documents, portion) = matching_documents(call, selected, &filter).await?;
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
        portion,
    };
    session.wrote(call.field, changes.changed);
    Ok(Outcome::Bulk(result))
}
