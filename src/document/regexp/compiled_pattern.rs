//! Compiled regular expressions. Equal ones are shared by all queries that use them, and each holds
//! its memory as a part of the memory of all requests.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use regex_automata::Input;
use regex_automata::hybrid::dfa::{Cache, DFA};
use regex_automata::nfa::thompson::pikevm::PikeVM;
use regex_automata::nfa::thompson::{NFA, WhichCaptures};

use crate::budget::{Pool, Share, Steps};
use crate::error::{Error, Limit, Result};
use crate::limits::{REGEXP_COMPILED_BYTES_MAX, REGEXP_IDLE_BYTES_MAX};

/// A regular expression, compiled.
#[derive(Debug)]
pub(super) struct CompiledPattern {
    key: PatternKey,
    /// Made while it runs, state by state; gives up where that does not pay.
    dfa: DFA,
    /// What is used then.
    nfa: PikeVM,
    /// The states that searches have made, each set used by one search at a time, with its part of
    /// [`IDLE`].
    idle: Mutex<Vec<(SearchStates, Share)>>,
    /// States of the automaton, to which the most that a byte of text may cost is proportional.
    states: u64,
    /// Its memory, without the states that searches have made.
    memory: Share,
}

/// The text of an expression for `regex-syntax`, and whether all of a text has to match.
type PatternKey = (Arc<str>, bool);

/// States of a [`DFA`], and their memory.
#[derive(Debug)]
struct SearchStates {
    cache: Cache,
    memory: Share,
    /// The bytes that `memory` holds.
    bytes: usize,
}

/// The expressions that are in use.
static IN_USE: LazyLock<Mutex<HashMap<PatternKey, Weak<CompiledPattern>>>> =
    LazyLock::new(Mutex::default);

/// The states that are kept for later searches, of all expressions. Expressions of types are in use as
/// long as the process, so that these states are bounded besides.
static IDLE: LazyLock<Pool> = LazyLock::new(|| Pool::new(REGEXP_IDLE_BYTES_MAX));

fn in_use() -> MutexGuard<'static, HashMap<PatternKey, Weak<CompiledPattern>>> {
    IN_USE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Compiles an expression for `regex-syntax`, or returns the one that is in use. None if it can match
/// nothing.
///
/// # Errors
/// As [`super::Regexp::compile`].
pub(super) fn compiled(
    translated: &Arc<str>,
    whole: bool,
    steps: &Steps<'_>,
) -> Result<Option<Arc<CompiledPattern>>> {
    const STEPS: u64 = 1_000;
    const STEPS_PER_STATE: u64 = 16;
    let key = (translated.clone(), whole);
    if let Some(shared) = in_use().get(&key).and_then(Weak::upgrade) {
        return Ok(Some(shared));
    }
    steps.spend(STEPS)?;
    let Some(made) = compile(key.clone(), steps)? else {
        return Ok(None);
    };
    steps.spend(STEPS_PER_STATE * made.states)?;
    let made = Arc::new(made);
    in_use().insert(key, Arc::downgrade(&made));
    Ok(Some(made))
}

fn compile(key: PatternKey, steps: &Steps<'_>) -> Result<Option<CompiledPattern>> {
    let (translated, whole) = (&key.0, key.1);
    let anchored = if whole {
        format!(r"\A(?:{translated})\z")
    } else {
        (**translated).to_owned()
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
    let memory = steps.counted_share();
    memory.take(size_of::<CompiledPattern>() + translated.len() + nfa.memory_usage())?;
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
    Ok(Some(CompiledPattern {
        key,
        dfa,
        nfa,
        idle: Mutex::default(),
        states,
        memory,
    }))
}

impl CompiledPattern {
    /// Whether a text matches.
    ///
    /// # Errors
    /// `UNAVAILABLE`: all requests together would hold too much memory. As [`Steps::spend`].
    pub(super) fn matches(&self, text: &str, steps: &Steps<'_>) -> Result<bool> {
        const STATES_PER_STEP: u64 = 64;
        const STATES_PER_STEP_OF_NFA: u64 = 4;
        let bytes = text.len() as u64;
        steps.spend(1 + bytes * (1 + self.states / STATES_PER_STEP))?;
        let input = Input::new(text).earliest(true);
        let idle = self.idle().pop();
        let mut states = match idle {
            Some((states, _)) => states,
            None => SearchStates::new(&self.dfa, steps)?,
        };
        let searched = self.dfa.try_search_fwd(&mut states.cache, &input);
        states.count()?;
        let kept = IDLE.counted_share();
        if kept.take(states.bytes).is_ok() {
            self.idle().push((states, kept));
        }
        if let Ok(found) = searched {
            return Ok(found.is_some());
        }
        steps.spend(bytes * (1 + self.states / STATES_PER_STEP_OF_NFA))?;
        let nfa = &self.nfa;
        Ok(nfa.is_match(&mut nfa.create_cache(), input))
    }

    /// Its memory in bytes, without the states that searches have made.
    pub(super) fn held(&self) -> usize {
        self.memory.held()
    }

    fn idle(&self) -> MutexGuard<'_, Vec<(SearchStates, Share)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CompiledPattern {
    fn drop(&mut self) {
        let mut in_use = in_use();
        // Another one may have been compiled since this one had no more users.
        if in_use
            .get(&self.key)
            .is_some_and(|it| it.strong_count() == 0)
        {
            in_use.remove(&self.key);
        }
    }
}

impl SearchStates {
    fn new(dfa: &DFA, steps: &Steps<'_>) -> Result<Self> {
        let mut states = Self {
            cache: dfa.create_cache(),
            memory: steps.counted_share(),
            bytes: 0,
        };
        states.count()?;
        Ok(states)
    }

    /// Takes memory for the states that were made since the last call.
    fn count(&mut self) -> Result<()> {
        let bytes = size_of::<Self>() + self.cache.memory_usage();
        let more = bytes.saturating_sub(self.bytes);
        if more > 0 {
            self.bytes = bytes;
            self.memory.take(more)?;
        }
        Ok(())
    }
}

fn compiled_too_large() -> Error {
    too_complex(
        Limit::new("regexpCompiledBytes", REGEXP_COMPILED_BYTES_MAX),
        &format!(
            "takes more than {REGEXP_COMPILED_BYTES_MAX} bytes once it is compiled, which is the limit"
        ),
    )
}

pub(super) fn too_complex(limit: Limit, what: &str) -> Error {
    let message = format!("a regular expression {what}");
    Error::too_complex(limit, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::{Budget, Pool};
    use crate::limits::Bounds;

    #[test]
    fn equal_expressions_share_memory_which_is_counted_while_they_are_used() {
        let pool = Pool::new(1 << 20);
        let budget = Budget::of_test_in(&pool, &Bounds::DEFAULT);
        let steps = Steps::of(&budget);
        let one = compiled(&"(?:s|h)[a-z]{1,50}".into(), true, &steps);
        let one = one.expect("it fits").expect("it is one");
        let held = pool.held();
        assert!(held > 1_000, "{held}");
        let other = compiled(&"(?:s|h)[a-z]{1,50}".into(), true, &steps)
            .expect("it fits")
            .expect("it is one");
        assert!(Arc::ptr_eq(&one, &other));
        assert_eq!(pool.held(), held);
        assert!(one.matches("shared", &steps).expect("there is room"));
        let searched = pool.held();
        assert!(searched > held, "{searched}");
        assert!(other.matches("shared", &steps).expect("there is room"));
        assert_eq!(pool.held(), searched);
        drop((one, other));
        assert_eq!(pool.held(), 0);
        let listed = in_use().keys().any(|(text, _)| text.contains("s|h"));
        assert!(!listed, "it is not in use");
    }

    #[test]
    fn expressions_that_do_not_fit_in_memory_are_rejected() {
        let pool = Pool::new(100 << 10);
        let budget = Budget::of_test_in(&pool, &Bounds::DEFAULT);
        let steps = Steps::of(&budget);
        let mut kept = Vec::new();
        let error = (1..100).find_map(|at| {
            let pattern = format!(r"{at}\p{{L}}{{1,5}}");
            match compiled(&pattern.into(), true, &steps) {
                Ok(one) => {
                    kept.push(one);
                    None
                }
                Err(error) => Some(error),
            }
        });
        let error = error.expect("they do not fit");
        assert_eq!(error.kind().code(), "UNAVAILABLE", "{error}");
        assert!(error.message().contains("102400 bytes"), "{error}");
    }
}
