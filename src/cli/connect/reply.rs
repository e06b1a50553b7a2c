//! Responses, and the errors in them.

use bytes::{Bytes, BytesMut};
use http::{Response, StatusCode};
use http_body_util::BodyExt as _;
use memchr::memchr;
use serde_json::Value;

use super::server_connection::{Effect, closed};
use crate::cli::outcome::failed;
use crate::error::{Error, ErrorKind, Limit, Result};
use crate::server::local::AnswerBody;

/// A response that was not refused, with a body that is still read.
pub(crate) struct Reply {
    body: AnswerBody,
    effect: Effect,
    /// What was read and not returned yet.
    buffer: BytesMut,
    /// Where the next search for a line feed begins.
    searched: usize,
    /// The bytes of a body, or of a line of it, that are held at most.
    bytes_max: usize,
}

impl Reply {
    /// # Errors
    /// The error that the response has.
    pub(super) async fn of(
        response: Response<AnswerBody>,
        effect: Effect,
        bytes_max: usize,
    ) -> Result<Self> {
        let status = response.status();
        let reply = Self {
            body: response.into_body(),
            effect,
            buffer: BytesMut::new(),
            searched: 0,
            bytes_max,
        };
        if status.is_success() {
            return Ok(reply);
        }
        Err(refusal(status, &reply.whole().await?))
    }

    /// The whole body.
    ///
    /// # Errors
    /// The connection was closed: `UNAVAILABLE`, or `OUTCOME_UNKNOWN` for a write. `TOO_LARGE`: the body is longer than
    /// allowed.
    pub(crate) async fn whole(mut self) -> Result<Bytes> {
        while let Some(data) = self.chunk().await? {
            self.hold(&data)?;
        }
        Ok(self.buffer.freeze())
    }

    /// Adds bytes to those that are read and not returned.
    fn hold(&mut self, data: &[u8]) -> Result<()> {
        let bytes_max = self.bytes_max;
        if self.buffer.len() + data.len() > bytes_max {
            return Err(Error::too_large(
                Limit::new("receivedBytes", bytes_max),
                format!(
                    "the server sends more than {bytes_max} bytes at once, which is the limit at a URL"
                ),
            ));
        }
        self.buffer.extend_from_slice(data);
        Ok(())
    }

    /// The next bytes of the body. `None` at its end.
    ///
    /// # Errors
    /// The connection was closed: `UNAVAILABLE`, or `OUTCOME_UNKNOWN` for a write.
    pub(crate) async fn chunk(&mut self) -> Result<Option<Bytes>> {
        while let Some(frame) = self.body.frame().await {
            let frame = frame.map_err(|error| closed(&error, self.effect))?;
            if let Ok(data) = frame.into_data() {
                return Ok(Some(data));
            }
        }
        Ok(None)
    }

    /// The next line of the body, without its line feed. `None` at its end.
    ///
    /// # Errors
    /// As [`Reply::whole`], of a line.
    pub(crate) async fn line(&mut self) -> Result<Option<Bytes>> {
        loop {
            if let Some(at) = memchr(b'\n', &self.buffer[self.searched..]) {
                let line = self.buffer.split_to(self.searched + at).freeze();
                let _feed = self.buffer.split_to(1);
                self.searched = 0;
                return Ok(Some(line));
            }
            self.searched = self.buffer.len();
            match self.chunk().await? {
                Some(data) => self.hold(&data)?,
                None if self.buffer.is_empty() => return Ok(None),
                None => {
                    self.searched = 0;
                    return Ok(Some(self.buffer.split().freeze()));
                }
            }
        }
    }
}

/// The error of a response that refuses a request: a problem, or the response of GraphQL.
fn refusal(status: StatusCode, body: &[u8]) -> Error {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    let error = match &body["errors"][0] {
        Value::Null => &body,
        first => first,
    };
    if error_kind(error).is_none() {
        return other_version(&format!("its status is {status}"));
    }
    error_of(error)
}

/// The error in a problem, or in an error of GraphQL. Its message ends with the code, the place and the limit.
pub(crate) fn error_of(error: &Value) -> Error {
    let kind = error_kind(error).unwrap_or(ErrorKind::Internal);
    Error::new(kind, format!("{}{}", message(error), facts(kind, error)))
}

/// The error in the report of a rejected line, in the words of the server.
pub(crate) fn rejection_of(line: &Value) -> Error {
    let kind = error_kind(line).unwrap_or(ErrorKind::Internal);
    Error::new(kind, message(line))
}

fn message(error: &Value) -> &str {
    let message = ["detail", "message", "reason"].map(|name| error[name].as_str());
    message.into_iter().flatten().next().unwrap_or_default()
}

fn error_kind(error: &Value) -> Option<ErrorKind> {
    member(error, "code")
        .as_str()
        .and_then(ErrorKind::from_code)
}

/// A member of an error: of GraphQL, they are in `extensions`.
fn member<'e>(error: &'e Value, name: &str) -> &'e Value {
    match &error["extensions"] {
        Value::Object(_) => &error["extensions"][name],
        _ => &error[name],
    }
}

fn facts(kind: ErrorKind, error: &Value) -> String {
    let mut facts = vec![kind.code().to_owned()];
    match member(error, "place").as_str() {
        None => {}
        Some("") => facts.push("at the whole document".to_owned()),
        Some(place) => facts.push(format!("at {place}")),
    }
    if let Some(operation) = member(error, "operation").as_u64() {
        facts.push(format!("operation {operation}"));
    }
    if let (Some(name), Some(limit)) = (
        member(error, "limitName").as_str(),
        member(error, "limit").as_u64(),
    ) {
        facts.push(format!("{name} {limit}"));
    }
    if let Some(version) = member(error, "currentVersion").as_str() {
        facts.push(format!("current version {version}"));
    }
    format!(" [{}]", facts.join(", "))
}

/// The error for a response that this program cannot parse.
pub(crate) fn other_version(why: &str) -> Error {
    failed(format!(
        "the response cannot be read: {why}; it is not from Phyllo, or from another version of it"
    ))
}

#[cfg(test)]
mod tests {
    use futures::stream;
    use http_body_util::StreamBody;
    use hyper::body::Frame;
    use serde_json::json;

    use super::*;

    fn reply(chunks: &[&'static str], bytes_max: usize) -> Reply {
        let frames: Vec<_> = chunks
            .iter()
            .map(|chunk| Ok(Frame::data(Bytes::from_static(chunk.as_bytes()))))
            .collect();
        Reply {
            body: StreamBody::new(stream::iter(frames)).boxed_unsync(),
            effect: Effect::Read,
            buffer: BytesMut::new(),
            searched: 0,
            bytes_max,
        }
    }

    #[tokio::test]
    async fn bodies_and_lines_have_a_length() {
        let chunks = ["12", "34\n5", "67\n", "89"];
        let whole = reply(&chunks, 11)
            .whole()
            .await
            .expect("as long as allowed");
        assert_eq!(whole, "1234\n567\n89");
        let error = reply(&chunks, 10)
            .whole()
            .await
            .expect_err("one byte too long");
        assert_eq!(error.kind(), ErrorKind::TooLarge);
        let mut lines = reply(&chunks, 6);
        for line in ["1234", "567", "89"] {
            assert_eq!(
                lines.line().await.expect("short").as_deref(),
                Some(line.as_bytes())
            );
        }
        assert_eq!(lines.line().await.expect("the end"), None);
        let mut lines = reply(&["1234", "567\n"], 6);
        let error = lines.line().await.expect_err("too long");
        assert_eq!(error.kind(), ErrorKind::TooLarge);
    }

    #[test]
    fn errors_are_printed_with_code_place_and_limit() {
        let graphql = json!({
            "message": "the test fails",
            "extensions": {"code": "TEST_FAILED", "place": "/a/b", "operation": 1}
        });
        let problem = json!({
            "detail": "too much",
            "code": "TOO_LARGE", "limit": 10, "limitName": "bodyBytes", "place": ""
        });
        for (error, expected) in [
            (
                graphql,
                "the test fails [TEST_FAILED, at /a/b, operation 1]",
            ),
            (
                problem,
                "too much [TOO_LARGE, at the whole document, bodyBytes 10]",
            ),
        ] {
            assert_eq!(error_of(&error).message(), expected);
        }
        let other = refusal(StatusCode::NOT_FOUND, b"<html>");
        assert!(other.message().contains("another version"));
    }
}
