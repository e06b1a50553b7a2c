//! An operation, ready to be executed.

use std::sync::Arc;

use async_graphql::Name;

use super::planned::state_before::{STATE_QUERY, StateBefore};
use crate::budget::{Share, offload_if_large, reads_here};
use crate::database::IdempotencyKey;
use crate::error::Result;
use crate::graphql::prepare::plan::Plan;
use crate::graphql::prepare::prepared_query::{PreparedQueries, PreparedQuery, Refusal, select};
use crate::graphql::request::body::Request;
use crate::graphql::request::raw_variables::GivenVariables;
use crate::graphql::variables::coerce_variables::coerce;
use crate::graphql::variables::coerced::{Coerced, IdleVariables};
use crate::limits::Bounds;
use crate::rights::{Principal, RequestRights};

/// An operation that can be executed any number of times.
#[derive(Clone)]
pub(crate) struct Operation {
    pub(crate) prepared: Arc<PreparedQuery>,
    pub(crate) plan: Arc<Plan>,
    pub(crate) name: Option<String>,
    pub(crate) variables: Coerced,
    pub(crate) once_only: Option<Arc<IdempotencyKey>>,
    /// What must be stored before.
    pub(crate) state_before: Option<Arc<StateBefore>>,
    /// What the sender may do.
    pub(crate) rights: RequestRights,
}

/// A subscription between two executions. It takes less memory than an [`Operation`].
pub(crate) struct IdleOperation {
    prepared: Arc<PreparedQuery>,
    plan: Arc<Plan>,
    name: Option<Box<str>>,
    variables: IdleVariables,
    principal: Principal,
    is_listed: bool,
    /// The memory of its variables, and of what else was taken from its request.
    _memory: Share,
}

impl IdleOperation {
    /// Keeps an operation, which has no idempotency key. Its variables count in `memory`.
    ///
    /// # Errors
    /// `UNAVAILABLE`: all requests together hold too much.
    pub(crate) fn new(operation: Operation, memory: Share) -> Result<Self> {
        memory.take(operation.variables.sizes().values().sum())?;
        Ok(Self {
            prepared: operation.prepared,
            plan: operation.plan,
            name: operation.name.map(Into::into),
            variables: IdleVariables::new(operation.variables),
            principal: operation.rights.principal,
            is_listed: operation.rights.is_listed,
            _memory: memory,
        })
    }

    /// The sender, and whether the operation is a listed one, sent by its id.
    pub(crate) fn sender(&self) -> (Principal, bool) {
        (self.principal.clone(), self.is_listed)
    }

    /// The operation, to execute it with the rights that the sender has now.
    pub(crate) fn operation(&self, rights: RequestRights) -> Operation {
        Operation {
            prepared: self.prepared.clone(),
            plan: self.plan.clone(),
            name: self.name.as_deref().map(str::to_owned),
            variables: self.variables.coerced(),
            once_only: None,
            state_before: None,
            rights,
        }
    }
}

/// The variables of a request, coerced to the types that the operation declares. Large ones are read on a
/// blocking thread.
///
/// # Errors
/// As [`coerce`], and `BAD_USER_INPUT`: the document has no such operation.
pub(crate) async fn coerced(
    prepared: &Arc<PreparedQuery>,
    request: &Request,
    bounds: Bounds,
) -> Result<Coerced> {
    let bytes = request.variables.text().len();
    if reads_here(bytes).await {
        let name = request.operation_name.as_deref();
        return coerced_now(prepared, name, &request.variables, &bounds);
    }
    let (prepared, given) = (prepared.clone(), request.variables.clone());
    let name = request.operation_name.clone();
    let read = move || coerced_now(&prepared, name.as_deref(), &given, &bounds);
    offload_if_large(bytes, read).await
}

fn coerced_now(
    prepared: &PreparedQuery,
    name: Option<&str>,
    given: &GivenVariables,
    bounds: &Bounds,
) -> Result<Coerced> {
    let selected = select(&prepared.document, name)?;
    let types = prepared.schema.types();
    let coerced = coerce(&selected.variable_definitions, given, types, bounds)?;
    Ok(Coerced {
        bytes: given.text().len(),
        ..coerced
    })
}

/// How the state before a mutation is read, if its request has a condition.
///
/// # Errors
/// As [`coerced`]. Errors of preparing the query.
pub(crate) async fn state_before(
    operations: &PreparedQueries,
    request: &Request,
    bounds: Bounds,
) -> Result<Option<Arc<StateBefore>>, Refusal> {
    let Some(condition) = &request.condition else {
        return Ok(None);
    };
    let prepared = match operations.kept_document(STATE_QUERY) {
        Some(prepared) => prepared,
        None => operations.document(STATE_QUERY).await?,
    };
    let selected = select(&prepared.document, None)?;
    let types = prepared.schema.types();
    let definitions = &selected.variable_definitions;
    let mut variables = coerce(definitions, &request.variables, types, &bounds)?;
    variables
        .values
        .insert(Name::new("versioned"), condition.needs_version().into());
    Ok(Some(Arc::new(StateBefore {
        plan: prepared.plan(None)?,
        variables,
        condition: condition.clone(),
    })))
}
