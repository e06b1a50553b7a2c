//! An operation, ready to be executed.

use std::sync::Arc;

use async_graphql::parser::types::ExecutableDocument;

use super::normalize::ready;
use crate::database::IdempotencyKey;
use crate::graphql::context::session::Session;
use crate::graphql::prepare::plan::Plan;
use crate::graphql::variables::coerced::{Coerced, IdleVariables};

/// An operation that can be executed any number of times.
#[derive(Clone)]
pub(crate) struct Operation {
    pub(crate) document: Arc<ExecutableDocument>,
    /// The plan, if the operation has one.
    pub(crate) plan: Option<Arc<Plan>>,
    pub(crate) name: Option<String>,
    pub(crate) variables: Coerced,
    pub(crate) once_only: Option<Arc<IdempotencyKey>>,
}

impl Operation {
    /// Prepares the operation for the general executor.
    pub(crate) fn ready(mut self) -> Self {
        self.variables.make_values();
        let variables = &self.variables.values;
        self.document = ready(self.document, self.name.as_deref(), variables);
        self
    }

    /// The request to a schema that executes the operation.
    pub(crate) fn request(self, session: Session) -> async_graphql::Request {
        let mut request = async_graphql::Request::new("").variables(self.variables.values);
        request.set_parsed_query((*self.document).clone());
        if let Some(name) = self.name {
            request = request.operation_name(name);
        }
        request.data(session)
    }
}

/// A subscription between two executions. It takes less memory than an [`Operation`].
pub(crate) struct IdleOperation {
    document: Arc<ExecutableDocument>,
    plan: Option<Arc<Plan>>,
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
