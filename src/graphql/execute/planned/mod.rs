//! Queries whose reads are all known before the first of them: documents and entities, and of them
//! whatever is read by path. They are planned once for each text, read in one round, and written
//! straight into the response.
//!
//! Everything else is the general executor's, and so are arguments in which something is wrong and
//! errors at what cannot be null: it begins anew and comes to an answer of its own. What both can
//! answer they answer alike, which tests/graphql/direct.rs compares.

pub(crate) mod bind;
pub(crate) mod write;

use crate::database::{Database, Loaded, read_asked};
use crate::error::Result;
use crate::graphql::context::request_budget::RequestBudget;
pub(crate) use crate::graphql::prepare::plan::Plan;
use crate::graphql::variables::coerced::Coerced;
pub(crate) use write::WrittenResponse;

/// Executes a plan with these variables. None: the general executor has to, unless `request_budget`
/// has come to a bound.
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
    let asked = bound.asked();
    let loaded = if asked.is_empty() {
        Loaded::default()
    } else {
        let read = database.metered_snapshot(request_budget.budget()).await?;
        read_asked(&*read, &asked, &request_budget.memory).await
    };
    write::write(&bound, &loaded, request_budget)
        .await
        .map(Some)
}
