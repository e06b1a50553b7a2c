//! Translation of tests on one value into bounds of an index column. Pure functions.

use std::collections::BTreeSet;
use std::ptr;

use crate::budget::Steps;
use crate::database::document_key::{prefix_end, strings_from};
use crate::document::filter::Test;
use crate::document::leaf::Leaf;
use crate::document::tree::Tree;
use crate::error::Error;
use crate::key::{IndexValue, Leaves, Rank};
use crate::limits::KEY_BYTES_MAX;

/// The bounds in an index column of the values that pass some tests.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ColumnBounds {
    /// Exactly these values; none if no value can pass. Not `exact` if other values have the same
    /// packed form: containers are stored as a digest.
    Points {
        values: Vec<IndexValue>,
        exact: bool,
    },
    /// From `begin` to before `end`. Not `exact` if some values in the range do not pass.
    Range {
        begin: Vec<u8>,
        end: Vec<u8>,
        exact: bool,
    },
}

/// Greater than every value of a column.
const PAST_ALL: &[u8] = &[0xFF];

impl ColumnBounds {
    /// The bounds of the values that pass all `tests`. Without tests, the bounds of all
    /// values. None if an index does not help.
    pub(crate) fn of(tests: &[&Test], steps: &Steps<'_>) -> Option<Self> {
        if let Some(listed) = listed(tests) {
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

    /// Returns bounds that contain no value.
    fn never() -> Self {
        Self::Points {
            values: Vec::new(),
            exact: true,
        }
    }

    /// Whether all values within the bounds pass.
    pub(crate) fn is_exact(&self) -> bool {
        match self {
            Self::Points { exact, .. } | Self::Range { exact, .. } => *exact,
        }
    }
}

/// The values among which a test of equality chooses.
pub(super) fn listed<'t>(tests: &[&'t Test]) -> Option<&'t [Tree]> {
    tests.iter().find_map(|test| match test {
        Test::Equal(value) => Some(std::slice::from_ref(value)),
        Test::In(values) => Some(&values[..]),
        _ => None,
    })
}

/// The listed values that pass every test. A value that does not fit into an entry is
/// omitted: no document of a ready index has it. When the budget is exhausted no value passes, and
/// [`QueryPlan::new`](super::access_path::QueryPlan::new) fails.
fn points(listed: &[Tree], tests: &[&Test], steps: &Steps<'_>) -> ColumnBounds {
    // The values of the test that lists them pass it.
    let others: Vec<&Test> = tests
        .iter()
        .filter(|test| !ptr::eq(test.trees(), listed))
        .copied()
        .collect();
    let passes = |value: &Tree| {
        steps.spend(1)?;
        others.iter().try_fold(true, |passes, test| {
            Ok::<_, Error>(passes && test.passes(value, steps)?)
        })
    };
    let mut exact = true;
    let mut values = BTreeSet::new();
    for value in listed {
        if passes(value).unwrap_or(false) {
            exact &= matches!(value, Tree::Leaf(_));
            values.extend(
                Some(value)
                    .filter(|value| fits(value))
                    .and_then(index_value),
            );
        }
    }
    ColumnBounds::Points {
        values: values.into_iter().collect(),
        exact,
    }
}

/// Whether a value may fit into an entry.
fn fits(value: &Tree) -> bool {
    !matches!(value, Tree::Leaf(Leaf::String(text)) if text.len() > KEY_BYTES_MAX)
}

/// The beginning of a text that lies between the same entries. It does not fit into an entry either, if it is not the
/// whole text.
fn shortened(text: &str) -> &str {
    let mut end = text.len().min(KEY_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end += 1;
    }
    &text[..end]
}

/// A value in its packed index form. None if it does not fit into an entry.
pub(crate) fn index_value(value: &Tree) -> Option<IndexValue> {
    match value {
        Tree::Leaf(leaf) => Some(IndexValue::of_leaf(leaf)),
        Tree::Array(_) | Tree::Object(_) => {
            let leaves = Leaves::from_json(&value.to_json()).ok()?;
            IndexValue::of_leaves(&leaves).ok()?
        }
    }
}

/// The range of the values that pass one order test.
pub(super) fn range(test: &Test) -> (Vec<u8>, Vec<u8>) {
    match test {
        Test::Less(value) => ordered(value, |first, _, at| (first, at)),
        Test::AtMost(value) => ordered(value, |first, _, at| (first, prefix_end(&at))),
        Test::Greater(value) => ordered(value, |_, last, at| (prefix_end(&at), last)),
        Test::AtLeast(value) => ordered(value, |_, last, at| (at, last)),
        Test::StartsWith(beginning) => {
            let first = IndexValue::of_leaf(&Leaf::String(shortened(beginning).into()));
            let (_, end) = strings_from(first.bytes());
            (first.bytes().to_vec(), end)
        }
        Test::Equal(_) | Test::In(_) | Test::NotEqual(_) | Test::Contains(_) => {
            (Vec::new(), PAST_ALL.to_vec())
        }
    }
}

/// Builds a range from the first key of a leaf's type, the end of its type, and the leaf itself.
/// Containers have no order, so their range is empty.
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
    let at = match leaf {
        Leaf::String(text) => IndexValue::of_leaf(&Leaf::String(shortened(text).into())),
        leaf => IndexValue::of_leaf(leaf),
    };
    bounds(
        first.prefix(),
        prefix_end(&last.prefix()),
        at.bytes().to_vec(),
    )
}
