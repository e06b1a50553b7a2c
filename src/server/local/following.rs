//! Lines of text on the local socket, as they come ([`wire`]): changes, and values that change.

use super::wire;
use crate::error::{Error, Result};

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
