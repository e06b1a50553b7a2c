//! Splits a query into tokens (GraphQL specification, 2.1) with their positions.

use std::fmt;

use async_graphql::Pos;

use super::syntax_error::{ParseResult, SyntaxError};
use crate::document::leaf::abridged;

/// A lexical token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Lexeme<'t> {
    /// One of `! $ & ( ) : = @ [ ] { | }`.
    Punctuator(u8),
    /// `...`
    Spread,
    Name(&'t str),
    Number(&'t str),
    /// The text between the quotes, with its escapes.
    String(&'t str),
    /// The text between the triple quotes.
    BlockString(&'t str),
    End,
}

/// The token in an error message.
impl fmt::Display for Lexeme<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Punctuator(byte) => write!(f, "\"{}\"", char::from(*byte)),
            Self::Spread => f.write_str("\"...\""),
            Self::Name(name) => write!(f, "\"{}\"", abridged(name)),
            Self::Number(number) => write!(f, "the number {}", abridged(number)),
            Self::String(_) | Self::BlockString(_) => f.write_str("a string"),
            Self::End => f.write_str("the end of the text"),
        }
    }
}

pub(crate) struct Lexer<'t> {
    text: &'t str,
    at: usize,
    /// The offset of the last token, and its position.
    begin: usize,
    pos: Pos,
}

impl<'t> Lexer<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            begin: 0,
            pos: Pos { line: 1, column: 1 },
        }
    }

    /// The next token and its position.
    ///
    /// # Errors
    /// No token begins here, or it is not complete.
    pub(crate) fn next(&mut self) -> ParseResult<(Lexeme<'t>, Pos)> {
        self.skip_ignored();
        self.move_to(self.at);
        let Some(first) = self.byte() else {
            return Ok((Lexeme::End, self.pos));
        };
        let token = match first {
            b'_' | b'a'..=b'z' | b'A'..=b'Z' => {
                self.skip_while(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
                Lexeme::Name(&self.text[self.begin..self.at])
            }
            b'-' | b'0'..=b'9' => self.number()?,
            b'"' if self.rest().starts_with(b"\"\"\"") => self.block_string()?,
            b'"' => self.string()?,
            b'.' if self.rest().starts_with(b"...") => {
                self.at += 3;
                Lexeme::Spread
            }
            b'!' | b'$' | b'&' | b'(' | b')' | b':' | b'=' | b'@' | b'[' | b']' | b'{' | b'|'
            | b'}' => {
                self.at += 1;
                Lexeme::Punctuator(first)
            }
            _ => {
                let character = self.text[self.begin..]
                    .chars()
                    .next()
                    .unwrap_or(char::REPLACEMENT_CHARACTER);
                return self.invalid(&format!("no token begins with {character:?}"));
            }
        };
        Ok((token, self.pos))
    }

    fn invalid<T>(&self, why: &str) -> ParseResult<T> {
        Err(SyntaxError::new(why, self.pos))
    }

    fn number(&mut self) -> ParseResult<Lexeme<'t>> {
        self.at += usize::from(self.byte() == Some(b'-'));
        match self.byte() {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.byte(), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.byte(), Some(b'+' | b'-')));
            self.digits()?;
        }
        let number = &self.text[self.begin..self.at];
        match self.byte() {
            Some(next @ (b'.' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z')) => {
                let (number, next) = (abridged(number), char::from(next));
                self.invalid(&format!("the number {number} is followed by \"{next}\""))
            }
            _ => Ok(Lexeme::Number(number)),
        }
    }

    fn digits(&mut self) -> ParseResult<()> {
        let begin = self.at;
        self.skip_while(|byte| byte.is_ascii_digit());
        if self.at > begin {
            return Ok(());
        }
        let number = abridged(&self.text[self.begin..begin]);
        self.invalid(&format!("expected a digit after \"{number}\" in a number"))
    }

    fn string(&mut self) -> ParseResult<Lexeme<'t>> {
        let begin = self.at + 1;
        self.at = begin;
        loop {
            let next = memchr::memchr3(b'"', b'\\', b'\n', self.rest());
            self.at += next.unwrap_or(self.rest().len());
            match self.byte() {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                _ => return self.invalid(NOT_CLOSED),
            }
        }
        let text = self.text.get(begin..self.at).unwrap_or_default();
        if memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_some() {
            return self.invalid(NOT_CLOSED);
        }
        self.at += 1;
        Ok(Lexeme::String(text))
    }

    fn block_string(&mut self) -> ParseResult<Lexeme<'t>> {
        let begin = self.at + 3;
        self.at = begin;
        loop {
            let Some(next) = memchr::memchr2(b'"', b'\\', self.rest()) else {
                return self.invalid("the block string is not closed");
            };
            self.at += next;
            if self.rest().starts_with(b"\"\"\"") {
                break;
            }
            let escaped = self.rest().starts_with(b"\\\"\"\"");
            self.at += if escaped { 4 } else { 1 };
        }
        let text = &self.text[begin..self.at];
        self.at += 3;
        Ok(Lexeme::BlockString(text))
    }

    fn skip_ignored(&mut self) {
        loop {
            match self.byte() {
                Some(byte) if is_space(byte) => self.at += 1,
                Some(0xEF) if self.rest().starts_with("\u{FEFF}".as_bytes()) => self.at += 3,
                Some(b'#') => {
                    let line = memchr::memchr2(b'\n', b'\r', self.rest());
                    self.at += line.unwrap_or(self.rest().len());
                }
                _ => return,
            }
        }
    }

    /// Advances the position to the beginning of the next token.
    fn move_to(&mut self, begin: usize) {
        let bytes = self.text.as_bytes();
        for (at, byte) in bytes[..begin].iter().enumerate().skip(self.begin) {
            match byte {
                // `\r\n` is one end of a line.
                b'\r' if bytes.get(at + 1) == Some(&b'\n') => {}
                b'\n' | b'\r' => {
                    self.pos.line += 1;
                    self.pos.column = 1;
                }
                // A continuation byte of the previous character.
                0x80..0xC0 => {}
                _ => self.pos.column += 1,
            }
        }
        self.begin = begin;
    }

    fn skip_while(&mut self, belongs: impl Fn(u8) -> bool) {
        let belonging = self.rest().iter().take_while(|byte| belongs(**byte));
        self.at += belonging.count();
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn rest(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }
}

const NOT_CLOSED: &str = "the string is not closed on its line";

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b',' | b'\t' | b'\n' | b'\r')
}
