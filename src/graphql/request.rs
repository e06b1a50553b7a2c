//! A GraphQL request as HTTP brings it.

use bytes::Bytes;

use crate::document::flatten::json_error;
use crate::document::json::{Event, Reader};
use crate::document::leaf::abridged;
use crate::error::{Error, Result};

/// What a client asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The text of the query.
    pub query: String,
    /// Which of the query's operations to execute.
    pub operation_name: Option<String>,
    /// The JSON text of the variables, an object; empty if none are given.
    pub variables: Bytes,
    /// The key with which a mutation takes effect once, however often it is sent.
    pub idempotency_key: Option<String>,
}

impl Request {
    /// Reads the JSON body of a POST request.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: it is not JSON, or not of the form that GraphQL over HTTP has.
    pub fn from_json(body: &Bytes) -> Result<Self> {
        let text = std::str::from_utf8(body)
            .map_err(|error| Error::bad_input(format!("the body is not UTF-8: {error}")))?;
        let in_body = |error| json_error(&error, text).at("the body");
        // Nesting has no bound here but the body's size: nothing recurses, and what the variables
        // may hold is bounded where they are read.
        let mut reader = Reader::new(text, usize::MAX);
        match reader.next().map_err(in_body)? {
            Event::BeginObject => {}
            Event::BeginArray => {
                return Err(Error::bad_input(
                    "batches of requests are not served: send one object",
                ));
            }
            _ => return Err(Error::bad_input("the body is not a JSON object")),
        }
        let mut request = Self::default();
        let mut query = None;
        while let Some((name, value)) = reader.next_member().map_err(in_body)? {
            match name.as_ref() {
                "query" => query = string("query", value)?,
                "operationName" => request.operation_name = string("operationName", value)?,
                "variables" => request.variables = object("variables", value, body)?,
                "extensions" => drop(object("extensions", value, body)?),
                _ => {}
            }
        }
        if reader.next().map_err(in_body)? != Event::End {
            return Err(Error::bad_input("the body goes on behind its JSON object"));
        }
        request.query = query.ok_or_else(no_query)?;
        Ok(request)
    }

    /// Reads the parameters of a GET request.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: there is no query, or the variables are no JSON object.
    pub fn from_parameters(parameters: &str) -> Result<Self> {
        let mut request = Self::default();
        let mut query = None;
        for (name, value) in form_urlencoded::parse(parameters.as_bytes()) {
            match name.as_ref() {
                "query" => query = Some(value.into_owned()),
                "operationName" if !value.is_empty() => {
                    request.operation_name = Some(value.into_owned());
                }
                "variables" if !value.is_empty() => {
                    request.variables = parameter("variables", value.into_owned())?;
                }
                "extensions" if !value.is_empty() => {
                    parameter("extensions", value.into_owned())?;
                }
                _ => {}
            }
        }
        request.query = query.ok_or_else(no_query)?;
        Ok(request)
    }
}

fn no_query() -> Error {
    Error::bad_input("there is no `query`, which is to be the text of a GraphQL query")
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

fn object(name: &str, value: &str, body: &Bytes) -> Result<Bytes> {
    match value.as_bytes().first() {
        Some(b'{') => Ok(body.slice_ref(value.as_bytes())),
        Some(b'n') => Ok(Bytes::new()),
        _ => Err(Error::bad_input(format!(
            "`{name}` is {}, and must be an object",
            abridged(value)
        ))),
    }
}

fn parameter(name: &str, text: String) -> Result<Bytes> {
    let body = Bytes::from(text);
    let text = std::str::from_utf8(&body).map_err(|_| Error::bad_input("not UTF-8"))?;
    let mut reader = Reader::new(text, usize::MAX);
    let value = reader
        .skip_value()
        .and_then(|value| reader.next().map(|_| value));
    let value = value.map_err(|error| json_error(&error, text).at(format!("`{name}`")))?;
    object(name, value, &body)
}
