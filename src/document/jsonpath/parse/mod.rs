//! A recursive-descent parser of the grammar of RFC 9535, with its rules on types (§2.4.3).
//!
//! Each production of the grammar is a function. The next character decides which one applies, so the
//! parser never backtracks, except over blanks. The operator after a query decides whether the query
//! is a test or one side of a comparison.
//!
//! Every recursion enters a bracket or a parenthesis. [`check_nesting`] limits these before the parser
//! starts, so no text can exhaust the stack.

mod expressions;
mod functions;
mod primary;
mod scan;
mod segments;

use scan::{blank_bytes, number_bytes, string};

use super::super::json::position;
use super::super::leaf::abridged;
use super::ast::QuerySegment;
use crate::document::regexp::Regexp;
use crate::error::{Error, Limit, Result};
use crate::limits::{JSONPATH_BRACKETS_MAX, JSONPATH_BYTES_MAX};

/// The segments of a query, and the regular expressions in it.
///
/// # Errors
/// As [`super::Query::parse`].
pub(super) fn parse(text: &str) -> Result<(Vec<QuerySegment>, Vec<Regexp>)> {
    if text.len() > JSONPATH_BYTES_MAX {
        return Err(Error::too_large(
            Limit::new("jsonPathBytes", JSONPATH_BYTES_MAX),
            format!(
                "the JSONPath has {} bytes; the limit is {JSONPATH_BYTES_MAX} bytes",
                text.len()
            ),
        ));
    }
    check_nesting(text)?;
    let mut parser = QueryParser {
        text,
        at: 0,
        open_calls: 0,
        regexps: Vec::new(),
    };
    let segments = parser.query()?;
    Ok((segments, parser.regexps))
}

/// Rejects a text with more open brackets and parentheses at one place than the limit.
///
/// A quote outside of a string always begins a string, so on the part of a text that the parser
/// accepts, this count and the parser agree.
fn check_nesting(text: &str) -> Result<()> {
    let mut open = 0_usize;
    let mut quote = None;
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match (quote, byte) {
            (Some(_), b'\\') => {
                bytes.next();
            }
            (Some(begin), end) if begin == end => quote = None,
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'[' | b'(') => {
                open += 1;
                if open > JSONPATH_BRACKETS_MAX {
                    return Err(too_complex(
                        text,
                        at,
                        Limit::new("jsonPathBrackets", JSONPATH_BRACKETS_MAX),
                        &format!(
                            "brackets and parentheses nest deeper than {JSONPATH_BRACKETS_MAX} levels"
                        ),
                    ));
                }
            }
            (None, b']' | b')') => open = open.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

fn too_complex(text: &str, at: usize, limit: Limit, what: &str) -> Error {
    let place = position(text, at);
    let message = format!("in the JSONPath {what}, which is the limit, at {place}");
    Error::too_complex(limit, message)
}

/// The text of a query, and how far it is parsed.
struct QueryParser<'q> {
    text: &'q str,
    /// The byte at which the text that is not parsed yet begins.
    at: usize,
    /// Calls of functions whose arguments are being parsed.
    open_calls: usize,
    /// Regular expressions so far.
    regexps: Vec<Regexp>,
}

impl<'q> QueryParser<'q> {
    /// `jsonpath-query` (§2.2.1), which is all of the text.
    fn query(&mut self) -> Result<Vec<QuerySegment>> {
        const OUTER_BLANKS: &str = "a query neither begins nor ends with space";
        if blank_bytes(self.text) > 0 {
            return Err(self.error(0, OUTER_BLANKS));
        }
        self.expect("$")?;
        let segments = self.segments()?;
        let end = self.at;
        self.skip_blanks();
        if self.rest().starts_with('~') {
            let what =
                "`~`, the names of members, is only allowed at the end of a path of an index";
            return Err(self.error(self.at, what));
        }
        if !self.rest().is_empty() {
            return Err(self.expected("`.name`, `..name`, `[…]` or the end of the query"));
        }
        if self.at > end {
            return Err(self.error(end, OUTER_BLANKS));
        }
        Ok(segments)
    }

    fn rest(&self) -> &'q str {
        &self.text[self.at..]
    }

    fn next_char(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// `S` (§2.1.1).
    fn skip_blanks(&mut self) {
        self.at += blank_bytes(self.rest());
    }

    /// Consumes `token` if it is next.
    fn take(&mut self, token: &str) -> bool {
        let next = self.rest().starts_with(token);
        if next {
            self.at += token.len();
        }
        next
    }

    fn expect(&mut self, token: &str) -> Result<()> {
        if self.take(token) {
            return Ok(());
        }
        Err(self.expected(&format!("`{token}`")))
    }

    /// `string-literal` (§2.3.1.1), which begins here.
    fn string(&mut self) -> Result<String> {
        let (string, bytes) =
            string(self.rest()).map_err(|(bytes, what)| self.error(self.at + bytes, what))?;
        self.at += bytes;
        Ok(string)
    }

    /// The text of `number` (§2.3.5.1), if one is next.
    fn number(&mut self) -> Result<Option<&'q str>> {
        let Some(bytes) = number_bytes(self.rest()) else {
            return Ok(None);
        };
        let (number, behind) = self.rest().split_at(bytes);
        if behind.starts_with(|character: char| character.is_ascii_digit()) {
            return Err(self.error(self.at, "a number begins with a needless zero"));
        }
        self.at += bytes;
        Ok(Some(number))
    }

    /// The error that something else than `what` is next.
    fn expected(&self, what: &str) -> Error {
        let found = self
            .next_char()
            .map_or("the end of the query".to_owned(), |it| format!("{it:?}"));
        self.error(self.at, &format!("expected {what}, not {found}"))
    }

    /// The error `what` at a byte of the text.
    fn error(&self, at: usize, what: &str) -> Error {
        Error::bad_input(format!(
            "not a JSONPath query (RFC 9535): {what}, at {} of {:?}",
            position(self.text, at),
            abridged(self.text)
        ))
    }
}

#[cfg(test)]
mod tests;
