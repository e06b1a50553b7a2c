//! Evaluates the JSONPath queries of a planned query, and lengths, on what was read.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use futures::future::BoxFuture;

use super::element::{ContainedValue, Element};
use super::finder::Finder;
use super::list_loader::ListPart;
use crate::database::{
    Answer, DocumentKey, PartReads, QuerySelection, ReadRequest, Value, load, members,
};
use crate::document::jsonpath::Query;
use crate::document::leaf::{Kind, abridged};
use crate::document::path::Path;
use crate::error::{Error, Limit, Result};
use crate::graphql::context::request_budget::mismatch;
use crate::graphql::execute::planned::binding::bound::{ReadAt, SelectedParts, ValueAt};
use crate::graphql::scalars::scalar_types::JsonPath;
use crate::limits::{HELD_PER_READ, SELECTED_MAX};

/// Selects the parts. Reads further parts if the first reads return lengths of arrays.
///
/// # Errors
/// As [`QuerySelection::read`]. `TOO_COMPLEX`: too many parts are selected.
pub(crate) async fn select(
    of: &SelectedParts<'_>,
    element: &Element<'_>,
    (document, path): (&Arc<DocumentKey>, &Path),
    finder: &Finder<'_>,
) -> Result<QuerySelection> {
    let budget = finder.request_budget.budget();
    let query = match &of.parsed {
        Some(query) if !query.has_regexps() => Cow::Borrowed(query),
        _ => Cow::Owned(
            JsonPath(of.query.clone().into_owned())
                .query(budget)
                .await?,
        ),
    };
    let is_first = AtomicBool::new(true);
    let parts = |parts: PartReads| -> BoxFuture<'_, Result<Vec<Option<Value>>>> {
        if let Some(reads) = &of.reads
            && is_first.swap(false, Relaxed)
        {
            let parts = reads
                .iter()
                .map(|(read, extent)| {
                    let part = element.part(*read, document)?;
                    Ok(part.and_then(|part| part.narrowed(*extent)))
                })
                .collect();
            return Box::pin(async { parts });
        }
        Box::pin(further_parts(parts, of, element, (document, path), finder))
    };
    let memory = &finder.request_budget.memory;
    let selection = QuerySelection::read(&query, memory, parts).await?;
    check_selected(&query, selection.nodes().len())?;
    Ok(selection)
}

/// Parts that depend on the lengths of arrays. Reads those that no read of the element contains.
async fn further_parts(
    parts: PartReads,
    of: &SelectedParts<'_>,
    element: &Element<'_>,
    (document, path): (&Arc<DocumentKey>, &Path),
    finder: &Finder<'_>,
) -> Result<Vec<Option<Value>>> {
    let reads = &finder.bound.scopes[element.scope].reads;
    let mut found = Vec::with_capacity(parts.len());
    let (mut missing, mut requests) = (Vec::new(), Vec::new());
    for (below, extent) in parts {
        let at = of.of.path.join(&below);
        let known = element.contained(reads, &of.of, &at, document)?;
        found.push(match known {
            ContainedValue::Known(part) => part.and_then(|part| part.narrowed(extent)),
            ContainedValue::NotRead => {
                missing.push(found.len());
                let path = path.join(&below);
                requests.push(ReadRequest::Value(document.clone(), path, extent));
                None
            }
        });
    }
    if !requests.is_empty() {
        for (at, value) in missing.into_iter().zip(values(requests, finder).await?) {
            found[at] = value;
        }
    }
    Ok(found)
}

/// Reads values, in one round.
async fn values(requests: Vec<ReadRequest>, finder: &Finder<'_>) -> Result<Vec<Option<Value>>> {
    let request_budget = finder.request_budget;
    request_budget.places(requests.len())?;
    request_budget.memory.hold(requests.len() * HELD_PER_READ)?;
    let requested: Vec<&ReadRequest> = requests.iter().collect();
    let answers = load(finder.read()?, &requested, &request_budget.memory).await;
    let parts = answers.into_iter().map(|answer| match answer? {
        Answer::Value(part) => Ok(part),
        _ => Err(mismatch()),
    });
    parts.collect()
}

/// A length, if it is known from what was read.
pub(crate) enum LengthOf {
    /// None for values that have none.
    Known(Option<u64>),
    /// The value has not been read as a whole.
    Unread(ListPart),
}

/// The length of an array, an object or a string.
///
/// # Errors
/// As [`members`], [`Value::elements`] and [`Value::characters`].
pub(crate) async fn length(
    element: &Element<'_>,
    of: &ValueAt<'_>,
    (first, last): (ReadAt, ReadAt),
    document: &Arc<DocumentKey>,
    finder: &Finder<'_>,
) -> Result<LengthOf> {
    let part = element.part(first.read, document)?.ok_or_else(mismatch)?;
    let whole = || element.whole(&finder.bound.scopes[element.scope].reads, of, document);
    let length = match part.kind()? {
        Kind::Array => {
            let last = element.part(last.read, document)?.ok_or_else(mismatch)?;
            Some(last.elements()?)
        }
        Kind::Object => {
            finder.request_budget.places(1)?;
            let Some(whole) = whole() else {
                return Ok(LengthOf::Unread(ListPart::Members));
            };
            Some(members(&whole)?)
        }
        Kind::String => {
            let Some(whole) = whole() else {
                finder.request_budget.places(1)?;
                finder.request_budget.memory.hold(HELD_PER_READ)?;
                return Ok(LengthOf::Unread(ListPart::Characters));
            };
            let budget = finder.request_budget.budget();
            budget.compute(|steps| whole.characters(steps)).await?
        }
        Kind::Number | Kind::Boolean | Kind::Null => None,
    };
    Ok(LengthOf::Known(length))
}

/// Checks the number of parts that a query selected.
///
/// # Errors
/// `TOO_COMPLEX`: there are too many.
fn check_selected(query: &Query, selected: usize) -> Result<()> {
    if selected <= SELECTED_MAX {
        return Ok(());
    }
    Err(Error::too_complex(
        Limit::new("selectedParts", SELECTED_MAX),
        format!(
            "the JSONPath {:?} selects {selected} parts; the limit is {SELECTED_MAX}",
            abridged(query.text()),
        ),
    ))
}
