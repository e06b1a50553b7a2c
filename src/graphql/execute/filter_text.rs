//! Reads a filter outside of a query, from JSON with the form of a variable.

use std::sync::LazyLock;

use async_graphql::parser::types::{BaseType, Type};
use async_graphql::{InputType, Name};
use bytes::Bytes;
use tokio::time::Instant;

use crate::budget::Pool;
use crate::document::filter;
use crate::document::tree::Tree;
use crate::error::{Error, Result};
use crate::graphql::arguments::filter_input::FilterInput;
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::schema::scope::SchemaScope;
use crate::graphql::schema::served_schema::ServedSchema;
use crate::graphql::variables::coerce_value::ValueReader;
use crate::limits::Bounds;

static SCHEMA: LazyLock<ServedSchema> =
    LazyLock::new(|| ServedSchema::of(SchemaScope::Full, &Bounds::DEFAULT));

/// Reads a filter with the form of the argument `where`, from JSON such as `{"at": "$.age", "gte":
/// 18}`.
///
/// # Errors
/// `BAD_USER_INPUT`: the text is not JSON or not a filter. `TOO_COMPLEX`, `TOO_LARGE`: it exceeds a
/// limit.
pub async fn read_filter(json: &str) -> Result<filter::Filter> {
    // Checked before, so that the text contains only one value.
    Tree::from_json(json)?;
    let bounds = Bounds::DEFAULT;
    let ty = Type {
        base: BaseType::Named(Name::new(FilterInput::type_name())),
        nullable: false,
    };
    let text = Bytes::copy_from_slice(json.trim_ascii().as_bytes());
    let value = ValueReader::new(SCHEMA.types(), &bounds)
        .variable(&ty, &text)
        .map_err(|error| error.at("the variable `$where`"))?;
    let filter = FilterInput::parse(Some(value)).map_err(|error| {
        let error = error.into_server_error(async_graphql::Pos::default());
        Error::bad_input(error.message)
    })?;
    let deadline = Instant::now() + bounds.request_time;
    let request_budget = RequestBudget::new(&bounds, &Pool::new(usize::MAX), deadline);
    filter.read(&request_budget).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn filter_texts_are_parsed_like_variables() {
        for json in [
            r#"{"at": "$.age", "gte": 18}"#,
            r#"{"any": [{"at": "$.a", "in": [1, null]}, {"not": {"at": "$.b", "exists": true}}]}"#,
            r#"{"at": "$.big", "eq": 123456789012345678901234567890}"#,
        ] {
            let filter = read_filter(json).await.expect(json);
            assert!(!filter.is_empty(), "{json}");
        }
        assert!(read_filter(" {} ").await.expect("a filter").is_empty());
        for json in [
            "",
            "null",
            "1",
            "[]",
            r#"{} , "x": {}"#,
            "{}}",
            r#"{"at": "$.a", "equals": 1}"#,
            r#"{"at": "a b", "eq": 1}"#,
            r#"{"at": 7, "eq": 1}"#,
        ] {
            let error = read_filter(json).await.expect_err(json);
            assert_eq!(error.kind().code(), "BAD_USER_INPUT", "{json}: {error}");
        }
    }
}
