//! The value of a field.

use crate::document::json::{Event, Reader, write_string};
use crate::document::leaf::Leaf;
use crate::limits::DOCUMENT_LEVELS_MAX;
use crate::types::Kinds;

/// How the text of a field becomes a value.
pub(crate) enum Conversion {
    /// It stays text.
    Text,
    /// Numbers, `true`, `false` and `null` are recognized, and an empty field is missing.
    Inferred,
    /// The value has one of these kinds if possible. If not, it stays text, and the validation reports it.
    Typed(Kinds),
}

impl Conversion {
    /// Writes the value. Writes nothing and returns false if the field is missing.
    pub(crate) fn write(&self, out: &mut Vec<u8>, text: &str) -> bool {
        let is_json = match self {
            Self::Text => false,
            Self::Typed(kinds) if kinds.has(Kinds::STRING) => false,
            Self::Inferred if text.is_empty() => return false,
            Self::Inferred => {
                kind(text).is_some_and(|kind| kind != Kinds::OBJECT && kind != Kinds::ARRAY)
            }
            Self::Typed(kinds) if text.is_empty() => {
                if kinds.has(Kinds::NULL) {
                    out.extend_from_slice(b"null");
                }
                return kinds.has(Kinds::NULL);
            }
            Self::Typed(kinds) => kind(text).is_some_and(|kind| kinds.has(kind)),
        };
        if is_json {
            out.extend_from_slice(text.as_bytes());
        } else {
            write_string(out, text);
        }
        true
    }
}

/// The kind of the JSON value that a text is. `None` if it is not JSON, or a JSON string.
fn kind(text: &str) -> Option<Kinds> {
    if text.trim() != text {
        return None;
    }
    let mut reader = Reader::new(text, DOCUMENT_LEVELS_MAX);
    let kind = match reader.next().ok()? {
        Event::Null => Kinds::NULL,
        Event::Bool(_) => Kinds::BOOLEAN,
        Event::Number(number) => Kinds::of_leaf(&Leaf::number(number).ok()?),
        Event::BeginObject => Kinds::OBJECT,
        Event::BeginArray => Kinds::ARRAY,
        _ => return None,
    };
    while reader.next().ok()? != Event::End {}
    Some(kind)
}
