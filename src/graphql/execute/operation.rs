//! An operation, ready to be executed.

use std::sync::Arc;

use async_graphql::parser::types::ExecutableDocument;

use crate::database::IdempotencyKey;
use crate::graphql::prepare::plan::Plan;
use crate::graphql::variables::coerced::{Coerced, IdleVariables};

/// An operation that can be executed any number of times.
#[derive(Clone)]
pub(crate) struct Operation {
    pub(crate) document: Arc<ExecutableDocument>,
    pub(crate) plan: Arc<Plan>,
    pub(crate) name: Option<String>,
    pub(crate) variables: Coerced,
    pub(crate) once_only: Option<Arc<IdempotencyKey>>,
}

/// A subscription between two executions. It takes less memory than an [`Operation`].
pub(crate) struct IdleOperation {
    document: Arc<ExecutableDocument>,
    plan: Arc<Plan>,
    name: Option<Box<str>>,
    variables: IdleVariables,
}

impl IdleOperation {
    /// Keeps an operation, which has no idempotency key.
    pub(crate) fn new(operation: Operation) -> Self {
        Self {
            document: operation.document,
            plan: operation.plan,
            name: operation.name.map(Into::into),
            variables: IdleVariables::new(operation.variables),
        }
    }

    /// The operation, to execute it.
    pub(crate) fn operation(&self) -> Operation {
        Operation {
            document: self.document.clone(),
            plan: self.plan.clone(),
            name: self.name.as_deref().map(str::to_owned),
            variables: self.variables.coerced(),
            once_only: None,
        }
    }
}
