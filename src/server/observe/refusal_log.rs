//! Log lines about refused requests. Clients decide how often they are refused, so the number of lines
//! is bounded.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use crate::limits::{REFUSALS_LOGGED_MAX, REFUSALS_LOGGED_PERIOD, REFUSED_NAME_CHARACTERS_MAX};

/// Logs refusals of one kind. In each period a text is logged once, and at most
/// [`REFUSALS_LOGGED_MAX`] different ones are. The first line of a later period has the number of those
/// that were left out. Clones share the state.
#[derive(Clone, Debug, Default)]
pub(crate) struct RefusalLog(Arc<Mutex<RefusalPeriod>>);

#[derive(Debug, Default)]
struct RefusalPeriod {
    begin: Option<Instant>,
    logged: Vec<String>,
    left_out: u64,
}

impl RefusalLog {
    /// Logs `text` as a warning, or counts it as left out.
    pub(crate) fn warn(&self, text: String) {
        let mut period = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let line = period.line(text, Instant::now());
        drop(period);
        if let Some(line) = line {
            tracing::warn!("{line}");
        }
    }
}

impl RefusalPeriod {
    /// The line to log at this time, if any.
    fn line(&mut self, text: String, now: Instant) -> Option<String> {
        let is_over = |begin| now.saturating_duration_since(begin) >= REFUSALS_LOGGED_PERIOD;
        let mut note = String::new();
        if self.begin.is_none_or(is_over) {
            if self.left_out > 0 {
                note = format!(
                    " ({} similar refusals before were not logged)",
                    self.left_out
                );
            }
            *self = Self {
                begin: Some(now),
                ..Self::default()
            };
        } else if self.logged.len() == REFUSALS_LOGGED_MAX || self.logged.contains(&text) {
            self.left_out += 1;
            return None;
        }
        let line = format!("{text}{note}");
        self.logged.push(text);
        Some(line)
    }
}

/// A name that a client sent, as it is logged: the beginning of a long one.
pub(crate) fn refused_name(name: &str) -> String {
    name.chars().take(REFUSED_NAME_CHARACTERS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_logged_once_in_a_period_and_the_others_are_counted() {
        let mut period = RefusalPeriod::default();
        let begin = Instant::now();
        let log = |period: &mut RefusalPeriod, text: &str, at| period.line(text.to_owned(), at);
        assert_eq!(log(&mut period, "a", begin).as_deref(), Some("a"));
        assert_eq!(log(&mut period, "a", begin), None);
        for number in 1..REFUSALS_LOGGED_MAX {
            let text = number.to_string();
            assert_eq!(log(&mut period, &text, begin), Some(text));
        }
        assert_eq!(log(&mut period, "b", begin), None);
        let next = begin + REFUSALS_LOGGED_PERIOD;
        assert_eq!(
            log(&mut period, "b", next).as_deref(),
            Some("b (2 similar refusals before were not logged)")
        );
        assert_eq!(log(&mut period, "a", next).as_deref(), Some("a"));
        let later = next + REFUSALS_LOGGED_PERIOD;
        assert_eq!(log(&mut period, "a", later).as_deref(), Some("a"));
    }
}
