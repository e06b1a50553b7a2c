//! The arguments and results of the update operators of `updateDocuments`.

use async_graphql::{Enum, InputObject, MaybeUndefined, SimpleObject};
use bytes::Bytes;

use super::arguments::{in_argument, required_json};
use super::json_argument::parsed;
use crate::database::{Update, UpdateOperation, UpdateOperator};
use crate::error::{Error, Result};
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::response::counted::CountedBytes;
use crate::graphql::scalars::types::{Json, JsonPath};

/// A value, and the paths at which to store it.
#[derive(InputObject)]
#[graphql(name = "DocumentValueUpdate")]
pub(crate) struct SetInput {
    /// Selects the values to replace.
    at: JsonPath,
    /// Any JSON value. It is required, but may be null.
    value: MaybeUndefined<Json>,
}

/// A number, and the paths of the numbers to add it to.
#[derive(InputObject)]
#[graphql(name = "DocumentIncrementUpdate")]
pub(crate) struct IncrementInput {
    /// Selects the numbers. It is an error if a selected value is not a number.
    at: JsonPath,
    /// The number to add; may be negative.
    #[graphql(default_with = "Json::one()")]
    by: Json,
}

/// A value, and the paths of the arrays to append it to.
#[derive(InputObject)]
#[graphql(name = "DocumentAppendUpdate")]
pub(crate) struct AppendInput {
    /// Selects the arrays. It is an error if a selected value is not an array.
    at: JsonPath,
    /// Any JSON value. It is required, but may be null.
    value: MaybeUndefined<Json>,
}

/// A JSON Merge Patch (RFC 7396), and the paths at which to apply it.
#[derive(InputObject)]
#[graphql(name = "DocumentMergeUpdate")]
pub(crate) struct MergeInput {
    /// Selects the values to merge into.
    at: JsonPath,
    /// The patch, as in `mergeDocument`. It is required, but may be null, which stores null.
    patch: MaybeUndefined<Json>,
}

/// An operator of `updateDocuments`, named as the argument.
#[derive(Clone, Copy, PartialEq, Eq, Enum)]
#[graphql(name = "DocumentUpdateOperator")]
pub(crate) enum OperatorName {
    /// Stores a value.
    Set,
    /// Removes values.
    Unset,
    /// Adds to numbers.
    Increment,
    /// Adds an element at the end of arrays.
    Append,
    /// Applies a JSON Merge Patch.
    Merge,
}

/// What one element of the operator lists of `updateDocuments` did, in all documents.
#[derive(SimpleObject)]
#[graphql(name = "DocumentUpdateResult")]
pub(crate) struct UpdateResult {
    /// The operator.
    operator: OperatorName,
    /// The JSONPath of the element.
    at: CountedBytes<JsonPath>,
    /// The number of places to which the operator was applied, including those whose value did not change.
    places: u64,
}

impl UpdateResult {
    pub(crate) fn new(update: &Update, places: u64) -> Self {
        let operator = match update.operator() {
            UpdateOperator::Set => OperatorName::Set,
            UpdateOperator::Unset => OperatorName::Unset,
            UpdateOperator::Increment => OperatorName::Increment,
            UpdateOperator::Append => OperatorName::Append,
            UpdateOperator::Merge => OperatorName::Merge,
        };
        Self {
            operator,
            at: CountedBytes(JsonPath(update.at().text().to_owned())),
            places,
        }
    }
}

/// The lists of operators of `updateDocuments`.
pub(crate) struct UpdateLists {
    pub(crate) set: Option<Vec<SetInput>>,
    pub(crate) unset: Option<Vec<JsonPath>>,
    pub(crate) increment: Option<Vec<IncrementInput>>,
    pub(crate) append: Option<Vec<AppendInput>>,
    pub(crate) merge: Option<Vec<MergeInput>>,
}

/// One element of a list, and the operand if the operator has one.
struct UpdateText<'a> {
    operator: UpdateOperator,
    at: &'a JsonPath,
    operand: Result<Bytes>,
}

impl UpdateLists {
    /// Parses all elements, in the order in which they are applied.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: there is no element, or an element is invalid. `TOO_LARGE`: an operand
    /// exceeds a limit.
    pub(crate) async fn read(&self, request_budget: &RequestBudget) -> Result<Vec<Update>> {
        let mut updates = Vec::new();
        for text in self.elements() {
            let name = text.operator.name();
            let update = text.read(request_budget).await;
            updates.push(update.map_err(|error| in_argument(name, error))?);
        }
        if updates.is_empty() {
            return Err(Error::bad_input(
                "there is nothing to update: give an element of `set`, `unset`, `increment`, \
                 `append` or `merge`",
            ));
        }
        Ok(updates)
    }

    fn elements(&self) -> impl Iterator<Item = UpdateText<'_>> {
        let element = |operator, at, operand| UpdateText {
            operator,
            at,
            operand,
        };
        let set = self.set.iter().flatten().map(move |it| {
            let value = required_json("value", &it.value);
            element(UpdateOperator::Set, &it.at, value)
        });
        let unset = self.unset.iter().flatten();
        let unset = unset.map(move |at| element(UpdateOperator::Unset, at, Ok(Bytes::new())));
        let increment = self.increment.iter().flatten().map(move |it| {
            let by = Ok(it.by.0.clone());
            element(UpdateOperator::Increment, &it.at, by)
        });
        let append = self.append.iter().flatten().map(move |it| {
            let value = required_json("value", &it.value);
            element(UpdateOperator::Append, &it.at, value)
        });
        let merge = self.merge.iter().flatten().map(move |it| {
            let patch = required_json("patch", &it.patch);
            element(UpdateOperator::Merge, &it.at, patch)
        });
        set.chain(unset).chain(increment).chain(append).chain(merge)
    }
}

impl UpdateText<'_> {
    async fn read(self, request_budget: &RequestBudget) -> Result<Update> {
        let operand = self.operand?;
        let at = self.at.query(request_budget.budget()).await?;
        let operator = self.operator;
        let parse = move |text: &Bytes| UpdateOperation::parse(operator, text);
        let operation = parsed(operand, request_budget, parse).await;
        let operand_name = match operator {
            UpdateOperator::Set | UpdateOperator::Unset | UpdateOperator::Append => "value",
            UpdateOperator::Increment => "by",
            UpdateOperator::Merge => "patch",
        };
        let operation = operation.map_err(|error| in_argument(operand_name, error))?;
        Update::new(at, operation)
    }
}
