//! Makes the changes of a batch from its lines, and reports the lines that are rejected.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::line_reader::{Line, LineBatch};
use super::upload_options::{UploadMode, UploadOptions};
use crate::database::Existing;
use crate::document::flatten::json_text;
use crate::document::id::DocumentId;
use crate::document::parse_merge_patch::MergePatch;
use crate::error::{Error, Limit, Result};
use crate::key::Leaves;
use crate::operations::{BatchChanges, NewDocument, NewPatch, parse_line};
use crate::server::documents::problem::Problem;

/// The changes of a batch.
pub(crate) struct UploadBatch {
    pub(crate) changes: Arc<BatchChanges>,
    /// The line of each change.
    pub(crate) sources: Vec<LineSource>,
    /// The lines that have no change.
    pub(crate) rejected: Vec<RejectedLine>,
    /// The memory of the changes, beyond that of the lines.
    pub(crate) bytes: usize,
}

/// Where a change comes from.
pub(crate) struct LineSource {
    pub(crate) number: u64,
    /// The text form of the document's id, if the line has one.
    pub(crate) key: Option<String>,
}

/// A line that was not written, and why.
pub(crate) struct RejectedLine {
    pub(crate) source: LineSource,
    pub(crate) error: Error,
}

impl UploadBatch {
    /// Parses lines. Unless the upload continues, nothing after the first rejected line.
    pub(crate) fn parse(batch: &LineBatch, options: &UploadOptions, line_bytes_max: usize) -> Self {
        let (mut documents, mut patches) = (Vec::new(), Vec::new());
        let (mut sources, mut rejected) = (Vec::new(), Vec::new());
        let mut bytes = 0;
        for Line { number, text } in &batch.lines {
            let mut key = None;
            let parsed = match text {
                None => Err(too_long(line_bytes_max)),
                Some(text) => ParsedLine::of(text, options, &mut key),
            };
            let source = LineSource {
                number: *number,
                key,
            };
            match parsed {
                Ok(ParsedLine::Document(id, leaves)) => {
                    bytes += leaves.bytes();
                    let leaves = Ok(leaves);
                    documents.push(NewDocument { id, leaves });
                    sources.push(source);
                }
                Ok(ParsedLine::Patch(id, patch)) => {
                    bytes += patch.held();
                    let path = options.path.clone();
                    let patch = Ok(patch);
                    patches.push(NewPatch { id, path, patch });
                    sources.push(source);
                }
                Err(error) => {
                    rejected.push(RejectedLine { source, error });
                    if !options.go_on {
                        break;
                    }
                }
            }
        }
        let changes = match options.mode {
            UploadMode::Merge => BatchChanges::Merge(patches),
            UploadMode::Insert => BatchChanges::Put(Arc::new(documents), Existing::Fail),
            UploadMode::Skip => BatchChanges::Put(Arc::new(documents), Existing::Skip),
            UploadMode::Compare => BatchChanges::Put(Arc::new(documents), Existing::MustEqual),
            UploadMode::Replace => BatchChanges::Put(Arc::new(documents), Existing::Replace),
        };
        Self {
            changes: Arc::new(changes),
            sources,
            rejected,
            bytes,
        }
    }
}

/// The change that a line says.
enum ParsedLine {
    Document(DocumentId, Leaves),
    Patch(DocumentId, MergePatch),
}

impl ParsedLine {
    /// Parses a line, and sets its key as soon as it is known.
    fn of(text: &Bytes, options: &UploadOptions, key: &mut Option<String>) -> Result<Self> {
        if let Some(id) = &options.into {
            *key = Some(id.to_string());
            return Ok(Self::Patch(id.clone(), MergePatch::parse(text)?));
        }
        let line = parse_line(json_text(text)?)?;
        *key = Some(line.id.clone());
        let id = DocumentId::parse(&line.id)?;
        if options.mode == UploadMode::Merge {
            let patch = text.slice_ref(line.document.as_bytes());
            return Ok(Self::Patch(id, MergePatch::parse(&patch)?));
        }
        Ok(Self::Document(id, Leaves::from_json(line.document)?))
    }
}

fn too_long(line_bytes_max: usize) -> Error {
    Error::too_large(
        Limit::new("bodyBytes", line_bytes_max),
        format!("the line is longer than {line_bytes_max} bytes, which is the limit"),
    )
}

impl RejectedLine {
    /// The line of the report.
    pub(crate) fn report(&self) -> Value {
        let problem = Problem::of(&self.error);
        let mut report = Map::new();
        report.insert("line".to_owned(), json!(self.source.number));
        report.insert("key".to_owned(), json!(self.source.key));
        report.extend(problem.facts());
        Value::Object(report)
    }
}

/// A digest of what a batch does: the parameters and the lines.
pub(crate) fn digest(batch: &LineBatch, collection: &str, options: &UploadOptions) -> [u8; 32] {
    let mut digest = Sha256::new();
    let mut field = |bytes: &[u8]| {
        digest.update((bytes.len() as u64).to_be_bytes());
        digest.update(bytes);
    };
    let UploadOptions {
        mode,
        go_on,
        into,
        path,
        // It changes only the report.
        counts: _,
    } = options;
    field(mode.name().as_bytes());
    field(&[u8::from(*go_on), u8::from(into.is_some())]);
    field(
        into.as_ref()
            .map(ToString::to_string)
            .unwrap_or_default()
            .as_bytes(),
    );
    field(path.to_string().as_bytes());
    field(collection.as_bytes());
    for line in &batch.lines {
        field(&line.number.to_be_bytes());
        field(line.text.as_deref().unwrap_or_default());
    }
    digest.finalize().into()
}
