//! Executes the fields of a mutation in their order.

use std::sync::Arc;

use async_graphql::ServerError;

use super::authorize::authorize;
use super::call::{Call, CallError};
use super::field_permit::FieldPermit;
use super::session::MutationSession;
use super::{append, bulk, definitions, delete, document};
use crate::error::Result;
use crate::graphql::context::request_budget::{RequestBudget, mismatch};
use crate::graphql::execute::operation::Operation;
use crate::graphql::execute::planned::given::{Given, Outcome};
use crate::graphql::execute::planned::{PlanArguments, PlanExecutor, PlanSource, SelectedResult};
use crate::graphql::prepare::plan::{Field, MutationFunction, Plan, PlannedField, PlannedMutation};

/// Executes a mutation in its transaction.
pub(crate) struct MutationExecutor<'e> {
    session: &'e MutationSession,
    operation: &'e Operation,
    selections: PlanExecutor<'e>,
}

/// The response to a mutation that is not committed yet.
pub(crate) struct MutationResponse {
    /// The response as JSON, with placeholders for the version of the commit. It has a meaning only if
    /// there is no error.
    pub(crate) json: Vec<u8>,
    /// The error that ended the mutation is the first one.
    pub(crate) errors: Vec<ServerError>,
}

impl<'e> MutationExecutor<'e> {
    /// Executes in the transaction of `session`.
    pub(crate) fn new(session: &'e MutationSession, operation: &'e Operation) -> Self {
        Self {
            session,
            operation,
            selections: PlanExecutor {
                variables: &operation.variables,
                source: PlanSource::Transaction(session.transaction.clone()),
                request_budget: &session.request_budget,
                rights: &operation.rights,
                sdl: &[],
            },
        }
    }

    /// Asks the rules for everything that the fields use, before the first of them is executed. `planning`
    /// pays for it.
    ///
    /// # Errors
    /// The error of the first field that the rules do not allow.
    pub(super) async fn authorize(
        &self,
        plan: &Plan,
        planning: &Arc<RequestBudget>,
    ) -> Result<Vec<FieldPermit>, ServerError> {
        let mut permits = Vec::new();
        for field in self.arguments().included(&plan.root) {
            if let Field::Mutation(planned) = &field.field {
                let call = self.prepare(field, planned, None);
                let rights = &self.operation.rights;
                permits.push(authorize(&call, rights, &self.selections, planning).await?);
            }
        }
        Ok(permits)
    }

    fn arguments(&self) -> PlanArguments<'e> {
        PlanArguments(&self.operation.variables)
    }

    fn prepare<'c>(
        &'c self,
        field: &'c PlannedField,
        planned: &'c PlannedMutation,
        permit: Option<&'c FieldPermit>,
    ) -> Call<'c> {
        Call {
            session: self.session,
            field,
            planned,
            variables: self.arguments(),
            permit,
        }
    }

    /// Executes all fields, each with what the rules allow it, if there are rules. A field whose error is
    /// that of the whole response is the last one.
    ///
    /// # Errors
    /// An exceeded limit of the budget. Fields have errors of their own.
    pub(super) async fn execute(
        &self,
        plan: &Plan,
        permits: Option<&[FieldPermit]>,
    ) -> Result<MutationResponse> {
        let mut response = MutationResponse {
            json: b"{\"data\":{".to_vec(),
            errors: Vec::new(),
        };
        let mut is_first = true;
        let mut permits = permits.map(<[FieldPermit]>::iter);
        for selected in self.arguments().included(&plan.root) {
            response
                .json
                .extend_from_slice(&selected.name[usize::from(is_first)..]);
            is_first = false;
            let planned = match &selected.field {
                Field::Typename(name) => {
                    response.json.extend_from_slice(name.as_bytes());
                    continue;
                }
                Field::Mutation(planned) => planned,
                _ => return Err(mismatch()),
            };
            let permit = match &mut permits {
                Some(permits) => Some(permits.next().ok_or_else(mismatch)?),
                None => None,
            };
            let call = self.prepare(selected, planned, permit);
            if !self.field(&mut response, &call).await? {
                return Ok(response);
            }
        }
        response.json.extend_from_slice(b"}}");
        let budget = self.session.budget();
        budget.check_response(response.json.len())?;
        Ok(response)
    }

    /// Executes a field. Returns false if its error is that of the whole response.
    async fn field(&self, response: &mut MutationResponse, call: &Call<'_>) -> Result<bool> {
        let field = call.field;
        // Boxed, because the function of a field has a large future.
        let outcome = match Box::pin(self.permitted(call)).await {
            Ok(outcome) => outcome,
            Err(error) => {
                response.errors.insert(0, error.located(field));
                return Ok(false);
            }
        };
        let result = SelectedResult {
            field,
            given: Given::Outcome(&outcome),
            below: &call.planned.below,
            size: match &outcome {
                Outcome::Written(results) => call.planned.size.times(results.len()),
                _ => call.planned.size,
            },
            is_written: match &outcome {
                Outcome::Document(document) | Outcome::IfAbsent(document, _) => {
                    self.session.has_written(document)
                }
                Outcome::Deletion(deletion) => self.session.has_written(&deletion.document),
                _ => false,
            },
        };
        let json = std::mem::take(&mut response.json);
        let mut written = self.selections.select(&result, json).await?;
        response.json = written.data;
        if written.is_null {
            written.errors.rotate_right(1);
            written.errors.append(&mut response.errors);
        }
        response.errors.append(&mut written.errors);
        Ok(!written.is_null)
    }

    /// Calls the function of a field, and checks the conditions of the rules before and after.
    pub(super) async fn permitted(&self, call: &Call<'_>) -> Result<Outcome, CallError> {
        let Some(permit) = call.permit else {
            return self.call(call).await;
        };
        let before = permit.check_before(self.session).await?;
        let outcome = self.call(call).await?;
        permit.check_after(self.session, before, &outcome).await?;
        Ok(outcome)
    }

    async fn call(&self, call: &Call<'_>) -> Result<Outcome, CallError> {
        match call.planned.function {
            MutationFunction::InsertDocument => document::insert(call).await,
            MutationFunction::ReplaceDocument => document::replace(call).await,
            MutationFunction::CopyDocument => document::copy(call).await,
            MutationFunction::TestDocument => document::test(call).await,
            MutationFunction::MergeDocument => document::merge(call).await,
            MutationFunction::PatchDocument => document::patch(call).await,
            MutationFunction::IncrementDocument => document::increment(call).await,
            MutationFunction::UpdateDocument => document::update(call).await,
            MutationFunction::DeleteDocument => delete::delete_document(call).await,
            MutationFunction::TakeDocuments => delete::take_documents(call).await,
            MutationFunction::AppendDocument => append::append_document(call).await,
            MutationFunction::UpdateDocuments => bulk::update_documents(call).await,
            MutationFunction::WriteDocuments => self.write_documents(call).await,
            MutationFunction::DeleteDocuments => bulk::delete_documents(call).await,
            MutationFunction::CreateIndex => definitions::create_index(call).await,
            MutationFunction::DropIndex => definitions::drop_index(call).await,
            MutationFunction::DropCollection => definitions::drop_collection(call).await,
            MutationFunction::SetCollectionType => definitions::set_type(call).await,
            MutationFunction::DropCollectionType => definitions::drop_type(call).await,
        }
    }
}
