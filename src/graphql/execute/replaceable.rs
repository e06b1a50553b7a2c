//! What of the service can be replaced while requests run: the schema and the list of operations.

use std::sync::Arc;

use super::service::GraphQl;
use crate::error::Result;
use crate::graphql::prepare::prepared_query::Refusal;
use crate::graphql::request::operation_list::OperationList;
use crate::graphql::schema::schema_source::SchemaSource;
use crate::graphql::schema::served_schema::ServedSchema;

/// An operation of a list that is rejected whenever it is requested.
#[derive(Debug)]
pub struct InvalidOperation {
    /// The id in the list.
    pub id: String,
    /// Why it is rejected.
    pub reason: String,
}

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
