//! Update operators: changes at the places that a JSONPath selects.
//!
//! The place of a singular query (RFC 9535 §2.3.5.1) need not have a value. Every operator except
//! `unset` and `remove` creates the value if the parent is an object, or an array that the index
//! extends by one.
//! Any other query selects only existing values. If a selected place is inside another one, only
//! the outer place is changed.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures::future::BoxFuture;

use super::apply_merge_patch::alone;
use super::editor::Editor;
use super::editor::location::{Location, Target, location_at};
use super::increment::number_at;
use crate::budget::{Budget, Reservation, Steps, in_turns};
use crate::database::document_key::{DocumentKey, below};
use crate::database::read::load::load;
use crate::database::read::range_plan::Extent;
use crate::database::read::request::{Answer, ReadRequest};
use crate::database::read::selection::{PartReads, QuerySelection};
use crate::database::read::value::Value;
use crate::document::flatten::json_text;
use crate::document::jsonpath::Query;
use crate::document::leaf::{Leaf, abridged};
use crate::document::number;
use crate::document::parse_merge_patch::MergePatch;
use crate::document::path::{Path, Place, Segment};
use crate::error::{Error, Result};
use crate::key::{Leaves, ValueSet, check_array};
use crate::store::{Pairs, Transaction};

/// The name of an update operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateOperator {
    /// Replaces the value.
    Set,
    /// Removes the value.
    Unset,
    /// Adds to the number.
    Increment,
    /// Removes the elements of the array that are equal to a value.
    Remove,
    /// Adds elements at the end of the array.
    Append,
    /// Applies a JSON Merge Patch (RFC 7396) to the value.
    Merge,
}

impl UpdateOperator {
    /// All operators, in the order in which they are applied.
    pub const ALL: [Self; 6] = [
        Self::Set,
        Self::Unset,
        Self::Increment,
        Self::Remove,
        Self::Append,
        Self::Merge,
    ];

    /// The name in arguments.
    pub fn name(self) -> &'static str {
        match self {
            Self::Set => "set",
            Self::Unset => "unset",
            Self::Increment => "increment",
            Self::Remove => "remove",
            Self::Append => "append",
            Self::Merge => "merge",
        }
    }

    /// Parses the name that [`UpdateOperator::name`] returns.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// What an update does at each place.
#[derive(Clone, Debug)]
pub enum UpdateOperation {
    /// Replaces the value with this one.
    Set(Leaves),
    /// Removes the value.
    Unset,
    /// Adds this to the number.
    Increment(Leaf<'static>),
    /// Removes the elements of the array that are equal to one of these values.
    Remove(ValueSet),
    /// Adds the elements of this array at the end of the array.
    Append(Leaves),
    /// Applies this merge patch to the value.
    Merge(MergePatch),
}

impl UpdateOperation {
    /// Parses the operand of an operator: any JSON value, a number for `increment`. It is ignored
    /// for `unset`. For `remove` and `append` it is one element.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the text is not JSON, or not a number. `TOO_LARGE`: the value exceeds a
    /// limit.
    pub fn parse(operator: UpdateOperator, operand: &Bytes) -> Result<Self> {
        let leaves = || Leaves::from_argument(json_text(operand)?);
        Ok(match operator {
            UpdateOperator::Set => Self::Set(leaves()?),
            UpdateOperator::Unset => Self::Unset,
            UpdateOperator::Increment => Self::Increment(number::parse(operand)?),
            UpdateOperator::Remove => Self::Remove(ValueSet::of_value(&leaves()?)),
            UpdateOperator::Append => Self::Append(leaves()?.into_array()),
            UpdateOperator::Merge => Self::Merge(MergePatch::parse(operand)?),
        })
    }

    /// The operation that appends all elements of an array.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the value is not an array.
    pub fn append_all(array: Leaves) -> Result<Self> {
        check_array(&array)?;
        Ok(Self::Append(array))
    }

    /// The operation that removes the elements that are equal to one of an array. `memory` holds
    /// them.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the value is not an array. As [`Reservation::hold`].
    pub async fn remove_all(array: &Leaves, memory: &Reservation) -> Result<Self> {
        memory.hold(array.held())?;
        let set = |steps: &Steps<'_>| ValueSet::of_elements(array, steps);
        memory.budget().compute(set).await.map(Self::Remove)
    }

    fn operator(&self) -> UpdateOperator {
        match self {
            Self::Set(_) => UpdateOperator::Set,
            Self::Unset => UpdateOperator::Unset,
            Self::Increment(_) => UpdateOperator::Increment,
            Self::Remove(_) => UpdateOperator::Remove,
            Self::Append(_) => UpdateOperator::Append,
            Self::Merge(_) => UpdateOperator::Merge,
        }
    }

    /// Whether the operation creates the value at a missing place.
    fn creates(&self) -> bool {
        !matches!(self, Self::Unset | Self::Remove(_))
    }

    /// What the operation stores at a place without a value, if it creates one.
    async fn alone(&self, budget: &Budget) -> Result<Option<Cow<'_, Leaves>>> {
        Ok(match self {
            Self::Set(leaves) | Self::Append(leaves) => Some(Cow::Borrowed(leaves)),
            Self::Unset | Self::Remove(_) => None,
            Self::Increment(by) => Some(Cow::Owned(Leaves::from_leaf(by))),
            Self::Merge(patch) => Some(Cow::Owned(alone(patch, budget).await?)),
        })
    }
}

/// An operation, and the query that selects its places.
#[derive(Clone, Debug)]
pub struct Update {
    at: Query,
    operation: UpdateOperation,
}

impl Update {
    /// Creates an update.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the update would remove whole documents.
    pub fn new(at: Query, operation: UpdateOperation) -> Result<Self> {
        let update = Self { at, operation };
        if update.operator() == UpdateOperator::Unset && update.at.place() == Some(&[]) {
            let message = "`unset` cannot remove a whole document: delete the document instead";
            return Err(Error::bad_input(message));
        }
        Ok(update)
    }

    /// The operator.
    pub fn operator(&self) -> UpdateOperator {
        self.operation.operator()
    }

    /// The query that selects the places.
    pub fn at(&self) -> &Query {
        &self.at
    }

    /// The elements that this update appends to the arrays from which `before` removes some.
    fn appended_behind(&self, before: &Self) -> Option<&Leaves> {
        match (&before.operation, &self.operation) {
            (UpdateOperation::Remove(_), UpdateOperation::Append(elements)) => {
                (self.at.text() == before.at.text()).then_some(elements)
            }
            _ => None,
        }
    }
}

/// The arrays to which an update appends the same elements that the one before it removes from their
/// end. They do not change.
#[derive(Default)]
struct Cancelled<'u> {
    /// The elements that the next update appends to the same arrays.
    appended: Option<&'u Leaves>,
    /// The arrays.
    places: HashSet<Place>,
}

/// Formats the operator and the query, for messages.
impl fmt::Display for Update {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = abridged(self.at.text());
        write!(f, "`{}` at {at}", self.operator().name())
    }
}

/// Applies updates in order, each to the result of the previous ones. Adds to `places`, for each
/// update, the number of places to which it was applied, including those whose value did not
/// change. Returns whether the document changed.
///
/// # Errors
/// Each error except for those of the beginning names the update. `BAD_USER_INPUT`: a value is not
/// a number for `increment`, or not an array for `remove` and `append`. `TOO_LARGE`: a key or a number exceeds
/// the limit. `TOO_COMPLEX`: a query selects too much. Errors of the store.
pub(crate) async fn update(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &Arc<DocumentKey>,
    updates: &[Update],
    places: &mut [u64],
) -> Result<bool> {
    let whole = Path::default();
    let (mut editor, target) =
        Editor::begin_above(transaction, budget, document, &whole, &[]).await?;
    let Target::Present(_) = target else {
        return editor.finish().await;
    };
    let mut cancelled = Cancelled::default();
    for (at, (update, places)) in updates.iter().zip(places).enumerate() {
        cancelled.appended = updates
            .get(at + 1)
            .and_then(|next| next.appended_behind(update));
        let applied = editor.update(update, &mut cancelled).await;
        *places += applied.map_err(|error| error.at(update))?;
    }
    editor.finish().await
}

impl Editor<'_> {
    /// Applies an update. Returns the number of places.
    async fn update(&mut self, update: &Update, cancelled: &mut Cancelled<'_>) -> Result<u64> {
        if update.at.is_singular() {
            let place = self.singular_place(&update.at).await?;
            return match place {
                Some(place) => self.update_place(place, &update.operation, cancelled).await,
                None => Ok(0),
            };
        }
        let places = self.selected(&update.at).await?;
        let count = places.len() as u64;
        if let UpdateOperation::Unset = update.operation {
            self.remove_places(places).await?;
            return Ok(count);
        }
        for place in places {
            let key = self.document.place(&place)?;
            let location = location_at(self.transaction, place, key).await?;
            self.update_value(location, &update.operation, cancelled)
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
            UpdateOperation::Set(leaves) => self.overwrite(&location, leaves).await,
            UpdateOperation::Unset => self.remove(&location).await,
            UpdateOperation::Increment(by) => {
                let sum = number::sum(&number_at(&location)?, by);
                let sum =
                    sum.map_err(|error| error.at(format!("{:?}", location.place.to_string())))?;
                self.overwrite(&location, &Leaves::from_leaf(&sum)).await
            }
            UpdateOperation::Remove(values) => {
                let indexes = self.equal_elements(&location, values).await?;
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
            UpdateOperation::Merge(patch) => self.merge_value(location, patch).await,
        }
    }

    /// Removes values, none of which is inside another one.
    async fn remove_places(&mut self, places: Vec<Place>) -> Result<()> {
        // The removal of elements renumbers the places below an array. Therefore the deepest places
        // come first, and the elements of one array are removed together.
        let mut by_parent: BTreeMap<(Reverse<usize>, Vec<Segment>), Vec<Segment>> = BTreeMap::new();
        let mut places = in_turns(places);
        while let Some(Place(mut segments)) = places.next().await {
            let last = segments.pop();
            let last = last.ok_or_else(|| Error::internal("`unset` selects the document"))?;
            let parent = (Reverse(segments.len()), segments);
            by_parent.entry(parent).or_default().push(last);
        }
        for ((_, parent), children) in by_parent {
            self.budget.pace(children.len() as u64).await?;
            let parent = Place(parent);
            let key = self.document.place(&parent)?;
            let indexes = children.iter().filter_map(|child| match child {
                Segment::Index(index) => Some(*index),
                Segment::Key(_) => None,
            });
            let indexes: Vec<u64> = indexes.collect();
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
        let places = nodes.filter_map(|node| selection.place(node));
        let mut places: Vec<Place> = places.collect();
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
            Answer::Remainder(_) | Answer::Version(_) => {
                Err(Error::internal("a load returned no part"))
            }
        });
        parts.collect()
    }
}
