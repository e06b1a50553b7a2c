//! What the response to an operation says about a part of a document.

use axum::body::Bytes;
use serde_json::Value;

use super::problem::Problem;
use crate::budget::offload_if_large;
use crate::document::json::{Event, JsonError, Reader, utf8};
use crate::error::{Error, Result};
use crate::graphql::GraphQlResponse;

/// The selected fields of a part. Fields that are not selected, or null, are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PartAnswer {
    /// Whether the root field is not null.
    pub(crate) is_there: bool,
    pub(crate) version: Option<String>,
    pub(crate) kind: Option<String>,
    /// The JSON text of the value, which can be `null`.
    pub(crate) value: Option<Bytes>,
    pub(crate) deleted: Option<bool>,
    /// Whether something was stored at the place before a mutation, if that is known.
    pub(crate) existed: Option<bool>,
}

/// Reads the response to an operation with one root field.
///
/// # Errors
/// The error of the operation.
pub(crate) async fn answer(response: GraphQlResponse) -> Result<PartAnswer, Problem> {
    let (GraphQlResponse::Executed(json)
    | GraphQlResponse::Refused(json)
    | GraphQlResponse::MutationRefused(json)
    | GraphQlResponse::Forbidden(json)) = response;
    let json = Bytes::from(json);
    let read = offload_if_large(json.len(), move || Ok(read(&json))).await;
    read.unwrap_or_else(|error| Err(Problem::of(&error)))
}

fn read(json: &Bytes) -> Result<PartAnswer, Problem> {
    let defect = |what: &str| Problem::of(&Error::internal(format!("a response {what}")));
    let text = utf8(json).map_err(|_| defect("is not UTF-8"))?;
    let (answer, errors) = members(text, json).map_err(|_| defect("is not JSON"))?;
    match errors {
        None => Ok(answer),
        Some(errors) => {
            let errors: Value =
                serde_json::from_str(errors).map_err(|_| defect("has malformed errors"))?;
            Err(Problem::first_of(&errors))
        }
    }
}

fn members<'t>(text: &'t str, json: &Bytes) -> Result<(PartAnswer, Option<&'t str>), JsonError> {
    let (mut answer, mut errors) = (PartAnswer::default(), None);
    let mut reader = Reader::new(text, usize::MAX);
    reader.next()?;
    while let Event::Name(name) = reader.next()? {
        match &*name {
            "data" => data(&mut reader, &mut answer, json)?,
            "errors" => errors = Some(reader.skip_value()?),
            "extensions" => {
                if reader.next()? == Event::BeginObject {
                    while let Some((name, value)) = reader.next_member()? {
                        if name == "existed" {
                            answer.existed = Some(value == "true");
                        }
                    }
                }
            }
            _ => {
                reader.skip_value()?;
            }
        }
    }
    Ok((answer, errors))
}

fn data(reader: &mut Reader<'_>, answer: &mut PartAnswer, json: &Bytes) -> Result<(), JsonError> {
    if reader.next()? != Event::BeginObject {
        return Ok(());
    }
    while let Event::Name(_) = reader.next()? {
        if reader.next()? != Event::BeginObject {
            continue;
        }
        answer.is_there = true;
        while let Some((name, value)) = reader.next_member()? {
            let unquoted = || Some(value.trim_matches('"').to_owned());
            match &*name {
                "version" if value != "null" => answer.version = unquoted(),
                "kind" => answer.kind = unquoted(),
                "value" => answer.value = Some(json.slice_ref(value.as_bytes())),
                "deleted" => answer.deleted = Some(value == "true"),
                _ => {}
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn answered(json: &str) -> Result<PartAnswer, Problem> {
        answer(GraphQlResponse::Executed(json.as_bytes().to_vec())).await
    }

    #[tokio::test]
    async fn the_fields_of_a_part_are_found() {
        let json = r#"{"data":{"document":{"version":"1a","kind":"OBJECT","value":{"a":[1]}}},"extensions":{"existed":false}}"#;
        let found = answered(json).await.expect("no error");
        let expected = PartAnswer {
            is_there: true,
            version: Some("1a".to_owned()),
            kind: Some("OBJECT".to_owned()),
            value: Some(Bytes::from_static(b"{\"a\":[1]}")),
            deleted: None,
            existed: Some(false),
        };
        assert_eq!(found, expected);
        let absent = answered(r#"{"data":{"document":null},"extensions":{"hints":[]}}"#).await;
        assert_eq!(absent.expect("no error"), PartAnswer::default());
    }

    #[tokio::test]
    async fn the_first_error_is_the_problem() {
        let json = r#"{"data":null,"errors":[{"message":"no","extensions":{"code":"NOT_FOUND","place":"/a"}}]}"#;
        let problem = answered(json).await.expect_err("an error");
        let expected = serde_json::json!({
            "type": "about:blank", "title": "Not Found", "status": 404,
            "detail": "no", "code": "NOT_FOUND", "place": "/a",
        });
        assert_eq!(problem.members(), expected);
    }
}
