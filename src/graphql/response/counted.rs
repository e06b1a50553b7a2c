//! Values whose size clients control: the budget counts their bytes when they are resolved.

use std::borrow::Cow;

use async_graphql::parser::types::Field;
use async_graphql::registry::Registry;
use async_graphql::{ContextSelectionSet, OutputType, Positioned, ServerResult, Value};

use super::write::server_error;
use crate::graphql::context::session::Session;

/// A value whose bytes count towards the response each time it is selected.
#[derive(Clone, Debug)]
pub(crate) struct CountedBytes<T>(pub(crate) T);

impl<T: OutputType> OutputType for CountedBytes<T> {
    fn type_name() -> Cow<'static, str> {
        T::type_name()
    }

    fn create_type_info(registry: &mut Registry) -> String {
        T::create_type_info(registry)
    }

    async fn resolve(
        &self,
        context: &ContextSelectionSet<'_>,
        field: &Positioned<Field>,
    ) -> ServerResult<Value> {
        let value = self.0.resolve(context, field).await?;
        let session = context.data_unchecked::<Session>();
        let counted = session.request_budget().carry(bytes(&value));
        counted.map_err(|error| server_error(&error))?;
        Ok(value)
    }
}

/// The approximate size of a value in JSON, in bytes.
fn bytes(value: &Value) -> usize {
    const PUNCTUATION: usize = 3;
    let inner = match value {
        Value::String(text) => text.len(),
        Value::Binary(json) => json.len(),
        Value::List(elements) => elements.iter().map(bytes).sum(),
        _ => 8,
    };
    inner + PUNCTUATION
}
