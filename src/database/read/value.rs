//! A part of a document that was read.

use std::ops::Range;
use std::sync::Arc;

use super::projection::between::PartsBetween;
use super::projection::picked::PickedPart;
use super::projection::remainder::{Remainder, disjoint, ranges_between};
use super::range_plan::{Extent, narrowed};
use super::value_ref::{ValueRef, length_of_array, malformed};
use crate::budget::{Steps, WrittenText};
use crate::database::document_key::{DocumentKey, covers, prefix_end};
use crate::document::assemble::Misshapen;
use crate::document::leaf::{Kind, Leaf};
use crate::document::path::{Path, PathRange, Place, Segment, SegmentRef, Token};
use crate::document::tree::{TEXT_BYTES_PER_STEP, Tree};
use crate::error::Result;
use crate::key::{KeyStep, Malformed, append_segment, decode_leaf, pack_leaf, step};
use crate::store::Pairs;

/// The value at a place of a document, as a range of the pairs that a read returned.
#[derive(Clone, Debug)]
pub struct Value {
    /// The document.
    pub document: Arc<DocumentKey>,
    /// The place in the document.
    pub place: Place,
    pairs: Arc<Pairs>,
    /// Never empty.
    range: Range<usize>,
    /// The length of the place's key, with which each key begins.
    key_bytes: usize,
    whole: bool,
}

/// A range of the pairs that a read returned.
#[derive(Clone, Debug)]
pub(crate) struct PairRange {
    pub(crate) pairs: Arc<Pairs>,
    pub(crate) range: Range<usize>,
    /// Whether the range is the complete value at the place read, or only its beginning.
    pub(crate) whole: bool,
}

impl PairRange {
    /// Narrows the range to the pairs at and below the place with this key.
    pub(crate) fn below(&self, key: &[u8]) -> Self {
        Self {
            pairs: self.pairs.clone(),
            range: self
                .pairs
                .between(self.range.clone(), key, &prefix_end(key)),
            whole: self.whole,
        }
    }
}

impl Value {
    /// Creates the part at `place` from the pairs of `brought`. `key_bytes` is the length of the
    /// place's key. None if there are no pairs.
    pub(crate) fn of(
        document: Arc<DocumentKey>,
        place: Place,
        key_bytes: usize,
        brought: PairRange,
    ) -> Option<Self> {
        let PairRange {
            pairs,
            range,
            whole,
        } = brought;
        (!range.is_empty()).then_some(Self {
            document,
            place,
            pairs,
            range,
            key_bytes,
            whole,
        })
    }

    /// Creates the value at a place from the leaf that is stored there. None if the place exceeds
    /// the key limit, so that nothing can be stored there.
    pub fn of_leaf(document: Arc<DocumentKey>, place: Place, leaf: &Leaf<'_>) -> Option<Self> {
        let key = document.place(&place).ok()?;
        let mut pairs = Pairs::default();
        pairs.push(&key, &pack_leaf(leaf));
        Some(Self {
            document,
            place,
            pairs: Arc::new(pairs),
            range: 0..1,
            key_bytes: key.len(),
            whole: true,
        })
    }

    /// Whether the value is complete.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// The pairs of the value.
    pub(crate) fn pair_range(&self) -> PairRange {
        PairRange {
            pairs: self.pairs.clone(),
            range: self.range.clone(),
            whole: self.whole,
        }
    }

    /// The value as a range of the pairs.
    pub fn slice(&self) -> ValueRef<'_> {
        let slice = ValueRef::new(&self.pairs, self.range.clone(), self.key_bytes);
        slice.expect("a part has a pair at least")
    }

    /// The value as a part that is picked from a value above it.
    pub fn picked(&self) -> PickedPart<'_> {
        PickedPart {
            place: self.place.clone(),
            value: self.slice(),
        }
    }

    /// The value without the parts at paths below it. None if the value itself is one of
    /// them.
    pub fn without(&self, paths: &[Path]) -> Option<Remainder> {
        let parts: Vec<Self> = paths.iter().filter_map(|path| self.at(path)).collect();
        let omitted: Vec<&[u8]> = parts.iter().map(Self::key).collect();
        let ranges = ranges_between(self.key(), &disjoint(omitted.clone()));
        let pieces = ranges.iter().map(|(begin, end)| {
            let range = self.pairs.between(self.range.clone(), begin, end);
            (self.pairs.clone(), range)
        });
        Remainder::new(self.key(), pieces.collect(), omitted)
    }

    /// The parts of the value between two paths below it. None if nothing is stored there.
    ///
    /// # Errors
    /// `INTERNAL`: the pairs are malformed. The log has the key.
    pub fn between(&self, range: &PathRange) -> Result<Option<PartsBetween>> {
        let begin = self.bound(&range.from)?;
        let end = match range.to.tokens() {
            [] => prefix_end(self.key()),
            _ => self.bound(&range.to)?,
        };
        let range = self.pairs.between(self.range.clone(), &begin, &end);
        Ok(PartsBetween::new(self.pairs.clone(), range, self.key_bytes))
    }

    /// The key of the place that a path below the value means as a bound of a range.
    fn bound(&self, path: &Path) -> Result<Vec<u8>> {
        let mut key = self.key().to_vec();
        let mut at = Some(self.clone());
        for token in path.tokens() {
            let length = at.as_ref().map(Self::array_length).transpose()?.flatten();
            let segment = token.as_bound(length);
            append_segment(&mut key, segment.as_ref());
            at = at.and_then(|above| above.below(&[segment]));
        }
        Ok(key)
    }

    /// The key of the place.
    pub(crate) fn key(&self) -> &[u8] {
        let (first, _) = self.pairs.get(self.range.start);
        &first[..self.key_bytes]
    }

    /// As [`ValueRef::kind`].
    ///
    /// # Errors
    /// As [`ValueRef::kind`].
    pub fn kind(&self) -> Result<Kind> {
        self.slice().kind()
    }

    /// As [`ValueRef::json`].
    ///
    /// # Errors
    /// As [`ValueRef::json`].
    pub fn json(&self) -> Result<Vec<u8>> {
        self.slice().json()
    }

    /// As [`Value::json`], as part of the response. Yields to the scheduler while it writes a large
    /// value.
    ///
    /// # Errors
    /// As [`ValueRef::write_json`].
    pub async fn json_within(&self, written: WrittenText<'_>) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        self.slice().write_json(&mut out, written).await?;
        Ok(out)
    }

    /// As [`ValueRef::tree`].
    ///
    /// # Errors
    /// As [`ValueRef::tree`].
    pub fn tree(&self, steps: &Steps<'_>) -> Result<Tree> {
        self.slice().tree(steps)
    }

    /// The approximate memory of [`Value::tree`] in bytes, without its strings.
    pub fn tree_bytes(&self) -> usize {
        Self::tree_bytes_of(self.range.len())
    }

    /// As [`Value::tree_bytes`], of a value of so many pairs.
    pub(crate) fn tree_bytes_of(pairs: usize) -> usize {
        2 * pairs * size_of::<Tree>()
    }

    /// The part at a place below this one. None if nothing is stored there.
    pub fn below(&self, place: &[Segment]) -> Option<Self> {
        let mut key = self.key().to_vec();
        for segment in place {
            append_segment(&mut key, segment.as_ref());
        }
        let brought = PairRange {
            pairs: self.pairs.clone(),
            range: self.range.clone(),
            whole: self.whole,
        };
        Self::of(
            self.document.clone(),
            self.place.join(place),
            key.len(),
            brought.below(&key),
        )
    }

    /// The part at a path below this one. None if nothing is stored there. A token of
    /// digits means the element with that index if there is one, otherwise the member with that
    /// name.
    pub fn at(&self, path: &Path) -> Option<Self> {
        let mut part = self.clone();
        for token in path.tokens() {
            part = match token {
                Token::Segment(segment) => part.below(std::slice::from_ref(segment))?,
                Token::FromEnd(from_end) => {
                    let length = part.elements().ok()?;
                    part.below(&[Segment::Index(length.checked_sub(*from_end)?)])?
                }
                Token::Dash => part.below(&[Segment::Key(token.to_string())])?,
                Token::Digits(digits) => part
                    .below(&[Segment::Index(*digits)])
                    .or_else(|| part.below(&[Segment::Key(digits.to_string())]))?,
            };
        }
        Some(part)
    }

    /// An extent of a value that is whole, or the value itself if it is not. None if the
    /// extent has no pairs.
    pub fn narrowed(self, extent: Extent) -> Option<Self> {
        if !self.whole || matches!(extent, Extent::First | Extent::Whole) {
            return Some(self);
        }
        let range = narrowed(&self.pairs, self.range.clone(), self.key(), extent);
        (!range.is_empty()).then_some(Self {
            range,
            whole: false,
            ..self
        })
    }

    /// The value, if it is stored as one leaf: all numbers, booleans and null are, and strings that are not long.
    ///
    /// # Errors
    /// `INTERNAL`: the pairs are malformed. The log has the key.
    pub fn leaf(&self) -> Result<Option<Leaf<'_>>> {
        let (key, value) = self.pairs.get(self.range.start);
        if key.len() > self.key_bytes {
            return Ok(None);
        }
        let leaf = decode_leaf(value).ok_or_else(|| malformed(Malformed::Value, key));
        leaf.map(Some)
    }

    /// The number of Unicode characters (code points) of a string. None for other values.
    ///
    /// # Errors
    /// As [`Value::tree`].
    pub fn characters(&self, steps: &Steps<'_>) -> Result<Option<u64>> {
        let bytes: usize = self.slice().pairs().map(|(_, value)| value.len()).sum();
        // Before the text is copied and checked, which is most of the work.
        steps.spend(bytes as u64 / TEXT_BYTES_PER_STEP)?;
        let value = self.tree(steps)?;
        Ok(match value {
            Tree::Leaf(Leaf::String(text)) => Some(text.chars().count() as u64),
            _ => None,
        })
    }

    /// The length of the array, from the last pair. 0 if the value is not an array.
    ///
    /// # Errors
    /// `INTERNAL`: the pairs are malformed. The log has the key.
    pub fn elements(&self) -> Result<u64> {
        Ok(self.array_length()?.unwrap_or(0))
    }

    /// As [`Value::elements`]. None if the value is not an array.
    fn array_length(&self) -> Result<Option<u64>> {
        let (key, _) = self.pairs.get(self.range.end - 1);
        length_of_array(self.key_bytes, key)
    }

    /// The pairs of each element, if these are consecutive elements of an array that begin
    /// with the index `begin`.
    ///
    /// # Errors
    /// `INTERNAL`: an element is missing, or the pairs are malformed. The log has the key.
    pub(crate) fn element_ranges(&self, begin: u64) -> Result<Vec<Range<usize>>> {
        let mut ranges: Vec<Range<usize>> = Vec::new();
        let mut element: &[u8] = &[];
        for at in self.range.clone() {
            let (key, _) = self.pairs.get(at);
            match ranges.last_mut() {
                Some(last) if covers(element, key) => last.end = at + 1,
                _ => {
                    let below = &key[self.key_bytes..];
                    let expected = begin + ranges.len() as u64;
                    let bytes = match step(below) {
                        Some((KeyStep::Index(index), bytes)) if index == expected => bytes,
                        Some((KeyStep::Index(_), _)) => {
                            return Err(malformed(Misshapen::Hole.into(), key));
                        }
                        _ => return Err(malformed(Malformed::Segment, key)),
                    };
                    element = &key[..self.key_bytes + bytes];
                    ranges.push(at..at + 1);
                }
            }
        }
        Ok(ranges)
    }

    /// The element with this index, from its pairs ([`Value::element_ranges`]).
    pub(crate) fn element(&self, index: u64, range: Range<usize>) -> Option<Self> {
        let (first, _) = self.pairs.get(range.start);
        let mut key = first[..self.key_bytes].to_vec();
        append_segment(&mut key, SegmentRef::Index(index));
        let brought = PairRange {
            pairs: self.pairs.clone(),
            range,
            whole: true,
        };
        let place = self.place.child(Segment::Index(index));
        Self::of(self.document.clone(), place, key.len(), brought)
    }

    /// The number of pairs.
    pub(crate) fn pair_count(&self) -> usize {
        self.range.len()
    }

    /// The bytes of the keys and values of all pairs.
    pub(crate) fn pair_bytes(&self) -> usize {
        self.pairs.bytes_of(&self.range)
    }

    /// The stored pairs, with keys relative to the place.
    pub(crate) fn relative_pairs(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let pairs = self.pairs();
        pairs.map(|(key, value)| (&key[self.key_bytes..], value))
    }

    /// The stored pairs.
    pub fn pairs(&self) -> impl ExactSizeIterator<Item = (&[u8], &[u8])> {
        self.slice().pairs()
    }
}
