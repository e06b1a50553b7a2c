//! Documents that are sent as lines, in one request for each batch.

use bytes::Bytes;
use form_urlencoded::Serializer;
use http::header::CONTENT_TYPE;
use http::{HeaderName, HeaderValue};
use serde_json::Value;
use tokio::time::sleep;

use crate::cli::connect::client::{Client, address};
use crate::cli::connect::reply::{error_of, other_version, rejection_of};
use crate::cli::connect::server_connection::RETRY_TIME;
use crate::document::id::DocumentId;
use crate::document::json::write_string;
use crate::error::{Error, ErrorKind, Result};

/// How often a batch is sent again after the connection was lost, first after [`RETRY_TIME`]. Each further time is twice
/// as long.
const RETRIES_MAX: u32 = 6;

/// How an upload handles existing documents and errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UploadPolicy {
    /// The parameter `mode`.
    pub(crate) mode: &'static str,
    /// Whether documents after one that is rejected are still stored.
    pub(crate) go_on: bool,
}

/// What became of a batch.
#[derive(Debug, Default)]
pub(crate) struct UploadedBatch {
    pub(crate) created: u64,
    pub(crate) replaced: u64,
    pub(crate) unchanged: u64,
    /// The number of the last line that was written or rejected.
    pub(crate) lines: u64,
    /// The numbers of the rejected lines, from 1, and why each was rejected.
    pub(crate) rejected: Vec<(u64, Error)>,
}

impl UploadedBatch {
    /// The number of lines that were not rejected.
    pub(crate) fn written(&self) -> u64 {
        self.created + self.replaced + self.unchanged
    }
}

/// Appends the line of a document, whose JSON is valid.
pub(crate) fn append_document(lines: &mut Vec<u8>, id: &DocumentId, json: &[u8]) {
    lines.extend_from_slice(b"{\"id\":");
    write_string(lines, &id.to_string());
    lines.extend_from_slice(b",\"document\":");
    let begin = lines.len();
    lines.extend_from_slice(json);
    // Strings have no line feeds, and between tokens a blank is the same.
    if memchr::memchr2(b'\n', b'\r', json).is_some() {
        for byte in &mut lines[begin..] {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
    lines.extend_from_slice(b"}\n");
}

/// Sends a batch of lines. With a key, it is sent again if the connection is lost, without being written twice.
///
/// # Errors
/// Why nothing, or not everything, was read.
pub(crate) async fn upload(
    client: &Client,
    collection: &str,
    policy: UploadPolicy,
    lines: Bytes,
    key: Option<&str>,
) -> Result<UploadedBatch> {
    let mut time = RETRY_TIME;
    let mut retries = 0;
    loop {
        match upload_once(client, collection, policy, lines.clone(), key).await {
            Err(error) if key.is_some() && retries < RETRIES_MAX && is_about_connection(&error) => {
                retries += 1;
                sleep(time).await;
                time *= 2;
            }
            uploaded => return uploaded,
        }
    }
}

fn is_about_connection(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Unavailable | ErrorKind::OutcomeUnknown | ErrorKind::Conflict
    )
}

async fn upload_once(
    client: &Client,
    collection: &str,
    policy: UploadPolicy,
    lines: Bytes,
    key: Option<&str>,
) -> Result<UploadedBatch> {
    let on_error = if policy.go_on { "continue" } else { "stop" };
    let query = Serializer::new(String::new())
        .append_pair("mode", policy.mode)
        .append_pair("onError", on_error)
        .append_pair("counts", "true")
        .finish();
    let path = format!("{}?{query}", address([collection]));
    let mut headers = vec![(
        CONTENT_TYPE,
        HeaderValue::from_static("application/x-ndjson"),
    )];
    if let Some(key) = key {
        let key = HeaderValue::try_from(key);
        let key = key.map_err(|error| Error::internal(error.to_string()))?;
        headers.push((HeaderName::from_static("idempotency-key"), key));
    }
    let mut report = client.post(&path, headers, lines).await?;
    let mut uploaded = UploadedBatch::default();
    while let Some(line) = report.line().await? {
        let line: Value =
            serde_json::from_slice(&line).map_err(|error| other_version(&error.to_string()))?;
        if let Some(number) = line["line"].as_u64() {
            uploaded.rejected.push((number, rejection_of(&line)));
        } else if line.get("done").is_some() {
            return finished(uploaded, &line);
        }
    }
    Err(Error::unavailable(
        "the connection was closed before the end of the report",
        "",
    ))
}

fn finished(mut uploaded: UploadedBatch, last: &Value) -> Result<UploadedBatch> {
    if last["error"].is_object() {
        return Err(error_of(&last["error"]));
    }
    let number = |name: &str| last[name].as_u64().unwrap_or_default();
    uploaded.created = number("created");
    uploaded.replaced = number("replaced");
    uploaded.unchanged = number("unchanged");
    uploaded.lines = number("lines");
    Ok(uploaded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_one_line() {
        let mut lines = Vec::new();
        append_document(
            &mut lines,
            &DocumentId::Integer(7),
            b"{\r\n \"a\": \"\\n\"}",
        );
        let id = DocumentId::Text("7\"".to_owned());
        append_document(&mut lines, &id, b"1");
        let expected = "{\"id\":\"7\",\"document\":{   \"a\": \"\\n\"}}\n\
                        {\"id\":\"7\\\"\",\"document\":1}\n";
        assert_eq!(String::from_utf8(lines).expect("UTF-8"), expected);
    }
}
