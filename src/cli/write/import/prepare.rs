//! Parses a document's text into its id and its leaves.

use std::fmt;
use std::sync::Arc;

use super::extended_json::{self, ExtendedError};
use super::id_members::{self, IdMembers};
use super::text::chunks::TextPosition;
use super::text::split::Piece;
use crate::cli::arguments::ExportFormat;
use crate::document::flatten::json_error;
use crate::document::id::DocumentId;
use crate::document::json::{Event, Reader};
use crate::error::{Error, Result};
use crate::key::Leaves;
use crate::limits::DOCUMENT_LEVELS_MAX;
use crate::operations::parse_line;

/// How the documents of a stream get their ids.
pub(crate) struct Naming {
    /// The members that are the id.
    pub(crate) id: Option<IdMembers>,
    /// Whether the JSON is MongoDB's Extended JSON.
    pub(crate) extended_json: bool,
    /// The prefix of generated ids.
    pub(crate) prefix: String,
    /// The stream's name in messages.
    pub(crate) file: Arc<str>,
}

/// A document in the streams of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImportPlace {
    /// The stream.
    pub(crate) file: Arc<str>,
    /// The document's number in the stream.
    pub(crate) number: u64,
    /// The position of the document, or of an error in it.
    pub(crate) at: TextPosition,
}

impl fmt::Display for ImportPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, number, at } = self;
        let TextPosition { line, column } = at;
        write!(
            f,
            "{file}: line {line}, column {column} (document {number})"
        )
    }
}

/// A document that cannot be imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImportFailure {
    /// The document, at the position of the error if that is known.
    pub(crate) place: ImportPlace,
    /// The error message.
    pub(crate) reason: String,
}

/// A document that is ready to be stored, and its text.
pub(crate) struct Prepared {
    pub(crate) id: DocumentId,
    /// The bytes of its keys and values.
    pub(crate) leaves_bytes: usize,
    /// The options that would take its id from the document, if it was generated and there are any.
    pub(crate) proposed: Option<&'static str>,
    /// Whether the id was generated and does not come from the document.
    pub(crate) generated: bool,
    pub(crate) text: Vec<u8>,
    pub(crate) place: ImportPlace,
}

/// A parsed document with its id.
struct Identified {
    id: DocumentId,
    generated: bool,
    leaves: Leaves,
    /// The document's text, if the piece is more than the document.
    text: Option<Vec<u8>>,
}

impl Naming {
    /// Parses a document and determines its id. If it is generated, and `proposes` is set, looks for options that would
    /// take it from the document.
    ///
    /// # Errors
    /// Why the document cannot be imported, and where the error is.
    pub(crate) fn prepare(
        &self,
        mut piece: Piece,
        format: ExportFormat,
        proposes: bool,
    ) -> Result<Prepared, ImportFailure> {
        let is_table = matches!(format, ExportFormat::Csv | ExportFormat::Tsv);
        if self.extended_json && !is_table {
            self.replace_extended_json(&mut piece)?;
        }
        match self.id_and_leaves(&piece, format) {
            Ok(Identified {
                id,
                generated,
                leaves,
                text,
            }) => Ok(Prepared {
                id,
                leaves_bytes: leaves.bytes(),
                proposed: (generated && proposes)
                    .then(|| id_members::proposed(&leaves))
                    .flatten(),
                generated,
                place: self.place(piece.number, piece.place),
                text: text.unwrap_or(piece.text),
            }),
            Err(error) => {
                // The position in a row is that of its fields.
                let (at, reason) = if is_table {
                    (piece.place, error.to_string())
                } else {
                    describe(&piece, &error)
                };
                Err(ImportFailure {
                    place: self.place(piece.number, at),
                    reason,
                })
            }
        }
    }

    /// Replaces the objects of Extended JSON in a document.
    fn replace_extended_json(&self, piece: &mut Piece) -> Result<(), ImportFailure> {
        // What is not UTF-8 is reported later.
        let Ok(text) = std::str::from_utf8(&piece.text) else {
            return Ok(());
        };
        match extended_json::plain(text) {
            Ok(text) => {
                piece.text = text;
                Ok(())
            }
            Err(ExtendedError { offset, reason }) => {
                let at = piece.place.after(&piece.text[..offset]);
                Err(ImportFailure {
                    place: self.place(piece.number, at),
                    reason,
                })
            }
        }
    }

    /// The place of a document, or of an error in it.
    pub(crate) fn place(&self, number: u64, at: TextPosition) -> ImportPlace {
        ImportPlace {
            file: Arc::clone(&self.file),
            number,
            at,
        }
    }

    fn id_and_leaves(&self, piece: &Piece, format: ExportFormat) -> Result<Identified> {
        let text = std::str::from_utf8(&piece.text).map_err(|error| {
            Error::bad_input(format!(
                "not valid UTF-8 at byte {} of the document",
                error.valid_up_to()
            ))
        })?;
        if format == ExportFormat::Export {
            let record = parse_line(text)?;
            let leaves = Leaves::from_json(record.document)?;
            let id = match &self.id {
                Some(members) => members.id(&leaves)?,
                None => DocumentId::parse(&record.id)?,
            };
            return Ok(Identified {
                id,
                generated: false,
                leaves,
                text: Some(record.document.into()),
            });
        }
        let leaves = Leaves::from_json(text)?;
        let own = match &self.id {
            Some(members) => Some(members.id(&leaves)?),
            // A `doc_id` of another type is an ordinary member.
            None => leaves.own_id().unwrap_or_default(),
        };
        let generated = own.is_none();
        Ok(Identified {
            id: own.unwrap_or_else(|| self.generated(piece.number, format)),
            generated,
            leaves,
            text: None,
        })
    }

    /// Generates an id. It depends on the stream and the document's number, so repeating an import
    /// does not store the document twice.
    fn generated(&self, number: u64, format: ExportFormat) -> DocumentId {
        let text = match format {
            ExportFormat::Document => self.prefix.clone(),
            _ => format!("{}-{number}", self.prefix),
        };
        DocumentId::parse(&text).unwrap_or(DocumentId::Text(text))
    }
}

/// The position and the message of an error. Only a JSON syntax error has a position of its own in the
/// document.
fn describe(piece: &Piece, error: &Error) -> (TextPosition, String) {
    match std::str::from_utf8(&piece.text) {
        Ok(text) => match mistake(text, error) {
            Some((offset, reason)) => (piece.place.after(&piece.text[..offset]), reason),
            None => (piece.place, error.to_string()),
        },
        Err(invalid) => (
            piece.place.after(&piece.text[..invalid.valid_up_to()]),
            "not valid UTF-8".to_owned(),
        ),
    }
}

/// The offset and the message of a JSON syntax error, if `error` is one.
fn mistake(text: &str, error: &Error) -> Option<(usize, String)> {
    let mut reader = Reader::new(text, DOCUMENT_LEVELS_MAX);
    loop {
        match reader.next() {
            Ok(Event::End) => return None,
            Ok(_) => {}
            Err(found) => {
                let same = json_error(&found, text).message() == error.message();
                return same.then(|| (found.offset.min(text.len()), found.problem.to_string()));
            }
        }
    }
}
