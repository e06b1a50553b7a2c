//! A value as the filter of a partial index sees it.

use std::borrow::Cow;

use crate::document::json::whole_characters;
use crate::document::leaf::Leaf;
use crate::document::tree::Tree;
use crate::key::{KeyStep, Marker, decode_piece, step, tree};
use crate::limits::INDEX_FILTER_BYTES_MAX;

/// Reads a value, as far as a filter of an index distinguishes values, from its pairs in key order.
/// Every object and array is read as an empty object.
#[derive(Default)]
pub(crate) struct FilterValueReader {
    read: ReadValue,
}

#[derive(Default)]
enum ReadValue {
    /// No pair yet.
    #[default]
    Nothing,
    /// The value. None if it is malformed.
    Value(Option<Tree>),
    /// The beginning of a string in pieces.
    Text(Vec<u8>),
}

/// The bytes at the beginning of a string that decide all comparisons with a filter's strings: they
/// are shorter, and a character has at most 4 bytes.
const TEXT_BYTES: usize = INDEX_FILTER_BYTES_MAX + 4;

impl FilterValueReader {
    /// Adds the next pair. `key` is relative to the place. Returns whether to read on.
    pub(crate) fn push(&mut self, key: &[u8], value: &[u8]) -> bool {
        let is_piece = matches!(step(key), Some((KeyStep::Marker(Marker::Piece), _)));
        match &mut self.read {
            ReadValue::Nothing if key.is_empty() => {
                self.read = ReadValue::Value(tree(std::iter::once((key, value))).ok());
                false
            }
            ReadValue::Nothing if is_piece => {
                self.read = ReadValue::Text(Vec::new());
                self.push(key, value)
            }
            ReadValue::Nothing => {
                self.read = ReadValue::Value(Some(Tree::Object(Vec::new())));
                false
            }
            ReadValue::Text(text) => match decode_piece(value) {
                Some(piece) if is_piece => {
                    let rest = TEXT_BYTES.saturating_sub(text.len());
                    text.extend_from_slice(&piece[..piece.len().min(rest)]);
                    text.len() < TEXT_BYTES
                }
                _ => {
                    self.read = ReadValue::Value(None);
                    false
                }
            },
            ReadValue::Value(_) => false,
        }
    }

    /// The value. None if there is none, or it is malformed.
    pub(crate) fn finish(self) -> Option<Tree> {
        match self.read {
            ReadValue::Nothing => None,
            ReadValue::Value(value) => value,
            ReadValue::Text(text) => {
                // The last character can be cut off.
                let text = whole_characters(&text)?.to_owned();
                Some(Tree::Leaf(Leaf::String(Cow::Owned(text))))
            }
        }
    }
}
