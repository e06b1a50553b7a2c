//! What is wrong in a schema.

use std::fmt;

use super::pointer::Pointer;
use crate::error::{Error, Result};
use crate::limits::TYPE_PROBLEMS_MAX;

/// The problems of a schema that were found so far. Parsing continues after a problem, so that one error
/// has all of them.
#[derive(Default)]
pub(super) struct Problems {
    listed: Vec<String>,
    more: usize,
}

impl Problems {
    /// Adds a problem at a place. What is not listed is only counted: nothing is formatted.
    pub(super) fn add(&mut self, at: &Pointer<'_>, problem: impl fmt::Display) {
        if self.listed.len() < TYPE_PROBLEMS_MAX {
            self.add_at(&at.to_text(), problem);
        } else {
            self.more += 1;
        }
    }

    /// Adds a problem at a place, as a JSON Pointer.
    pub(super) fn add_at(&mut self, pointer: &str, problem: impl fmt::Display) {
        if self.listed.len() < TYPE_PROBLEMS_MAX {
            self.listed.push(format!("at {pointer:?}: {problem}"));
        } else {
            self.more += 1;
        }
    }

    /// Ends the parsing.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: there were problems. The message has them.
    pub(super) fn finish(self, collection: &str) -> Result<()> {
        if self.listed.is_empty() {
            return Ok(());
        }
        let more = match self.more {
            0 => String::new(),
            more => format!("; and {more} more problems"),
        };
        Err(Error::bad_input(format!(
            "the schema cannot be the type of the collection {collection:?}: {}{more}",
            self.listed.join("; ")
        )))
    }
}
