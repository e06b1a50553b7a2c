//! Evaluates the JSONPath queries of a planned query on what was read.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use futures::future::BoxFuture;

use super::bound::{Bound, SelectedParts};
use crate::database::{
    Answer, DocumentKey, Loaded, PartReads, QuerySelection, ReadRequest, Value, load,
};
use crate::error::Result;
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::context::session::mismatch;
use crate::graphql::objects::located::check_selected;
use crate::limits::HELD_PER_READ;
use crate::store::Read;

/// Selects the parts. Reads further parts if the first reads return lengths of arrays.
///
/// # Errors
/// As [`QuerySelection::read`]. `TOO_COMPLEX`: too many parts are selected.
pub(super) async fn select(
    of: &SelectedParts<'_>,
    bound: &Bound<'_>,
    loaded: &Loaded<'_>,
    read: &dyn Read,
    request_budget: &RequestBudget,
) -> Result<QuerySelection> {
    let document = Arc::new(bound.documents[of.document].clone().into_owned());
    let is_first = AtomicBool::new(true);
    let parts = |parts: PartReads| -> BoxFuture<'_, Result<Vec<Option<Value>>>> {
        if is_first.swap(false, Relaxed) {
            let parts = of.first_parts(&document, loaded);
            return Box::pin(async { parts });
        }
        Box::pin(of.further_parts(parts, &document, read, request_budget))
    };
    let selection = QuerySelection::read(&of.query, request_budget.budget(), parts).await?;
    check_selected(&of.query, selection.nodes().len())?;
    Ok(selection)
}

impl SelectedParts<'_> {
    /// The parts that were read with the rest of the request.
    fn first_parts(
        &self,
        document: &Arc<DocumentKey>,
        loaded: &Loaded<'_>,
    ) -> Result<Vec<Option<Value>>> {
        let parts = self.reads.iter().map(|(read, extent)| {
            let part = loaded.part(*read, document)?;
            Ok(part.and_then(|part| part.narrowed(*extent)))
        });
        parts.collect()
    }

    async fn further_parts(
        &self,
        parts: PartReads,
        document: &Arc<DocumentKey>,
        read: &dyn Read,
        request_budget: &RequestBudget,
    ) -> Result<Vec<Option<Value>>> {
        request_budget.places(parts.len())?;
        request_budget.memory.hold(parts.len() * HELD_PER_READ)?;
        let requests = parts.into_iter().map(|(below, extent)| {
            let path = self.path.join(&below);
            ReadRequest::Value(document.clone(), path, extent)
        });
        let requests: Vec<ReadRequest> = requests.collect();
        let requested: Vec<&ReadRequest> = requests.iter().collect();
        let answers = load(read, &requested, &request_budget.memory).await;
        let parts = answers.into_iter().map(|answer| match answer? {
            Answer::Value(part) => Ok(part),
            _ => Err(mismatch()),
        });
        parts.collect()
    }
}
