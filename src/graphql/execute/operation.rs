//! An operation, ready to be executed.

use std::sync::Arc;

use async_graphql::parser::types::ExecutableDocument;

use super::normalize::ready;
use crate::database::IdempotencyKey;
use crate::error::Result;
use crate::graphql::context::session::Session;
use crate::graphql::prepare::plan::Plan;
use crate::graphql::prepare::prepared_query::{PreparedQuery, select};
use crate::graphql::request::body::Request;
use crate::graphql::request::raw_variables::GivenVariables;
use crate::graphql::schema::built::served::ServedSchema;
use crate::graphql::variables::coerce::coerce;
use crate::graphql::variables::coerced::{Coerced, IdleVariables};
use crate::limits::{Bounds, JSON_BYTES_AT_ONCE};
use crate::store::offload_if_large;

/// An operation that can be executed any number of times.
#[derive(Clone)]
pub(crate) struct Operation {
    /// The schema that the document is valid against.
    pub(crate) schema: Arc<ServedSchema>,
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
    schema: Arc<ServedSchema>,
    document: Arc<ExecutableDocument>,
    plan: Option<Arc<Plan>>,
    name: Option<Box<str>>,
    variables: IdleVariables,
}

impl IdleOperation {
    /// Keeps an operation, which has no idempotency key.
    pub(crate) fn new(operation: Operation) -> Self {
        Self {
            schema: operation.schema,
            document: operation.document,
            plan: operation.plan,
            name: operation.name.map(Into::into),
            variables: IdleVariables::new(operation.variables),
        }
    }

    /// The operation, to execute it.
    pub(crate) fn operation(&self) -> Operation {
        Operation {
            schema: self.schema.clone(),
            document: self.document.clone(),
            plan: self.plan.clone(),
            name: self.name.as_deref().map(str::to_owned),
            variables: self.variables.coerced(),
            once_only: None,
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
    planned: bool,
) -> Result<Coerced> {
    let bytes = request.variables.text().len();
    if bytes <= JSON_BYTES_AT_ONCE {
        let name = request.operation_name.as_deref();
        return coerced_now(prepared, name, &request.variables, &bounds, planned);
    }
    let (prepared, given) = (prepared.clone(), request.variables.clone());
    let name = request.operation_name.clone();
    let read = move || coerced_now(&prepared, name.as_deref(), &given, &bounds, planned);
    offload_if_large(bytes, read).await
}

fn coerced_now(
    prepared: &PreparedQuery,
    name: Option<&str>,
    given: &GivenVariables,
    bounds: &Bounds,
    planned: bool,
) -> Result<Coerced> {
    let selected = select(&prepared.document, name)?;
    let inputs = prepared.schema.types().inputs();
    coerce(
        &selected.variable_definitions,
        given,
        inputs,
        bounds,
        planned,
    )
}
