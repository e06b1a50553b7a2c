//! Sets of JSON values, to find the elements of an array that are equal to one of them.

use std::collections::HashSet;

use super::decode_pairs::{KeyStep, Malformed, kind_at, step};
use super::index::IndexValue;
use super::leaves::Leaves;
use super::tuple::decode_leaf;
use crate::budget::Steps;
use crate::document::leaf::{Kind, Leaf};
use crate::error::{Error, Result};
use crate::limits::COPIED_BYTES_PER_STEP;

/// JSON values in canonical form, in which equal values have equal bytes. Numbers are compared by
/// value.
#[derive(Clone, Debug, Default)]
pub struct ValueSet {
    values: HashSet<Box<[u8]>>,
    /// The length of the longest value.
    bytes_max: usize,
}

impl ValueSet {
    /// The set of one value.
    pub fn of_value(leaves: &Leaves) -> Self {
        let mut value = CanonicalValue::default();
        for (key, leaf) in leaves.iter() {
            value.push(key, leaf);
        }
        let mut set = Self::default();
        set.insert(&value);
        set
    }

    /// The set of the elements of an array.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the value is not an array. As [`Steps::spend`].
    pub fn of_elements(array: &Leaves, steps: &Steps<'_>) -> Result<Self> {
        check_array(array)?;
        let mut set = Self::default();
        let mut elements = Elements::default();
        let mut value = CanonicalValue::default();
        for (key, leaf) in array.iter() {
            let bytes = (key.len() + leaf.len()) as u64;
            steps.spend(1 + bytes / COPIED_BYTES_PER_STEP)?;
            let pair = elements.next(key);
            let Some(pair) = pair.map_err(|error| Error::internal(error.to_string()))? else {
                continue;
            };
            if pair.is_first && pair.index > 0 {
                set.insert(&value);
                value.0.clear();
            }
            value.push(&key[pair.element_bytes..], leaf);
        }
        if elements.index.is_some() {
            set.insert(&value);
        }
        Ok(set)
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    fn insert(&mut self, value: &CanonicalValue) {
        self.bytes_max = self.bytes_max.max(value.0.len());
        self.values.insert(value.0.as_slice().into());
    }
}

/// Checks that a value is an array.
///
/// # Errors
/// `BAD_USER_INPUT`: it is not.
pub fn check_array(value: &Leaves) -> Result<()> {
    let first = value.iter().next();
    match first.map(|(key, leaf)| kind_at(key, leaf)) {
        Some(Ok(Kind::Array)) => Ok(()),
        _ => Err(Error::bad_input("the value is not an array")),
    }
}

/// Finds the elements of an array that are in a [`ValueSet`], from the pairs of the array in the
/// order of their keys. Holds one element at most, and none that is longer than all values of the
/// set.
pub struct EqualElements<'s> {
    values: &'s ValueSet,
    elements: Elements,
    value: CanonicalValue,
    found: Vec<u64>,
}

impl<'s> EqualElements<'s> {
    /// Finds the elements that are equal to one of `values`.
    pub fn new(values: &'s ValueSet) -> Self {
        Self {
            values,
            elements: Elements::default(),
            value: CanonicalValue::default(),
            found: Vec::new(),
        }
    }

    /// Adds the next pair. `key` is relative to the array.
    ///
    /// # Errors
    /// The key is malformed.
    pub fn push(&mut self, key: &[u8], leaf: &[u8]) -> Result<(), Malformed> {
        let before = self.elements.index;
        let Some(pair) = self.elements.next(key)? else {
            return Ok(());
        };
        if pair.is_first {
            self.end(before);
        }
        // A longer value equals none of the set.
        if self.value.0.len() <= self.values.bytes_max {
            self.value.push(&key[pair.element_bytes..], leaf);
        }
        Ok(())
    }

    /// The indexes of the elements, in ascending order.
    pub fn finish(mut self) -> Vec<u64> {
        self.end(self.elements.index);
        self.found
    }

    /// The number of elements found so far.
    pub fn count(&self) -> usize {
        self.found.len()
    }

    fn end(&mut self, element: Option<u64>) {
        if let Some(index) = element
            && self.values.values.contains(&self.value.0[..])
        {
            self.found.push(index);
        }
        self.value.0.clear();
    }
}

/// Assigns the pairs of an array to its elements.
#[derive(Default)]
struct Elements {
    /// The index of the current element.
    index: Option<u64>,
}

/// The element that a pair belongs to.
struct ElementPair {
    index: u64,
    /// The length of the element's key.
    element_bytes: usize,
    /// Whether this is the first pair of the element.
    is_first: bool,
}

impl Elements {
    /// The element of the next pair. `None` for the marker of an empty array.
    fn next(&mut self, key: &[u8]) -> Result<Option<ElementPair>, Malformed> {
        match step(key) {
            Some((KeyStep::Index(index), element_bytes)) => {
                let is_first = self.index.replace(index) != Some(index);
                Ok(Some(ElementPair {
                    index,
                    element_bytes,
                    is_first,
                }))
            }
            Some((KeyStep::Marker(_), _)) => Ok(None),
            _ => Err(Malformed::Segment),
        }
    }
}

/// The canonical form of a value: the key and the canonical leaf of each pair, with their lengths.
#[derive(Default)]
struct CanonicalValue(Vec<u8>);

impl CanonicalValue {
    fn push(&mut self, key: &[u8], value: &[u8]) {
        let mut field = |bytes: &[u8]| {
            self.0
                .extend_from_slice(&(bytes.len() as u64).to_be_bytes());
            self.0.extend_from_slice(bytes);
        };
        field(key);
        match decode_leaf(value) {
            Some(number @ (Leaf::Integer(_) | Leaf::BigInteger(_) | Leaf::Double(_))) => {
                field(IndexValue::of_leaf(&number).bytes());
            }
            _ => field(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;

    fn leaves(json: &str) -> Leaves {
        Leaves::from_json(json).expect(json)
    }

    fn equal(array: &str, values: &str) -> Vec<u64> {
        let budget = Budget::of_background();
        let steps = Steps::of(&budget);
        let set = ValueSet::of_elements(&leaves(values), &steps).expect("an array");
        let mut finder = EqualElements::new(&set);
        for (key, leaf) in leaves(array).iter() {
            finder.push(key, leaf).expect("well-formed");
        }
        finder.finish()
    }

    #[test]
    fn equal_elements_are_found_by_value() {
        for (array, values, expected) in [
            ("[]", "[]", &[][..]),
            ("[]", "[1,[]]", &[]),
            ("[1,2,1.0,1e0,\"1\"]", "[1]", &[0, 2, 3]),
            ("[0,-0.0,null,false,\"\"]", "[-0]", &[0, 1]),
            (
                "[9007199254740993,9007199254740992]",
                "[9007199254740992.0]",
                &[1],
            ),
            (
                "[1e22,10000000000000000000000]",
                "[10000000000000000000000]",
                &[0, 1],
            ),
            (
                "[{\"a\":1,\"b\":[]},{\"b\":[],\"a\":1.0},{\"a\":1}]",
                "[{\"a\":1,\"b\":[]}]",
                &[0, 1],
            ),
            ("[[],{},[[]],[{}]]", "[[],[{}]]", &[0, 3]),
            ("[[1,2],[1],[1,2,3],[2,1]]", "[[1,2]]", &[0]),
            ("[null,0,false]", "[null,false]", &[0, 2]),
            ("[\"a\",\"b\",\"a\"]", "[\"a\",\"a\"]", &[0, 2]),
        ] {
            assert_eq!(equal(array, values), expected, "{values} in {array}");
        }
        let long = format!("\"{}\"", "x".repeat(300_000));
        let other = format!("\"{}y\"", "x".repeat(299_999));
        let array = format!("[{other},{long},1,{long}]");
        assert_eq!(equal(&array, &format!("[{long}]")), [1, 3]);
        assert_eq!(equal(&array, "[1]"), [2]);
    }

    #[test]
    fn only_arrays_have_elements() {
        let budget = Budget::of_background();
        for json in ["1", "{}", "{\"0\":1}", "\"[]\"", "null"] {
            let error = ValueSet::of_elements(&leaves(json), &Steps::of(&budget));
            let error = error.expect_err(json);
            assert!(error.message().contains("not an array"), "{error}");
        }
        assert!(!ValueSet::of_value(&leaves("{}")).is_empty());
    }
}
