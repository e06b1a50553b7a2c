//! The functions that remove documents or parts of them, and return what they removed.

use std::sync::Arc;

use bytes::Bytes;

use super::call::{Call, CallError};
use super::document::Change;
use crate::budget::pause;
use crate::database::{Answer, DocumentKey, Extent, ReadRequest, delete, first_documents, load};
use crate::document::path::Path;
use crate::error::{Error, Limit, Result};
use crate::graphql::arguments::filter_input::{KeyFilterInput, read_keys};
use crate::graphql::context::request_budget::mismatch;
use crate::graphql::execute::planned::given::{Deletion, Outcome};
use crate::graphql::execute::planned::permit::apply_rules::without_advice;
use crate::limits::{HELD_PER_READ, TAKEN_DOCUMENTS_MAX};

pub(super) async fn delete_document(call: &Call<'_>) -> Result<Outcome, CallError> {
    let change = Change::begin(call).await?;
    let (transaction, budget, document, path) = change.target();
    let targets = std::slice::from_ref(document);
    let value = before(call, targets, path).await?.pop().flatten();
    let deleted = delete(transaction, budget, document, path).await?;
    if deleted {
        call.session.wrote(call.field, [document.clone()]);
    }
    Ok(Outcome::Deletion(Deletion {
        document: change.document,
        path: change.path,
        deleted,
        value,
    }))
}

pub(super) async fn take_documents(call: &Call<'_>) -> Result<Outcome, CallError> {
    let collection = call.collection()?;
    let first = call.argument_or("first", 1)?;
    let keys: Option<KeyFilterInput> = call.argument("keys")?;
    let count = document_count(first)?;
    let session = call.session;
    session.request_budget.check()?;
    let keys = read_keys(&collection, keys, &session.request_budget).await?;
    let (transaction, budget) = (session.transaction(), session.budget());
    let permitted = call.permit.and_then(|permit| permit.selected.as_ref());
    let filter = permitted.map(|condition| condition.filter.clone());
    let selected = (&filter.unwrap_or_default(), &keys);
    let documents = first_documents(transaction, budget, &collection, selected, count).await;
    let documents = match call.permit {
        Some(_) => documents.map_err(without_advice)?,
        None => documents?,
    };
    let whole = Path::root();
    let values = before(call, &documents, whole).await?;
    let mut taken = Vec::with_capacity(documents.len());
    for (document, value) in documents.into_iter().zip(values) {
        session.expect_version(&document, None).await?;
        delete(transaction, budget, &document, whole).await?;
        session.wrote(call.field, [document.clone()]);
        taken.push(Deletion {
            document,
            path: whole.clone(),
            deleted: true,
            value,
        });
        // An engine may complete every call without waiting, so yield explicitly.
        pause().await;
        budget.check()?;
    }
    Ok(Outcome::Taken(taken))
}

fn document_count(first: i32) -> Result<usize> {
    let count = usize::try_from(first).ok();
    let count = count.filter(|count| (1..=TAKEN_DOCUMENTS_MAX).contains(count));
    count.ok_or_else(|| {
        Error::bad_input(format!(
            "`first` is {first}; one operation takes from 1 to {TAKEN_DOCUMENTS_MAX} documents"
        ))
        .with_limit(Limit::new("takenDocuments", TAKEN_DOCUMENTS_MAX))
    })
}

/// The JSON at `path` in each of `documents`, if the selection has it. Must be called before the deletion.
async fn before(
    call: &Call<'_>,
    documents: &[Arc<DocumentKey>],
    path: &Path,
) -> Result<Vec<Option<Bytes>>> {
    if !call.selects_value() {
        return Ok(vec![None; documents.len()]);
    }
    let request_budget = &call.session.request_budget;
    request_budget.places(documents.len())?;
    request_budget
        .memory
        .hold(documents.len() * HELD_PER_READ)?;
    let whole = |document: &Arc<DocumentKey>| {
        ReadRequest::Value(document.clone(), path.clone(), Extent::Whole)
    };
    let requests: Vec<ReadRequest> = documents.iter().map(whole).collect();
    let requests: Vec<&ReadRequest> = requests.iter().collect();
    let answers = load(
        call.session.transaction(),
        &requests,
        &request_budget.memory,
    )
    .await;
    let mut values = Vec::with_capacity(documents.len());
    for answer in answers {
        let Answer::Value(part) = answer? else {
            return Err(mismatch());
        };
        let Some(part) = part else {
            values.push(None);
            continue;
        };
        let text = part.json_within(request_budget.memory.text()).await?;
        values.push(Some(text.into()));
    }
    Ok(values)
}
