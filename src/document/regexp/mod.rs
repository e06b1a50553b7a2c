//! Regular expressions of queries and schemas: I-Regexp (RFC 9485), matched in time linear in the text.

mod compiled_pattern;
mod iregexp;

use std::sync::{Arc, OnceLock};

use compiled_pattern::{CompiledPattern, compiled, too_complex};
use iregexp::{Refused, translate};

use crate::budget::Steps;
use crate::error::{Limit, Result};
use crate::limits::{REGEXP_BYTES_MAX, REGEXP_LEVELS_MAX};

/// A regular expression, which is compiled before it is first used. A clone is cheap.
#[derive(Clone, Debug)]
pub struct Regexp(Arc<RegexpText>);

#[derive(Debug)]
struct RegexpText {
    text: String,
    whole: bool,
    /// For `regex-syntax`. None if it is no I-Regexp, and so matches nothing (RFC 9535 §2.4.6).
    translated: Option<Arc<str>>,
    /// None if it can match nothing.
    compiled: OnceLock<Option<Arc<CompiledPattern>>>,
}

impl PartialEq for Regexp {
    fn eq(&self, other: &Self) -> bool {
        (&self.0.text, self.0.whole) == (&other.0.text, other.0.whole)
    }
}

impl Regexp {
    /// Checks the text of an expression, of which all of a text has to match if `whole`, and
    /// otherwise any part of it.
    ///
    /// # Errors
    /// `TOO_COMPLEX`: it exceeds a limit, which the message names.
    pub fn parse(text: &str, whole: bool) -> Result<Self> {
        if text.len() > REGEXP_BYTES_MAX {
            return Err(too_complex(
                Limit::new("regexpBytes", REGEXP_BYTES_MAX),
                &format!(
                    "has {} bytes; the limit is {REGEXP_BYTES_MAX} bytes",
                    text.len()
                ),
            ));
        }
        let translated = match translate(text) {
            Ok(translated) => Some(translated.into()),
            Err(Refused::NoRegexp) => None,
            Err(Refused::TooDeep) => {
                return Err(too_complex(
                    Limit::new("regexpLevels", REGEXP_LEVELS_MAX),
                    &format!("nests deeper than {REGEXP_LEVELS_MAX} levels, which is the limit"),
                ));
            }
        };
        Ok(Self(Arc::new(RegexpText {
            text: text.to_owned(),
            whole,
            translated,
            compiled: OnceLock::new(),
        })))
    }

    /// Whether a text matches.
    ///
    /// # Errors
    /// As [`Regexp::compile`].
    pub fn matches(&self, text: &str, steps: &Steps<'_>) -> Result<bool> {
        match self.compiled(steps)? {
            Some(compiled) => compiled.matches(text, steps),
            None => Ok(false),
        }
    }

    /// The expression as it was written.
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// Compiles the expression, if that was not done yet. Returns whether it can match anything: no text
    /// matches what is no I-Regexp (RFC 9535 §2.4.6).
    ///
    /// # Errors
    /// `TOO_COMPLEX`: it is too large once it is compiled. `UNAVAILABLE`: all requests together would
    /// hold too much memory. As [`Steps::spend`].
    pub fn compile(&self, steps: &Steps<'_>) -> Result<bool> {
        self.compiled(steps).map(|compiled| compiled.is_some())
    }

    /// The bytes of the compiled expression. 0 before it is compiled.
    pub fn compiled_bytes(&self) -> usize {
        let compiled = self.0.compiled.get().and_then(Option::as_ref);
        compiled.map_or(0, |compiled| compiled.held())
    }

    fn compiled(&self, steps: &Steps<'_>) -> Result<Option<&Arc<CompiledPattern>>> {
        let RegexpText {
            whole,
            translated,
            compiled: cell,
            ..
        } = &*self.0;
        let Some(translated) = translated else {
            return Ok(None);
        };
        if let Some(known) = cell.get() {
            return Ok(known.as_ref());
        }
        let made = compiled(translated, *whole, steps)?;
        Ok(cell.get_or_init(|| made).as_ref())
    }
}

/// The work of [`Regexp::parse`], in steps.
pub fn check_steps(text: &str) -> u64 {
    const BYTES_PER_STEP: u64 = 16;
    1 + text.len() as u64 / BYTES_PER_STEP
}
