//! `enum` and `const`: the values that a place can have.

use std::cmp::Ordering;

use super::kinds::Kinds;
use crate::document::leaf::{Kind, Leaf};
use crate::document::number;

/// The values of an `enum` or a `const`, which are leaves.
#[derive(Clone, Debug)]
pub struct Enumeration {
    /// `enum` or `const`
    pub keyword: &'static str,
    values: Vec<Leaf<'static>>,
    /// The positions of the values in the order of [`order`].
    sorted: Vec<u32>,
}

impl Enumeration {
    /// An enumeration of these values, without those that are equal to an earlier one.
    pub(in crate::types) fn new(keyword: &'static str, given: Vec<Leaf<'static>>) -> Self {
        let mut values: Vec<Leaf<'static>> = Vec::with_capacity(given.len());
        let mut sorted: Vec<u32> = Vec::with_capacity(given.len());
        for value in given {
            let by_value = |at: &u32| order(&values[*at as usize], &value);
            if let Err(free) = sorted.binary_search_by(by_value) {
                sorted.insert(free, u32::try_from(values.len()).unwrap_or(u32::MAX));
                values.push(value);
            }
        }
        Self {
            keyword,
            values,
            sorted,
        }
    }

    /// The values, in the order of the schema.
    pub fn values(&self) -> &[Leaf<'static>] {
        &self.values
    }

    /// Whether a leaf is one of the values. Numbers are compared by value.
    pub fn contains(&self, leaf: &Leaf<'_>) -> bool {
        let value = |at: &u32| order(&self.values[*at as usize], leaf);
        self.sorted.binary_search_by(value).is_ok()
    }

    /// The kinds of the values.
    pub(in crate::types) fn kinds(&self) -> Kinds {
        let kinds = self.values.iter().map(Kinds::of_leaf);
        kinds.fold(Kinds::NONE, Kinds::with)
    }
}

/// A total order of leaves: by kind, then by value.
fn order(a: &Leaf<'_>, b: &Leaf<'_>) -> Ordering {
    let rank = |leaf: &Leaf<'_>| match leaf.kind() {
        Kind::Null => 0,
        Kind::Boolean => 1,
        Kind::Number => 2,
        _ => 3,
    };
    let by_kind = rank(a).cmp(&rank(b));
    by_kind.then_with(|| number::order(a, b).unwrap_or(Ordering::Equal))
}
