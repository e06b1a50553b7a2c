//! Errors in JSON text.

use std::fmt;

/// Why a text is not JSON or nests too deep, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// The byte offset in the text.
    pub offset: usize,
    /// The problem at that offset.
    pub problem: Problem,
}

/// A problem in JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// The reader expected this.
    Expected(&'static str),
    /// An unescaped control character in a string.
    ControlCharacter,
    /// A `\` before this character, which is no escape.
    UnknownEscape(char),
    /// `\u` without four hexadecimal digits.
    UnicodeEscape,
    /// One half of a UTF-16 surrogate pair, which is not a Unicode character.
    LoneSurrogate,
    /// More levels of objects and arrays than this limit.
    TooDeep(usize),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expected(what) => write!(f, "expected {what}"),
            Self::ControlCharacter => f.write_str("an unescaped control character in a string"),
            Self::UnknownEscape(character) if character.is_control() => {
                write!(f, "\\ before {character:?} in a string, which is no escape")
            }
            Self::UnknownEscape(character) => {
                write!(f, "\\{character} in a string, which is no escape")
            }
            Self::UnicodeEscape => {
                f.write_str("\\u in a string without its four hexadecimal digits")
            }
            Self::LoneSurrogate => {
                f.write_str("a lone surrogate in a string, which is not a Unicode character")
            }
            Self::TooDeep(limit) => write!(f, "more than {limit} levels of objects and arrays"),
        }
    }
}

impl JsonError {
    /// The problem with its line and column in `text`.
    pub fn describe(&self, text: &str) -> String {
        format!("{} at {}", self.problem, position(text, self.offset))
    }
}

/// A byte offset in `text` as line and column, in bytes, from 1.
pub fn position(text: &str, offset: usize) -> String {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    let column = before.len() - memchr::memrchr(b'\n', before).map_or(0, |at| at + 1) + 1;
    format!("line {line}, column {column}")
}

pub(super) fn problem(offset: usize, problem: Problem) -> JsonError {
    JsonError { offset, problem }
}
