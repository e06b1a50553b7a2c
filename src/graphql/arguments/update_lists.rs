//! The arguments of the update operators of `updateDocument` and `updateDocuments`.

use std::sync::Arc;

use async_graphql::{InputObject, MaybeUndefined};
use bytes::Bytes;

use super::json_argument::parsed;
use super::place_input::PlaceInput;
use super::required::{in_argument, required_json};
use crate::budget::Reservation;
use crate::database::{DocumentKey, Rename, Update, UpdateOperation, UpdateOperator};
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

/// The input `DocumentRenameUpdate`, which schema.graphql describes.
#[derive(InputObject)]
#[graphql(name = "DocumentRenameUpdate")]
pub(crate) struct RenameInput {
    at: JsonPath,
    member: String,
    to: String,
}

/// The input `DocumentBoundUpdate`, which schema.graphql describes.
#[derive(InputObject)]
#[graphql(name = "DocumentBoundUpdate")]
pub(crate) struct BoundInput {
    at: JsonPath,
    value: Json,
}

/// The lists of operators of `updateDocument` and `updateDocuments`.
pub(crate) struct UpdateLists {
    pub(crate) set: Option<Vec<SetInput>>,
    pub(crate) unset: Option<Vec<JsonPath>>,
    pub(crate) rename: Option<Vec<RenameInput>>,
    pub(crate) increment: Option<Vec<IncrementInput>>,
    pub(crate) min: Option<Vec<BoundInput>>,
    pub(crate) max: Option<Vec<BoundInput>>,
    pub(crate) remove: Option<Vec<RemoveInput>>,
    pub(crate) append: Option<Vec<AppendInput>>,
    pub(crate) add: Option<Vec<AppendInput>>,
    pub(crate) merge: Option<Vec<MergeInput>>,
    pub(crate) now: Option<Vec<JsonPath>>,
    /// The time that `now` stores, as JSON.
    pub(crate) time: Bytes,
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
    /// A member, and its new name.
    Rename(Rename),
}

impl UpdateLists {
    /// Parses all elements, in the order in which they are applied, and reads the values at the
    /// places that they name. `memory` holds the values. `changed` is the document that is changed, if it is
    /// one; otherwise, values at places that depend on it are read for each document.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: there is no element, or an element is invalid. `NOT_FOUND`: nothing is
    /// stored at a place. `TOO_LARGE`: an operand exceeds a limit.
    pub(crate) async fn read(
        &self,
        transaction: &dyn Transaction,
        request_budget: &RequestBudget,
        memory: &Reservation,
        changed: Option<&Arc<DocumentKey>>,
    ) -> Result<Vec<Update>> {
        let mut updates = Vec::new();
        for input in self.elements() {
            let name = input.operator.name();
            let update = input
                .read(transaction, request_budget, memory, changed)
                .await;
            updates.push(update.map_err(|error| in_argument(name, error))?);
        }
        if updates.is_empty() {
            let names = UpdateOperator::ALL.map(|operator| format!("`{}`", operator.name()));
            return Err(Error::bad_input(format!(
                "there is nothing to update: give an element of one of {}",
                names.join(", ")
            )));
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
        let rename = self.rename.iter().flatten().map(move |it| {
            let rename = UpdateOperand::Rename(Rename {
                member: it.member.clone(),
                to: it.to.clone(),
            });
            element(UpdateOperator::Rename, &it.at, Ok(rename))
        });
        let min = bounds(UpdateOperator::Min, self.min.as_ref());
        let max = bounds(UpdateOperator::Max, self.max.as_ref());
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
        let append = appended(UpdateOperator::Append, self.append.as_ref());
        let add = appended(UpdateOperator::Add, self.add.as_ref());
        let merge = self.merge.iter().flatten().map(move |it| {
            let patch = required_json("patch", &it.patch);
            let patch = patch.map(|text| UpdateOperand::One("patch", text));
            element(UpdateOperator::Merge, &it.at, patch)
        });
        let now = self.now.iter().flatten().map(move |at| {
            let time = Ok(UpdateOperand::One("at", self.time.clone()));
            element(UpdateOperator::Now, at, time)
        });
        let of_values = set.chain(unset).chain(rename).chain(increment);
        let of_arrays = remove.chain(append).chain(add);
        let before = of_values.chain(min).chain(max).chain(of_arrays);
        before.chain(merge).chain(now)
    }
}

/// The elements of `append` or `add`.
fn appended(
    operator: UpdateOperator,
    list: Option<&Vec<AppendInput>>,
) -> impl Iterator<Item = UpdateInput<'_>> {
    list.into_iter().flatten().map(move |it| {
        let operands = [
            one(&it.value),
            array(it.values.as_ref()),
            it.from.as_ref().map(UpdateOperand::Place),
        ];
        UpdateInput {
            operator,
            at: &it.at,
            operand: only(operands, "`value`, `values` and `from`"),
        }
    })
}

/// The elements of `min` or `max`.
fn bounds(
    operator: UpdateOperator,
    list: Option<&Vec<BoundInput>>,
) -> impl Iterator<Item = UpdateInput<'_>> {
    list.into_iter().flatten().map(move |it| UpdateInput {
        operator,
        at: &it.at,
        operand: Ok(UpdateOperand::One("value", it.value.0.clone())),
    })
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
        changed: Option<&Arc<DocumentKey>>,
    ) -> Result<Update> {
        let operand = self.operand?;
        let at = self.at.query(request_budget.budget()).await?;
        let operator = self.operator;
        let (name, operation) = match operand {
            UpdateOperand::Nothing => ("at", UpdateOperation::parse(operator, &Bytes::new())),
            UpdateOperand::Rename(rename) => ("member", Ok(UpdateOperation::Rename(rename))),
            UpdateOperand::One(name, text) => {
                let parse = move |text: &Bytes| UpdateOperation::parse(operator, text);
                (name, parsed(text, request_budget, parse).await)
            }
            UpdateOperand::Array(text) => {
                let parse = |text: &Bytes| Leaves::from_argument(json_text(text)?);
                let array = async {
                    let array = parsed(text, request_budget, parse).await?;
                    memory.hold(array.held())?;
                    UpdateOperation::of_value(operator, array, memory).await
                };
                ("values", array.await)
            }
            UpdateOperand::Place(input) => {
                let place = input.place().map_err(|error| in_argument("from", error))?;
                if place.depends_on_changed() && changed.is_none() {
                    let of_each = UpdateOperation::FromChanged(operator, place);
                    return Update::new(at, of_each);
                }
                let value = input
                    .read(transaction, request_budget, memory, changed)
                    .await?;
                (
                    "from",
                    UpdateOperation::of_value(operator, value, memory).await,
                )
            }
        };
        let operation = operation.map_err(|error| in_argument(name, error))?;
        Update::new(at, operation)
    }
}
