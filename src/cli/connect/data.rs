//! Operations of GraphQL: their variables, and their results.

use bytes::Bytes;
use serde_json::Value;

use super::raw_json::RawJson;
use super::reply::{Reply, error_of, other_version};
use crate::cli::arguments::parse::WrittenPath;
use crate::cli::outcome::failed;
use crate::document::flatten::{json_error, json_text};
use crate::document::json::{Event, Reader, write_string};
use crate::error::{Error, Result};
use crate::limits::DOCUMENT_LEVELS_MAX;

/// The variables of an operation, as JSON text.
#[derive(Default)]
pub(crate) struct OperationVariables(Vec<u8>);

impl OperationVariables {
    /// Those that name a collection.
    pub(crate) fn of_collection(collection: &str) -> Self {
        Self::default().string("collection", collection)
    }

    /// Adds a string.
    pub(crate) fn string(mut self, name: &str, value: &str) -> Self {
        self.name(name);
        write_string(&mut self.0, value);
        self
    }

    /// Adds a value that is given as JSON text.
    pub(crate) fn json(mut self, name: &str, value: &str) -> Self {
        self.name(name);
        self.0.extend_from_slice(value.as_bytes());
        self
    }

    /// Adds the path `path`, in the notation in which it was written.
    pub(crate) fn path(self, path: &WrittenPath) -> Self {
        self.json("path", &path.json())
    }

    fn name(&mut self, name: &str) {
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        write_string(&mut self.0, name);
        self.0.push(b':');
    }

    /// The body of the request for an operation with these variables.
    pub(super) fn body(self, query: &str) -> Bytes {
        let mut variables = self.0;
        if variables.is_empty() {
            variables.push(b'{');
        }
        variables.push(b'}');
        body(query, &variables, None)
    }
}

/// The body of a request: the text of the operation, the variables as JSON, and the name of the operation.
pub(crate) fn body(query: &str, variables: &[u8], name: Option<&str>) -> Bytes {
    let mut body = b"{\"query\":".to_vec();
    write_string(&mut body, query);
    body.extend_from_slice(b",\"variables\":");
    body.extend_from_slice(variables);
    if let Some(name) = name {
        body.extend_from_slice(b",\"operationName\":");
        write_string(&mut body, name);
    }
    body.push(b'}');
    body.into()
}

/// Checks that a text is JSON, so that it can be a variable.
///
/// # Errors
/// `BAD_USER_INPUT`: it is not. The message has the line and the column.
pub(crate) fn check_json(text: &str) -> Result<()> {
    let mut reader = Reader::new(text, DOCUMENT_LEVELS_MAX);
    while reader.next().map_err(|error| json_error(&error, text))? != Event::End {}
    Ok(())
}

/// The result of an operation without errors.
pub(crate) struct OperationData(String);

impl OperationData {
    /// # Errors
    /// The first of the response's errors.
    pub(super) fn of(response: &[u8]) -> Result<Self> {
        let root = RawJson::new(json_text(response)?);
        if let Some(errors) = root.member("errors")? {
            return Err(first_error(errors));
        }
        let data = root.member("data")?;
        let data = data.ok_or_else(|| other_version("it has no data"))?;
        Ok(Self(data.text().to_owned()))
    }

    /// The value of a field of the operation. `None` if it is null.
    pub(crate) fn field(&self, name: &str) -> Result<Option<RawJson<'_>>> {
        RawJson::new(&self.0).member(name)
    }

    /// The value of a field of the operation, where exact numbers do not matter.
    pub(crate) fn parsed(&self, name: &str) -> Result<Value> {
        let Some(field) = self.field(name)? else {
            return Ok(Value::Null);
        };
        serde_json::from_str(field.text()).map_err(|error| other_version(&error.to_string()))
    }
}

fn first_error(errors: RawJson<'_>) -> Error {
    let errors: Value = serde_json::from_str(errors.text()).unwrap_or_default();
    error_of(&errors[0])
}

/// The responses to a subscription.
pub(crate) struct EventStream(Reply);

impl EventStream {
    pub(super) fn new(reply: Reply) -> Self {
        Self(reply)
    }

    /// The next response. `None` when the subscription is complete.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the server ended the stream.
    pub(crate) async fn next_response(&mut self) -> Result<Option<Bytes>> {
        while let Some(line) = self.0.line().await? {
            if line.starts_with(b"event: complete") {
                return Ok(None);
            }
            if let Some(data) = line.strip_prefix(b"data: ") {
                return Ok(Some(line.slice_ref(data)));
            }
        }
        Err(failed("the server has ended the stream"))
    }

    /// The data of the next response. `None` when the subscription is complete.
    ///
    /// # Errors
    /// As [`EventStream::next_response`]. The first error of the response.
    pub(crate) async fn next(&mut self) -> Result<Option<OperationData>> {
        let response = self.next_response().await?;
        response
            .map(|response| OperationData::of(&response))
            .transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_json() {
        let path = |text: &str| crate::cli::arguments::parse::parse_path(text).expect("a path");
        let body = OperationVariables::of_collection("a\"b")
            .json("number", "1e300")
            .path(&path("[\"a\",0]"))
            .body("{ a }");
        assert_eq!(
            body,
            r#"{"query":"{ a }","variables":{"collection":"a\"b","number":1e300,"path":["a",0]}}"#
        );
        let none = OperationVariables::default().body("{ a }");
        assert_eq!(none, r#"{"query":"{ a }","variables":{}}"#);
        let pointer = OperationVariables::default().path(&path("/a/0")).body("");
        assert_eq!(pointer, r#"{"query":"","variables":{"path":"/a/0"}}"#);
    }

    #[test]
    fn data_has_fields_and_errors_are_returned() {
        let data = OperationData::of(br#"{"data":{"a":{"value":1e300},"b":null}}"#);
        let data = data.expect("no errors");
        let value = data.field("a").expect("JSON").expect("not null");
        assert_eq!(value.text(), "{\"value\":1e300}");
        assert_eq!(data.field("b").expect("JSON"), None);
        let refused =
            br#"{"data":null,"errors":[{"message":"no","extensions":{"code":"NOT_FOUND"}}]}"#;
        let error = OperationData::of(refused).err().expect("an error");
        assert_eq!(error.message(), "no [NOT_FOUND]");
    }
}
