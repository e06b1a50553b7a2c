//! Sets of JSON values, to find the elements of an array that are equal to one of them.

use std::collections::{HashMap, HashSet};

use super::decode_pairs::{KeyStep, Malformed, kind_at, step};
use super::index::IndexValue;
use super::leaves::Leaves;
use super::tuple::{append_segment, decode_leaf};
use crate::budget::Steps;
use crate::document::leaf::{Kind, Leaf};
use crate::document::path::SegmentRef;
use crate::error::{Error, Result};
use crate::limits::COPIED_BYTES_PER_STEP;

/// JSON values in canonical form, in which equal values have equal bytes. Numbers are compared by
/// value.
#[derive(Clone, Debug, Default)]
pub struct ValueSet {
    /// The values, each with the number of the first element that has it.
    values: HashMap<Box<[u8]>, u64>,
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
        set.insert(&value, 0);
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
                set.insert(&value, pair.index - 1);
                value.0.clear();
            }
            value.push(&key[pair.element_bytes..], leaf);
        }
        if let Some(last) = elements.index {
            set.insert(&value, last);
        }
        Ok(set)
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    fn insert(&mut self, value: &CanonicalValue, element: u64) {
        self.bytes_max = self.bytes_max.max(value.0.len());
        self.values
            .entry(value.0.as_slice().into())
            .or_insert(element);
    }
}

/// The elements of an array, without those that are equal to an earlier one.
#[derive(Clone, Debug)]
pub struct DistinctElements {
    array: Leaves,
    /// The elements, with their indexes in `array`.
    values: ValueSet,
}

impl DistinctElements {
    /// The array of one element.
    pub fn of_value(element: Leaves) -> Self {
        Self {
            values: ValueSet::of_value(&element),
            array: element.into_array(),
        }
    }

    /// The distinct elements of an array.
    ///
    /// # Errors
    /// As [`ValueSet::of_elements`].
    pub fn of_array(array: &Leaves, steps: &Steps<'_>) -> Result<Self> {
        let values = ValueSet::of_elements(array, steps)?;
        let first: HashSet<u64> = values.values.values().copied().collect();
        match with_elements(array, |index| first.contains(&index), steps)? {
            Some(array) => Ok(Self {
                values: ValueSet::of_elements(&array, steps)?,
                array,
            }),
            None => Ok(Self {
                array: array.clone(),
                values,
            }),
        }
    }

    /// The array of them.
    pub fn array(&self) -> &Leaves {
        &self.array
    }

    /// The set of them.
    pub fn values(&self) -> &ValueSet {
        &self.values
    }

    /// The array of those that are not among the `found` ones. None if there are none.
    ///
    /// # Errors
    /// As [`Steps::spend`].
    pub fn without(&self, found: &[EqualElement], steps: &Steps<'_>) -> Result<Option<Leaves>> {
        let found: HashSet<u64> = found.iter().map(|equal| equal.value).collect();
        with_elements(&self.array, |index| !found.contains(&index), steps)
    }
}

/// The array of the elements that `keep` selects by their indexes. None if there are none.
fn with_elements(
    array: &Leaves,
    keep: impl Fn(u64) -> bool,
    steps: &Steps<'_>,
) -> Result<Option<Leaves>> {
    let mut pairs: Vec<(Vec<u8>, &[u8])> = Vec::new();
    let mut elements = Elements::default();
    let mut kept = 0;
    for (key, leaf) in array.iter() {
        steps.spend(1 + (key.len() + leaf.len()) as u64 / COPIED_BYTES_PER_STEP)?;
        let pair = elements.next(key);
        let Some(pair) = pair.map_err(|error| Error::internal(error.to_string()))? else {
            continue;
        };
        if keep(pair.index) {
            kept += u64::from(pair.is_first);
            let mut moved = Vec::with_capacity(key.len());
            append_segment(&mut moved, SegmentRef::Index(kept - 1));
            moved.extend_from_slice(&key[pair.element_bytes..]);
            pairs.push((moved, leaf));
        }
    }
    if pairs.is_empty() {
        return Ok(None);
    }
    let moved = pairs.iter().map(|(key, leaf)| (&key[..], *leaf));
    let moved = Leaves::from_stored(moved);
    moved
        .map(Some)
        .map_err(|(error, _)| Error::internal(error.to_string()))
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

/// An element of an array that is equal to a value of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EqualElement {
    /// The index of the element.
    pub index: u64,
    /// The number of the value in the set.
    pub value: u64,
}

/// Finds the elements of an array that are in a [`ValueSet`], from the pairs of the array in the
/// order of their keys. Holds one element at most, and none that is longer than all values of the
/// set.
pub struct EqualElements<'s> {
    values: &'s ValueSet,
    elements: Elements,
    value: CanonicalValue,
    found: Vec<EqualElement>,
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

    /// The elements, in the order of their indexes.
    pub fn finish(mut self) -> Vec<EqualElement> {
        self.end(self.elements.index);
        self.found
    }

    /// The number of elements found so far.
    pub fn count(&self) -> usize {
        self.found.len()
    }

    fn end(&mut self, element: Option<u64>) {
        if let Some(index) = element
            && let Some(value) = self.values.values.get(&self.value.0[..])
        {
            let value = *value;
            self.found.push(EqualElement { index, value });
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
        finder.finish().iter().map(|equal| equal.index).collect()
    }

    #[test]
    fn elements_are_distinct_by_value() {
        let budget = Budget::of_background();
        let steps = Steps::of(&budget);
        for (array, distinct, present, missing) in [
            ("[]", "[]", "[1]", None),
            (
                "[1,2,1.0,\"1\",2]",
                "[1,2,\"1\"]",
                "[2.0]",
                Some("[1,\"1\"]"),
            ),
            (
                "[{\"a\":[1]},[],{\"a\":[1.0]}]",
                "[{\"a\":[1]},[]]",
                "[[],[]]",
                Some("[{\"a\":[1]}]"),
            ),
            ("[1,1]", "[1]", "[0,1]", None),
        ] {
            let elements = DistinctElements::of_array(&leaves(array), &steps).expect("an array");
            assert_eq!(elements.array().to_json(), distinct.as_bytes(), "{array}");
            let mut finder = EqualElements::new(elements.values());
            for (key, leaf) in leaves(present).iter() {
                finder.push(key, leaf).expect("well-formed");
            }
            let rest = elements
                .without(&finder.finish(), &steps)
                .expect("a budget");
            let rest = rest.map(|rest| rest.to_json());
            assert_eq!(
                rest.as_deref(),
                missing.map(str::as_bytes),
                "{array} in {present}"
            );
        }
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
            let error = ValueSet::of_elements(&leaves(json), &Steps::of(&budget)).expect_err(json);
            assert!(error.message().contains("not an array"), "{error}");
        }
        assert!(!ValueSet::of_value(&leaves("{}")).is_empty());
    }
}
