//! What is told about a request to those who watch the server.

use std::sync::Arc;

use async_graphql::ServerError;
use async_graphql::parser::types::OperationType;

use crate::error::{Error, ErrorKind};
use crate::store::Operations;

/// What became of a request. Nothing of its variables or of a document is in it.
#[derive(Debug, Default)]
pub struct RequestStats {
    /// `query` or `mutation`; none if it was refused before that was known.
    pub ty: Option<&'static str>,
    /// The name of its operation, if it has one: of a valid document, so it is a GraphQL name.
    pub operation: Option<String>,
    /// The kind of its first error; none if it has none.
    pub error: Option<ErrorKind>,
    /// Whether its text was found parsed and validated; none if it came to no text.
    pub parsed_before: Option<bool>,
    /// Whether the text was found by its hash; none if the text was sent.
    pub found_by_hash: Option<bool>,
    /// Whether it was executed from a plan.
    pub planned: bool,
    /// What was asked of the store.
    pub store: Arc<Operations>,
}

impl RequestStats {
    /// Notes the error that is told first.
    pub(crate) fn note(&mut self, errors: &[ServerError]) {
        self.error = errors.first().map(|error| {
            let ours: Option<&Error> = error.source();
            ours.map_or(ErrorKind::BadUserInput, Error::kind)
        });
    }
}

/// The type of an operation as a query's text has it.
pub(crate) fn type_name(ty: OperationType) -> &'static str {
    match ty {
        OperationType::Query => "query",
        OperationType::Mutation => "mutation",
        OperationType::Subscription => "subscription",
    }
}
