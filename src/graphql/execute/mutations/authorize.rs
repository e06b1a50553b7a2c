//! Asks the rules what a root field of a mutation may do, before anything is read.

use std::sync::Arc;

use async_graphql::ServerError;

use super::call::{Call, CallError};
use super::field_permit::{Creation, FieldPermit, RuleCondition};
use super::function_places::{FunctionPlaces, PlaceRole};
use crate::database::DocumentKey;
use crate::document::id::DocumentId;
use crate::document::path::Path;
use crate::error::Result;
use crate::graphql::context::request_budget::{RequestBudget, mismatch};
use crate::graphql::execute::planned::given::{Deletion, Given, Outcome, WriteResult};
use crate::graphql::execute::planned::permit::apply_rules::{needs_all, refusal};
use crate::graphql::execute::planned::{PlanExecutor, SelectedResult};
use crate::graphql::prepare::plan::{MutationFunction, PlannedMutation};
use crate::limits::STEPS_PER_READ;
use crate::rights::{Action, Decision, PlaceUsed, RequestRights};

/// Asks the rules for all places that a field uses: those of its function, and those that are selected from
/// its result. `planning` pays for binding the selection, which is bound again for the result.
///
/// # Errors
/// `FORBIDDEN`: no rule covers the named place, or only in some documents where all are used. The errors of
/// the arguments.
pub(super) async fn authorize(
    call: &Call<'_>,
    rights: &RequestRights,
    selections: &PlanExecutor<'_>,
    planning: &Arc<RequestBudget>,
) -> Result<FieldPermit, ServerError> {
    if call.planned.function != MutationFunction::WriteDocuments {
        return authorize_function(call, rights, selections, planning, call.planned).await;
    }
    let writes = call.writes().map_err(|error| error.located(call.field))?;
    let mut permits = Vec::with_capacity(writes.len());
    for write in &writes {
        let write = call.of_write(write, None);
        let permit = authorize_function(&write, rights, selections, planning, call.planned);
        permits.push(permit.await?);
    }
    Ok(FieldPermit::of_writes(permits))
}

/// As [`authorize`], of a function whose result is selected from by `selecting`.
async fn authorize_function(
    call: &Call<'_>,
    rights: &RequestRights,
    selections: &PlanExecutor<'_>,
    planning: &Arc<RequestBudget>,
    selecting: &PlannedMutation,
) -> Result<FieldPermit, ServerError> {
    let located = |error| CallError::from(error).located(call.field);
    let places = FunctionPlaces::of(call)
        .await
        .map_err(|error| error.located(call.field))?;
    let outcome = result(call.planned.function, &places).map_err(located)?;
    let steps = places.used.len() as u64 * (STEPS_PER_READ + rights.rule_count());
    let decide = || decided(places, rights);
    let mut permit = planning
        .budget()
        .portion(steps, decide)
        .await
        .map_err(located)?;
    if let Some((outcome, is_new)) = outcome {
        let outcome = if selecting.function == MutationFunction::WriteDocuments {
            let result = WriteResult::of(outcome)
                .ok_or_else(mismatch)
                .map_err(located)?;
            Outcome::Written(vec![result])
        } else {
            outcome
        };
        let result = SelectedResult {
            field: call.field,
            given: Given::Outcome(&outcome),
            below: &selecting.below,
            size: selecting.size,
            is_written: true,
        };
        let selected = selections
            .permit_selection(&result, is_new, planning)
            .await?;
        permit.result_is_unknown = is_new && !selected.is_empty();
        permit.result = selected;
    }
    Ok(permit)
}

/// A result of the function, as far as its selection reads from documents, and whether the id of its document
/// is not known yet.
fn result(function: MutationFunction, places: &FunctionPlaces) -> Result<Option<(Outcome, bool)>> {
    let mut is_new = false;
    let mut document = places.document.clone().map(Arc::new);
    if let Some(collection) = &places.unknown_in {
        is_new = true;
        document = Some(Arc::new(any_document(collection)?));
    }
    Ok(Some(match function {
        MutationFunction::InsertDocument => match (document, places.used.first()) {
            (Some(document), _) => (Outcome::Document(document), false),
            (None, Some(PlaceUsed { collection, .. })) => {
                (Outcome::Document(Arc::new(any_document(collection)?)), true)
            }
            (None, None) => return Err(mismatch()),
        },
        MutationFunction::ReplaceDocument
        | MutationFunction::CopyDocument
        | MutationFunction::TestDocument
        | MutationFunction::MergeDocument
        | MutationFunction::PatchDocument
        | MutationFunction::IncrementDocument
        | MutationFunction::UpdateDocument => {
            let document = document.ok_or_else(mismatch)?;
            (Outcome::Document(document), is_new)
        }
        MutationFunction::DeleteDocument => {
            let document = document.ok_or_else(mismatch)?;
            // The document is selected only if a part was removed.
            let path = Path::pointer("/part")?;
            let deletion = Deletion {
                document,
                path,
                deleted: true,
                value: None,
            };
            (Outcome::Deletion(deletion), is_new)
        }
        MutationFunction::AppendDocument
        | MutationFunction::UpdateDocuments
        | MutationFunction::WriteDocuments
        | MutationFunction::DeleteDocuments
        | MutationFunction::TakeDocuments
        | MutationFunction::CreateIndex
        | MutationFunction::DropIndex
        | MutationFunction::DropCollection
        | MutationFunction::SetCollectionType
        | MutationFunction::DropCollectionType => return Ok(None),
    }))
}

/// A document in place of one whose id is not known.
fn any_document(collection: &str) -> Result<DocumentKey> {
    DocumentKey::new(collection, DocumentId::Integer(1))
}

/// What the rules decide about the places of a function.
fn decided(places: FunctionPlaces, rights: &RequestRights) -> Result<FieldPermit> {
    let conditions = match rights.decide(&places.used) {
        Decision::Allowed => None,
        Decision::Refused(place) => return Err(refusal(&place)),
        Decision::Depends(conditions) => Some(conditions),
    };
    let of = |role: PlaceRole| -> Option<RuleCondition> {
        let conditions = conditions.as_ref()?;
        let has_role = |number: &usize| places.roles[*number] == role;
        let first = conditions.places().find(has_role)?;
        Some(RuleCondition {
            filter: conditions.filter(|number| has_role(&number)),
            refusal: refusal(&places.used[first]),
        })
    };
    if let Some(conditions) = &conditions {
        let mut numbers = conditions.places();
        let all = numbers.find(|number| places.roles[*number] == PlaceRole::All);
        if let Some(number) = all {
            return Err(needs_all(&places.used[number]));
        }
    }
    let (changed, selected) = (of(PlaceRole::Changed), of(PlaceRole::Selected));
    let sources = places
        .sources
        .iter()
        .enumerate()
        .filter_map(|(number, document)| Some((document.clone(), of(PlaceRole::Source(number))?)));
    let creation = match &places.document {
        Some(document) if places.stores => Some(creation(document, rights)),
        _ => None,
    };
    Ok(FieldPermit {
        returns_conditional: places.returns_removed && (changed.is_some() || selected.is_some()),
        created: of(PlaceRole::Created),
        sources: sources.collect(),
        refusal: places.used.first().map_or_else(mismatch, refusal),
        document: places.document.map(Arc::new),
        changed,
        creation,
        selected,
        result: Vec::new(),
        result_is_unknown: false,
        writes: Vec::new(),
    })
}

/// Whether a document may be stored if it does not exist.
fn creation(DocumentKey { collection, id }: &DocumentKey, rights: &RequestRights) -> Creation {
    let place = PlaceUsed::in_document(Action::Create, collection, id, Path::root());
    match rights.decide(std::slice::from_ref(&place)) {
        Decision::Allowed => Creation::Allowed,
        Decision::Refused(place) => Creation::Refused(refusal(&place)),
        Decision::Depends(conditions) => Creation::Conditional(RuleCondition {
            filter: conditions.filter(|_| true),
            refusal: refusal(&place),
        }),
    }
}
