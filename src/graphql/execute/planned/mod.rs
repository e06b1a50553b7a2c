//! Executes queries whose reads are all known in advance: documents and entities, and parts of them
//! that are read by path. Such a query is planned once for each text, reads in one batch, and is
//! written directly into the response.
//!
//! All other queries run in the general executor, `async_graphql`. If an argument is invalid, or a
//! non-nullable field fails, the general executor runs the query again from the beginning. Both
//! return the same response to the same query; tests/graphql/direct.rs compares them.

pub(crate) mod bind;
pub(crate) mod write;

pub(crate) use write::WrittenResponse;

use crate::database::{Database, Loaded, read_requested};
use crate::error::Result;
use crate::graphql::context::request_budget::RequestBudget;
pub(crate) use crate::graphql::prepare::plan::Plan;
use crate::graphql::variables::coerced::Coerced;

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
    let requested = bound.requested();
    let loaded = if requested.is_empty() {
        Loaded::default()
    } else {
        let read = database.metered_snapshot(request_budget.budget()).await?;
        read_requested(&*read, &requested, &request_budget.memory).await
    };
    write::write(&bound, &loaded, request_budget)
        .await
        .map(Some)
}
