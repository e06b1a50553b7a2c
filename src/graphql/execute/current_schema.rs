//! The schema that the service has.

use std::sync::Arc;

use super::service::GraphQl;
use crate::error::Result;
use crate::graphql::schema::schema_source::SchemaSource;
use crate::graphql::schema::served_schema::ServedSchema;

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
