//! Sets a value at every place that a JSONPath selects.

use std::sync::Arc;

use super::editor::Editor;
use super::editor::location::{Target, spot};
use crate::budget::{Budget, Reservation, Steps};
use crate::database::document_key::DocumentKey;
use crate::database::read::load::load;
use crate::database::read::range_plan::Extent;
use crate::database::read::request::{Answer, ReadRequest};
use crate::database::read::value::Value;
use crate::document::jsonpath::Query;
use crate::document::path::{Path, Place, Segment};
use crate::error::{Error, Result};
use crate::key::Leaves;
use crate::store::Transaction;

/// A value and the query that selects its places.
#[derive(Clone, Debug)]
pub struct SetValue {
    /// Selects the places.
    pub at: Query,
    /// The value.
    pub leaves: Leaves,
}

/// Sets each value, in order, at every place that its query selects in the document at that point.
/// If a selected place lies inside another one, only the outer place is set. Returns whether the
/// document changed.
///
/// # Errors
/// `TOO_LARGE`: a key exceeds the limit. `TOO_COMPLEX`: a query selects too much. Errors of the
/// store.
pub(crate) async fn set(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &Arc<DocumentKey>,
    values: &[SetValue],
) -> Result<bool> {
    let whole = Path::default();
    let (mut editor, target) =
        Editor::begin_above(transaction, budget, document, &whole, &[]).await?;
    let Target::Present(_) = target else {
        return Ok(false);
    };
    for value in values {
        for place in editor.selected(&value.at).await? {
            let key = document.place(&place)?;
            let spot = spot(transaction, place, key).await?;
            editor.overwrite(&spot, &value.leaves).await?;
            budget.pace(1).await?;
        }
    }
    editor.finish().await
}

impl Editor<'_> {
    /// Returns the places that a query selects, without those inside another one.
    async fn selected(&self, query: &Query) -> Result<Vec<Place>> {
        let memory = self.budget.reserve();
        let Some(part) = self.part(query.prefix(), &memory).await? else {
            return Ok(Vec::new());
        };
        memory.hold(part.tree_bytes())?;
        let select = |steps: &Steps<'_>| {
            let tree = part.tree(steps)?;
            let selected = query.select(&tree, steps)?;
            let mut places: Vec<Vec<Segment>> = selected.into_iter().map(|node| node.0).collect();
            places.sort_unstable();
            let mut outermost: Vec<Place> = Vec::new();
            let mut last: Option<Vec<Segment>> = None;
            for place in places {
                // A place sorts directly before all places inside it.
                if !last.as_ref().is_some_and(|last| place.starts_with(last)) {
                    outermost.push(part.place.join(&place));
                    last = Some(place);
                }
            }
            Ok(outermost)
        };
        self.budget.compute(select).await
    }

    /// Reads the value at a place under conflict.
    async fn part(&self, place: &[Segment], memory: &Reservation) -> Result<Option<Value>> {
        let path = Path::from(&Place(place.to_vec()));
        let request = ReadRequest::Value(self.document.clone(), path, Extent::Whole);
        match load(self.transaction, &[&request], memory).await.pop() {
            Some(Ok(Answer::Value(part))) => Ok(part),
            Some(Err(error)) => Err(error),
            _ => Err(Error::internal("a load returned no part")),
        }
    }
}
