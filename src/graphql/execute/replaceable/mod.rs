//! What of the service can be replaced while requests run: the schema, which follows the types of
//! collections, and the list of operations.

pub(super) mod shown_schema;

use std::sync::Arc;

use futures::future::BoxFuture;
use shown_schema::on_blocking_thread;
use tokio::time::sleep;

use super::operation::{IdleOperation, Operation, coerced};
use super::planned::permit::plan_permit::lists;
use super::service::{GraphQl, ServiceParts};
use crate::database::CollectionTypes;
use crate::error::{Error, Result};
use crate::graphql::prepare::prepared_query::Refusal;
use crate::graphql::request::body::Request;
use crate::graphql::request::operation_list::OperationList;
use crate::graphql::schema::schema_source::SchemaSource;
use crate::graphql::schema::served_schema::ServedSchema;
use crate::limits::{SCHEMAS_REPLACED_MAX, TYPES_POLL_TIME};
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

    /// Reads the types of the collections. If they have changed, builds a schema that has them, on a
    /// blocking thread, and replaces the current one.
    ///
    /// # Errors
    /// Errors of the store. `INTERNAL`: the types form no schema.
    pub fn refresh_types(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            // Whoever waits here may find that there is nothing left to do.
            let mut served = self.0.served_types.lock().await;
            let found = self.0.database.collection_types(served.version.as_ref());
            let found = found.await?;
            self.drop_replaced().await?;
            let Some(found) = found else {
                return Ok(());
            };
            if self.0.operations.replaced_count() >= SCHEMAS_REPLACED_MAX {
                // The requests that use them have a deadline. The next refresh finds the same change.
                return Ok(());
            }
            log_damaged(&found);
            if !are_same(&served.types, &found.types) {
                let (graphql, types) = (self.clone(), found.types.clone());
                on_blocking_thread(move || graphql.serve_types(&types)).await??;
            }
            *served = found;
            Ok(())
        })
    }

    /// Follows the types that other servers and commands change. Never returns.
    pub fn follow_types(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let mut last_warning = String::new();
            loop {
                sleep(TYPES_POLL_TIME).await;
                if let Err(error) = self.refresh_types().await {
                    // The same error is logged once.
                    let warning = error.to_string();
                    if warning != last_warning {
                        tracing::warn!("the types of collections cannot be followed: {warning}");
                        last_warning = warning;
                    }
                }
            }
        })
    }

    /// Replaces the schema by one with these types.
    fn serve_types(&self, types: &[CollectionType]) -> Result<()> {
        let source = SchemaSource::of(self.0.scope);
        let (source, unnamed) = source.with_collections(types)?;
        for it in unnamed {
            tracing::warn!(
                collection = it.collection,
                "the type of a collection is not in the schema: {}",
                it.error
            );
        }
        self.replace_schema(&source)
    }

    async fn drop_replaced(&self) -> Result<()> {
        if self.0.operations.replaced_count() == 0 {
            return Ok(());
        }
        let graphql = self.clone();
        on_blocking_thread(move || graphql.0.operations.drop_replaced()).await
    }

    /// Replaces the list of operations, which clients can send by id. All of them are prepared, and stay
    /// so. Returns those that are not valid.
    pub async fn list_operations(&self, list: Arc<OperationList>) -> Vec<InvalidOperation> {
        let texts = list.operations().iter();
        let texts: Vec<Arc<str>> = texts.map(|operation| operation.text.clone()).collect();
        let refused = self.0.operations.pin(&texts).await;
        let invalid = list.operations().iter().filter_map(|operation| {
            let refusal = refused.get(&operation.text)?;
            Some(InvalidOperation {
                id: operation.id.to_string(),
                reason: reason(refusal),
            })
        });
        let invalid = invalid.collect();
        self.0.persisted.list(list);
        invalid
    }
}

impl ServiceParts {
    /// A subscription between two executions. It does not keep its schema in memory.
    pub(super) fn idle(&self, operation: Operation) -> IdleOperation {
        let prepared = operation
            .prepared
            .with_schema(self.operations.fixed_schema());
        IdleOperation::new(Operation {
            prepared,
            ..operation
        })
    }

    /// The schema that the sender of an operation may know: with the types of those collections of which the
    /// rules allow to find and to read all documents. Operations that do not show the schema get their own.
    ///
    /// # Errors
    /// `INTERNAL`: the types form no schema.
    pub(super) async fn known_schema(&self, operation: &Operation) -> Result<Arc<ServedSchema>> {
        let schema = &operation.prepared.schema;
        if !operation.plan.shows_schema() {
            return Ok(schema.clone());
        }
        self.schema_known_with(schema, &operation.rights).await
    }

    /// The part of a schema that a sender with these rights may know, as [`Self::known_schema`].
    ///
    /// # Errors
    /// `INTERNAL`: the types form no schema.
    pub(super) async fn schema_known_with(
        &self,
        schema: &Arc<ServedSchema>,
        rights: &RequestRights,
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
        // Boxed, because it is rare.
        let server = (self.scope, self.bounds);
        Box::pin(self.partial_schemas.with(known, &self.served_types, server)).await
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
        let known = match self.schema_known_with(&schema, rights).await {
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

fn log_damaged(found: &CollectionTypes) {
    for (collection, error) in &found.damaged {
        tracing::error!(
            collection,
            "a type is damaged, and not in the schema: {error}"
        );
    }
}

/// Whether both have the same schemas. The state of a check changes the version, too.
fn are_same(before: &[CollectionType], now: &[CollectionType]) -> bool {
    let is_same = |(before, now): (&CollectionType, &CollectionType)| {
        before.collection() == now.collection() && before.text() == now.text()
    };
    before.len() == now.len() && before.iter().zip(now).all(is_same)
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
