//! Putting a value at every place that a JSONPath selects.

use std::sync::Arc;

use super::editor::Editor;
use super::editor::location::{Target, spot};
use crate::budget::{Budget, Reservation, Steps};
use crate::database::document_key::DocumentKey;
use crate::database::read::load::load;
use crate::database::read::part::Part;
use crate::database::read::range_plan::Extent;
use crate::database::read::request::{Answer, Want};
use crate::document::jsonpath::Query;
use crate::document::path::{Path, Place, Segment};
use crate::error::{Error, Result};
use crate::key::Leaves;
use crate::store::Transaction;

/// A value, and what selects the places that it is to be put at.
#[derive(Clone, Debug)]
pub struct SetValue {
    /// What selects the places.
    pub at: Query,
    /// The value.
    pub leaves: Leaves,
}

/// Puts each value, in this order, at every place that its query selects in a document by then. A
/// place inside another that is selected goes with that. Whether that changed anything.
///
/// # Errors
/// `TOO_LARGE`: a key passes the limit. `TOO_COMPLEX`: a query selects too much. What the store
/// fails with.
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
    /// The places that a query selects, outermost, each once.
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
                // What a place lies inside comes before it, and nothing between lies outside.
                if !last.as_ref().is_some_and(|last| place.starts_with(last)) {
                    outermost.push(part.place.join(&place));
                    last = Some(place);
                }
            }
            Ok(outermost)
        };
        self.budget.compute(select).await
    }

    /// What stands at a place, which the transaction then depends on.
    async fn part(&self, place: &[Segment], memory: &Reservation) -> Result<Option<Part>> {
        let path = Path::from(&Place(place.to_vec()));
        let want = Want::Part(self.document.clone(), path, Extent::Whole);
        match load(self.transaction, &[&want], memory).await.pop() {
            Some(Ok(Answer::Part(part))) => Ok(part),
            Some(Err(error)) => Err(error),
            _ => Err(Error::internal("a load brought no part")),
        }
    }
}
