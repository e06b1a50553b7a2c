//! What is wrong with a text that is not JSON, and where.

use std::fmt;

/// Why a text is not JSON, or nests too deep, and at which byte of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// Byte offset in the text.
    pub offset: usize,
    /// What is wrong there.
    pub problem: Problem,
}

/// What is wrong with a JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// Something else was expected.
    Expected(&'static str),
    /// A control character stands unescaped in a string.
    ControlCharacter,
    /// A `\` is followed by what is no escape.
    BadEscape,
    /// Half of a UTF-16 surrogate pair: no Unicode character.
    LoneSurrogate,
    /// More levels of objects and arrays than this.
    TooDeep(usize),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expected(what) => write!(f, "expected {what}"),
            Self::ControlCharacter => f.write_str("an unescaped control character in a string"),
            Self::BadEscape => f.write_str("an unknown escape in a string"),
            Self::LoneSurrogate => {
                f.write_str("a lone surrogate in a string, which is no Unicode character")
            }
            Self::TooDeep(limit) => write!(f, "more than {limit} levels of objects and arrays"),
        }
    }
}

impl JsonError {
    /// The error in words, with line and column (in bytes, from 1) of its place in `text`.
    pub fn describe(&self, text: &str) -> String {
        format!("{} at {}", self.problem, position(text, self.offset))
    }
}

/// A place in a text in words: its line and column, in bytes, from 1.
pub fn position(text: &str, offset: usize) -> String {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    let column = before.len() - memchr::memrchr(b'\n', before).map_or(0, |at| at + 1) + 1;
    format!("line {line}, column {column}")
}

pub(super) fn problem(offset: usize, problem: Problem) -> JsonError {
    JsonError { offset, problem }
}
