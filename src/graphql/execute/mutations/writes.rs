//! The function `writeDocuments`: the functions of its writes, in their order.

use futures::future::BoxFuture;

use super::call::{Call, CallError};
use super::executor::MutationExecutor;
use crate::budget::pause;
use crate::graphql::context::request_budget::mismatch;
use crate::graphql::execute::planned::given::{Outcome, WriteResult};
use crate::limits::JSON_BYTES_PER_STEP;

impl MutationExecutor<'_> {
    /// Makes the writes of a call.
    pub(super) fn write_documents<'c>(
        &'c self,
        call: &'c Call<'_>,
    ) -> BoxFuture<'c, Result<Outcome, CallError>> {
        // Boxed, because each write is a call itself.
        Box::pin(async move {
            let session = call.session;
            let budget = session.budget();
            let steps = call.variables.0.bytes as u64 / JSON_BYTES_PER_STEP;
            let writes = budget.portion(steps, || call.writes()).await?;
            let mut results = Vec::with_capacity(writes.len());
            for (number, planned) in writes.iter().enumerate() {
                let permit = match call.permit {
                    Some(permit) => Some(permit.writes.get(number).ok_or_else(mismatch)?),
                    None => None,
                };
                let write = call.of_write(planned, permit);
                let outcome = self
                    .permitted(&write)
                    .await
                    .map_err(|error| error.at(format!("the write {number}")))?;
                results.push(WriteResult::of(outcome).ok_or_else(mismatch)?);
                // An engine may complete every call without waiting, so yield explicitly.
                pause().await;
                budget.check()?;
            }
            let mark = || {
                for result in &mut results {
                    let document = result.document.as_deref();
                    result.is_written = document.is_some_and(|it| session.has_written(it));
                }
            };
            budget.portion(writes.len() as u64, mark).await;
            Ok(Outcome::Written(results))
        })
    }
}
