//! A pull parser for JSON text (RFC 8259). It returns numbers as text, so that they stay exact,
//! checks the nesting itself, and builds no tree.
//!
//! General deserializers round numbers, recurse, or reserve member names;
//! docs/decisions/0006-json-reader.md has the comparison.

mod error;
mod rows;
mod run;
mod skip;
mod string;
mod write_string;

use std::borrow::Cow;
use std::str::Utf8Error;

use error::problem;
pub use error::{JsonError, Problem, position};
use run::space_bytes;
use skip::{end_of_number, end_of_value};
use string::{escape, not_closed, plain_bytes};
pub use write_string::{write_characters, write_list, write_plain_before_nul, write_string};

/// Decodes UTF-8 with SIMD instructions.
///
/// # Errors
/// The bytes are not UTF-8. The error has the position.
pub fn utf8(bytes: &[u8]) -> Result<&str, Utf8Error> {
    // The fast decoder does not report the position.
    simdutf8::basic::from_utf8(bytes).or_else(|_| std::str::from_utf8(bytes))
}

/// The complete characters at the beginning of `bytes`. `None` if they are followed by anything but the beginning
/// of one more character.
pub fn whole_characters(bytes: &[u8]) -> Option<&str> {
    match utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => utf8(&bytes[..error.valid_up_to()]).ok(),
        Err(_) => None,
    }
}

/// The most bytes for which a string with escapes has room behind its first escape. A text can end with many
/// spaces, and escapes are longer than their characters.
const ROOM_MAX: usize = 1 << 10;

/// One token of a JSON text, without punctuation.
#[derive(Clone, Debug, PartialEq)]
pub enum Event<'a> {
    /// `{`
    BeginObject,
    /// `}`
    EndObject,
    /// `[`
    BeginArray,
    /// `]`
    EndArray,
    /// The name of the member that follows.
    Name(Cow<'a, str>),
    /// A string value.
    String(Cow<'a, str>),
    /// A number, as written.
    Number(&'a str),
    /// `true` or `false`
    Bool(bool),
    /// `null`
    Null,
    /// The end of the text.
    End,
}

#[derive(Clone, Copy, PartialEq)]
enum Expect {
    Value,
    /// A value or, right after `[`, the end of the array.
    ValueOrEnd,
    /// A member's name or, right after `{`, the end of the object.
    NameOrEnd,
    CommaOrEnd,
    Nothing,
}

/// Reads one JSON text, event by event.
pub struct Reader<'a> {
    text: &'a str,
    at: usize,
    /// The open containers: true for an object.
    open: Vec<bool>,
    levels_max: usize,
    expect: Expect,
}

impl<'a> Reader<'a> {
    /// A reader of `text` that accepts at most `levels_max` levels of objects and arrays.
    pub fn new(text: &'a str, levels_max: usize) -> Self {
        Self {
            text,
            at: 0,
            open: Vec::new(),
            levels_max,
            expect: Expect::Value,
        }
    }

    /// The byte offset of the next event.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Reads the next event. After [`Event::End`] it always returns `End`.
    ///
    /// # Errors
    /// The text is not JSON, or it nests deeper than allowed.
    #[inline]
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator cannot report that the text is complete and well-formed"
    )]
    pub fn next(&mut self) -> Result<Event<'a>, JsonError> {
        self.skip_space();
        match self.expect {
            Expect::ValueOrEnd if self.peek() == Some(b']') => Ok(self.close()),
            Expect::Value | Expect::ValueOrEnd => self.value(),
            Expect::NameOrEnd => match self.peek() {
                Some(b'"') => self.name(),
                Some(b'}') => Ok(self.close()),
                _ => Err(self.expected("a member's name or '}'")),
            },
            Expect::CommaOrEnd => self.comma_or_end(),
            Expect::Nothing if self.at == self.text.len() => Ok(Event::End),
            Expect::Nothing => Err(self.expected("the end of the text")),
        }
    }

    /// The first byte of the next value, which determines its kind.
    pub fn peek_value(&mut self) -> Option<u8> {
        self.skip_space();
        self.peek()
    }

    /// Skips the next value and returns its text.
    ///
    /// # Errors
    /// As [`Reader::next`].
    pub fn skip_value(&mut self) -> Result<&'a str, JsonError> {
        self.skip_space();
        if self.expect == Expect::CommaOrEnd && !self.in_object() && self.accept(b',') {
            self.skip_space();
            self.expect = Expect::Value;
        }
        match self.expect {
            Expect::Value | Expect::ValueOrEnd => {}
            Expect::NameOrEnd => return Err(self.expected("a member's name or '}'")),
            Expect::CommaOrEnd if self.in_object() => return Err(self.expected("',' or '}'")),
            Expect::CommaOrEnd => return Err(self.expected("',' or ']'")),
            Expect::Nothing => return Err(self.expected("the end of the text")),
        }
        let begin = self.at;
        let levels = self.levels_max.saturating_sub(self.open.len());
        self.at = end_of_value(self.text.as_bytes(), begin, levels, self.levels_max)?;
        self.after_value();
        Ok(&self.text[begin..self.at])
    }

    /// The text of the next element of the current array, or `None` at its end. Call it
    /// after [`Event::BeginArray`].
    ///
    /// # Errors
    /// As [`Reader::next`].
    pub fn next_element(&mut self) -> Result<Option<&'a str>, JsonError> {
        if self.begin_element()? {
            return self.skip_value().map(Some);
        }
        Ok(None)
    }

    /// Advances to the next element of the current array. Returns whether there is one. Call it
    /// after [`Event::BeginArray`].
    ///
    /// # Errors
    /// As [`Reader::next`].
    pub fn begin_element(&mut self) -> Result<bool, JsonError> {
        self.skip_space();
        match (self.expect, self.peek()) {
            (Expect::ValueOrEnd | Expect::CommaOrEnd, Some(b']')) => {
                self.close();
                return Ok(false);
            }
            (Expect::CommaOrEnd, Some(b',')) => {
                self.at += 1;
                self.skip_space();
                self.expect = Expect::Value;
            }
            (Expect::CommaOrEnd, _) => return Err(self.expected("',' or ']'")),
            _ => {}
        }
        Ok(true)
    }

    /// The name and the text of the next member of the current object, or `None` at its
    /// end. Call it after [`Event::BeginObject`].
    ///
    /// # Errors
    /// As [`Reader::next`].
    pub fn next_member(&mut self) -> Result<Option<(Cow<'a, str>, &'a str)>, JsonError> {
        match self.next()? {
            Event::Name(name) => Ok(Some((name, self.skip_value()?))),
            _ => Ok(None),
        }
    }

    fn in_object(&self) -> bool {
        self.open.last().copied().unwrap_or(false)
    }

    fn comma_or_end(&mut self) -> Result<Event<'a>, JsonError> {
        match (self.peek(), self.in_object()) {
            (Some(b','), true) => {
                self.at += 1;
                self.skip_space();
                if self.peek() == Some(b'"') {
                    self.name()
                } else {
                    Err(self.expected("a member's name"))
                }
            }
            (Some(b','), false) => {
                self.at += 1;
                self.skip_space();
                self.value()
            }
            (Some(b'}'), true) | (Some(b']'), false) => Ok(self.close()),
            (_, true) => Err(self.expected("',' or '}'")),
            (_, false) => Err(self.expected("',' or ']'")),
        }
    }

    fn value(&mut self) -> Result<Event<'a>, JsonError> {
        let event = match self.peek() {
            Some(b'{') => return self.open(true),
            Some(b'[') => return self.open(false),
            Some(b'"') => Event::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => Event::Number(self.number()?),
            Some(b't') => self.word("true", Event::Bool(true))?,
            Some(b'f') => self.word("false", Event::Bool(false))?,
            Some(b'n') => self.word("null", Event::Null)?,
            _ => return Err(self.expected("a JSON value")),
        };
        self.after_value();
        Ok(event)
    }

    fn open(&mut self, object: bool) -> Result<Event<'a>, JsonError> {
        if self.open.len() >= self.levels_max {
            return Err(problem(self.at, Problem::TooDeep(self.levels_max)));
        }
        self.at += 1;
        self.open.push(object);
        if object {
            self.expect = Expect::NameOrEnd;
            Ok(Event::BeginObject)
        } else {
            self.expect = Expect::ValueOrEnd;
            Ok(Event::BeginArray)
        }
    }

    fn close(&mut self) -> Event<'a> {
        self.at += 1;
        let object = self.open.pop().unwrap_or(false);
        self.after_value();
        if object {
            Event::EndObject
        } else {
            Event::EndArray
        }
    }

    fn after_value(&mut self) {
        self.expect = if self.open.is_empty() {
            Expect::Nothing
        } else {
            Expect::CommaOrEnd
        };
    }

    fn name(&mut self) -> Result<Event<'a>, JsonError> {
        let name = self.string()?;
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.expected("':'"));
        }
        self.at += 1;
        self.expect = Expect::Value;
        Ok(Event::Name(name))
    }

    fn word(&mut self, word: &'static str, event: Event<'a>) -> Result<Event<'a>, JsonError> {
        if self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(event)
        } else {
            Err(self.expected("a JSON value"))
        }
    }

    fn number(&mut self) -> Result<&'a str, JsonError> {
        let begin = self.at;
        self.at = end_of_number(self.text.as_bytes(), begin)?;
        Ok(&self.text[begin..self.at])
    }

    fn string(&mut self) -> Result<Cow<'a, str>, JsonError> {
        self.at += 1;
        let begin = self.at;
        self.skip_plain();
        if self.peek() == Some(b'"') {
            self.at += 1;
            return Ok(Cow::Borrowed(&self.text[begin..self.at - 1]));
        }
        self.string_with_escapes(begin).map(Cow::Owned)
    }

    fn string_with_escapes(&mut self, begin: usize) -> Result<String, JsonError> {
        // Outside of objects and arrays, the rest of the text is the rest of the string.
        let rest = if self.open.is_empty() {
            self.text.len() - self.at
        } else {
            0
        };
        let mut out = String::with_capacity(self.at - begin + rest.min(ROOM_MAX));
        out.push_str(&self.text[begin..self.at]);
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => {
                    let (character, end) = escape(self.text.as_bytes(), self.at)?;
                    out.push(character);
                    self.at = end;
                }
                Some(_) => return Err(problem(self.at, Problem::ControlCharacter)),
                None => return Err(not_closed(self.at)),
            }
            let begin = self.at;
            self.skip_plain();
            out.push_str(&self.text[begin..self.at]);
        }
    }

    #[inline]
    fn skip_plain(&mut self) {
        self.at += plain_bytes(&self.text.as_bytes()[self.at..]);
    }

    #[inline]
    fn skip_space(&mut self) {
        if matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.at += space_bytes(&self.text.as_bytes()[self.at..]);
        }
    }

    #[inline]
    fn accept(&mut self, byte: u8) -> bool {
        let accepted = self.peek() == Some(byte);
        self.at += usize::from(accepted);
        accepted
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn expected(&self, what: &'static str) -> JsonError {
        problem(self.at, Problem::Expected(what))
    }
}

#[cfg(test)]
mod tests;
