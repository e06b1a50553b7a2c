//! Dropping collections and listing names on the local socket ([`wire`]).

use super::wire;
use crate::error::Result;

/// `POST ?collection=…`: returns how many documents the catalog counted, in decimal.
pub const DROP: &str = "/v1/drop";
/// `GET ?collection=…`: returns 204 if the collection exists, or else the names of the existing
/// collections, one field each.
pub const NAMES: &str = "/v1/names";

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        let names = [String::new(), "a\0b".to_owned()];
        assert_eq!(read_names(&write_names(&names)).expect("readable"), names);
    }
}
