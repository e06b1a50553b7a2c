//! The schema that the service has, and what it executes.

use std::sync::Arc;

use async_graphql::parser::types::{
    ExecutableDocument, OperationDefinition, OperationType, Selection, SelectionSet,
};
use async_graphql::{Request, Response};

use super::operation::Operation;
use super::service::{GraphQl, ServiceParts};
use crate::error::Result;
use crate::graphql::prepare::prepared_query::select;
use crate::graphql::schema::built::served::ServedSchema;
use crate::graphql::schema::built::source::SchemaSource;
use crate::graphql::schema::resolvers::PhylloSchema;

impl GraphQl {
    /// The text of the current schema.
    pub fn schema_text(&self) -> Arc<str> {
        self.0.operations.schema().text().clone()
    }

    /// Replaces the schema. Requests and subscriptions that have begun keep the previous one.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the types do not form a schema.
    pub fn replace_schema(&self, source: &SchemaSource) -> Result<()> {
        let schema = ServedSchema::new(source, self.bounds())?;
        self.0.operations.replace_schema(schema);
        Ok(())
    }
}

/// What executes a query that has no plan.
pub(super) enum UnplannedExecutor<'s> {
    /// The schema, which answers introspection.
    Schema(Arc<ServedSchema>),
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
                UnplannedExecutor::Schema(operation.schema.clone())
            }
            _ => UnplannedExecutor::Resolvers(&self.resolvers),
        }
    }
}

/// Whether an operation of a valid document is a query that selects nothing but introspection. The
/// recursion is bounded by the limit on the levels of the document.
fn only_introspects(document: &ExecutableDocument, operation: &OperationDefinition) -> bool {
    operation.ty == OperationType::Query
        && are_introspection(document, &operation.selection_set.node)
}

fn are_introspection(document: &ExecutableDocument, selections: &SelectionSet) -> bool {
    let mut selections = selections.items.iter();
    selections.all(|selection| match &selection.node {
        Selection::Field(field) => field.node.name.node.starts_with("__"),
        Selection::InlineFragment(inline) => {
            are_introspection(document, &inline.node.selection_set.node)
        }
        Selection::FragmentSpread(spread) => {
            let fragment = document.fragments.get(&spread.node.fragment_name.node);
            fragment.is_some_and(|fragment| {
                are_introspection(document, &fragment.node.selection_set.node)
            })
        }
    })
}
