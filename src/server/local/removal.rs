//! What removes collections and documents, and names of collections, as it crosses the local socket
//! ([`wire`]).

use super::wire;
use crate::database::Swept;
use crate::document::id::DocumentId;
use crate::error::Result;

/// `POST ?collection=…`: answers how many documents the catalog counted, in decimal.
pub const DROP: &str = "/v1/drop";
/// `POST ?collection=…&everything=…&documents=…`, perhaps with `&after=…`, the filter as JSON:
/// answers fields documents looked at, documents deleted and, if there is more to do, the id of the
/// last one.
pub const SWEEP: &str = "/v1/sweep";
/// `GET ?collection=…`: answers 204 if the collection is there, or the names of those that are, a
/// field each.
pub const NAMES: &str = "/v1/names";

/// What became of a portion.
pub fn write_swept(swept: &Swept) -> Vec<u8> {
    let mut out = Vec::new();
    wire::write_field(&mut out, swept.looked.to_string().as_bytes());
    wire::write_field(&mut out, swept.deleted.to_string().as_bytes());
    if let Some(next) = &swept.next {
        wire::write_field(&mut out, next.to_string().as_bytes());
    }
    out
}

/// Reads what [`write_swept`] wrote.
///
/// # Errors
/// `UNAVAILABLE`: it did not write that.
pub fn read_swept(bytes: &[u8]) -> Result<Swept> {
    let (looked, rest) = wire::split_field(bytes).ok_or_else(wire::cut_short)?;
    let (deleted, rest) = wire::split_field(rest).ok_or_else(wire::cut_short)?;
    let next = match rest {
        [] => None,
        rest => match wire::split_field(rest) {
            Some((id, [])) => Some(DocumentId::parse(wire::text(id)?)?),
            _ => return Err(wire::cut_short()),
        },
    };
    Ok(Swept {
        looked: number(looked)?,
        deleted: number(deleted)?,
        next,
    })
}

/// Names, a field each.
pub fn write_names(names: &[String]) -> Vec<u8> {
    let mut out = Vec::new();
    for name in names {
        wire::write_field(&mut out, name.as_bytes());
    }
    out
}

/// Reads what [`write_names`] wrote.
///
/// # Errors
/// `UNAVAILABLE`: it did not write that.
pub fn read_names(mut bytes: &[u8]) -> Result<Vec<String>> {
    let mut names = Vec::new();
    while !bytes.is_empty() {
        let (name, rest) = wire::split_field(bytes).ok_or_else(wire::cut_short)?;
        names.push(wire::text(name)?.to_owned());
        bytes = rest;
    }
    Ok(names)
}

/// Reads a number in decimal.
///
/// # Errors
/// `UNAVAILABLE`: it is none.
pub fn number<T: std::str::FromStr>(bytes: &[u8]) -> Result<T> {
    wire::text(bytes)?.parse().map_err(|_| wire::cut_short())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_reads_back() {
        for next in [None, Some("\"\""), Some("7"), Some("\"7\""), Some("é")] {
            let swept = Swept {
                looked: u64::MAX,
                deleted: 3,
                next: next.map(|id| DocumentId::parse(id).expect("an id")),
            };
            let bytes = write_swept(&swept);
            assert_eq!(read_swept(&bytes).expect("readable"), swept);
            assert!(read_swept(&bytes[..bytes.len() - 1]).is_err());
        }
        let names = [String::new(), "a\0b".to_owned()];
        assert_eq!(read_names(&write_names(&names)).expect("readable"), names);
    }
}
