//! A GraphQL request as HTTP brings it.

use bytes::Bytes;

use super::given::GivenVariables;
use super::persisted::{QueryHash, persisted_query};
use crate::document::flatten::json_error;
use crate::document::json::{self, Event, JsonError, Reader};
use crate::document::leaf::abridged;
use crate::error::{Error, ErrorKind, Result};

/// What a client asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// The text of the query; empty if only its hash was sent.
    pub query: String,
    /// The hash by which the client wants the query to be known.
    pub query_hash: Option<QueryHash>,
    /// Which of the query's operations to execute.
    pub operation_name: Option<String>,
    /// The variables.
    pub variables: GivenVariables,
    /// The key with which a mutation takes effect once, however often it is sent.
    pub idempotency_key: Option<String>,
}

/// What the body of a POST request holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Posted {
    /// One request.
    One(Request),
    /// A JSON array of requests, one or more.
    Batch(Vec<Request>),
}

impl Posted {
    /// Reads the JSON body of a POST request, in which there may be a batch of so many requests.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: it is not JSON, or not of the form that GraphQL over HTTP has, or a batch
    /// where none is allowed. `TOO_COMPLEX`: the batch has too many requests.
    pub fn from_json(body: &Bytes, batch_max: Option<usize>) -> Result<Self> {
        let text = utf8(body)?;
        let in_body = |error| json_error(&error, text).at("the body");
        let mut reader = Reader::new(text, usize::MAX);
        if reader.peek_value() != Some(b'[') {
            return Request::from_json(body).map(Self::One);
        }
        let batch_max = batch_max.ok_or_else(|| {
            Error::bad_input("batches of requests are not served: send one object")
        })?;
        reader.next().map_err(in_body)?;
        let mut requests = Vec::new();
        while let Some(element) = reader.next_element().map_err(in_body)? {
            if requests.len() == batch_max {
                return Err(Error::new(
                    ErrorKind::TooComplex,
                    format!("more than {batch_max} requests in a batch, which is the limit"),
                ));
            }
            let at = |error: Error| error.at(format!("request {} of the batch", requests.len()));
            let request = Request::from_json(&body.slice_ref(element.as_bytes())).map_err(at)?;
            requests.push(request);
        }
        if reader.next().map_err(in_body)? != Event::End {
            return Err(Error::bad_input("the body goes on behind its JSON array"));
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
    /// `BAD_USER_INPUT`: it is not JSON, or not of the form that GraphQL over HTTP has.
    pub fn from_json(body: &Bytes) -> Result<Self> {
        let text = utf8(body)?;
        let in_body = |error| json_error(&error, text).at("the body");
        // Nesting has no bound here but the body's size: nothing recurses, and what the variables
        // may hold is bounded where they are read.
        let mut reader = Reader::new(text, usize::MAX);
        if reader.next().map_err(in_body)? != Event::BeginObject {
            return Err(Error::bad_input("the body is not a JSON object"));
        }
        let mut request = Self::default();
        let mut query = None;
        while let Event::Name(name) = reader.next().map_err(in_body)? {
            match name.as_ref() {
                "query" => query = string("query", reader.skip_value().map_err(in_body)?)?,
                "operationName" => {
                    let value = reader.skip_value().map_err(in_body)?;
                    request.operation_name = string("operationName", value)?;
                }
                "variables" => request.variables = variables(&mut reader, body, &in_body)?,
                "extensions" => request.query_hash = extensions(&mut reader, &in_body)?,
                _ => {
                    reader.skip_value().map_err(in_body)?;
                }
            }
        }
        if reader.next().map_err(in_body)? != Event::End {
            return Err(Error::bad_input("the body goes on behind its JSON object"));
        }
        request.with_query(query)
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
                    let text = Bytes::from(value.into_owned());
                    request.variables = parameter("variables", &text, |reader, told| {
                        variables(reader, &text, told)
                    })?;
                }
                "extensions" if !value.is_empty() => {
                    let text = Bytes::from(value.into_owned());
                    request.query_hash =
                        parameter("extensions", &text, |reader, told| extensions(reader, told))?;
                }
                _ => {}
            }
        }
        request.with_query(query)
    }

    /// The request with its query, of which the text or the hash must have been sent.
    fn with_query(mut self, query: Option<String>) -> Result<Self> {
        if query.is_none() && self.query_hash.is_none() {
            return Err(Error::bad_input(
                "there is no `query`, which is to be the text of a GraphQL query",
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

/// The variables that are read next, of a text that is all of `body`.
fn variables(
    reader: &mut Reader<'_>,
    body: &Bytes,
    told: &dyn Fn(JsonError) -> Error,
) -> Result<GivenVariables> {
    if object("variables", reader, told)? {
        return GivenVariables::read(reader, body, told);
    }
    Ok(GivenVariables::default())
}

/// The hash in the extensions that are read next.
fn extensions(
    reader: &mut Reader<'_>,
    told: &dyn Fn(JsonError) -> Error,
) -> Result<Option<QueryHash>> {
    if object("extensions", reader, told)? {
        return persisted_query(reader, told);
    }
    Ok(None)
}

/// Whether an object is read next, or else a null, which is read then.
fn object(name: &str, reader: &mut Reader<'_>, told: &dyn Fn(JsonError) -> Error) -> Result<bool> {
    if reader.peek_value() == Some(b'{') {
        return Ok(true);
    }
    match reader.skip_value().map_err(told)? {
        "null" => Ok(false),
        value => Err(Error::bad_input(format!(
            "`{name}` is {}, and must be an object",
            abridged(value)
        ))),
    }
}

/// What a parameter of a GET request holds, which is one JSON value.
fn parameter<T>(
    name: &str,
    text: &Bytes,
    read: impl FnOnce(&mut Reader<'_>, &dyn Fn(JsonError) -> Error) -> Result<T>,
) -> Result<T> {
    let text = utf8(text)?;
    let told = |error| json_error(&error, text).at(format!("`{name}`"));
    let mut reader = Reader::new(text, usize::MAX);
    let value = read(&mut reader, &told)?;
    reader.next().map_err(told)?;
    Ok(value)
}
