//! Executes queries from plans: documents, entities and parts of them that are read by path, pages of
//! documents and of children, parts that a JSONPath query selects, and lengths. Such a query is planned
//! once for each text, and written directly into the response. It finds its pages of documents first,
//! then reads in one batch, and then makes its other lookups, level by level.
//!
//! All other queries run in the general executor, `async_graphql`. It also runs queries with an
//! invalid argument, which is found before anything is read. A query that has begun to read stays
//! here, so that nothing is read twice. Both executors return the same response to the same query
//! (tests/graphql/direct.rs compares them), and draw from the same budget.

mod arguments;
mod bind;
mod bound;
mod children;
mod element;
mod found;
mod lists;
mod rounds;
mod selected;
pub(crate) mod write;

pub(crate) use write::WrittenResponse;

use futures::future::BoxFuture;

use arguments::PlanArguments;
use bound::Bound;
use rounds::{Finder, FoundPages, Rounds};
use write::PlanWriter;

use crate::database::{AdjacentDocuments, Database, Loaded, read_requested};
use crate::error::Result;
use crate::graphql::context::request_budget::RequestBudget;
pub(crate) use crate::graphql::prepare::plan::Plan;
use crate::graphql::variables::coerced::Coerced;
use crate::store::Read;

/// Executes a plan with these variables. None if the general executor must run the query, or if
/// `request_budget` has exceeded a limit.
pub(crate) async fn execute(
    plan: &Plan,
    variables: &Coerced,
    database: &Database,
    request_budget: &RequestBudget,
) -> Option<WrittenResponse> {
    try_execute(plan, variables, database, request_budget)
        .await
        .ok()
        .flatten()
}

async fn try_execute(
    plan: &Plan,
    variables: &Coerced,
    database: &Database,
    request_budget: &RequestBudget,
) -> Result<Option<WrittenResponse>> {
    request_budget.check()?;
    let Some(bound) = bind::bind(plan, variables, request_budget)? else {
        return Ok(None);
    };
    if !bound.lookups.is_empty() {
        // Boxed, so that it does not enlarge the futures of queries without lists.
        let read = database.metered_snapshot(request_budget.budget()).await?;
        let executed: BoxFuture<'_, Result<Option<WrittenResponse>>> = Box::pin(execute_lookups(
            &bound,
            PlanArguments(variables),
            &*read,
            request_budget,
        ));
        return executed.await;
    }
    let requested = bound.requested();
    let loaded = if requested.is_empty() {
        Loaded::default()
    } else {
        let read = database.metered_snapshot(request_budget.budget()).await?;
        read_requested(&*read, &requested, &request_budget.memory).await
    };
    let writer = PlanWriter {
        bound: &bound,
        rounds: &Rounds::root(),
        loaded: &loaded,
        request_budget,
    };
    writer.write().await.map(Some)
}

/// Executes a bound plan that has lookups.
async fn execute_lookups(
    bound: &Bound<'_>,
    arguments: PlanArguments<'_>,
    read: &dyn Read,
    request_budget: &RequestBudget,
) -> Result<Option<WrittenResponse>> {
    let finder = Finder {
        bound,
        arguments,
        read,
        request_budget,
    };
    let pages = match FoundPages::find(&finder).await {
        Ok(Some(pages)) => pages,
        Ok(None) => return Ok(None),
        // A search can be long, so it is not repeated only to fail again.
        Err((field, error)) => {
            return Ok(Some(WrittenResponse::failed(bound, &error, field)));
        }
    };
    let requested = pages.requested(bound);
    let adjacent = AdjacentDocuments(read);
    let from = if pages.is_in_a_row(bound) {
        &adjacent
    } else {
        read
    };
    let loaded = match &requested[..] {
        [] => Loaded::default(),
        requested => read_requested(from, requested, &request_budget.memory).await,
    };
    let mut rounds = Rounds::new(bound, &pages);
    rounds.find(&finder, &loaded).await?;
    let writer = PlanWriter {
        bound,
        rounds: &rounds,
        loaded: &loaded,
        request_budget,
    };
    writer.write().await.map(Some)
}
