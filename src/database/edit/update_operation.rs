//! What the update operators do at each place that a JSONPath selects.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;

use super::apply_merge_patch::alone;
use super::rename::Rename;
use super::source::ValuePlace;
use crate::budget::{Budget, Reservation, Steps};
use crate::document::flatten::json_text;
use crate::document::jsonpath::Query;
use crate::document::leaf::{Leaf, abridged};
use crate::document::number;
use crate::document::parse_merge_patch::MergePatch;
use crate::error::{Error, Result};
use crate::key::{DistinctElements, Leaves, ValueSet, check_array, decode_leaf};

/// Declares the operators, in the order in which they are applied.
macro_rules! operators {
    ($($(#[$doc:meta])* $operator:ident = $name:literal,)*) => {
        /// The name of an update operator.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum UpdateOperator {
            $($(#[$doc])* $operator,)*
        }

        impl UpdateOperator {
            /// All operators, in the order in which they are applied.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$operator),*];

            /// The name in arguments.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$operator => $name,)*
                }
            }
        }
    };
}

operators! {
    /// Replaces the value.
    Set = "set",
    /// Removes the value.
    Unset = "unset",
    /// Renames a member of the object.
    Rename = "rename",
    /// Adds to the number.
    Increment = "increment",
    /// Replaces the value with a lesser one.
    Min = "min",
    /// Replaces the value with a greater one.
    Max = "max",
    /// Removes the elements of the array that are equal to a value.
    Remove = "remove",
    /// Adds elements at the end of the array.
    Append = "append",
    /// Adds the elements at the end of the array that it does not have.
    Add = "add",
    /// Applies a JSON Merge Patch (RFC 7396) to the value.
    Merge = "merge",
    /// Replaces the value with the time of the operation.
    Now = "now",
}

impl UpdateOperator {
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
    /// Renames a member of the object.
    Rename(Rename),
    /// Adds this to the number.
    Increment(Leaf<'static>),
    /// Replaces the value with this one, if this one is less.
    Min(Comparand),
    /// Replaces the value with this one, if this one is greater.
    Max(Comparand),
    /// Removes the elements of the array that are equal to one of these values.
    Remove(ValueSet),
    /// Adds the elements of this array at the end of the array.
    Append(Leaves),
    /// Adds those of these elements at the end of the array that it does not have.
    Add(DistinctElements),
    /// Applies this merge patch to the value.
    Merge(MergePatch),
    /// Replaces the value with this time.
    Now(Leaves),
    /// Does what the operator does with the value at a place that depends on the changed document. It is
    /// `set`, `remove`, `append` or `add`.
    FromChanged(UpdateOperator, ValuePlace),
}

/// A number, a string or a boolean, to compare values of the same type with.
#[derive(Clone, Debug)]
pub struct Comparand(Leaves);

impl Comparand {
    fn new(leaves: Leaves) -> Result<Self> {
        match leaves.as_leaf().and_then(decode_leaf) {
            Some(Leaf::Null) | None => Err(Error::bad_input(
                "the value is neither a number nor a string of up to 100,000 bytes nor a boolean",
            )),
            Some(_) => Ok(Self(leaves)),
        }
    }

    pub(crate) fn leaves(&self) -> &Leaves {
        &self.0
    }
}

impl UpdateOperation {
    /// Parses the operand of an operator: any JSON value, a number for `increment`. It is ignored
    /// for `unset`. For `remove`, `append` and `add` it is one element, for `rename` an object with the
    /// members `member` and `to`.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the text is not JSON, or not an operand of the operator. `TOO_LARGE`: the value
    /// exceeds a limit.
    pub fn parse(operator: UpdateOperator, operand: &Bytes) -> Result<Self> {
        let leaves = || Leaves::from_argument(json_text(operand)?);
        Ok(match operator {
            UpdateOperator::Set => Self::Set(leaves()?),
            UpdateOperator::Unset => Self::Unset,
            UpdateOperator::Rename => Self::Rename(Rename::parse(operand)?),
            UpdateOperator::Increment => Self::Increment(number::parse(operand)?),
            UpdateOperator::Min => Self::Min(Comparand::new(leaves()?)?),
            UpdateOperator::Max => Self::Max(Comparand::new(leaves()?)?),
            UpdateOperator::Remove => Self::Remove(ValueSet::of_value(&leaves()?)),
            UpdateOperator::Append => Self::Append(leaves()?.into_array()),
            UpdateOperator::Add => Self::Add(DistinctElements::of_value(leaves()?)),
            UpdateOperator::Merge => Self::Merge(MergePatch::parse(operand)?),
            UpdateOperator::Now => Self::Now(leaves()?),
        })
    }

    /// The operation with a value that has been read: the value for `set`, an array of elements otherwise.
    /// `memory` holds it.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the value is not an array. As [`Reservation::hold`].
    pub async fn of_value(
        operator: UpdateOperator,
        value: Leaves,
        memory: &Reservation,
    ) -> Result<Self> {
        match operator {
            UpdateOperator::Append => {
                check_array(&value)?;
                Ok(Self::Append(value))
            }
            UpdateOperator::Remove => Self::remove_all(&value, memory).await,
            UpdateOperator::Add => {
                // The canonical values and the distinct elements.
                memory.hold(2 * value.held())?;
                let distinct = |steps: &Steps<'_>| DistinctElements::of_array(&value, steps);
                memory.budget().compute(distinct).await.map(Self::Add)
            }
            _ => Ok(Self::Set(value)),
        }
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
            Self::Rename(_) => UpdateOperator::Rename,
            Self::Increment(_) => UpdateOperator::Increment,
            Self::Min(_) => UpdateOperator::Min,
            Self::Max(_) => UpdateOperator::Max,
            Self::Remove(_) => UpdateOperator::Remove,
            Self::Append(_) => UpdateOperator::Append,
            Self::Add(_) => UpdateOperator::Add,
            Self::Merge(_) => UpdateOperator::Merge,
            Self::Now(_) => UpdateOperator::Now,
            Self::FromChanged(operator, _) => *operator,
        }
    }

    /// Whether the operation creates the value at a missing place.
    pub(crate) fn creates(&self) -> bool {
        !matches!(self, Self::Unset | Self::Rename(_) | Self::Remove(_))
    }

    /// What the operation stores at a place without a value, if it creates one.
    pub(crate) async fn alone(&self, budget: &Budget) -> Result<Option<Cow<'_, Leaves>>> {
        Ok(match self {
            Self::Set(leaves) | Self::Append(leaves) | Self::Now(leaves) => {
                Some(Cow::Borrowed(leaves))
            }
            Self::Min(value) | Self::Max(value) => Some(Cow::Borrowed(value.leaves())),
            Self::Add(elements) => Some(Cow::Borrowed(elements.array())),
            Self::Unset | Self::Rename(_) | Self::Remove(_) => None,
            Self::Increment(by) => Some(Cow::Owned(Leaves::from_leaf(by))),
            Self::Merge(patch) => Some(Cow::Owned(alone(patch, budget).await?)),
            Self::FromChanged(..) => return Err(unresolved()),
        })
    }
}

/// The error for a value that was not read before it is used.
pub(crate) fn unresolved() -> Error {
    Error::internal("the value of an update was not read")
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

    /// What happens at each place.
    pub(crate) fn operation(&self) -> &UpdateOperation {
        &self.operation
    }

    /// The same places, with another operation.
    pub(crate) fn with(&self, operation: UpdateOperation) -> Self {
        Self {
            at: self.at.clone(),
            operation,
        }
    }

    /// The elements that this update appends to the arrays from which `before` removes some.
    pub(crate) fn appended_behind(&self, before: &Self) -> Option<&Leaves> {
        match (&before.operation, &self.operation) {
            (UpdateOperation::Remove(_), UpdateOperation::Append(elements)) => {
                (self.at.text() == before.at.text()).then_some(elements)
            }
            _ => None,
        }
    }
}

/// Formats the operator and the query, for messages.
impl fmt::Display for Update {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = abridged(self.at.text());
        write!(f, "`{}` at {at}", self.operator().name())
    }
}
