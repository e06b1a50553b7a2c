//! Hints of a response: mistakes that can explain why a result is empty.

use async_graphql::PathSegment;

use super::write_errors::{bounded, write_path};
use crate::document::json::{write_list, write_string};
use crate::limits::ERROR_MESSAGE_BYTES_MAX;

/// What a hint is about. docs/reference.md lists the codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HintCode {
    /// The collection holds nothing.
    UnknownCollection,
    /// The global id of a document was given as a key.
    GlobalId,
    /// A key was given as an integer and is stored as a string, or the other way round.
    KeyType,
    /// A client may have rounded an integer.
    RoundedInteger,
    /// No index serves the query.
    MissingIndex,
}

impl HintCode {
    fn text(self) -> &'static str {
        match self {
            Self::UnknownCollection => "UNKNOWN_COLLECTION",
            Self::GlobalId => "GLOBAL_ID",
            Self::KeyType => "KEY_TYPE",
            Self::RoundedInteger => "ROUNDED_INTEGER",
            Self::MissingIndex => "MISSING_INDEX",
        }
    }
}

/// A hint.
#[derive(Clone, Debug)]
pub(crate) struct Hint {
    pub(crate) code: HintCode,
    /// The position of the empty result in the response.
    pub(crate) path: Vec<PathSegment>,
    pub(crate) message: String,
    /// What to write instead.
    pub(crate) suggestion: Option<String>,
}

/// The text of the hints, as a member of a response that has other members.
pub(crate) fn hints_text(hints: &[Hint]) -> Vec<u8> {
    let mut out = b",\"extensions\":{\"hints\":".to_vec();
    write_list(&mut out, hints, |out, hint| {
        out.extend_from_slice(b"{\"code\":");
        write_string(out, hint.code.text());
        out.extend_from_slice(b",\"path\":");
        write_path(out, &hint.path);
        out.extend_from_slice(b",\"message\":");
        write_string(out, &bounded(&hint.message));
        // A truncated suggestion would be wrong, so a long one is omitted.
        let suggestion = hint.suggestion.as_ref();
        if let Some(text) = suggestion.filter(|text| text.len() <= ERROR_MESSAGE_BYTES_MAX) {
            out.extend_from_slice(b",\"suggestion\":");
            write_string(out, text);
        }
        out.push(b'}');
    });
    out.push(b'}');
    out
}
