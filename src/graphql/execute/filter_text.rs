//! Reads a filter outside of a query, from JSON with the form of a variable.

use std::sync::LazyLock;

use async_graphql::parser::types::{BaseType, Type, VariableDefinition};
use async_graphql::{InputType, Name, Positioned};
use bytes::Bytes;
use tokio::time::Instant;

use crate::budget::Pool;
use crate::document::filter;
use crate::document::json::Reader;
use crate::document::tree::Tree;
use crate::error::{Error, Result};
use crate::graphql::arguments::filter_input::FilterInput;
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::request::raw_variables::GivenVariables;
use crate::graphql::schema::scope::SchemaScope;
use crate::graphql::schema::served_schema::ServedSchema;
use crate::graphql::variables::coerce::coerce;
use crate::limits::Bounds;

/// The name of the variable that the text is read as.
const VARIABLE: &str = "where";

static SCHEMA: LazyLock<ServedSchema> =
    LazyLock::new(|| ServedSchema::of(SchemaScope::Full, &Bounds::DEFAULT));

/// Reads a filter with the form of the argument `where`, from JSON such as `{"at": "$.age", "gte":
/// 18}`.
///
/// # Errors
/// `BAD_USER_INPUT`: the text is not JSON or not a filter. `TOO_COMPLEX`, `TOO_LARGE`: it exceeds a
/// limit.
pub async fn read_filter(json: &str) -> Result<filter::Filter> {
    // Checked separately, so that the text contains only one value.
    Tree::from_json(json)?;
    let body = Bytes::from(format!("{{\"{VARIABLE}\":{json}}}"));
    let text = std::str::from_utf8(&body).map_err(|_| Error::bad_input("not valid UTF-8"))?;
    let to_error = |_| Error::bad_input("not JSON");
    let given = GivenVariables::read(&mut Reader::new(text, usize::MAX), &body, &to_error)?;
    let bounds = Bounds::DEFAULT;
    let inputs = SCHEMA.types().inputs();
    let mut variables = coerce(&[definition()], &given, inputs, &bounds)?.values;
    let value = variables.remove(&Name::new(VARIABLE));
    let filter = FilterInput::parse(value).map_err(|error| {
        let error = error.into_server_error(async_graphql::Pos::default());
        Error::bad_input(error.message)
    })?;
    let deadline = Instant::now() + bounds.request_time;
    let request_budget = RequestBudget::new(&bounds, &Pool::new(usize::MAX), deadline);
    filter.read(&request_budget).await
}

/// The definition of the variable, with the input's type and required.
fn definition() -> Positioned<VariableDefinition> {
    let ty = Type {
        base: BaseType::Named(Name::new(FilterInput::type_name())),
        nullable: false,
    };
    let here = |node| Positioned::new(node, async_graphql::Pos::default());
    here(VariableDefinition {
        name: Positioned::new(Name::new(VARIABLE), async_graphql::Pos::default()),
        var_type: Positioned::new(ty, async_graphql::Pos::default()),
        directives: Vec::new(),
        default_value: None,
    })
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
