//! The machine-readable facts of an error, which a response carries in `extensions`.

use std::time::Duration;

/// A limit that was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    name: &'static str,
    value: u64,
}

impl Limit {
    /// A limit with its name, whose last word is the unit. docs/errors.md lists all names.
    pub const fn new(name: &'static str, value: usize) -> Self {
        Self::of(name, value as u64)
    }

    /// The limit `steps`, in steps of work.
    pub const fn of_steps(value: u64) -> Self {
        Self::of("steps", value)
    }

    /// A limit on time, in milliseconds. The name ends with `Milliseconds`.
    pub fn of_time(name: &'static str, time: Duration) -> Self {
        Self::of(name, u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }

    const fn of(name: &'static str, value: u64) -> Self {
        Self { name, value }
    }

    /// The value of `extensions.limitName`.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// The value of `extensions.limit`, in the unit at the end of the name.
    pub const fn value(self) -> u64 {
        self.value
    }
}

/// The two versions of a failed `ifVersion` check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Versions {
    /// The version that `ifVersion` names.
    pub expected: String,
    /// The stored version. `None` if the document does not exist or has no version.
    pub current: Option<String>,
}

/// A value that does not fit the type of its collection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeViolation {
    /// The place in the document, as a JSON Pointer (RFC 6901).
    pub place: String,
    /// The keyword of the schema that the value violates.
    pub keyword: String,
    /// What the keyword requires.
    pub expected: String,
    /// The value, as JSON that may be cut. `None` if there is none.
    pub value: Option<String>,
}

/// What an error reports besides its message. Most errors have no facts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The limit that was exceeded.
    pub limit: Option<Limit>,
    /// The place in the document, as a JSON Pointer (RFC 6901).
    pub place: Option<String>,
    /// The index of the operation in a JSON Patch, from 0.
    pub operation: Option<usize>,
    /// The expected and the stored version of the document.
    pub versions: Option<Versions>,
    /// The values that do not fit the type of their collection. Empty for other errors.
    pub violations: Vec<TypeViolation>,
    /// The GraphQL mutation that would avoid the error. A hint of the response has it.
    pub remedy: Option<String>,
    /// Detail for the log only.
    pub(super) detail: Option<String>,
}
