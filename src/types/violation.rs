//! Violations: where a document does not fit its type, and why.

use std::fmt;

use crate::document::leaf::{Leaf, abridged};
use crate::document::path::{Place, Segment};
use crate::limits::TYPE_VIOLATIONS_MAX;

/// A value that does not fit its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The place of the value. For `required` it is the object that lacks a member.
    pub place: Place,
    /// The keyword of the schema.
    pub keyword: &'static str,
    /// What the keyword requires, as a noun phrase.
    pub expected: String,
    /// What the value is, cut to a few words.
    pub found: String,
}

impl Violation {
    pub(super) fn new(
        place: &[Segment],
        keyword: &'static str,
        expected: impl fmt::Display,
        found: impl fmt::Display,
    ) -> Self {
        Self {
            place: Place(place.to_vec()),
            keyword,
            expected: expected.to_string(),
            found: found.to_string(),
        }
    }
}

impl Violation {
    /// The value as JSON, cut. None if there is none, or if the keyword is about the members or the length.
    pub fn value(&self) -> Option<String> {
        match (self.keyword, &*self.found) {
            ("required" | "additionalProperties" | "minItems" | "maxItems", _) => None,
            (_, "an object") => Some("{…}".to_owned()),
            (_, "an array") => Some("[…]".to_owned()),
            (_, json) => Some(json.to_owned()),
        }
    }
}

/// Formats the violation as one line.
impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            place,
            keyword,
            expected,
            found,
        } = self;
        let place = place.to_string();
        write!(
            f,
            "at {place:?} `{keyword}` requires {expected}, but there is {found}"
        )
    }
}

/// The violations that a validation found. It lists the first [`TYPE_VIOLATIONS_MAX`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Violations {
    listed: Vec<Violation>,
    /// The number of further violations.
    more: u64,
}

impl Violations {
    /// Whether the value fits.
    pub fn is_empty(&self) -> bool {
        self.listed.is_empty()
    }

    /// The first violations.
    pub fn listed(&self) -> &[Violation] {
        &self.listed
    }

    /// The number of violations that are not listed.
    pub fn more(&self) -> u64 {
        self.more
    }

    /// Adds a violation.
    pub fn add(&mut self, violation: Violation) {
        self.add_with(|| violation);
    }

    /// Adds a violation, which is made if it is listed.
    pub(super) fn add_with(&mut self, violation: impl FnOnce() -> Violation) {
        if self.is_full() {
            self.more += 1;
        } else {
            self.listed.push(violation());
        }
    }

    /// Whether no further violation is listed.
    pub fn is_full(&self) -> bool {
        self.listed.len() >= TYPE_VIOLATIONS_MAX
    }

    /// Counts further violations, which are not listed.
    pub(super) fn count(&mut self, more: u64) {
        self.more += more;
    }
}

/// A leaf as JSON, cut.
pub(super) fn shown(leaf: &Leaf<'_>) -> String {
    /// More than is shown of a string, so that a long one is not copied.
    const CHARACTERS: usize = 50;
    let mut text = Vec::new();
    match leaf {
        Leaf::String(string) => {
            let end = string.char_indices().nth(CHARACTERS).map(|(at, _)| at);
            let start = end.map_or(&**string, |end| &string[..end]);
            Leaf::String(start.into()).write_json(&mut text);
        }
        _ => leaf.write_json(&mut text),
    }
    abridged(&String::from_utf8_lossy(&text)).into_owned()
}
