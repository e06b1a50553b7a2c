//! Reads GraphQL requests from HTTP bodies and query parameters.

use std::sync::Arc;

use bytes::Bytes;
use tokio::time::Instant;

use super::condition::WriteCondition;
use super::query_id::{QueryHash, QueryId, persisted_query};
use super::raw_variables::GivenVariables;
use crate::document::flatten::json_error;
use crate::document::json::{self, Event, JsonError, Problem, Reader};
use crate::document::leaf::abridged;
use crate::error::{Error, Limit, Result};
use crate::limits::JSON_BYTES_AT_ONCE;
use crate::rights::Principal;

/// A GraphQL request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The text of the query; empty if the client sent only its id.
    pub query: String,
    /// The id of the query, for persisted queries.
    pub query_id: Option<QueryId>,
    /// The name of the operation to execute.
    pub operation_name: Option<String>,
    /// The variables.
    pub variables: GivenVariables,
    /// The idempotency key: a mutation takes effect once, however often it is sent with this key.
    pub idempotency_key: Option<String>,
    /// The sender. Matters only if there are access rules.
    pub principal: Principal,
    /// What must be stored at the place of a mutation before it. Its response then reports whether
    /// something was.
    pub condition: Option<Arc<WriteCondition>>,
    /// The remaining limits of its batch; none if the request is not in a batch.
    pub left: Option<Left>,
}

/// The limits that a batch leaves for its next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// The deadline of the batch.
    pub deadline: Instant,
    /// The maximum size of the response, in bytes.
    pub response_bytes: usize,
}

/// The body of a POST request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Posted {
    /// One request.
    One(Request),
    /// A JSON array of one or more requests.
    Batch(Vec<Request>),
}

impl Posted {
    /// Reads the JSON body of a POST request. A batch may have up to `batch_max` requests; without
    /// `batch_max`, batches are rejected.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the body is not JSON, does not have the form that GraphQL over HTTP
    /// specifies, or is a batch where none is allowed. `TOO_COMPLEX`: the batch has too many
    /// requests.
    pub fn from_json(body: &Bytes, batch_max: Option<usize>) -> Result<Self> {
        let text = utf8(body)?;
        let in_body = |error| json_error(&error, text).at("the body");
        check_end(text).map_err(in_body)?;
        let mut reader = Reader::new(text, usize::MAX);
        if reader.peek_value() != Some(b'[') {
            return Request::from_json(body).map(Self::One);
        }
        let batch_max = batch_max.ok_or_else(|| {
            Error::bad_input("batches of requests are not supported: send one object")
        })?;
        reader.next().map_err(in_body)?;
        let mut requests = Vec::new();
        while let Some(element) = reader.next_element().map_err(in_body)? {
            if requests.len() == batch_max {
                return Err(Error::too_complex(
                    Limit::new("batchRequests", batch_max),
                    format!("more than {batch_max} requests in a batch, which is the limit"),
                ));
            }
            let at = |error: Error| error.at(format!("request {} of the batch", requests.len()));
            let request = Request::from_json(&body.slice_ref(element.as_bytes())).map_err(at)?;
            requests.push(request);
        }
        if reader.next().map_err(in_body)? != Event::End {
            return Err(Error::bad_input("the body has text after its JSON array"));
        }
        if requests.is_empty() {
            return Err(Error::bad_input("the batch has no request"));
        }
        Ok(Self::Batch(requests))
    }
}

impl Request {
    /// Reads a request from a JSON object.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the body is not JSON, or does not have the form that GraphQL over HTTP
    /// specifies. `TOO_COMPLEX`: it has too many variables. `TOO_LARGE`: its extensions or its
    /// `documentId` are too large.
    pub fn from_json(body: &Bytes) -> Result<Self> {
        let text = utf8(body)?;
        let in_body = |error| json_error(&error, text).at("the body");
        // Nesting is bounded only by the size of the body: nothing here recurses, and limits on
        // variables are checked where they are coerced.
        let mut reader = Reader::new(text, usize::MAX);
        if reader.next().map_err(in_body)? != Event::BeginObject {
            return Err(Error::bad_input("the body is not a JSON object"));
        }
        let mut request = Self::default();
        let (mut query, mut name, mut extensions, mut id) = ("null", "null", "null", "null");
        while let Event::Name(member) = reader.next().map_err(in_body)? {
            if member == "variables" {
                request.variables = variables(&mut reader, body, &in_body)?;
                continue;
            }
            let value = reader.skip_value().map_err(in_body)?;
            match &*member {
                "query" => query = value,
                "operationName" => name = value,
                "documentId" => id = value,
                "extensions" => extensions = value,
                _ => {}
            }
        }
        if reader.next().map_err(in_body)? != Event::End {
            return Err(Error::bad_input("the body has text after its JSON object"));
        }
        request.operation_name = string("operationName", name)?;
        let id = string("documentId", id)?;
        request.query_id = QueryId::of_request(id.as_deref(), hash(extensions)?)?;
        request.with_query(string("query", query)?)
    }

    /// A request with the text of its variables, a JSON object.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the variables are not JSON. `TOO_COMPLEX`: there are too many.
    pub fn with_variables(query: &str, variables: &Bytes) -> Result<Self> {
        let text = utf8(variables)?;
        let to_error = |error| json_error(&error, text).at("the variables");
        let mut reader = Reader::new(text, usize::MAX);
        Ok(Self {
            query: query.to_owned(),
            variables: GivenVariables::read(&mut reader, variables, &to_error)?,
            ..Self::default()
        })
    }

    /// Reads the parameters of a GET request.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the query is missing, or the variables or extensions are not a JSON
    /// object. `TOO_COMPLEX`: there are too many variables. `TOO_LARGE`: the extensions or
    /// `documentId` are too large.
    pub fn from_parameters(parameters: &str) -> Result<Self> {
        let mut request = Self::default();
        let (mut query, mut id, mut query_hash) = (None, None, None);
        for (name, value) in form_urlencoded::parse(parameters.as_bytes()) {
            match name.as_ref() {
                "query" => query = Some(value.into_owned()),
                "operationName" if !value.is_empty() => {
                    request.operation_name = Some(value.into_owned());
                }
                "variables" if !value.is_empty() => {
                    let text = Bytes::from(value.into_owned());
                    request.variables = parameter("variables", &text, |reader, to_error| {
                        variables(reader, &text, to_error)
                    })?;
                }
                "documentId" if !value.is_empty() => id = Some(value),
                "extensions" if !value.is_empty() => {
                    let text = Bytes::from(value.into_owned());
                    query_hash = parameter("extensions", &text, |reader, to_error| {
                        hash(reader.skip_value().map_err(to_error)?)
                    })?;
                }
                _ => {}
            }
        }
        request.query_id = QueryId::of_request(id.as_deref(), query_hash)?;
        request.with_query(query)
    }

    /// Sets the query. Fails if the client sent neither the text nor the id.
    fn with_query(mut self, query: Option<String>) -> Result<Self> {
        if query.is_none() && self.query_id.is_none() {
            return Err(Error::bad_input(
                "`query` is missing; it must be the text of a GraphQL query",
            ));
        }
        self.query = query.unwrap_or_default();
        Ok(self)
    }
}

fn utf8(body: &Bytes) -> Result<&str> {
    json::utf8(body).map_err(|error| Error::bad_input(format!("the body is not UTF-8: {error}")))
}

fn string(name: &str, value: &str) -> Result<Option<String>> {
    match Reader::new(value, 0).next() {
        Ok(Event::String(text)) => Ok(Some(text.into_owned())),
        Ok(Event::Null) => Ok(None),
        _ => Err(Error::bad_input(format!(
            "`{name}` is {}, and must be a string",
            abridged(value)
        ))),
    }
}

/// Rejects a large body that is truncated, without reading all of it.
fn check_end(text: &str) -> Result<(), JsonError> {
    const LOOKED_AT: usize = 1 << 10;
    let looked_at = &text.as_bytes()[text.len().saturating_sub(LOOKED_AT)..];
    match looked_at.trim_ascii_end() {
        _ if text.len() <= JSON_BYTES_AT_ONCE => Ok(()),
        [] | [.., b'}' | b']'] => Ok(()),
        cut => Err(JsonError {
            offset: text.len() - looked_at.len() + cut.len(),
            problem: Problem::Expected("'}' or ']' at the end"),
        }),
    }
}

/// Reads the variables, which are next. The reader's text must be all of `body`.
fn variables(
    reader: &mut Reader<'_>,
    body: &Bytes,
    to_error: &dyn Fn(JsonError) -> Error,
) -> Result<GivenVariables> {
    if reader.peek_value() == Some(b'{') {
        return GivenVariables::read(reader, body, to_error);
    }
    object("variables", reader.skip_value().map_err(to_error)?)?;
    Ok(GivenVariables::default())
}

/// The hash in the JSON text of the extensions.
fn hash(extensions: &str) -> Result<Option<QueryHash>> {
    persisted_query(object("extensions", extensions)?.as_bytes())
}

/// The text of an object; empty for null.
fn object<'t>(name: &str, value: &'t str) -> Result<&'t str> {
    match value.as_bytes().first() {
        Some(b'{') => Ok(value),
        Some(b'n') => Ok(""),
        _ => Err(Error::bad_input(format!(
            "`{name}` is {}, and must be an object",
            abridged(value)
        ))),
    }
}

/// Reads a parameter of a GET request, which is one JSON value.
fn parameter<T>(
    name: &str,
    text: &Bytes,
    read: impl FnOnce(&mut Reader<'_>, &dyn Fn(JsonError) -> Error) -> Result<T>,
) -> Result<T> {
    let text = utf8(text)?;
    let to_error = |error| json_error(&error, text).at(format!("`{name}`"));
    let mut reader = Reader::new(text, usize::MAX);
    let value = read(&mut reader, &to_error)?;
    reader.next().map_err(to_error)?;
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::limits::EXTENSIONS_BYTES_MAX;

    fn read(body: &str) -> Result<Request> {
        Request::from_json(&Bytes::copy_from_slice(body.as_bytes()))
    }

    #[test]
    fn truncated_large_bodies_are_rejected_at_their_end() {
        let large = format!("{{\"variables\":[{}", "{\"a\":[1]},".repeat(30_000));
        for end in ["", " \r\n"] {
            let body = Bytes::from(format!("{large}{end}"));
            let error = Posted::from_json(&body, None).expect_err("it is cut off");
            let expected = format!(
                "expected '}}' or ']' at the end at line 1, column {}",
                large.len() + 1
            );
            assert!(error.message().ends_with(&expected), "{error}");
        }
        // A small body, or a large one with a valid end, is read up to its first error.
        for (body, column) in [
            (&large[..34], 35),
            (&format!("{large}]}}"), large.len() + 1),
        ] {
            let body = Bytes::copy_from_slice(body.as_bytes());
            let error = Posted::from_json(&body, None).expect_err("it is no JSON");
            let expected = format!("expected a JSON value at line 1, column {column}");
            assert!(error.message().ends_with(&expected), "{error}");
        }
        let spaces = " ".repeat(JSON_BYTES_AT_ONCE);
        assert!(Posted::from_json(&format!("{{\"query\":\"\"}}{spaces}").into(), None).is_ok());
        assert!(Posted::from_json(&spaces.into(), None).is_err());
    }

    #[test]
    fn the_last_member_of_a_name_wins() {
        let body = r#"{"query":1,"operationName":"A","variables":{"a":1},"extensions":[],
            "variables":{"b":[{}, 2]},"query":"{ a }","extensions":{},"operationName":null}"#;
        let request = read(body).expect("a request");
        assert_eq!((&*request.query, &request.operation_name), ("{ a }", &None));
        assert_eq!(request.variables.text(), r#"{"b":[{}, 2]}"#);
        let variables: Vec<_> = request.variables.iter().collect();
        assert_eq!(variables, [(&b"b"[..], &Bytes::from_static(b"[{}, 2]"))]);
    }

    #[test]
    fn extensions_are_read_up_to_their_limit() {
        let with = |bytes: usize| {
            let others = "x".repeat(bytes - r#"{"a":""}"#.len());
            read(&format!(
                r#"{{"query":"{{ a }}","extensions":{{"a":"{others}"}}}}"#
            ))
        };
        assert_eq!(
            with(EXTENSIONS_BYTES_MAX).expect("a request").query_id,
            None
        );
        let error = with(EXTENSIONS_BYTES_MAX + 1).expect_err("they are too large");
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        assert!(error.message().contains("16384 bytes"), "{error}");
    }
}
