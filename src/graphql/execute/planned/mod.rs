//! Executes queries from plans. A query is planned once for each text, and written directly into the
//! response. It finds its pages of documents first, then reads in one batch, and then makes its other
//! lookups, level by level.
//!
//! Queries that introspect the schema run in the general executor, `async_graphql`. Both return the same
//! response to the same query (tests/graphql/direct.rs compares them), and draw from the same budget.

mod binding;
mod fields;
mod finding;
pub(crate) mod write;
mod write_state;

pub(crate) use write::WrittenResponse;

use std::sync::Arc;

use futures::future::BoxFuture;

use binding::bind::bind;
use binding::bound::Bound;
use finding::finder::Finder;
use finding::rounds::{FoundPages, Rounds};
use write::PlanWriter;

use crate::database::{AdjacentDocuments, Database, Loaded, read_requested};
use crate::error::Result;
use crate::graphql::context::request_budget::RequestBudget;
pub(crate) use crate::graphql::prepare::plan::Plan;
use crate::graphql::variables::coerced::Coerced;
use crate::store::Read;

/// Who executes plans, and from what.
pub(crate) struct PlanExecutor<'e> {
    pub(crate) variables: &'e Coerced,
    pub(crate) database: &'e Database,
    pub(crate) request_budget: &'e RequestBudget,
    /// The text of the subgraph schema, as JSON.
    pub(crate) sdl: &'e [u8],
}

impl PlanExecutor<'_> {
    /// Executes a plan in one snapshot.
    ///
    /// # Errors
    /// An exceeded limit of the budget. Errors of the store, if it has no snapshot. Fields have errors of
    /// their own.
    pub(crate) async fn execute(&self, plan: &Plan) -> Result<WrittenResponse> {
        let request_budget = self.request_budget;
        request_budget.check()?;
        let bound = bind(plan, self.variables, request_budget)?;
        if !bound.lookups.is_empty() {
            // Boxed, so that it does not enlarge the futures of queries without lookups.
            let executed: BoxFuture<'_, Result<WrittenResponse>> =
                Box::pin(self.execute_lookups(&bound));
            return executed.await;
        }
        let requested = bound.requested();
        let loaded = if requested.is_empty() {
            Loaded::default()
        } else {
            let read = self.read().await?;
            read_requested(&*read, &requested, &request_budget.memory).await
        };
        self.write(&bound, &Rounds::root(), &loaded).await
    }

    /// Executes a bound plan that has lookups.
    async fn execute_lookups(&self, bound: &Bound<'_>) -> Result<WrittenResponse> {
        let read = self.read().await?;
        let finder = Finder::new(bound, self.variables, &*read, self.request_budget);
        let pages = match FoundPages::find(&finder).await {
            Ok(pages) => pages,
            Err((field, error)) => {
                self.request_budget.check()?;
                return Ok(WrittenResponse::failed(bound, &error, field));
            }
        };
        let requested = pages.requested(bound);
        let adjacent = AdjacentDocuments(&*read);
        let from = if pages.is_in_a_row(bound) {
            &adjacent
        } else {
            &*read
        };
        let loaded = match &requested[..] {
            [] => Loaded::default(),
            requested => read_requested(from, requested, &self.request_budget.memory).await,
        };
        let mut rounds = Rounds::new(bound, &pages);
        rounds.find(&finder, &loaded).await?;
        self.write(bound, &rounds, &loaded).await
    }

    async fn write(
        &self,
        bound: &Bound<'_>,
        rounds: &Rounds<'_>,
        loaded: &Loaded<'_>,
    ) -> Result<WrittenResponse> {
        let writer = PlanWriter {
            bound,
            rounds,
            loaded,
            request_budget: self.request_budget,
            sdl: self.sdl,
        };
        writer.write().await
    }

    async fn read(&self) -> Result<Arc<dyn Read>> {
        self.database
            .metered_snapshot(self.request_budget.budget())
            .await
    }
}
