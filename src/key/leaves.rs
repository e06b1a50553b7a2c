//! A JSON value as sorted pairs that can be stored under any prefix.

use std::ops::Range;

use foundationdb_tuple::Element;

use super::decode_pairs::{JsonText, Malformed};
use super::tuple::{
    EMPTY_ARRAY, EMPTY_OBJECT, PIECE, append, append_leaf, append_piece, append_segment,
    split_element,
};
use super::verify::{Verified, Verify};
use crate::document::flatten::{LeafSink, flatten};
use crate::document::id::DocumentId;
use crate::document::leaf::{Kind, Leaf};
use crate::document::path::{Place, Segment, SegmentRef};
use crate::error::{Error, Limit, Result};
use crate::limits::{DOCUMENT_LEVELS_MAX, KEY_BYTES_MAX, PIECE_BYTES, VALUE_BYTES_MAX};

/// The pairs of one JSON value, sorted by key. Keys are relative: the packed path from the root of
/// the value. The stored key is the key of the place followed by the relative key.
///
/// The pairs are well-formed: every constructor makes or checks them.
#[derive(Clone, Debug, Default)]
pub struct Leaves {
    bytes: Vec<u8>,
    pairs: Vec<LeafPair>,
    key_bytes_max: usize,
    levels: usize,
}

#[derive(Clone, Copy, Debug)]
struct LeafPair {
    begin: usize,
    key_bytes: u32,
    value_bytes: u32,
}

impl Leaves {
    /// Splits a JSON text into leaves.
    ///
    /// # Errors
    /// As [`flatten`].
    pub fn from_json(text: &str) -> Result<Self> {
        let mut packer = Packer::default();
        flatten(text, &mut packer)?;
        Ok(packer.finish())
    }

    /// Collects the pairs of a value that were read from a store, with keys relative to the place
    /// that was read.
    ///
    /// # Errors
    /// The pairs are malformed, and the relative key of the first malformed one.
    pub fn from_stored<'p>(
        pairs: impl Iterator<Item = (&'p [u8], &'p [u8])>,
    ) -> Result<Self, (Malformed, &'p [u8])> {
        let mut leaves = Self::default();
        let mut verify = Verify::default();
        let mut last: &[u8] = &[];
        for (key, value) in pairs {
            let Verified { before, here } = verify.push(key, value);
            if let Some(malformed) = before {
                return Err((malformed, last));
            }
            if let Some(malformed) = here {
                return Err((malformed, key));
            }
            leaves.push(key, value);
            last = key;
        }
        leaves.levels = verify.levels();
        match verify.finish() {
            Some(malformed) => Err((malformed, last)),
            None => Ok(leaves),
        }
    }

    /// The array whose only element is this value.
    #[must_use]
    pub fn into_array(self) -> Self {
        let mut element = Vec::new();
        append_segment(&mut element, SegmentRef::Index(0));
        let mut array = Self {
            levels: self.levels + 1,
            ..Self::default()
        };
        for (key, value) in self.iter() {
            array.push(&[&element[..], key].concat(), value);
        }
        array
    }

    /// The pair of one leaf, which must not be a string that has to be split.
    pub fn from_leaf(leaf: &Leaf<'_>) -> Self {
        let mut leaves = Self::default();
        leaves.push(&[], &super::tuple::pack_leaf(leaf));
        leaves
    }

    /// The packed value, if it is a single leaf that is not split.
    pub fn as_leaf(&self) -> Option<&[u8]> {
        let (key, value) = self.pair(*self.pairs.first()?);
        (key.is_empty()).then_some(value)
    }

    /// Iterates over the pairs in key order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.pairs.iter().map(|pair| self.pair(*pair))
    }

    /// The pairs at and below a packed place, with keys relative to it.
    pub fn below<'l>(&'l self, place: &'l [u8]) -> impl Iterator<Item = (&'l [u8], &'l [u8])> {
        let begin = self
            .pairs
            .partition_point(|pair| self.pair(*pair).0 < place);
        let pairs = self.pairs[begin..].iter().map(|pair| self.pair(*pair));
        let inside = |key: &[u8]| {
            key.starts_with(place) && key.get(place.len()) != Some(&super::tuple::ESCAPE)
        };
        // Keys with an escaped NUL after `place` are members whose names only begin like it.
        pairs
            .take_while(move |(key, _)| key.starts_with(place))
            .filter(move |(key, _)| inside(key))
            .map(|(key, value)| (&key[place.len()..], value))
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there are no pairs. Every value has at least one.
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// The memory that the pairs take, in bytes.
    pub fn held(&self) -> usize {
        self.bytes.len() + self.pairs.len() * size_of::<LeafPair>()
    }

    /// The bytes of all keys and values.
    pub fn bytes(&self) -> usize {
        self.bytes.len()
    }

    /// Checks that the value can be stored at a place whose key has `prefix_bytes`, and which is
    /// inside `levels_above` objects and arrays.
    ///
    /// # Errors
    /// `TOO_LARGE`: a key exceeds [`KEY_BYTES_MAX`], and the message has its path. The document would
    /// have more than [`DOCUMENT_LEVELS_MAX`] levels.
    pub fn check_fits(&self, prefix_bytes: usize, levels_above: usize) -> Result<()> {
        let levels = levels_above + self.levels;
        if levels > DOCUMENT_LEVELS_MAX {
            return Err(Error::too_large(
                Limit::new("documentLevels", DOCUMENT_LEVELS_MAX),
                format!(
                    "with this value the document has {levels} levels of objects and arrays; the \
                     limit is {DOCUMENT_LEVELS_MAX}"
                ),
            ));
        }
        if prefix_bytes + self.key_bytes_max <= KEY_BYTES_MAX {
            return Ok(());
        }
        // The longest packed key may have been dropped, because a later member has the same name.
        check_key_bytes(prefix_bytes, self.iter().map(|(key, _)| key))
    }

    /// The id in the value itself: its top-level member `doc_id`.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the member is neither a string nor a 64-bit integer.
    pub fn own_id(&self) -> Result<Option<DocumentId>> {
        let mut key = Vec::new();
        append_segment(&mut key, SegmentRef::Key("doc_id"));
        let at = self
            .pairs
            .partition_point(|pair| self.pair(*pair).0 < &key[..]);
        let Some((found, value)) = self.pairs.get(at).map(|pair| self.pair(*pair)) else {
            return Ok(None);
        };
        if !found.starts_with(&key) || found.get(key.len()) == Some(&super::tuple::ESCAPE) {
            return Ok(None);
        }
        match super::tuple::decode_leaf(value) {
            Some(Leaf::Integer(integer)) if found == key => Ok(Some(DocumentId::Integer(integer))),
            Some(Leaf::String(text)) if found == key => {
                Ok(Some(DocumentId::Text(text.into_owned())))
            }
            _ => Err(Error::bad_input(
                "the document's `doc_id` is neither a string nor a 64-bit integer: \
                 give the document's id as the argument `id`",
            )),
        }
    }

    /// Writes the value as JSON text, with object members sorted by name.
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.bytes.len());
        let mut text = JsonText::new(&mut out);
        for (key, value) in self.iter() {
            text.push(key, value)
                .expect("a packed document is well-formed");
        }
        text.finish().expect("a packed document is well-formed");
        out
    }

    /// Appends a pair. Keys ascend.
    fn push(&mut self, key: &[u8], value: &[u8]) {
        let begin = self.bytes.len();
        self.bytes.extend_from_slice(key);
        self.bytes.extend_from_slice(value);
        self.key_bytes_max = self.key_bytes_max.max(key.len());
        self.pairs.push(LeafPair {
            begin,
            key_bytes: u32::try_from(key.len()).unwrap_or(u32::MAX),
            value_bytes: u32::try_from(value.len()).unwrap_or(u32::MAX),
        });
    }

    fn pair(&self, pair: LeafPair) -> (&[u8], &[u8]) {
        let key_end = pair.begin + pair.key_bytes as usize;
        let value_end = key_end + pair.value_bytes as usize;
        (
            &self.bytes[pair.begin..key_end],
            &self.bytes[key_end..value_end],
        )
    }
}

/// A [`LeafSink`] that packs leaves into [`Leaves`].
#[derive(Default)]
pub struct Packer {
    leaves: Leaves,
    /// The packed path of the current place, and the start of each of its segments.
    path: Vec<u8>,
    segments: Vec<usize>,
    forgotten: Vec<Range<usize>>,
}

impl Packer {
    /// The pairs packed so far.
    pub(super) fn leaves(&self) -> &Leaves {
        &self.leaves
    }

    /// Sorts the pairs, without the dropped ones.
    pub fn finish(mut self) -> Leaves {
        for range in self.forgotten {
            for pair in &mut self.leaves.pairs[range] {
                pair.key_bytes = u32::MAX;
            }
        }
        let Leaves { bytes, pairs, .. } = &mut self.leaves;
        pairs.retain(|pair| pair.key_bytes != u32::MAX);
        let key = |pair: &LeafPair| &bytes[pair.begin..pair.begin + pair.key_bytes as usize];
        pairs.sort_unstable_by(|a, b| key(a).cmp(key(b)));
        self.leaves
    }

    fn put(&mut self, suffix: &[u8], value: impl FnOnce(&mut Vec<u8>)) -> Result<()> {
        let key_bytes = self.path.len() + suffix.len();
        if key_bytes > KEY_BYTES_MAX {
            return Err(key_too_long(0, &self.path));
        }
        let bytes = &mut self.leaves.bytes;
        let begin = bytes.len();
        bytes.extend_from_slice(&self.path);
        bytes.extend_from_slice(suffix);
        value(bytes);
        let value_bytes = bytes.len() - begin - key_bytes;
        self.leaves.key_bytes_max = self.leaves.key_bytes_max.max(key_bytes);
        self.leaves.pairs.push(LeafPair {
            begin,
            key_bytes: u32::try_from(key_bytes).unwrap_or(u32::MAX),
            value_bytes: u32::try_from(value_bytes).unwrap_or(u32::MAX),
        });
        Ok(())
    }

    fn split(&mut self, text: &[u8]) -> Result<()> {
        for (number, piece) in (0_u64..).zip(text.chunks(PIECE_BYTES)) {
            let mut suffix = Vec::new();
            append(&mut suffix, &PIECE);
            append(&mut suffix, &number);
            self.put(&suffix, |out| append_piece(out, piece))?;
        }
        Ok(())
    }
}

impl LeafSink for Packer {
    fn enter(&mut self, segment: SegmentRef<'_>) -> Result<()> {
        self.segments.push(self.path.len());
        append_segment(&mut self.path, segment);
        if self.path.len() > KEY_BYTES_MAX {
            return Err(key_too_long(0, &self.path));
        }
        Ok(())
    }

    fn leave(&mut self) {
        let begin = self.segments.pop().unwrap_or(0);
        self.path.truncate(begin);
    }

    fn leaf(&mut self, leaf: Leaf<'_>) -> Result<()> {
        self.leaves.levels = self.leaves.levels.max(self.segments.len());
        if let Leaf::String(text) = &leaf
            && packed_string_bytes(text) > VALUE_BYTES_MAX
        {
            return self.split(text.as_bytes());
        }
        self.put(&[], |out| append_leaf(out, &leaf))
    }

    fn empty(&mut self, kind: Kind) -> Result<()> {
        let marker = if kind == Kind::Array {
            EMPTY_ARRAY
        } else {
            EMPTY_OBJECT
        };
        self.leaves.levels = self.leaves.levels.max(self.segments.len() + 1);
        let mut suffix = Vec::new();
        append(&mut suffix, &marker);
        self.put(&suffix, |out| out.push(0))
    }

    fn taken(&self) -> usize {
        self.leaves.pairs.len()
    }

    fn forget(&mut self, taken: Range<usize>) {
        self.forgotten.push(taken);
    }
}

/// The size of a packed string: a type code, its bytes with each NUL escaped, and a terminator.
fn packed_string_bytes(text: &str) -> usize {
    if text.len() <= VALUE_BYTES_MAX / 2 - 2 {
        return text.len();
    }
    text.len() + 2 + memchr::memchr_iter(0, text.as_bytes()).count()
}

/// Checks that relative keys are short enough below a prefix.
///
/// # Errors
/// `TOO_LARGE`: a key exceeds [`KEY_BYTES_MAX`]. The message has its path.
pub fn check_key_bytes<'k>(
    prefix_bytes: usize,
    keys: impl Iterator<Item = &'k [u8]>,
) -> Result<()> {
    let longest = keys.max_by_key(|key| key.len()).unwrap_or_default();
    if prefix_bytes + longest.len() <= KEY_BYTES_MAX {
        return Ok(());
    }
    Err(key_too_long(prefix_bytes, longest))
}

fn key_too_long(prefix_bytes: usize, relative: &[u8]) -> Error {
    let mut place = Place::default();
    let mut rest = relative;
    while let Some((element, behind)) = split_element(rest) {
        match element {
            Element::String(key) => place.0.push(Segment::Key(key.into_owned())),
            Element::Int(index) => place.0.push(Segment::Index(index.unsigned_abs())),
            _ => break,
        }
        rest = behind;
    }
    let pointer = place.to_string();
    Error::too_large(
        Limit::new("keyBytes", KEY_BYTES_MAX),
        format!(
            "the path {} makes a key of more than {} bytes, with collection and id; \
         the limit is {KEY_BYTES_MAX} bytes",
            crate::document::leaf::abridged(&pointer),
            (prefix_bytes + relative.len()).min(KEY_BYTES_MAX)
        ),
    )
}
