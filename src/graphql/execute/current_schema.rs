//! The schema that the service has, and what it executes.

use std::sync::Arc;

use async_graphql::{Request, Response};

use super::operation::Operation;
use super::service::{GraphQl, ServiceParts};
use crate::graphql::prepare::introspection::only_introspects;
use crate::graphql::prepare::prepared_query::select;
use crate::graphql::schema::built::served::ServedSchema;
use crate::graphql::schema::resolvers::PhylloSchema;

impl GraphQl {
    /// The text of the schema.
    pub fn schema_text(&self) -> Arc<str> {
        self.0.operations.schema().text().clone()
    }
}

/// What executes a query that has no plan.
pub(super) enum UnplannedExecutor<'s> {
    /// The schema, which answers introspection.
    Schema(&'s ServedSchema),
    /// The resolvers, for introspection beside other fields.
    Resolvers(&'s PhylloSchema),
}

impl UnplannedExecutor<'_> {
    pub(super) async fn execute(&self, request: Request) -> Response {
        match self {
            Self::Schema(schema) => schema.introspect(request).await,
            Self::Resolvers(resolvers) => resolvers.execute(request).await,
        }
    }
}

impl ServiceParts {
    /// What executes this query, which has no plan.
    pub(super) fn executor_of(&self, operation: &Operation) -> UnplannedExecutor<'_> {
        let selected = select(&operation.document, operation.name.as_deref());
        match selected {
            Ok(selected) if only_introspects(&operation.document, selected) => {
                UnplannedExecutor::Schema(self.operations.schema())
            }
            _ => UnplannedExecutor::Resolvers(&self.resolvers),
        }
    }
}
