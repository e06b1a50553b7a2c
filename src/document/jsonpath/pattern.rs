//! Regular expressions of a query: I-Regexp (RFC 9485), matched in time linear in the text.

use std::sync::{Arc, Mutex, PoisonError};

use regex_automata::Input;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::pikevm::PikeVM;
use regex_automata::nfa::thompson::{NFA, WhichCaptures};

use super::iregexp::{Refused, translate};
use crate::error::{Error, Limit, Result};
use crate::limits::{REGEXP_BYTES_MAX, REGEXP_COMPILED_BYTES_MAX, REGEXP_LEVELS_MAX};

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
    /// Made while it runs, state by state; gives up where that does not pay.
    dfa: DFA,
    /// What is used then.
    nfa: PikeVM,
    cache: Mutex<Cache>,
    /// States of the automaton, to which the most that a byte of text may cost is proportional.
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
            return Err(too_complex(
                Limit::new("regexpBytes", REGEXP_BYTES_MAX),
                &format!(
                    "has {} bytes; the limit is {REGEXP_BYTES_MAX} bytes",
                    text.len()
                ),
            ));
        }
        let compiled = match translate(text) {
            Ok(translated) => compile(&translated, whole)?,
            Err(Refused::NoRegexp) => None,
            Err(Refused::TooDeep) => {
                return Err(too_complex(
                    Limit::new("regexpLevels", REGEXP_LEVELS_MAX),
                    &format!("nests deeper than {REGEXP_LEVELS_MAX} levels, which is the limit"),
                ));
            }
        };
        Ok(Self {
            text: text.to_owned(),
            whole,
            compiled: compiled.map(Arc::new),
        })
    }

    /// Whether a text matches. `spend` is called with the work before it is done.
    ///
    /// # Errors
    /// What `spend` fails with.
    pub(super) fn matches(&self, text: &str, spend: impl Fn(u64) -> Result<()>) -> Result<bool> {
        const STATES_PER_STEP: u64 = 64;
        const STATES_PER_STEP_OF_NFA: u64 = 4;
        let Some(compiled) = &self.compiled else {
            return Ok(false);
        };
        let bytes = text.len() as u64;
        spend(1 + bytes * (1 + compiled.states / STATES_PER_STEP))?;
        let input = Input::new(text).earliest(true);
        let mut cache = compiled
            .cache
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Ok(found) = compiled.dfa.try_search_fwd(&mut cache, &input) {
            return Ok(found.is_some());
        }
        drop(cache);
        spend(bytes * (1 + compiled.states / STATES_PER_STEP_OF_NFA))?;
        let nfa = &compiled.nfa;
        Ok(nfa.is_match(&mut nfa.create_cache(), input))
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
    let config = NFA::config()
        .nfa_size_limit(Some(REGEXP_COMPILED_BYTES_MAX))
        .which_captures(WhichCaptures::None);
    let nfa = match NFA::compiler().configure(config).build(&anchored) {
        Ok(nfa) => nfa,
        Err(error) if error.size_limit().is_some() => return Err(compiled_too_large()),
        // A count that is no range, or past 32 bits.
        Err(_) => return Ok(None),
    };
    let config = DFA::config()
        .cache_capacity(REGEXP_COMPILED_BYTES_MAX)
        .skip_cache_capacity_check(true)
        .minimum_cache_clear_count(Some(3))
        .minimum_bytes_per_state(Some(10));
    let states = nfa.states().len() as u64;
    let dfa = DFA::builder().configure(config).build_from_nfa(nfa.clone());
    let nfa = PikeVM::new_from_nfa(nfa);
    let (Ok(dfa), Ok(nfa)) = (dfa, nfa) else {
        return Err(compiled_too_large());
    };
    Ok(Some(Compiled {
        cache: Mutex::new(dfa.create_cache()),
        dfa,
        nfa,
        states,
    }))
}

fn compiled_too_large() -> Error {
    too_complex(
        Limit::new("regexpCompiledBytes", REGEXP_COMPILED_BYTES_MAX),
        &format!(
            "takes more than {REGEXP_COMPILED_BYTES_MAX} bytes once it is compiled, which is the limit"
        ),
    )
}

fn too_complex(limit: Limit, what: &str) -> Error {
    let message = format!("a regular expression in the JSONPath {what}");
    Error::too_complex(limit, message)
}
