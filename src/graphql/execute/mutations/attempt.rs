//! One attempt to execute a mutation in a transaction.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::SystemTime;

use async_graphql::ServerError;

use super::executor::{MutationExecutor, MutationResponse};
use super::field_permit::FieldPermit;
use super::session::MutationSession;
use crate::budget::Pool;
use crate::database::{
    ReferenceViolation, StoredResponse, UniqueViolation, keep_answer, kept_answer,
    required_documents, settle_references, unique_violation,
};
use crate::error::{Error, ErrorKind, Result};
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::execute::allowed::Allowed;
use crate::graphql::execute::failures::conflict;
use crate::graphql::execute::operation::Operation;
use crate::graphql::execute::planned::PlanArguments;
use crate::graphql::execute::planned::permit::required_rights::hidden_documents;
use crate::graphql::execute::planned::state_before::add_existed;
use crate::graphql::prepare::plan::{Field, MutationFunction, PlannedField};
use crate::graphql::response::write_errors::server_error;
use crate::limits::Bounds;
use crate::rights::RequestRights;
use crate::store::{Decision, MeteredTransaction, Read, Transaction};

/// The outcome of one attempt.
pub(crate) enum Mutated {
    /// The mutation was executed. The response has placeholders for the version.
    Now(Vec<u8>),
    /// The mutation failed, and has no effect.
    Failed(Vec<ServerError>),
    /// The mutation took effect earlier, with this stored response.
    Earlier(StoredResponse),
}

/// What an attempt may use.
pub(crate) struct AttemptLimits<'a> {
    pub(crate) allowed: Allowed,
    pub(crate) bounds: &'a Bounds,
    pub(crate) pool: &'a Pool,
    /// The limit on the bytes of the transaction, if the store has one.
    pub(crate) bytes_max: Option<usize>,
}

impl AttemptLimits<'_> {
    fn budget(&self) -> Arc<RequestBudget> {
        let bounds = self.allowed.bounds(self.bounds);
        let deadline = self.allowed.deadline;
        Arc::new(RequestBudget::of_mutation(&bounds, self.pool, deadline))
    }
}

/// Executes a mutation in a transaction, unless it took effect earlier.
///
/// # Errors
/// `CONFLICT`: to be attempted again. Exceeded limits. Errors of the store.
pub(crate) async fn attempt(
    operation: &Operation,
    transaction: Arc<dyn Transaction>,
    limits: &AttemptLimits<'_>,
) -> Result<Decision<Mutated>> {
    let request_budget = limits.budget();
    let metered: Arc<dyn Transaction> = Arc::new(MeteredTransaction::new(
        transaction.clone(),
        request_budget.budget(),
    ));
    let plan = &operation.plan;
    let mut included = PlanArguments(&operation.variables).included(&plan.root);
    let first = included.next();
    let several = included.next().is_some() || first.is_some_and(is_list_of_writes);
    let session = MutationSession::new(metered, &request_budget, several, limits.bytes_max);
    let executor = MutationExecutor::new(&session, operation);
    let has_rules = operation.rights.rules_in_force().is_some();
    let permits = if has_rules {
        // Nothing is read before. Boxed, so that it does not enlarge the futures without rules.
        match Box::pin(executor.authorize(plan, &limits.budget())).await {
            Ok(permits) => Some(permits),
            Err(error) => return Ok(Decision::Abort(Mutated::Failed(vec![error]))),
        }
    } else {
        None
    };
    let once_only = operation.once_only.as_deref();
    if let Some(once_only) = once_only {
        let kept = kept_answer(&*transaction, once_only, SystemTime::now()).await?;
        if let Some(kept) = kept {
            let refused = may_return(permits.as_deref(), &session).await?;
            return Ok(Decision::Abort(match refused {
                None => Mutated::Earlier(kept),
                Some(refusal) => Mutated::Failed(vec![server_error(&refusal)]),
            }));
        }
    }
    let existed = match &operation.state_before {
        None => None,
        Some(before) => {
            let transaction = session.transaction.clone();
            let checked = before.check(transaction, &request_budget, &operation.rights);
            // Boxed, so that it does not enlarge the futures of other mutations.
            match Box::pin(checked).await? {
                Ok(existed) => existed,
                Err(error) => return Ok(Decision::Abort(Mutated::Failed(vec![error]))),
            }
        }
    };
    let executed = executor.execute(plan, permits.as_deref()).await;
    if let Ok(response) = &executed
        && let Some(conflict) = conflict(&response.errors)
    {
        return Err(conflict.clone());
    }
    if let Some(passed) = request_budget.passed() {
        return Err(passed.clone());
    }
    let MutationResponse { mut json, errors } = executed?;
    if !errors.is_empty() {
        return Ok(Decision::Abort(Mutated::Failed(errors)));
    }
    if let Some(existed) = existed {
        add_existed(&mut json, existed);
    }
    // Boxed, so that it does not enlarge the futures of mutations without references.
    if let Some(error) = Box::pin(settle(&session, &operation.rights)).await? {
        return Ok(Decision::Abort(Mutated::Failed(vec![error])));
    }
    let violation = unique_violation(session.transaction()).await?;
    if let Some(UniqueViolation { document, error }) = violation {
        let error = if has_rules {
            UniqueViolation::without_documents()
        } else {
            error
        };
        let error = session.place(&document, server_error(&error));
        return Ok(Decision::Abort(Mutated::Failed(vec![error])));
    }
    if let Some(once_only) = once_only {
        keep_answer(session.transaction(), once_only, &json, SystemTime::now()).await?;
        request_budget.check()?;
    }
    Ok(Decision::Commit(Mutated::Now(json)))
}

fn is_list_of_writes(field: &PlannedField) -> bool {
    matches!(&field.field, Field::Mutation(planned) if planned.function == MutationFunction::WriteDocuments)
}

/// Why a stored response may not be returned again, if the rules do not allow it now.
async fn may_return(
    permits: Option<&[FieldPermit]>,
    session: &MutationSession,
) -> Result<Option<Error>> {
    for permit in permits.into_iter().flatten() {
        match permit.check_again(session).await {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::Forbidden => return Ok(Some(error)),
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Settles the references of a mutation. Returns the error that undoes it, if there is one.
///
/// # Errors
/// As [`settle_references`].
async fn settle(session: &MutationSession, rights: &RequestRights) -> Result<Option<ServerError>> {
    let (transaction, request_budget) = (session.transaction(), &session.request_budget);
    let has_rules = rights.rules_in_force().is_some();
    let hidden = if has_rules {
        let required = required_documents(transaction, session.budget()).await?;
        let read: &dyn Read = transaction;
        hidden_documents(rights, required, (read, &**request_budget)).await?
    } else {
        HashSet::new()
    };
    let settled = settle_references(transaction, session.budget(), &hidden).await;
    let settled = if has_rules {
        settled.map_err(ReferenceViolation::settling_failed)
    } else {
        settled
    };
    Ok(settled?.map(|ReferenceViolation { document, error }| {
        let error = if has_rules {
            ReferenceViolation::without_documents(error)
        } else {
            error
        };
        session.place(&document, server_error(&error))
    }))
}
