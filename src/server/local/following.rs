//! Lines of text on the local socket, as they come ([`wire`]): changes, and values that change.

use axum::body::Body;
use axum::extract::State;
use axum::http::Uri;

use super::{LocalError, log, optional, parameter, parts, wire};
use crate::database::{Database, DocumentKey};
use crate::document::id::DocumentId;
use crate::document::path::Path;
use crate::error::{Error, Result};
use crate::operations::{ChangeLines, ChangeRequest, ValueLines};

/// `GET ?collection=…&follow=…`, and `id`, `path` and `after` if they are given: returns
/// [`LineRecord`]s.
pub const CHANGES: &str = "/v1/changes";
/// `GET ?collection=…&id=…&path=…`: returns [`LineRecord`]s.
pub const WATCH: &str = "/v1/watch";

/// A line, one field each.
#[derive(Debug)]
pub enum LineRecord {
    /// A line, with its end.
    Line(Vec<u8>),
    /// There are no more lines.
    End,
    /// The lines cannot be read any more.
    Failed(Error),
}

impl LineRecord {
    /// Encodes the record as a field.
    pub fn to_field(&self) -> Vec<u8> {
        let mut record = Vec::new();
        match self {
            Self::Line(line) => {
                record.push(b'l');
                record.extend_from_slice(line);
            }
            Self::End => record.push(b'.'),
            Self::Failed(error) => {
                record.push(b'e');
                record.extend_from_slice(wire::error_text(error).as_bytes());
            }
        }
        wire::field(&record)
    }

    /// Decodes the output of [`LineRecord::to_field`], without its length prefix.
    ///
    /// # Errors
    /// `UNAVAILABLE`: the record is malformed.
    pub fn read(record: &[u8]) -> Result<Self> {
        match record.split_first() {
            Some((b'l', line)) => Ok(Self::Line(line.to_vec())),
            Some((b'.', [])) => Ok(Self::End),
            Some((b'e', error)) => Ok(Self::Failed(wire::read_error(wire::text(error)?))),
            _ => Err(wire::cut_short()),
        }
    }
}

/// Streams changes.
pub(super) async fn changes(
    State(database): State<Database>,
    uri: Uri,
) -> Result<Body, LocalError> {
    let id = optional(&uri, "id");
    let request = ChangeRequest {
        collection: parameter(&uri, "collection")?,
        id: id.as_deref().map(DocumentId::parse).transpose()?,
        path: Path::parse(&optional(&uri, "path").unwrap_or_default())?,
        after: optional(&uri, "after"),
        follow: parameter(&uri, "follow")? == "true",
    };
    let lines = ChangeLines::begin(&database, request).await?;
    Ok(Body::from_stream(parts(lines, change_record)))
}

/// Returns the next record, and the state unless it was the last.
async fn change_record(mut lines: ChangeLines) -> (Vec<u8>, Option<ChangeLines>) {
    match lines.next().await {
        Ok(Some(line)) => (LineRecord::Line(line).to_field(), Some(lines)),
        Ok(None) => (LineRecord::End.to_field(), None),
        Err(error) => (LineRecord::Failed(log(error)).to_field(), None),
    }
}

/// Streams a value that changes.
pub(super) async fn watch(State(database): State<Database>, uri: Uri) -> Result<Body, LocalError> {
    let id = DocumentId::parse(&parameter(&uri, "id")?)?;
    let document = DocumentKey::new(parameter(&uri, "collection")?, id)?;
    let path = Path::parse(&parameter(&uri, "path")?)?;
    let lines = ValueLines::begin(&database, document, path).await?;
    Ok(Body::from_stream(parts(lines, value_record)))
}

/// Returns the next record, and the state unless it was the last.
async fn value_record(mut lines: ValueLines) -> (Vec<u8>, Option<ValueLines>) {
    match lines.next().await {
        Ok(line) => (LineRecord::Line(line).to_field(), Some(lines)),
        Err(error) => (LineRecord::Failed(log(error)).to_field(), None),
    }
}
