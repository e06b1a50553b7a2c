//! Executes the fields of a mutation in their order.

use async_graphql::ServerError;

use super::call::{Call, CallError};
use super::session::MutationSession;
use super::{append, bulk, definitions, delete, document};
use crate::error::Result;
use crate::graphql::context::request_budget::mismatch;
use crate::graphql::execute::planned::given::{Given, Outcome};
use crate::graphql::execute::planned::{PlanArguments, PlanExecutor, PlanSource, SelectedResult};
use crate::graphql::prepare::plan::{Field, MutationFunction, Plan, PlannedField};
use crate::graphql::variables::coerced::Coerced;

/// Executes a mutation in its transaction.
pub(crate) struct MutationExecutor<'e> {
    session: &'e MutationSession,
    variables: &'e Coerced,
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
    pub(crate) fn new(session: &'e MutationSession, variables: &'e Coerced) -> Self {
        Self {
            session,
            variables,
            selections: PlanExecutor {
                variables,
                source: PlanSource::Transaction(session.transaction.clone()),
                request_budget: &session.request_budget,
                sdl: &[],
            },
        }
    }

    /// Executes all fields. A field whose error is that of the whole response is the last one.
    ///
    /// # Errors
    /// An exceeded limit of the budget. Fields have errors of their own.
    pub(crate) async fn execute(&self, plan: &Plan) -> Result<MutationResponse> {
        let mut response = MutationResponse {
            json: b"{\"data\":{".to_vec(),
            errors: Vec::new(),
        };
        let mut is_first = true;
        for selected in PlanArguments(self.variables).included(&plan.root) {
            response
                .json
                .extend_from_slice(&selected.name[usize::from(is_first)..]);
            is_first = false;
            if !self.field(&mut response, selected).await? {
                return Ok(response);
            }
        }
        response.json.extend_from_slice(b"}}");
        let budget = self.session.budget();
        budget.check_response(response.json.len())?;
        Ok(response)
    }

    /// Executes a field. Returns false if its error is that of the whole response.
    async fn field(&self, response: &mut MutationResponse, field: &PlannedField) -> Result<bool> {
        let planned = match &field.field {
            Field::Typename(name) => {
                response.json.extend_from_slice(name.as_bytes());
                return Ok(true);
            }
            Field::Mutation(planned) => planned,
            _ => return Err(mismatch()),
        };
        let call = Call {
            session: self.session,
            field,
            planned,
            variables: PlanArguments(self.variables),
        };
        // Boxed, because the function of a field has a large future.
        let outcome = match Box::pin(self.call(&call)).await {
            Ok(outcome) => outcome,
            Err(error) => {
                response.errors.insert(0, error.located(field));
                return Ok(false);
            }
        };
        let result = SelectedResult {
            field,
            given: Given::Outcome(&outcome),
            below: &planned.below,
            fields: planned.fields,
            is_written: match &outcome {
                Outcome::Document(document) => self.session.has_written(document),
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

    async fn call(&self, call: &Call<'_>) -> Result<Outcome, CallError> {
        match call.planned.function {
            MutationFunction::InsertDocument => document::insert(call).await,
            MutationFunction::ReplaceDocument => document::replace(call).await,
            MutationFunction::CopyDocument => document::copy(call).await,
            MutationFunction::TestDocument => document::test(call).await,
            MutationFunction::MergeDocument => document::merge(call).await,
            MutationFunction::PatchDocument => document::patch(call).await,
            MutationFunction::IncrementDocument => document::increment(call).await,
            MutationFunction::DeleteDocument => delete::delete_document(call).await,
            MutationFunction::TakeDocuments => delete::take_documents(call).await,
            MutationFunction::AppendDocument => append::append_document(call).await,
            MutationFunction::UpdateDocuments => bulk::update_documents(call).await,
            MutationFunction::DeleteDocuments => bulk::delete_documents(call).await,
            MutationFunction::CreateIndex => definitions::create_index(call).await,
            MutationFunction::DropIndex => definitions::drop_index(call).await,
            MutationFunction::DropCollection => definitions::drop_collection(call).await,
        }
    }
}
