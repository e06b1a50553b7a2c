//! Segments (RFC 9535 §2.5) and selectors (§2.3).

use super::super::ast::{QuerySegment, Selector};
use super::QueryParser;
use super::scan::name_bytes;
use crate::document::leaf::abridged;
use crate::error::Result;
use crate::limits::JSONPATH_INTEGER_MAX;

const SELECTOR: &str =
    "a selector (a name in quotes, an index, a slice, `*` or `?` and a logical expression)";

impl QueryParser<'_> {
    /// `segments`. Blanks that no segment follows are left.
    pub(super) fn segments(&mut self) -> Result<Vec<QuerySegment>> {
        let mut segments = Vec::new();
        loop {
            let end = self.at;
            self.skip_blanks();
            segments.push(if self.take("..") {
                QuerySegment::Descendant(if self.take("[") {
                    self.bracketed_selection()?
                } else {
                    vec![self.shorthand("a name, `*` or `[` directly behind `..`")?]
                })
            } else if self.take(".") {
                QuerySegment::Child(vec![self.shorthand("a name or `*` directly behind `.`")?])
            } else if self.take("[") {
                QuerySegment::Child(self.bracketed_selection()?)
            } else {
                self.at = end;
                return Ok(segments);
            });
        }
    }

    /// `wildcard-selector` or `member-name-shorthand`.
    fn shorthand(&mut self, expected: &str) -> Result<Selector> {
        if self.take("*") {
            return Ok(Selector::Wildcard);
        }
        let bytes = name_bytes(self.rest()).ok_or_else(|| self.expected(expected))?;
        let name = self.rest()[..bytes].to_owned();
        self.at += bytes;
        Ok(Selector::Name(name))
    }

    /// `bracketed-selection`, behind its `[`.
    fn bracketed_selection(&mut self) -> Result<Vec<Selector>> {
        let mut selectors = Vec::new();
        loop {
            self.skip_blanks();
            let selector = self.selector()?;
            self.skip_blanks();
            let filter = matches!(selector, Selector::Filter(_));
            selectors.push(selector);
            if self.take("]") {
                return Ok(selectors);
            }
            if !self.take(",") {
                return Err(if filter {
                    self.expected_operator("`,` or `]`")
                } else {
                    self.expected("`,` or `]`")
                });
            }
        }
    }

    fn selector(&mut self) -> Result<Selector> {
        match self.next_char() {
            Some('\'' | '"') => self.string().map(Selector::Name),
            Some('-' | ':' | '0'..='9') => self.index_or_slice(),
            _ if self.take("*") => Ok(Selector::Wildcard),
            _ if self.take("?") => {
                self.skip_blanks();
                self.logical_expression().map(Selector::Filter)
            }
            _ => Err(self.expected(SELECTOR)),
        }
    }

    fn index_or_slice(&mut self) -> Result<Selector> {
        let start = self.integer()?;
        self.skip_blanks();
        if !self.take(":") {
            return start
                .map(Selector::Index)
                .ok_or_else(|| self.expected(SELECTOR));
        }
        self.skip_blanks();
        let end = self.integer()?;
        self.skip_blanks();
        let mut step = None;
        if self.take(":") {
            self.skip_blanks();
            step = self.integer()?;
        }
        Ok(Selector::Slice {
            start,
            end,
            step: step.unwrap_or(1),
        })
    }

    /// `int` in the range of §2.1, if a number is next.
    fn integer(&mut self) -> Result<Option<i64>> {
        let at = self.at;
        let Some(number) = self.number()? else {
            return Ok(None);
        };
        let integer = number
            .parse::<i64>()
            .ok()
            .filter(|integer| number != "-0" && integer.unsigned_abs() <= JSONPATH_INTEGER_MAX);
        let integer = integer.ok_or_else(|| {
            self.error(
                at,
                &format!(
                    "{} is not valid here: an index is an integer from \
                     -{JSONPATH_INTEGER_MAX} to {JSONPATH_INTEGER_MAX}",
                    abridged(number)
                ),
            )
        })?;
        Ok(Some(integer))
    }
}
