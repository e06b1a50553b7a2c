//! What a request does at a place.

use std::fmt;

/// What a request does at a place. A rule allows a set of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Reads what is stored at the place and below it.
    Read,
    /// Finds documents of the collection: their keys, and that they exist. A rule's path does not
    /// limit it. What is read of the documents that are found is [`Read`](Self::Read).
    List,
    /// Changes what is stored at the place and below it.
    Write,
    /// Stores a document that did not exist.
    Create,
    /// Deletes a document.
    Delete,
    /// Creates, changes and drops indexes of the collection.
    Index,
}

impl Action {
    /// All actions, in the order in which messages name them.
    pub const ALL: [Self; 6] = [
        Self::Read,
        Self::List,
        Self::Write,
        Self::Create,
        Self::Delete,
        Self::Index,
    ];

    /// Its name in a rule.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::List => "list",
            Self::Write => "write",
            Self::Create => "create",
            Self::Delete => "delete",
            Self::Index => "index",
        }
    }

    /// The action with this name in a rule.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.name() == name)
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Actions(u8);

impl Actions {
    /// Adds an action. Returns whether it is new.
    pub(crate) fn add(&mut self, action: Action) -> bool {
        let is_new = !self.has(action);
        self.0 |= Self::bit(action);
        is_new
    }

    pub(crate) fn has(self, action: Action) -> bool {
        self.0 & Self::bit(action) != 0
    }

    fn bit(action: Action) -> u8 {
        1 << action as u8
    }
}
