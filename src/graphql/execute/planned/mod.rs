//! Executes plans: queries, what mutations select from their results, and changes. A query is planned once
//! for each text, and written directly into the response. It finds its pages of documents first, then reads
//! in one batch, and then makes its other lookups, level by level.
//!
//! The fields that introspect the schema are executed by `async_graphql` before.

mod binding;
mod fields;
mod finding;
pub(crate) mod given;
mod given_fields;
pub(crate) mod permit;
pub(crate) mod seen_change;
pub(crate) mod state_before;
pub(crate) mod write_response;
mod write_state;
mod write_typed;

pub(crate) use binding::arguments::{PageArguments, PlanArguments};
pub(crate) use binding::bind::SelectedResult;
pub(crate) use write_response::WrittenResponse;

use std::sync::Arc;

use async_graphql::ServerError;
use futures::future::BoxFuture;

use binding::bind::{bind, bind_result};
use binding::bound::Bound;
use finding::document_pages::FoundPages;
use finding::finder::Finder;
use finding::rounds::Rounds;
use given::Given;
use permit::apply_rules::Permit;
use permit::hidden_documents::{HiddenDocuments, RefusedField, renumbered};
use seen_change::SeenChange;
use write_response::PlanWriter;

use crate::database::{AdjacentDocuments, Database, DocumentKey, Loaded, read_requested};
use crate::document::filter::Filter;
use crate::error::Result;
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::context::request_budget::mismatch;
pub(crate) use crate::graphql::prepare::plan::Plan;
use crate::graphql::prepare::plan::{Field, PlanSize};
use crate::graphql::response::write_errors::server_error;
use crate::graphql::variables::coerced::Coerced;
use crate::limits::{JSON_BYTES_PER_STEP, STEPS_PER_BOUND_FIELD};
use crate::rights::RequestRights;
use crate::store::Read;

/// Who executes plans, and from what.
pub(crate) struct PlanExecutor<'e> {
    pub(crate) variables: &'e Coerced,
    pub(crate) source: PlanSource<'e>,
    pub(crate) request_budget: &'e Arc<RequestBudget>,
    pub(crate) rights: &'e RequestRights,
    /// The text of the subgraph schema, as JSON.
    pub(crate) sdl: &'e [u8],
}

/// What plans read.
pub(crate) enum PlanSource<'e> {
    /// A snapshot, which the first read takes.
    Database(&'e Database),
    /// The transaction of a mutation.
    Transaction(Arc<dyn Read>),
}

impl PlanExecutor<'_> {
    /// Executes the plan of a query in one snapshot. `introspected` are the values of the fields that
    /// introspect the schema, as JSON.
    ///
    /// # Errors
    /// An exceeded limit of the budget. Errors of the store, if it has no snapshot. Fields have errors of
    /// their own.
    pub(crate) async fn execute(
        &self,
        plan: &Plan,
        introspected: &[Vec<u8>],
    ) -> Result<WrittenResponse> {
        let request_budget = self.request_budget;
        request_budget.check()?;
        let bind = || bind(plan, introspected, self.variables, request_budget);
        let bound = request_budget
            .budget()
            .portion(self.bind_steps(plan.size), bind)
            .await?;
        self.respond(&bound, None, Vec::new()).await
    }

    /// Executes what a root field selects from its result, and writes its value behind `out`.
    ///
    /// # Errors
    /// As [`PlanExecutor::execute`].
    pub(crate) async fn select(
        &self,
        result: &SelectedResult<'_>,
        out: Vec<u8>,
    ) -> Result<WrittenResponse> {
        let bind = || bind_result(result, self.variables, self.request_budget);
        let budget = self.request_budget.budget();
        let bound = budget.portion(self.bind_steps(result.size), bind).await?;
        self.respond(&bound, Some(result.given), out).await
    }

    /// Executes the selection of a subscription to changes for one change.
    ///
    /// # Errors
    /// As [`PlanExecutor::execute`].
    pub(crate) async fn respond_to_change(
        &self,
        plan: &Plan,
        change: SeenChange<'_>,
    ) -> Result<WrittenResponse> {
        let field = plan.root.0.first().ok_or_else(mismatch)?;
        let Field::Change(below) = &field.field else {
            return Err(mismatch());
        };
        let mut out = b"{\"data\":{".to_vec();
        out.extend_from_slice(&field.name[1..]);
        let result = SelectedResult {
            field,
            given: Given::Change(change),
            below,
            size: plan.size,
            is_written: false,
        };
        let mut written = self.select(&result, out).await?;
        if !written.is_null {
            written.data.push(b'}');
        }
        Ok(written)
    }

    /// Asks the rules for what a root field selects from a result that does not exist yet. If `is_new`,
    /// the id of its document is not known. Returns the conditions of documents. `planning` pays for it.
    ///
    /// # Errors
    /// `FORBIDDEN`: no rule covers a place. The errors of [`bind_result`].
    pub(crate) async fn permit_selection(
        &self,
        result: &SelectedResult<'_>,
        is_new: bool,
        planning: &RequestBudget,
    ) -> Result<Vec<(DocumentKey, Filter)>, ServerError> {
        let bind = || bind_result(result, self.variables, planning);
        let bound = planning
            .budget()
            .portion(self.bind_steps(result.size), bind)
            .await
            .map_err(|error| server_error(&error))?;
        match Permit::of(
            &bound,
            PlanArguments(self.variables),
            planning,
            self.rights,
            is_new,
        )
        .await
        {
            Ok(permit) => Ok(permit.conditions(&bound)),
            Err(RefusedField { position, error }) => Err(bound.error(&error, position)),
        }
    }

    /// The steps to bind what has this size. Each path that variables give, and each list of paths, can
    /// take all of the variables.
    fn bind_steps(&self, size: PlanSize) -> u64 {
        let variables = self.variables.bytes as u64 / JSON_BYTES_PER_STEP;
        let texts = (size.fields + size.paths) as u64;
        texts * STEPS_PER_BOUND_FIELD + (1 + size.given_paths as u64).saturating_mul(variables)
    }

    async fn respond(
        &self,
        bound: &Bound<'_>,
        given: Option<Given<'_>>,
        out: Vec<u8>,
    ) -> Result<WrittenResponse> {
        if self.rights.rules_in_force().is_none() {
            return self.read_and_write(bound, given, None, out).await;
        }
        // Boxed, so that it does not enlarge the futures of requests without rules.
        Box::pin(self.respond_within_rules(bound, given, out)).await
    }

    async fn respond_within_rules(
        &self,
        bound: &Bound<'_>,
        given: Option<Given<'_>>,
        out: Vec<u8>,
    ) -> Result<WrittenResponse> {
        let arguments = PlanArguments(self.variables);
        match Permit::of(bound, arguments, self.request_budget, self.rights, false).await {
            Ok(permit) => self.read_and_write(bound, given, Some(&permit), out).await,
            Err(refused) => self.refuse(bound, &refused),
        }
    }

    /// The response to a plan that the rules do not allow.
    fn refuse(&self, bound: &Bound<'_>, refused: &RefusedField) -> Result<WrittenResponse> {
        self.request_budget.check()?;
        let RefusedField { position, error } = refused;
        Ok(WrittenResponse::failed(bound, error, *position))
    }

    async fn read_and_write(
        &self,
        bound: &Bound<'_>,
        given: Option<Given<'_>>,
        permit: Option<&Permit<'_>>,
        out: Vec<u8>,
    ) -> Result<WrittenResponse> {
        if !bound.lookups.is_empty() || permit.is_some_and(Permit::has_conditions) {
            // Boxed, so that it does not enlarge the futures of queries without lookups.
            let executed: BoxFuture<'_, Result<WrittenResponse>> =
                Box::pin(self.execute_lookups(bound, given, permit, out));
            return executed.await;
        }
        let requested = bound.requested();
        let loaded = if requested.is_empty() {
            Loaded::default()
        } else {
            let read = self.read().await?;
            read_requested(&*read, &requested, &self.request_budget.memory).await
        };
        self.write(bound, &Rounds::root(), &loaded, out).await
    }

    /// Executes a bound plan that has lookups, or documents that rules allow under conditions.
    async fn execute_lookups(
        &self,
        bound: &Bound<'_>,
        given: Option<Given<'_>>,
        permit: Option<&Permit<'_>>,
        out: Vec<u8>,
    ) -> Result<WrittenResponse> {
        let read = if bound.reads() {
            Some(self.read().await?)
        } else {
            None
        };
        let hidden = match (permit, &read) {
            (Some(permit), Some(read)) => {
                permit.hidden(bound, &**read, self.request_budget).await?
            }
            _ => HiddenDocuments::default(),
        };
        // What was written cannot be answered as absent.
        if let (Some(refused), Some(Given::Outcome(_))) = (hidden.refusal(), given) {
            return self.refuse(bound, refused);
        }
        let finder = Finder::new(
            bound,
            self.variables,
            read.as_ref(),
            self.request_budget,
            given,
            (permit, &hidden),
        );
        let read = read.as_deref();
        let pages = match FoundPages::find(&finder).await {
            Ok(pages) => pages,
            Err((field, error)) => {
                self.request_budget.check()?;
                return Ok(WrittenResponse::failed(bound, &error, field));
            }
        };
        let mut requested = pages.requested(bound);
        let requested_count = requested.len() as u64;
        let budget = self.request_budget.budget();
        let remove = || hidden.remove(bound, &mut requested);
        let numbers = budget.portion(requested_count, remove).await;
        let memory = &self.request_budget.memory;
        let loaded = match (&requested[..], read) {
            ([], _) | (_, None) => Loaded::default(),
            (requested, Some(read)) if pages.is_in_a_row(bound) => {
                read_requested(&AdjacentDocuments(read), requested, memory).await
            }
            (requested, Some(read)) => read_requested(read, requested, memory).await,
        };
        let loaded = renumbered(loaded, numbers);
        let mut rounds = Rounds::new(bound, &pages);
        rounds.find(&finder, &loaded).await?;
        self.write(bound, &rounds, &loaded, out).await
    }

    async fn write(
        &self,
        bound: &Bound<'_>,
        rounds: &Rounds<'_>,
        loaded: &Loaded<'_>,
        out: Vec<u8>,
    ) -> Result<WrittenResponse> {
        let writer = PlanWriter {
            bound,
            rounds,
            loaded,
            request_budget: self.request_budget,
            sdl: self.sdl,
        };
        writer.write(out).await
    }

    async fn read(&self) -> Result<Arc<dyn Read>> {
        match &self.source {
            PlanSource::Database(database) => {
                let budget = self.request_budget.budget();
                database.metered_snapshot(budget).await
            }
            PlanSource::Transaction(transaction) => Ok(transaction.clone()),
        }
    }
}
