//! What tests of one value say about where it stands in an index. Pure.

use std::collections::BTreeSet;

use crate::budget::Steps;
use crate::database::document_key::end_of;
use crate::document::filter::Test;
use crate::document::leaf::Leaf;
use crate::document::tree::Tree;
use crate::key::{IndexValue, Leaves, Rank};

/// Where in a column of an index the values stand that pass some tests.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ColumnBounds {
    /// At each of these; none if no value can pass. Not `exact` if others may stand there, too:
    /// containers go by a digest.
    Points {
        values: Vec<IndexValue>,
        exact: bool,
    },
    /// From `begin` to before `end`. Not `exact` if not all that stand there pass.
    Range {
        begin: Vec<u8>,
        end: Vec<u8>,
        exact: bool,
    },
}

/// Past every value of a column.
const PAST_ALL: &[u8] = &[0xFF];

impl ColumnBounds {
    /// Where the values stand that pass all of `tests`; without tests, any value at all. None if
    /// an index is of no help.
    pub(crate) fn of(tests: &[&Test], steps: &Steps<'_>) -> Option<Self> {
        let listed = tests.iter().find_map(|test| match test {
            Test::Equal(value) => Some(std::slice::from_ref(value)),
            Test::In(values) => Some(&values[..]),
            _ => None,
        });
        if let Some(listed) = listed {
            return Some(points(listed, tests, steps));
        }
        let helps = |test: &&&Test| !matches!(test, Test::NotEqual(_) | Test::Contains(_));
        if !tests.is_empty() && !tests.iter().any(|test| helps(&test)) {
            return None;
        }
        let mut begin = Rank::Null.prefix();
        let mut end = PAST_ALL.to_vec();
        for test in tests.iter().filter(helps) {
            let (from, to) = range(test);
            begin = begin.max(from);
            end = end.min(to);
        }
        if begin >= end {
            return Some(Self::never());
        }
        let exact = tests.iter().all(|test| helps(&test));
        Some(Self::Range { begin, end, exact })
    }

    /// Where no value stands.
    fn never() -> Self {
        Self::Points {
            values: Vec::new(),
            exact: true,
        }
    }

    /// Whether all that stand there pass.
    pub(crate) fn is_exact(&self) -> bool {
        match self {
            Self::Points { exact, .. } | Self::Range { exact, .. } => *exact,
        }
    }
}

/// Those of the listed values that pass every test. What no entry can hold, no document has that
/// an index serves for. Where the budget runs out none passes;
/// [`QueryPlan::new`](super::access_path::QueryPlan::new) fails then.
fn points(listed: &[Tree], tests: &[&Test], steps: &Steps<'_>) -> ColumnBounds {
    let pass = |value: &&Tree| {
        let mut tests = tests.iter();
        tests.all(|test| test.passes(value, steps).unwrap_or(false))
    };
    let mut exact = true;
    let mut values = BTreeSet::new();
    for value in listed.iter().filter(pass) {
        exact &= matches!(value, Tree::Leaf(_));
        values.extend(index_value(value));
    }
    ColumnBounds::Points {
        values: values.into_iter().collect(),
        exact,
    }
}

/// A value as an index has it; none if it is one that no entry can hold.
pub(crate) fn index_value(value: &Tree) -> Option<IndexValue> {
    match value {
        Tree::Leaf(leaf) => Some(IndexValue::of_leaf(leaf)),
        Tree::Array(_) | Tree::Object(_) => {
            let leaves = Leaves::from_json(&value.to_json()).ok()?;
            IndexValue::of_leaves(&leaves).ok()?
        }
    }
}

/// Where the values stand that pass one test of order.
fn range(test: &Test) -> (Vec<u8>, Vec<u8>) {
    match test {
        Test::Less(value) => ordered(value, |first, _, at| (first, at)),
        Test::AtMost(value) => ordered(value, |first, _, at| (first, end_of(&at))),
        Test::Greater(value) => ordered(value, |_, last, at| (end_of(&at), last)),
        Test::AtLeast(value) => ordered(value, |_, last, at| (at, last)),
        Test::StartsWith(beginning) => strings_from(beginning),
        Test::Equal(_) | Test::In(_) | Test::NotEqual(_) | Test::Contains(_) => {
            (Vec::new(), PAST_ALL.to_vec())
        }
    }
}

/// The bounds made of the first value of a leaf's type, past its last, and the leaf itself. No
/// order is defined of containers.
fn ordered(
    value: &Tree,
    bounds: impl Fn(Vec<u8>, Vec<u8>, Vec<u8>) -> (Vec<u8>, Vec<u8>),
) -> (Vec<u8>, Vec<u8>) {
    let Tree::Leaf(leaf) = value else {
        return (PAST_ALL.to_vec(), Vec::new());
    };
    let (first, last) = match leaf {
        Leaf::Null => (Rank::Null, Rank::Null),
        Leaf::Bool(_) => (Rank::False, Rank::True),
        Leaf::Integer(_) | Leaf::BigInteger(_) | Leaf::Double(_) => (Rank::Number, Rank::Number),
        Leaf::String(_) => (Rank::String, Rank::String),
    };
    let at = IndexValue::of_leaf(leaf);
    bounds(first.prefix(), end_of(&last.prefix()), at.bytes().to_vec())
}

/// Where the strings stand that begin with a text.
fn strings_from(beginning: &str) -> (Vec<u8>, Vec<u8>) {
    let value = IndexValue::of_leaf(&Leaf::String(beginning.into()));
    // Without the NUL that ends it, the text's form is what theirs begin with.
    let begin = &value.bytes()[..value.bytes().len() - 1];
    let mut end = begin.to_vec();
    // A NUL in a text has 0xFF behind it, which nothing can stand behind.
    while end.last() == Some(&0xFF) {
        end.pop();
    }
    if let Some(last) = end.last_mut() {
        *last += 1;
    }
    (begin.to_vec(), end)
}
