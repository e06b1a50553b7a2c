//! Applies update operators: changes at the places that a JSONPath selects.
//!
//! The place of a singular query (RFC 9535 §2.3.5.1) need not have a value. Every operator except
//! `unset`, `rename` and `remove` creates the value if the parent is an object, or an array that the index
//! extends by one.
//! Any other query selects only existing values. If a selected place is inside another one, only
//! the outer place is changed.

use std::borrow::Cow;
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use futures::future::BoxFuture;

use super::editor::Editor;
use super::editor::location::{Location, Target, location_at};
use super::increment::number_at;
use super::update_operation::{Comparand, Update, UpdateOperation, unresolved};
use crate::budget::{Budget, Reservation, Steps, in_turns};
use crate::database::document_key::{DocumentKey, below};
use crate::database::read::load::load;
use crate::database::read::range_plan::Extent;
use crate::database::read::request::{Answer, ReadRequest};
use crate::database::read::selection::{PartReads, QuerySelection};
use crate::database::read::value::Value;
use crate::document::jsonpath::Query;
use crate::document::leaf::{Kind, Leaf, abridged};
use crate::document::number;
use crate::document::path::{Path, Place, Segment};
use crate::document::tree::{Tree, compare};
use crate::error::{Error, Result};
use crate::key::{Leaves, decode_leaf};
use crate::store::{Pairs, Transaction};

/// The arrays to which an update appends the same elements that the one before it removes from their
/// end. They do not change.
#[derive(Default)]
struct Cancelled<'u> {
    /// The elements that the next update appends to the same arrays.
    appended: Option<&'u Leaves>,
    /// The arrays.
    places: HashSet<Place>,
}

/// Applies updates in order, each to the result of the previous ones. Adds to `places`, for each
/// update, the number of places to which it was applied, including those whose value did not
/// change. Does nothing if the document does not exist. Returns whether the document changed.
///
/// # Errors
/// Each error except for those of the beginning names the update. `BAD_USER_INPUT`: a value does not fit
/// the operator. `NOT_FOUND`: nothing is stored at a place in this document from which an update takes a value.
/// `TOO_LARGE`: a key or a number exceeds the limit. `TOO_COMPLEX`: a query selects too much. Errors of the
/// store.
pub(crate) async fn update(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &Arc<DocumentKey>,
    updates: &[Update],
    places: &mut [u64],
) -> Result<bool> {
    let whole = Path::default();
    let (editor, target) = Editor::begin_above(transaction, budget, document, &whole, &[]).await?;
    match target {
        Target::Present(_) => editor.apply_updates(updates, places).await,
        _ => editor.finish().await,
    }
}

/// Applies updates to a document that must exist, as `update` does. Returns whether the document changed.
///
/// # Errors
/// `NOT_FOUND`: the document does not exist. As `update`.
pub async fn update_document(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &Arc<DocumentKey>,
    updates: &[Update],
) -> Result<bool> {
    let whole = Path::default();
    let (editor, target) = Editor::begin_above(transaction, budget, document, &whole, &[]).await?;
    let Target::Present(_) = target else {
        return Err(editor.nothing_at(&whole));
    };
    editor
        .apply_updates(updates, &mut vec![0; updates.len()])
        .await
}

/// Reads the values that updates take from places which depend on the document, before it changes. `memory`
/// holds them.
async fn with_values<'u>(
    transaction: &dyn Transaction,
    document: &Arc<DocumentKey>,
    updates: &'u [Update],
    memory: &Reservation,
) -> Result<Vec<Cow<'u, Update>>> {
    let mut read = Vec::with_capacity(updates.len());
    for update in updates {
        read.push(match update.operation() {
            UpdateOperation::FromChanged(operator, place) => {
                let value = async {
                    let source = place.source(transaction, memory, Some(document)).await?;
                    let value = source.read(transaction, memory).await?;
                    UpdateOperation::of_value(*operator, value, memory).await
                };
                let operation = value.await.map_err(|error| error.at(update))?;
                Cow::Owned(update.with(operation))
            }
            _ => Cow::Borrowed(update),
        });
    }
    Ok(read)
}

impl Editor<'_> {
    async fn apply_updates(mut self, updates: &[Update], places: &mut [u64]) -> Result<bool> {
        let memory = self.budget.reserve();
        let updates = with_values(self.transaction, &self.document, updates, &memory).await?;
        let mut cancelled = Cancelled::default();
        for (at, (update, places)) in updates.iter().zip(places).enumerate() {
            cancelled.appended = updates
                .get(at + 1)
                .and_then(|next| next.appended_behind(update));
            let applied = self.update(update, &mut cancelled).await;
            *places += applied.map_err(|error| error.at(update))?;
        }
        self.finish().await
    }

    /// Applies an update. Returns the number of places.
    async fn update(&mut self, update: &Update, cancelled: &mut Cancelled<'_>) -> Result<u64> {
        if update.at().is_singular() {
            let place = self.singular_place(update.at()).await?;
            return match place {
                Some(place) => {
                    self.update_place(place, update.operation(), cancelled)
                        .await
                }
                None => Ok(0),
            };
        }
        let places = self.selected(update.at()).await?;
        let count = places.len() as u64;
        if let UpdateOperation::Unset = update.operation() {
            self.remove_places(places).await?;
            return Ok(count);
        }
        for place in places {
            let key = self.document.place(&place)?;
            let location = location_at(self.transaction, place, key).await?;
            self.update_value(location, update.operation(), cancelled)
                .await?;
        }
        Ok(count)
    }

    /// Applies an operation at a place that may have no value. Returns the number of places: 0 or
    /// 1.
    async fn update_place(
        &mut self,
        place: Place,
        operation: &UpdateOperation,
        cancelled: &mut Cancelled<'_>,
    ) -> Result<u64> {
        match self.locate(&Path::from(&place)).await? {
            Target::Present(location) => self.update_value(location, operation, cancelled).await?,
            Target::Vacant(location) => {
                self.budget.pace(1).await?;
                let Some(leaves) = operation.alone(self.budget).await? else {
                    return Ok(0);
                };
                self.put_new(&location, &leaves).await?;
            }
            Target::Orphan | Target::Unfit(_) => {
                if operation.creates() {
                    self.depend_on_unfit_parent(&place)?;
                }
                return Ok(0);
            }
        }
        Ok(1)
    }

    async fn update_value(
        &mut self,
        location: Location,
        operation: &UpdateOperation,
        cancelled: &mut Cancelled<'_>,
    ) -> Result<()> {
        self.budget.pace(1).await?;
        match operation {
            UpdateOperation::Set(leaves) | UpdateOperation::Now(leaves) => {
                self.overwrite(&location, leaves).await
            }
            UpdateOperation::Unset => self.remove(&location).await,
            UpdateOperation::Rename(rename) => self.rename(&location, rename).await,
            UpdateOperation::Min(value) => self.bound(&location, value, Ordering::Less).await,
            UpdateOperation::Max(value) => self.bound(&location, value, Ordering::Greater).await,
            UpdateOperation::Increment(by) => {
                let sum = number::sum(&number_at(&location)?, by);
                let sum =
                    sum.map_err(|error| error.at(format!("{:?}", location.place.to_string())))?;
                self.overwrite(&location, &Leaves::from_leaf(&sum)).await
            }
            UpdateOperation::Remove(values) => {
                let equal = self.equal_elements(&location, values).await?;
                let indexes: Vec<u64> = equal.iter().map(|element| element.index).collect();
                if let Some(appended) = cancelled.appended
                    && self.ends_with(&location, &indexes, appended).await?
                {
                    cancelled.places.insert(location.place);
                    return Ok(());
                }
                self.remove_elements(&location.place, &location.key, &indexes)
                    .await
            }
            UpdateOperation::Append(_) if cancelled.places.remove(&location.place) => Ok(()),
            UpdateOperation::Append(elements) => self.append(&location, elements).await,
            UpdateOperation::Add(elements) => self.add_missing(&location, elements).await,
            UpdateOperation::Merge(patch) => self.merge_value(location, patch).await,
            UpdateOperation::FromChanged(..) => Err(unresolved()),
        }
    }

    /// Replaces a value with another one of the same type, if the other one compares to it like this.
    async fn bound(
        &mut self,
        location: &Location,
        value: &Comparand,
        replaced_if: Ordering,
    ) -> Result<()> {
        let leaves = value.leaves();
        let new = leaves.as_leaf().and_then(decode_leaf);
        let order = match (&new, location.leaf().and_then(decode_leaf)) {
            (Some(new), Some(stored)) => number::order(new, &stored),
            // A string in several pieces.
            (Some(Leaf::String(new)), None) if location.kind()? == Some(Kind::String) => {
                Some(self.order_to_pieces(new, location).await?)
            }
            _ => None,
        };
        match order {
            Some(order) if order == replaced_if => self.overwrite(location, leaves).await,
            Some(_) => Ok(()),
            None => Err(Error::bad_input(format!(
                "the value at {:?} is not of the type of the given one",
                abridged(&location.place.to_string())
            ))),
        }
    }

    /// The order of a string and a stored one that has several pieces.
    async fn order_to_pieces(&self, new: &str, location: &Location) -> Result<Ordering> {
        let memory = self.budget.reserve();
        let part = self
            .part(&location.place.0, &memory)
            .await?
            .ok_or_else(|| Error::internal("a string without a pair"))?;
        memory.hold(part.tree_bytes())?;
        let order = |steps: &Steps<'_>| {
            let stored = part.tree(steps)?;
            let new = Tree::Leaf(Leaf::String(new.to_owned().into()));
            compare(&new, &stored).ok_or_else(|| Error::internal("a string is no string"))
        };
        self.budget.compute(order).await
    }

    /// Removes values, none of which is inside another one.
    async fn remove_places(&mut self, places: Vec<Place>) -> Result<()> {
        // The removal of elements renumbers the places below an array. Therefore the deepest places
        // come first, and the elements of one array are removed together.
        let mut by_parent: BTreeMap<(Reverse<usize>, Vec<Segment>), Vec<Segment>> = BTreeMap::new();
        let mut places = in_turns(places);
        while let Some(Place(mut segments)) = places.next().await {
            let last = segments
                .pop()
                .ok_or_else(|| Error::internal("`unset` selects the document"))?;
            let parent = (Reverse(segments.len()), segments);
            by_parent.entry(parent).or_default().push(last);
        }
        for ((_, parent), children) in by_parent {
            self.budget.pace(children.len() as u64).await?;
            let parent = Place(parent);
            let key = self.document.place(&parent)?;
            let indexes: Vec<u64> = children
                .iter()
                .filter_map(|child| match child {
                    Segment::Index(index) => Some(*index),
                    Segment::Key(_) => None,
                })
                .collect();
            if indexes.is_empty() {
                for child in children {
                    let key = below(&key, &child);
                    let member = Location::new(parent.child(child), key, Pairs::default());
                    self.clear_place(&member).await?;
                }
                self.mark_if_empty(&key).await?;
            } else {
                self.remove_elements(&parent, &key, &indexes).await?;
            }
        }
        Ok(())
    }

    /// Makes the transaction conflict with changes after which the parent of a place could hold a
    /// new value there.
    fn depend_on_unfit_parent(&self, place: &Place) -> Result<()> {
        let (parent, last) = self.parent_of(place)?;
        match last {
            Segment::Key(_) => self.depend_on(&parent),
            Segment::Index(_) => self.depend_on_all(&parent),
        }
        Ok(())
    }

    /// The place that a singular query leads to. `None` if a value on the way does not
    /// exist.
    async fn singular_place(&self, query: &Query) -> Result<Option<Place>> {
        if let Some(place) = query.place() {
            return Ok(Some(Place(place.to_vec())));
        }
        let memory = self.budget.reserve();
        let Some(part) = self.part(query.prefix(), &memory).await? else {
            return Ok(None);
        };
        memory.hold(part.tree_bytes())?;
        let find = |steps: &Steps<'_>| {
            let tree = part.tree(steps)?;
            let found = query.singular_place(&tree, steps)?;
            Ok(found.map(|below| part.place.join(&below)))
        };
        self.budget.compute(find).await
    }

    /// The places that a query selects, without those inside another one.
    async fn selected(&self, query: &Query) -> Result<Vec<Place>> {
        let memory = self.budget.reserve();
        let read = |reads: PartReads| -> BoxFuture<'_, _> {
            let memory = &memory;
            Box::pin(async move { self.parts(reads, memory).await })
        };
        let selection = QuerySelection::read(query, &memory, read).await?;
        self.budget.pace(selection.nodes().len() as u64).await?;
        let nodes = selection.nodes().iter();
        let mut places: Vec<Place> = nodes.filter_map(|node| selection.place(node)).collect();
        places.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        // A place sorts directly before all places inside it.
        places.dedup_by(|place, outer| place.0.starts_with(&outer.0));
        Ok(places)
    }

    /// Reads the value at a place under conflict.
    async fn part(&self, place: &[Segment], memory: &Reservation) -> Result<Option<Value>> {
        let read = vec![(Path::of_segments(place), Extent::Whole)];
        Ok(self.parts(read, memory).await?.pop().flatten())
    }

    /// Reads parts of the document under conflict, in one round.
    async fn parts(&self, reads: PartReads, memory: &Reservation) -> Result<Vec<Option<Value>>> {
        let requests = reads.into_iter();
        let requests =
            requests.map(|(path, extent)| ReadRequest::Value(self.document.clone(), path, extent));
        let requests: Vec<ReadRequest> = requests.collect();
        let requests: Vec<&ReadRequest> = requests.iter().collect();
        let answers = load(self.transaction, &requests, memory).await;
        let parts = answers.into_iter().map(|answer| match answer? {
            Answer::Value(part) => Ok(part),
            Answer::Remainder(_) | Answer::Between(_) | Answer::Version(_) => {
                Err(Error::internal("a load returned no part"))
            }
        });
        parts.collect()
    }
}
