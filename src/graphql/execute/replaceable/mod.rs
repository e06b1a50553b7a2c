//! What of the service can be replaced while requests run: the schema, which follows the types of
//! collections, and the list of operations.

mod servable_types;
pub(super) mod served_types;
pub(super) mod shown_schema;
mod type_refresh;

use std::sync::Arc;

use servable_types::{Servable, servable};

use super::allowed::Allowed;
use super::operation::{IdleOperation, Operation, coerced};
use super::planned::PlanArguments;
use super::planned::permit::apply_rules::lists;
use super::service::{GraphQl, ServiceParts};
use crate::budget::{Budget, Share};
use crate::error::{Error, Result};
use crate::graphql::prepare::plan::Field;
use crate::graphql::prepare::prepared_query::Refusal;
use crate::graphql::request::body::Request;
use crate::graphql::request::operation_list::OperationList;
use crate::graphql::schema::schema_source::SchemaSource;
use crate::graphql::schema::served_schema::ServedSchema;
use crate::rights::RequestRights;
use crate::types::CollectionType;

/// An operation of a list that is rejected whenever it is requested.
#[derive(Debug)]
pub struct InvalidOperation {
    /// The id in the list.
    pub id: String,
    /// Why it is rejected.
    pub reason: String,
}

impl GraphQl {
    /// The text of the current schema. If there are access rules, it is without the types of collections,
    /// because not everybody may know them.
    pub fn schema_text(&self) -> Arc<str> {
        if self.0.rules.is_some() {
            return self.0.operations.fixed_schema().text().clone();
        }
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

    /// Replaces the schema by one with these types.
    fn serve_types(&self, types: &[CollectionType]) -> Result<()> {
        let types: Vec<&CollectionType> = types.iter().collect();
        let Servable { built, left_out } = servable(&types, |types| {
            let source = SchemaSource::of(self.0.scope);
            let (source, unnamed) = source.with_collections(types.iter().copied())?;
            Ok((ServedSchema::new(&source, self.bounds())?, unnamed))
        })?;
        let (schema, unnamed) = built;
        let unnamed = unnamed.iter().map(|it| (&*it.collection, &it.error));
        let left_out = left_out.iter().map(|(ty, error)| (ty.collection(), error));
        for (collection, error) in unnamed.chain(left_out) {
            tracing::warn!(
                collection,
                "the type of a collection is not in the schema: {error}"
            );
        }
        self.0.operations.replace_schema(schema);
        Ok(())
    }

    /// Replaces the list of operations, which clients can send by id. All of them are prepared, and stay
    /// so. Returns those that are not valid.
    pub async fn list_operations(&self, list: Arc<OperationList>) -> Vec<InvalidOperation> {
        let texts: Vec<Arc<str>> = list
            .operations()
            .iter()
            .map(|operation| operation.text.clone())
            .collect();
        let refused = self.0.operations.pin(&texts).await;
        let invalid = list
            .operations()
            .iter()
            .filter_map(|operation| {
                let refusal = refused.get(&operation.text)?;
                Some(InvalidOperation {
                    id: operation.id.to_string(),
                    reason: reason(refusal),
                })
            })
            .collect();
        self.0.persisted.list(list);
        invalid
    }
}

impl ServiceParts {
    /// A subscription between two executions. It does not keep its schema in memory. It counts as `memory`
    /// from now on.
    ///
    /// # Errors
    /// `UNAVAILABLE`: all requests together hold too much.
    pub(super) fn idle(&self, operation: Operation, memory: Share) -> Result<IdleOperation> {
        let prepared = operation
            .prepared
            .with_schema(self.operations.fixed_schema());
        let operation = Operation {
            prepared,
            ..operation
        };
        IdleOperation::new(operation, memory)
    }

    /// The schema that the sender of an operation may know: with the types of those collections of which the
    /// rules allow to find and to read all documents. Operations that do not show the schema get their own.
    ///
    /// # Errors
    /// `INTERNAL`: the types form no schema. `TIMEOUT`: there is none at the deadline.
    pub(super) async fn known_schema(
        &self,
        operation: &Operation,
        budget: &Budget,
    ) -> Result<Arc<ServedSchema>> {
        let schema = &operation.prepared.schema;
        if !shows_schema(operation) {
            return Ok(schema.clone());
        }
        self.schema_known_with(schema, &operation.rights, budget)
            .await
    }

    /// The part of a schema that a sender with these rights may know, as [`Self::known_schema`].
    ///
    /// # Errors
    /// As [`Self::known_schema`].
    pub(super) async fn schema_known_with(
        &self,
        schema: &Arc<ServedSchema>,
        rights: &RequestRights,
        budget: &Budget,
    ) -> Result<Arc<ServedSchema>> {
        let (known, hidden): (Vec<&str>, Vec<&str>) = schema
            .types()
            .collections()
            .partition(|collection| lists(rights, collection));
        if hidden.is_empty() {
            return Ok(schema.clone());
        }
        if known.is_empty() {
            return Ok(self.operations.fixed_schema().clone());
        }
        let mut known: Vec<String> = known.into_iter().map(str::to_owned).collect();
        known.sort_unstable();
        let server = (self.scope, self.bounds);
        let served = self.served_types.current();
        let partial = self.partial_schemas.with(known, &served, server, budget);
        // Boxed, because it is rare.
        Box::pin(partial).await
    }

    /// The refusal of a request whose text or variables are not valid. Requests are validated before the access
    /// rules are applied, and the errors name types and members. If the rules hide types of the schema from the
    /// sender, the refusal is the one for the schema without them.
    pub(super) async fn known_refusal(
        &self,
        refusal: Refusal,
        request: &Request,
        rights: &RequestRights,
    ) -> Refusal {
        if rights.rules_in_force().is_none() {
            return refusal;
        }
        let schema = self.operations.schema();
        let budget = self.request_budget(Allowed::of(request, &self.bounds));
        let known = match self
            .schema_known_with(&schema, rights, budget.budget())
            .await
        {
            Ok(known) => known,
            Err(error) => return error.into(),
        };
        if Arc::ptr_eq(&known, &schema) {
            return refusal;
        }
        let prepared = match self.operations.prepare_for(&request.query, known).await {
            Ok(prepared) => prepared,
            Err(refusal) => return refusal,
        };
        let coerced = coerced(&prepared, request, self.bounds).await;
        let error = coerced.err();
        // The schema may have changed in between.
        let error = error.unwrap_or_else(|| Error::bad_input("the request is not valid"));
        error.into()
    }
}

/// Whether the response has a part of the schema: introspection, or the text for gateways.
fn shows_schema(operation: &Operation) -> bool {
    let mut included = PlanArguments(&operation.variables).included(&operation.plan.root);
    included.any(|it| matches!(it.field, Field::Introspection(_) | Field::Service(_)))
}

fn reason(refusal: &Refusal) -> String {
    let errors = match refusal {
        Refusal::Error(error) => return error.message().to_owned(),
        Refusal::Invalid(errors) => errors,
    };
    let Some(first) = errors.first() else {
        return String::new();
    };
    match first.locations.first() {
        Some(pos) => format!(
            "line {}, column {}: {}",
            pos.line, pos.column, first.message
        ),
        None => first.message.clone(),
    }
}
