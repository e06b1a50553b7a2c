//! What logs, metrics and traces record about a request.

use std::sync::Arc;

use async_graphql::ServerError;
use async_graphql::parser::types::OperationType;

use crate::error::{Error, ErrorKind};
use crate::store::Operations;

/// The outcome of a request. It contains no data from variables or documents.
#[derive(Debug, Default)]
pub struct RequestStats {
    /// `query` or `mutation`. None if the request was rejected before this was known.
    pub ty: Option<&'static str>,
    /// The name of the operation, if it has one. It comes from a valid document, so it is a GraphQL
    /// name.
    pub operation: Option<String>,
    /// The kind of the first error, if any.
    pub error: Option<ErrorKind>,
    /// Whether the prepared query was in the cache. None if the text is unknown.
    pub parsed_before: Option<bool>,
    /// Whether the text was found by its id. None if the client sent the text.
    pub found_by_id: Option<bool>,
    /// The operations on the store.
    pub store: Arc<Operations>,
}

impl RequestStats {
    /// Records the first error of the response.
    pub(crate) fn note(&mut self, errors: &[ServerError]) {
        self.error = errors.first().map(|error| {
            let ours: Option<&Error> = error.source();
            ours.map_or(ErrorKind::BadUserInput, Error::kind)
        });
    }
}

/// The keyword of an operation type in the text of a query.
pub(crate) fn type_name(ty: OperationType) -> &'static str {
    match ty {
        OperationType::Query => "query",
        OperationType::Mutation => "mutation",
        OperationType::Subscription => "subscription",
    }
}
