//! The arguments of the update operators of `updateDocuments`.

use async_graphql::{InputObject, MaybeUndefined};
use bytes::Bytes;

use super::json_argument::parsed;
use super::place_input::PlaceInput;
use super::required::{in_argument, required_json};
use crate::budget::Reservation;
use crate::database::{Update, UpdateOperation, UpdateOperator};
use crate::document::flatten::json_text;
use crate::error::{Error, Result};
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::scalars::scalar_types::{Json, JsonPath};
use crate::key::Leaves;
use crate::store::Transaction;

/// The input `DocumentValueUpdate`, which schema.graphql describes.
#[derive(InputObject)]
#[graphql(name = "DocumentValueUpdate")]
pub(crate) struct SetInput {
    at: JsonPath,
    value: MaybeUndefined<Json>,
    from: Option<PlaceInput>,
}

/// The input `DocumentIncrementUpdate`, which schema.graphql describes.
#[derive(InputObject)]
#[graphql(name = "DocumentIncrementUpdate")]
pub(crate) struct IncrementInput {
    at: JsonPath,
    #[graphql(default_with = "Json::one()")]
    by: Json,
}

/// The input `DocumentRemoveUpdate`, which schema.graphql describes.
#[derive(InputObject)]
#[graphql(name = "DocumentRemoveUpdate")]
pub(crate) struct RemoveInput {
    at: JsonPath,
    values: Option<Json>,
    from: Option<PlaceInput>,
}

/// The input `DocumentAppendUpdate`, which schema.graphql describes.
#[derive(InputObject)]
#[graphql(name = "DocumentAppendUpdate")]
pub(crate) struct AppendInput {
    at: JsonPath,
    value: MaybeUndefined<Json>,
    values: Option<Json>,
    from: Option<PlaceInput>,
}

/// The input `DocumentMergeUpdate`, which schema.graphql describes.
#[derive(InputObject)]
#[graphql(name = "DocumentMergeUpdate")]
pub(crate) struct MergeInput {
    at: JsonPath,
    patch: MaybeUndefined<Json>,
}

/// The lists of operators of `updateDocuments`.
pub(crate) struct UpdateLists {
    pub(crate) set: Option<Vec<SetInput>>,
    pub(crate) unset: Option<Vec<JsonPath>>,
    pub(crate) increment: Option<Vec<IncrementInput>>,
    pub(crate) remove: Option<Vec<RemoveInput>>,
    pub(crate) append: Option<Vec<AppendInput>>,
    pub(crate) merge: Option<Vec<MergeInput>>,
}

/// One element of a list.
struct UpdateInput<'a> {
    operator: UpdateOperator,
    at: &'a JsonPath,
    operand: Result<UpdateOperand<'a>>,
}

/// The operand of an operator.
enum UpdateOperand<'a> {
    /// `unset` has none.
    Nothing,
    /// One value, in the member of this name.
    One(&'static str, Bytes),
    /// An array, in the member `values`.
    Array(Bytes),
    /// The value at a place.
    Place(&'a PlaceInput),
}

impl UpdateLists {
    /// Parses all elements, in the order in which they are applied, and reads the values at the
    /// places that they name. `memory` holds the values.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: there is no element, or an element is invalid. `NOT_FOUND`: nothing is
    /// stored at a place. `TOO_LARGE`: an operand exceeds a limit.
    pub(crate) async fn read(
        &self,
        transaction: &dyn Transaction,
        request_budget: &RequestBudget,
        memory: &Reservation,
    ) -> Result<Vec<Update>> {
        let mut updates = Vec::new();
        for input in self.elements() {
            let name = input.operator.name();
            let update = input.read(transaction, request_budget, memory).await;
            updates.push(update.map_err(|error| in_argument(name, error))?);
        }
        if updates.is_empty() {
            return Err(Error::bad_input(
                "there is nothing to update: give an element of `set`, `unset`, `increment`, \
                 `remove`, `append` or `merge`",
            ));
        }
        Ok(updates)
    }

    /// For each element its operator, the paths at which it is applied, and the place from which it
    /// takes a value.
    pub(crate) fn targets(
        &self,
    ) -> impl Iterator<Item = (UpdateOperator, &JsonPath, Option<&PlaceInput>)> {
        self.elements().map(|element| {
            let from = match element.operand {
                Ok(UpdateOperand::Place(place)) => Some(place),
                _ => None,
            };
            (element.operator, element.at, from)
        })
    }

    fn elements(&self) -> impl Iterator<Item = UpdateInput<'_>> {
        let element = |operator, at, operand| UpdateInput {
            operator,
            at,
            operand,
        };
        let set = self.set.iter().flatten().map(move |it| {
            let operands = [one(&it.value), it.from.as_ref().map(UpdateOperand::Place)];
            let operand = only(operands, "`value` and `from`");
            element(UpdateOperator::Set, &it.at, operand)
        });
        let unset = self.unset.iter().flatten();
        let unset =
            unset.map(move |at| element(UpdateOperator::Unset, at, Ok(UpdateOperand::Nothing)));
        let increment = self.increment.iter().flatten().map(move |it| {
            let by = Ok(UpdateOperand::One("by", it.by.0.clone()));
            element(UpdateOperator::Increment, &it.at, by)
        });
        let remove = self.remove.iter().flatten().map(move |it| {
            let operands = [
                array(it.values.as_ref()),
                it.from.as_ref().map(UpdateOperand::Place),
            ];
            let operand = only(operands, "`values` and `from`");
            element(UpdateOperator::Remove, &it.at, operand)
        });
        let append = self.append.iter().flatten().map(move |it| {
            let operands = [
                one(&it.value),
                array(it.values.as_ref()),
                it.from.as_ref().map(UpdateOperand::Place),
            ];
            let operand = only(operands, "`value`, `values` and `from`");
            element(UpdateOperator::Append, &it.at, operand)
        });
        let merge = self.merge.iter().flatten().map(move |it| {
            let patch = required_json("patch", &it.patch);
            let patch = patch.map(|text| UpdateOperand::One("patch", text));
            element(UpdateOperator::Merge, &it.at, patch)
        });
        let before = set.chain(unset).chain(increment);
        before.chain(remove).chain(append).chain(merge)
    }
}

/// The operand in a member `value`, which may be null.
fn one(value: &MaybeUndefined<Json>) -> Option<UpdateOperand<'_>> {
    let text = match value {
        MaybeUndefined::Value(Json(text)) => text.clone(),
        MaybeUndefined::Null => Bytes::from_static(b"null"),
        MaybeUndefined::Undefined => return None,
    };
    Some(UpdateOperand::One("value", text))
}

/// The operand in a member `values`.
fn array(values: Option<&Json>) -> Option<UpdateOperand<'_>> {
    let Json(text) = values?;
    Some(UpdateOperand::Array(text.clone()))
}

/// The only operand that is given. `names` are those that can be given.
fn only<'a, const N: usize>(
    operands: [Option<UpdateOperand<'a>>; N],
    names: &str,
) -> Result<UpdateOperand<'a>> {
    let mut given = operands.into_iter().flatten();
    match (given.next(), given.next()) {
        (Some(only), None) => Ok(only),
        _ => Err(Error::bad_input(format!(
            "exactly one of {names} is required"
        ))),
    }
}

impl UpdateInput<'_> {
    async fn read(
        self,
        transaction: &dyn Transaction,
        request_budget: &RequestBudget,
        memory: &Reservation,
    ) -> Result<Update> {
        let operand = self.operand?;
        let at = self.at.query(request_budget.budget()).await?;
        let operator = self.operator;
        let (name, operation) = match operand {
            UpdateOperand::Nothing => ("at", UpdateOperation::parse(operator, &Bytes::new())),
            UpdateOperand::One(name, text) => {
                let parse = move |text: &Bytes| UpdateOperation::parse(operator, text);
                (name, parsed(text, request_budget, parse).await)
            }
            UpdateOperand::Array(text) => {
                let parse = |text: &Bytes| Leaves::from_argument(json_text(text)?);
                let array = async {
                    let array = parsed(text, request_budget, parse).await?;
                    memory.hold(array.held())?;
                    of_value(operator, array, memory).await
                };
                ("values", array.await)
            }
            UpdateOperand::Place(place) => {
                let value = place.read(transaction, request_budget, memory).await?;
                ("from", of_value(operator, value, memory).await)
            }
        };
        let operation = operation.map_err(|error| in_argument(name, error))?;
        Update::new(at, operation)
    }
}

/// The operation with a value that has been read: the value for `set`, an array otherwise.
async fn of_value(
    operator: UpdateOperator,
    value: Leaves,
    memory: &Reservation,
) -> Result<UpdateOperation> {
    match operator {
        UpdateOperator::Append => UpdateOperation::append_all(value),
        UpdateOperator::Remove => UpdateOperation::remove_all(&value, memory).await,
        _ => Ok(UpdateOperation::Set(value)),
    }
}
