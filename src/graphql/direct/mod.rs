//! Queries whose reads are all known before the first of them: documents and entities, and of them
//! whatever is read by path. They are planned once for each text, read in one round, and written
//! straight into the response.
//!
//! Everything else is the general executor's, and so are arguments in which something is wrong and
//! errors at what cannot be null: it begins anew and comes to an answer of its own. What both can
//! answer they answer alike, which tests/graphql/direct.rs compares.

mod bind;
mod plan;
mod write;

use async_graphql::Variables;

use super::tally::Tally;
use crate::database::{Database, Want, load_within};
use crate::error::Result;
pub(super) use plan::Plan;
pub(super) use write::Written;

/// Executes a plan with these variables. None: the general executor has to, unless `tally` has come
/// to a bound.
pub(super) async fn execute(
    plan: &Plan,
    variables: &Variables,
    database: &Database,
    tally: &Tally,
) -> Option<Written> {
    try_execute(plan, variables, database, tally)
        .await
        .ok()
        .flatten()
}

async fn try_execute(
    plan: &Plan,
    variables: &Variables,
    database: &Database,
    tally: &Tally,
) -> Result<Option<Written>> {
    tally.check()?;
    let Some(bound) = bind::bind(plan, variables, tally)? else {
        return Ok(None);
    };
    let answers = if bound.wants.is_empty() {
        Vec::new()
    } else {
        let read = database.snapshot().await?;
        let wants: Vec<&Want> = bound.wants.iter().collect();
        load_within(&*read, &wants, &tally.reads).await
    };
    write::write(&bound, &answers, tally).await.map(Some)
}
