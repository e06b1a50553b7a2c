//! Global ids of objects (GraphQL Global Object Identification). A place has exactly one id.
//!
//! The id of a Document is `COLLECTION/KEY`. The id of a Subdocument is `COLLECTION/KEY#POINTER`;
//! for the whole document that is `COLLECTION/KEY#`, so that objects of different types never share
//! an id. The name of the collection, the canonical text of the key and the JSON Pointer are
//! percent-encoded, except for the unreserved characters (RFC 3986, 2.3) and the `/` between the
//! tokens of a pointer.

use std::fmt::{self, Write};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::database::DocumentKey;
use crate::document::id::DocumentId;
use crate::document::leaf::abridged;
use crate::document::path::Path;
use crate::error::{Error, Result};

/// All characters except the unreserved ones.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// All characters except the unreserved ones and `/`.
const RESERVED_IN_POINTER: &AsciiSet = &RESERVED.remove(b'/');

/// The object that an id identifies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NodeId {
    /// A whole document.
    Document(DocumentKey),
    /// A place in a document. Whether a token of digits is an index or a member name depends on the
    /// document.
    Subdocument(DocumentKey, Path),
}

/// The id of a document.
pub(crate) fn of_document(document: &DocumentKey) -> String {
    let mut id = String::new();
    write_document(&mut id, document);
    id
}

/// The id of a place in a document. `pointer` must display as a JSON Pointer.
pub(crate) fn of_subdocument(document: &DocumentKey, pointer: &impl fmt::Display) -> String {
    let mut id = of_document(document);
    id.push('#');
    let pointer = pointer.to_string();
    id.extend(utf8_percent_encode(&pointer, RESERVED_IN_POINTER));
    id
}

fn write_document(id: &mut String, document: &DocumentKey) {
    let DocumentKey {
        collection,
        id: key,
    } = document;
    id.extend(utf8_percent_encode(collection, RESERVED));
    id.push('/');
    match key {
        DocumentId::Integer(integer) => write!(id, "{integer}").expect("a string has room"),
        text @ (DocumentId::Text(_) | DocumentId::Versionstamp(_)) => {
            id.extend(utf8_percent_encode(&text.to_string(), RESERVED));
        }
    }
}

impl NodeId {
    /// Parses an id, which must be in canonical form.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the text is not the id of an object. `TOO_LARGE`: the key is longer than
    /// the key of any document.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let (document, pointer) = match text.split_once('#') {
            Some((document, pointer)) => (document, Some(pointer)),
            None => (text, None),
        };
        let (collection, key) = document
            .split_once('/')
            .ok_or_else(|| malformed(text, "there is no \"/\" after the collection's name"))?;
        let key = DocumentId::parse(&decoded(text, key)?)
            .map_err(|error| malformed(text, error.message()))?;
        let document = DocumentKey::new(decoded(text, collection)?, key)
            .map_err(|error| error.at(format!("the id {:?}", abridged(text))))?;
        let id = match pointer {
            None => Self::Document(document),
            Some(pointer) => {
                let path = Path::pointer(&decoded(text, pointer)?)
                    .map_err(|error| malformed(text, error.message()))?;
                Self::Subdocument(document, path)
            }
        };
        let canonical = id.to_string();
        if canonical != text {
            let canonical = abridged(&canonical);
            let why = format!("the canonical id is {canonical:?}");
            return Err(malformed(text, &why));
        }
        Ok(id)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Document(document) => f.write_str(&of_document(document)),
            Self::Subdocument(document, path) => f.write_str(&of_subdocument(document, path)),
        }
    }
}

fn decoded(id: &str, part: &str) -> Result<String> {
    let decoded = percent_decode_str(part)
        .decode_utf8()
        .map_err(|_| malformed(id, "percent-encoded bytes are not UTF-8"))?;
    Ok(decoded.into_owned())
}

fn malformed(id: &str, why: &str) -> Error {
    Error::bad_input(format!(
        "{:?} is not the id of an object, such as countries/FRA or countries/FRA#/name: {why}",
        abridged(id)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::path::{Place, Segment};

    fn key(collection: &str, id: &str) -> DocumentKey {
        let id = DocumentId::parse(id).expect(id);
        DocumentKey::new(collection, id).expect("short")
    }

    #[test]
    fn ids_round_trip_and_are_unique() {
        let member = |name: &str| Segment::Key(name.to_owned());
        let ids = [
            ("countries/FRA", key("countries", "FRA"), None),
            ("countries/FRA#", key("countries", "FRA"), Some(vec![])),
            (
                "countries/FRA#/name/common",
                key("countries", "FRA"),
                Some(vec![member("name"), member("common")]),
            ),
            ("D/42", key("D", "42"), None),
            ("D/%2242%22", key("D", "\"42\""), None),
            ("a%2Fb/c%2Fd%23e", key("a/b", "c/d#e"), None),
            (
                "%C3%A9/-5#/a~1b~0/0/%25%20%23",
                key("é", "-5"),
                Some(vec![member("a/b~"), Segment::Index(0), member("% #")]),
            ),
            ("D/x#/", key("D", "x"), Some(vec![member("")])),
        ];
        for (text, document, segments) in ids {
            let written = match &segments {
                None => of_document(&document),
                Some(segments) => of_subdocument(&document, &Place(segments.clone())),
            };
            assert_eq!(written, text);
            let read = NodeId::parse(text).expect(text);
            assert_eq!(read.to_string(), text);
            match (read, segments) {
                (NodeId::Document(read), None) => assert_eq!(read, document),
                (NodeId::Subdocument(read, path), Some(segments)) => {
                    assert_eq!(read, document);
                    assert!(path.places().contains(&Place(segments)), "{text}");
                }
                (read, _) => panic!("{text} is read as {read:?}"),
            }
        }
    }

    #[test]
    fn noncanonical_ids_are_rejected() {
        for text in [
            "",
            "D",
            "/x",
            "D/",
            "D//x",
            "D/a/b",
            "D/x#a",
            "D/x#/a#b",
            "D/x#/~2",
            "D/%41",
            "D/%2f",
            "D/é",
            "D/%",
            "D/%FF",
            "D/\"42\"",
            "D/%22x%22",
            "D/x#/a%2Fb",
            "D/x y",
            "D/%22",
        ] {
            let error = NodeId::parse(text).expect_err(text).to_string();
            assert!(
                error.contains("is not the id") || error.contains("empty"),
                "{error}"
            );
        }
    }
}
