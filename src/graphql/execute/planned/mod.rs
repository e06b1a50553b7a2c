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
pub(crate) mod write_response;
mod write_state;

pub(crate) use binding::arguments::PlanArguments;
pub(crate) use binding::bind::SelectedResult;
pub(crate) use write_response::WrittenResponse;

use std::sync::Arc;

use futures::future::BoxFuture;

use binding::bind::{bind, bind_result};
use binding::bound::Bound;
use finding::finder::Finder;
use finding::page::FoundPages;
use finding::rounds::Rounds;
use given::Given;
use write_response::PlanWriter;

use crate::database::{AdjacentDocuments, Database, FollowedChange, Loaded, read_requested};
use crate::error::Result;
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::context::request_budget::mismatch;
use crate::graphql::prepare::plan::Field;
pub(crate) use crate::graphql::prepare::plan::Plan;
use crate::graphql::variables::coerced::Coerced;
use crate::store::Read;

/// Who executes plans, and from what.
pub(crate) struct PlanExecutor<'e> {
    pub(crate) variables: &'e Coerced,
    pub(crate) source: PlanSource<'e>,
    pub(crate) request_budget: &'e Arc<RequestBudget>,
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
        let bound = bind(plan, introspected, self.variables, request_budget)?;
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
        let bound = bind_result(result, self.variables, self.request_budget)?;
        self.respond(&bound, Some(result.given), out).await
    }

    /// Executes the selection of a subscription to changes for one change.
    ///
    /// # Errors
    /// As [`PlanExecutor::execute`].
    pub(crate) async fn respond_to_change(
        &self,
        plan: &Plan,
        change: &FollowedChange,
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
            is_written: false,
        };
        let mut written = self.select(&result, out).await?;
        if !written.is_null {
            written.data.push(b'}');
        }
        Ok(written)
    }

    async fn respond(
        &self,
        bound: &Bound<'_>,
        given: Option<Given<'_>>,
        out: Vec<u8>,
    ) -> Result<WrittenResponse> {
        if !bound.lookups.is_empty() {
            // Boxed, so that it does not enlarge the futures of queries without lookups.
            let executed: BoxFuture<'_, Result<WrittenResponse>> =
                Box::pin(self.execute_lookups(bound, given, out));
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

    /// Executes a bound plan that has lookups.
    async fn execute_lookups(
        &self,
        bound: &Bound<'_>,
        given: Option<Given<'_>>,
        out: Vec<u8>,
    ) -> Result<WrittenResponse> {
        let read = if bound.reads() {
            Some(self.read().await?)
        } else {
            None
        };
        let finder = Finder::new(
            bound,
            self.variables,
            read.as_ref(),
            self.request_budget,
            given,
        );
        let read = read.as_deref();
        let pages = match FoundPages::find(&finder).await {
            Ok(pages) => pages,
            Err((field, error)) => {
                self.request_budget.check()?;
                return Ok(WrittenResponse::failed(bound, &error, field));
            }
        };
        let requested = pages.requested(bound);
        let memory = &self.request_budget.memory;
        let loaded = match (&requested[..], read) {
            ([], _) | (_, None) => Loaded::default(),
            (requested, Some(read)) if pages.is_in_a_row(bound) => {
                read_requested(&AdjacentDocuments(read), requested, memory).await
            }
            (requested, Some(read)) => read_requested(read, requested, memory).await,
        };
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
