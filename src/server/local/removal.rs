//! Dropping collections, deleting documents and listing names on the local socket ([`wire`]).

use super::wire;
use crate::database::Swept;
use crate::document::id::DocumentId;
use crate::error::Result;

/// `POST ?collection=…`: returns how many documents the catalog counted, in decimal.
pub const DROP: &str = "/v1/drop";
/// `POST ?collection=…&everything=…&documents=…`, optionally with `&after=…`, and the filter as
/// JSON in the body: returns the fields documents read, documents deleted and, if there is more to
/// do, the id of the last one.
pub const SWEEP: &str = "/v1/sweep";
/// `GET ?collection=…`: returns 204 if the collection exists, or else the names of the existing
/// collections, one field each.
pub const NAMES: &str = "/v1/names";

/// Encodes the result of one transaction of a deletion.
pub fn write_swept(swept: &Swept) -> Vec<u8> {
    let mut out = Vec::new();
    wire::write_field(&mut out, swept.examined.to_string().as_bytes());
    wire::write_field(&mut out, swept.deleted.to_string().as_bytes());
    if let Some(next) = &swept.next {
        wire::write_field(&mut out, next.to_string().as_bytes());
    }
    out
}

/// Decodes the output of [`write_swept`].
///
/// # Errors
/// `UNAVAILABLE`: the bytes are malformed.
pub fn read_swept(bytes: &[u8]) -> Result<Swept> {
    let (examined, rest) = wire::split_field(bytes).ok_or_else(wire::cut_short)?;
    let (deleted, rest) = wire::split_field(rest).ok_or_else(wire::cut_short)?;
    let next = match rest {
        [] => None,
        rest => match wire::split_field(rest) {
            Some((id, [])) => Some(DocumentId::parse(wire::text(id)?)?),
            _ => return Err(wire::cut_short()),
        },
    };
    Ok(Swept {
        examined: number(examined)?,
        deleted: number(deleted)?,
        next,
    })
}

/// Encodes names, one field each.
pub fn write_names(names: &[String]) -> Vec<u8> {
    let mut out = Vec::new();
    for name in names {
        wire::write_field(&mut out, name.as_bytes());
    }
    out
}

/// Decodes the output of [`write_names`].
///
/// # Errors
/// `UNAVAILABLE`: the bytes are malformed.
pub fn read_names(mut bytes: &[u8]) -> Result<Vec<String>> {
    let mut names = Vec::new();
    while !bytes.is_empty() {
        let (name, rest) = wire::split_field(bytes).ok_or_else(wire::cut_short)?;
        names.push(wire::text(name)?.to_owned());
        bytes = rest;
    }
    Ok(names)
}

/// Parses a decimal number.
///
/// # Errors
/// `UNAVAILABLE`: the bytes are not a number.
pub fn number<T: std::str::FromStr>(bytes: &[u8]) -> Result<T> {
    wire::text(bytes)?.parse().map_err(|_| wire::cut_short())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_round_trip() {
        for next in [None, Some("\"\""), Some("7"), Some("\"7\""), Some("é")] {
            let swept = Swept {
                examined: u64::MAX,
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
