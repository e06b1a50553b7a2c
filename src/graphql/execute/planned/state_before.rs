//! The state of a place before a mutation writes it, read in the transaction of the mutation.

use std::sync::Arc;

use async_graphql::ServerError;
use serde_json::Value;

use super::{Plan, PlanExecutor, PlanSource};
use crate::error::{Error, ErrorKind, Result};
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::request::condition::{StoredState, WriteCondition};
use crate::graphql::response::write_errors::{complete, server_error};
use crate::graphql::variables::coerced::Coerced;
use crate::rights::RequestRights;
use crate::store::Read;

/// The query of the state. Without `$versioned`, the transaction conflicts only with those that write the
/// place.
pub(crate) const STATE_QUERY: &str = "query ($collection: String!, $id: ID!, \
    $path: Path!, $versioned: Boolean! = false) { document(collection: $collection, id: $id, path: $path) \
    { kind version @include(if: $versioned) } }";

/// A condition on the state of a place, and how it is read.
#[derive(Clone)]
pub(crate) struct StateBefore {
    pub(crate) plan: Arc<Plan>,
    pub(crate) variables: Coerced,
    pub(crate) condition: Arc<WriteCondition>,
}

impl StateBefore {
    /// Reads the state and checks the condition. Returns whether something is stored at the place, or
    /// `None` if that does not matter and the rules do not allow to read it.
    ///
    /// # Errors
    /// The inner error is that of the operation. The outer one is an exceeded limit of the budget, an error
    /// of the store, or `CONFLICT`: to be attempted again.
    pub(crate) async fn check(
        &self,
        transaction: Arc<dyn Read>,
        request_budget: &Arc<RequestBudget>,
        rights: &RequestRights,
    ) -> Result<Result<Option<bool>, ServerError>> {
        let executor = PlanExecutor {
            variables: &self.variables,
            source: PlanSource::Transaction(transaction),
            request_budget,
            rights,
            sdl: &[],
        };
        let mut written = executor.execute(&self.plan, &[]).await?;
        if !written.errors.is_empty() {
            let failed = written.errors.swap_remove(0);
            let kind = failed.source::<Error>().map(Error::kind);
            return match (kind, failed.source::<Error>()) {
                (Some(ErrorKind::Conflict), Some(conflict)) => Err(conflict.clone()),
                (Some(ErrorKind::Forbidden), _) if self.condition.is_empty() => Ok(Ok(None)),
                _ => Ok(Err(failed)),
            };
        }
        let state = state(&complete(written.data, &[]))?;
        if let Err(error) = self.condition.check(state.as_ref()) {
            return Ok(Err(server_error(&error)));
        }
        Ok(Ok(Some(state.is_some())))
    }
}

/// The state in the response to [`STATE_QUERY`].
fn state(response: &[u8]) -> Result<Option<StoredState>> {
    let response: Value = serde_json::from_slice(response)
        .map_err(|error| Error::internal(format!("the state of a place is not JSON: {error}")))?;
    let document = &response["data"]["document"];
    Ok(document.is_object().then(|| StoredState {
        version: document["version"].as_str().map(str::to_owned),
    }))
}

/// Adds to the response of a mutation whether something was stored at the place before.
pub(crate) fn add_existed(response: &mut Vec<u8>, existed: bool) {
    response.pop();
    response.extend_from_slice(b",\"extensions\":{\"existed\":");
    response.extend_from_slice(if existed { b"true" } else { b"false" });
    response.extend_from_slice(b"}}");
}
