//! The addresses of collections, documents and their parts: `/documents/COLLECTION/KEY/POINTER`.
//!
//! Each segment is percent-decoded for itself, after the path is split at its slashes. The key is the
//! text form of a document's id, as in `document(id:)`. What follows is a JSON Pointer (RFC 6901) without
//! its first slash; a slash that is percent-encoded belongs to the name of a member, as does `~1`. An
//! empty pointer is the whole document, and `KEY/` is its member with the empty name.

use std::fmt::Write as _;

use crate::error::{Error, Result};

/// The beginning of all addresses.
pub(crate) const PREFIX: &str = "/documents/";

/// What an address names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) collection: String,
    /// `None` for the collection.
    pub(crate) part: Option<PartAddress>,
}

/// A document or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartAddress {
    /// The text form of the document's id.
    pub(crate) key: String,
    /// A JSON Pointer.
    pub(crate) pointer: String,
}

impl Address {
    /// Parses the path of a URL.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: a percent-encoding is malformed, or is not UTF-8.
    pub(crate) fn parse(path: &str) -> Result<Self> {
        let rest = path.strip_prefix(PREFIX).unwrap_or_default();
        let mut segments = rest.split('/');
        let collection = decoded(segments.next().unwrap_or_default())?;
        let Some(key) = segments.next() else {
            let part = None;
            return Ok(Self { collection, part });
        };
        let key = decoded(key)?;
        let mut pointer = String::new();
        for segment in segments {
            pointer.push('/');
            pointer.push_str(&decoded(segment)?.replace('/', "~1"));
        }
        let part = Some(PartAddress { key, pointer });
        Ok(Self { collection, part })
    }
}

/// Percent-decodes a segment.
fn decoded(segment: &str) -> Result<String> {
    if !segment.contains('%') {
        return Ok(segment.to_owned());
    }
    let malformed = || {
        let mut shown = String::new();
        for character in segment.chars().take(SHOWN_CHARACTERS_MAX) {
            let _written = write!(shown, "{character}");
        }
        Error::bad_input(format!(
            "the segment {shown:?} of the URL is not percent-encoded UTF-8"
        ))
    };
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let (digits, after) = rest.split_at_checked(2).ok_or_else(malformed)?;
        let (high, low) = (digit(digits[0]), digit(digits[1]));
        bytes.push(high.ok_or_else(malformed)? << 4 | low.ok_or_else(malformed)?);
        rest = after;
    }
    String::from_utf8(bytes).map_err(|_| malformed())
}

/// Characters of a malformed segment that a message shows.
const SHOWN_CHARACTERS_MAX: usize = 100;

fn digit(digit: u8) -> Option<u8> {
    char::from(digit)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_segment_is_decoded_for_itself() {
        for (path, collection, part) in [
            ("/documents/D", "D", None),
            ("/documents/a%2Fb", "a/b", None),
            ("/documents/D/", "D", Some(("", ""))),
            ("/documents/D/42", "D", Some(("42", ""))),
            ("/documents/D/%2242%22", "D", Some(("\"42\"", ""))),
            ("/documents/D/k/", "D", Some(("k", "/"))),
            ("/documents/D/k//", "D", Some(("k", "//"))),
            ("/documents/D/k/a/0", "D", Some(("k", "/a/0"))),
            (
                "/documents/D/a%2Fb/c%2Fd~1e~0",
                "D",
                Some(("a/b", "/c~1d~1e~0")),
            ),
            ("/documents/D/%00/%C3%A4+", "D", Some(("\0", "/\u{e4}+"))),
            ("/documents/D/../%2E", "D", Some(("..", "/."))),
        ] {
            let part = part.map(|(key, pointer)| PartAddress {
                key: key.to_owned(),
                pointer: pointer.to_owned(),
            });
            let found = Address::parse(path).expect("an address");
            let collection = collection.to_owned();
            assert_eq!(found, Address { collection, part }, "{path}");
        }
    }

    #[test]
    fn malformed_encodings_are_refused() {
        for path in ["%", "%4", "%zz", "%+1", "%FF", "D/%C3", "D/k/%ED%A0%80"] {
            let found = Address::parse(&format!("{PREFIX}{path}"));
            assert!(found.is_err(), "{path}: {found:?}");
        }
    }
}
