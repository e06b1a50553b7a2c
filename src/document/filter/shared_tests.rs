//! The tests of a condition.

use std::mem;
use std::ops::Deref;
use std::sync::Arc;

use super::Test;
use crate::budget::block_thread;
use crate::document::tree::Tree;
use crate::limits::FREED_VALUES_MAX;

/// The tests of one value. Clones share them, because a value in them can have millions of values inside,
/// and a query is planned and executed from parts of its filter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tests {
    tests: Arc<[Test]>,
    /// Whether it takes long to free them.
    is_large: bool,
}

impl From<Vec<Test>> for Tests {
    fn from(tests: Vec<Test>) -> Self {
        let mut left = FREED_VALUES_MAX;
        let is_large = tests.iter().flat_map(Test::trees).any(|value| {
            left = left.saturating_sub(values_of(value, left));
            left == 0
        });
        Self {
            tests: tests.into(),
            is_large,
        }
    }
}

impl FromIterator<Test> for Tests {
    fn from_iter<I: IntoIterator<Item = Test>>(tests: I) -> Self {
        Self::from(Vec::from_iter(tests))
    }
}

impl Deref for Tests {
    type Target = [Test];

    fn deref(&self) -> &[Test] {
        &self.tests
    }
}

impl<'t> IntoIterator for &'t Tests {
    type Item = &'t Test;
    type IntoIter = std::slice::Iter<'t, Test>;

    fn into_iter(self) -> Self::IntoIter {
        self.tests.iter()
    }
}

impl Drop for Tests {
    fn drop(&mut self) {
        if self.is_large && Arc::strong_count(&self.tests) == 1 {
            let tests = mem::take(&mut self.tests);
            block_thread(|| drop(tests));
        }
    }
}

/// The number of values in a value, with itself, up to `most`.
fn values_of(value: &Tree, most: usize) -> usize {
    let mut count = 1;
    let mut count_in = |inner: &mut dyn Iterator<Item = &Tree>| {
        for value in inner {
            if count >= most {
                return;
            }
            count += values_of(value, most - count);
        }
    };
    match value {
        Tree::Leaf(_) => {}
        Tree::Array(elements) => count_in(&mut elements.iter()),
        Tree::Object(members) => count_in(&mut members.iter().map(|(_, value)| value)),
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_of_a_value_are_counted_up_to_a_limit() {
        let value = Tree::from_json(r#"{"a":[1,2,{"b":[]}],"c":null}"#).expect("JSON");
        assert_eq!(values_of(&value, usize::MAX), 7);
        assert_eq!(values_of(&value, 3), 3);
    }

    #[test]
    fn many_values_are_large() {
        let large = |count: usize, values: usize| {
            let value = Tree::Array(vec![Tree::Array(Vec::new()); values]);
            Tests::from(vec![Test::Equal(value); count]).is_large
        };
        assert!(!large(1, FREED_VALUES_MAX / 2));
        assert!(large(1, FREED_VALUES_MAX));
        assert!(large(2, FREED_VALUES_MAX / 2));
    }
}
