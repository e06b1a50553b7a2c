//! Regular expressions of a query: I-Regexp (RFC 9485), matched in time linear in the text.

use std::sync::Arc;

use regex_automata::meta::{Config, Regex};
use regex_automata::nfa::thompson::{self, NFA};

use super::ast::Value;
use super::iregexp::{Refused, translate};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::{REGEXP_BYTES_MAX, REGEXP_COMPILED_BYTES_MAX, REGEXP_LEVELS_MAX};

/// The second argument of `match` or `search`.
#[derive(Debug, PartialEq)]
pub(super) enum Pattern {
    /// A literal.
    Fixed(Regexp),
    /// A value that the document tells; `whole` if all of the text has to match.
    Told { value: Value, whole: bool },
}

/// A regular expression, compiled.
#[derive(Clone, Debug)]
pub(super) struct Regexp {
    text: String,
    whole: bool,
    /// None if it is no I-Regexp, and so matches nothing (RFC 9535 §2.4.6).
    compiled: Option<Arc<Compiled>>,
}

impl PartialEq for Regexp {
    fn eq(&self, other: &Self) -> bool {
        (&self.text, self.whole) == (&other.text, other.whole)
    }
}

#[derive(Debug)]
struct Compiled {
    regex: Regex,
    /// States of its automaton: the most that one byte of a text may cost.
    states: u64,
}

impl Regexp {
    /// Compiles an expression, of which all of a text has to match if `whole`, and otherwise any
    /// part of it.
    ///
    /// # Errors
    /// `TOO_COMPLEX`: it passes a limit, which the message names.
    pub(super) fn compile(text: &str, whole: bool) -> Result<Self> {
        if text.len() > REGEXP_BYTES_MAX {
            return Err(too_complex(&format!(
                "has {} bytes; the limit is {REGEXP_BYTES_MAX} bytes",
                text.len()
            )));
        }
        let compiled = match translate(text) {
            Ok(translated) => compile(&translated, whole)?,
            Err(Refused::NoRegexp) => None,
            Err(Refused::TooDeep) => {
                return Err(too_complex(&format!(
                    "nests deeper than {REGEXP_LEVELS_MAX} levels, which is the limit"
                )));
            }
        };
        Ok(Self {
            text: text.to_owned(),
            whole,
            compiled: compiled.map(Arc::new),
        })
    }

    /// Whether a text matches.
    pub(super) fn matches(&self, text: &str) -> bool {
        let compiled = self.compiled.as_ref();
        compiled.is_some_and(|compiled| compiled.regex.is_match(text))
    }

    /// The work of one match, in steps: what a byte costs grows with the automaton.
    pub(super) fn steps(&self, text: &str) -> u64 {
        const STATES_PER_STEP: u64 = 32;
        let states = self.compiled.as_ref().map_or(0, |compiled| compiled.states);
        1 + text.len() as u64 * (1 + states / STATES_PER_STEP)
    }

    /// The work of having compiled it, in steps.
    pub(super) fn compile_steps(&self) -> u64 {
        const STEPS: u64 = 1_000;
        const STEPS_PER_STATE: u64 = 16;
        let states = self.compiled.as_ref().map_or(0, |compiled| compiled.states);
        STEPS + STEPS_PER_STATE * states
    }
}

fn compile(translated: &str, whole: bool) -> Result<Option<Compiled>> {
    let anchored = if whole {
        format!(r"\A(?:{translated})\z")
    } else {
        translated.to_owned()
    };
    let limited = thompson::Config::new().nfa_size_limit(Some(REGEXP_COMPILED_BYTES_MAX));
    let nfa: Result<NFA, _> = thompson::Compiler::new()
        .configure(limited)
        .build(&anchored);
    let nfa = match nfa {
        Ok(nfa) => nfa,
        Err(error) if error.size_limit().is_some() => return Err(compiled_too_large()),
        // A count that is no range, or past 32 bits.
        Err(_) => return Ok(None),
    };
    let config = Config::new()
        .nfa_size_limit(Some(REGEXP_COMPILED_BYTES_MAX))
        .onepass_size_limit(Some(REGEXP_COMPILED_BYTES_MAX))
        .hybrid_cache_capacity(REGEXP_COMPILED_BYTES_MAX);
    match Regex::builder().configure(config).build(&anchored) {
        Ok(regex) => Ok(Some(Compiled {
            regex,
            states: nfa.states().len() as u64,
        })),
        Err(_) => Err(compiled_too_large()),
    }
}

fn compiled_too_large() -> Error {
    too_complex(&format!(
        "takes more than {REGEXP_COMPILED_BYTES_MAX} bytes once it is compiled, which is the limit"
    ))
}

fn too_complex(what: &str) -> Error {
    let message = format!("a regular expression in the JSONPath {what}");
    Error::new(ErrorKind::TooComplex, message)
}
