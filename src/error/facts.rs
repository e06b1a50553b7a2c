//! What an error says besides its kind and message, for programs: `extensions` of a response.

use std::time::Duration;

/// A limit that was passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    name: &'static str,
    value: u64,
}

impl Limit {
    /// A limit by its name, in which the unit comes last; docs/errors.md lists all names.
    pub const fn new(name: &'static str, value: usize) -> Self {
        Self::of(name, value as u64)
    }

    /// As [`Limit::new`], of steps of work.
    pub const fn of_steps(value: u64) -> Self {
        Self::of("steps", value)
    }

    /// A limit on time, whose name ends with `Milliseconds`.
    pub fn of_time(name: &'static str, time: Duration) -> Self {
        Self::of(name, u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }

    const fn of(name: &'static str, value: u64) -> Self {
        Self { name, value }
    }

    /// What `extensions.limitName` has.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// What `extensions.limit` has, in the unit with which the name ends.
    pub const fn value(self) -> u64 {
        self.value
    }
}

/// The versions of a document that has another one than was expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versions {
    /// The one that `ifVersion` named.
    pub expected: String,
    /// The one that the document had; none if it had none, or was not there.
    pub current: Option<String>,
}

/// What an error knows besides its message; nothing of most errors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The limit that was passed.
    pub limit: Option<Limit>,
    /// The place in the document that the message is about, as a JSON Pointer (RFC 6901).
    pub place: Option<String>,
    /// The operation of a JSON Patch, from 0.
    pub operation: Option<usize>,
    /// The versions of the document.
    pub versions: Option<Versions>,
    /// What only the log is told.
    pub(super) detail: Option<String>,
}
