//! The value at a place, as a range of the pairs that a read returned.

use std::ops::Range;

use crate::budget::{Steps, WrittenText, grow, turn};
use crate::document::leaf::Kind;
use crate::document::tree::Tree;
use crate::error::{Error, Limit, Result};
use crate::key::{self, JsonText, KeyStep, Malformed, Marker, NoTree, hex, kind_at, step};
use crate::limits::{
    Bounds, COPIED_BYTES_PER_STEP, LEAVES_WRITTEN_AT_A_TIME, LEAVES_WRITTEN_AT_ONCE,
    TREE_LEVELS_MAX, WRITTEN_LEAVES_BYTES_AT_A_TIME,
};
use crate::store::Pairs;

/// The pairs at and below a place of a document. Never empty.
#[derive(Clone, Debug)]
pub struct ValueRef<'p> {
    pairs: &'p Pairs,
    range: Range<usize>,
    /// The length of the place's key, with which each key begins.
    key_bytes: usize,
}

impl<'p> ValueRef<'p> {
    /// Creates a slice from a range of pairs whose keys begin with the `key_bytes` of the place.
    /// Returns none if the range is empty.
    pub(crate) fn new(pairs: &'p Pairs, range: Range<usize>, key_bytes: usize) -> Option<Self> {
        (!range.is_empty()).then_some(Self {
            pairs,
            range,
            key_bytes,
        })
    }

    /// The kind of the value.
    ///
    /// # Errors
    /// `INTERNAL`: the pairs are malformed. The log has the key.
    #[inline]
    pub fn kind(&self) -> Result<Kind> {
        let (key, value) = self.pairs.get(self.range.start);
        kind_at(&key[self.key_bytes..], value).map_err(|error| malformed(error, key))
    }

    /// The value as JSON text.
    ///
    /// # Errors
    /// `INTERNAL`: the pairs are malformed. The log has the key. `TOO_LARGE`: the text exceeds the
    /// limit of one response.
    pub fn json(&self) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(32 * self.range.len());
        let mut text = JsonText::new(&mut out);
        self.write(self.range.clone(), &mut text)?;
        self.end(text)?;
        check_bytes(out.len(), Bounds::DEFAULT.response_bytes)?;
        Ok(out)
    }

    /// Appends the value as JSON text to `out`, which is part of the response. Yields to the
    /// scheduler while it writes a large value.
    ///
    /// # Errors
    /// As [`ValueRef::json`]; `out` then ends with incomplete text. As [`WrittenText::count`].
    pub async fn write_json(&self, out: &mut Vec<u8>, mut written: WrittenText<'_>) -> Result<()> {
        let before = out.len();
        let bytes_max = written.bytes_max();
        let mut portion = self.portion(self.range.clone());
        if portion.len() > LEAVES_WRITTEN_AT_ONCE {
            turn().await;
        }
        // Text beyond the limit is never produced, and other texts may be written meanwhile.
        let mut text = JsonText::new(out);
        loop {
            grow(text.out(), self.likely_bytes(&portion).min(bytes_max));
            self.write(portion.clone(), &mut text)?;
            let is_over = written.leaves(portion.len(), self.pairs.bytes_of(&portion));
            if portion.end == self.range.end {
                break;
            }
            if is_over {
                check_bytes(text.bytes() - before, bytes_max)?;
                written.pace(text.bytes()).await?;
            }
            portion = self.portion(portion.end..self.range.end);
        }
        self.end(text)?;
        check_bytes(out.len() - before, bytes_max)?;
        written.count(out.len())
    }

    /// The pairs that are written at a time, at the beginning of a range.
    fn portion(&self, range: Range<usize>) -> Range<usize> {
        let (leaves, bytes) = (LEAVES_WRITTEN_AT_A_TIME, WRITTEN_LEAVES_BYTES_AT_A_TIME);
        self.pairs.portion(&range, leaves, bytes)
    }

    /// About the bytes of the JSON text of pairs.
    fn likely_bytes(&self, range: &Range<usize>) -> usize {
        let pairs = self.pairs.bytes_of(range);
        let above = self.key_bytes * range.len();
        pairs.saturating_sub(above) + 8 * range.len()
    }

    fn write(&self, range: Range<usize>, text: &mut JsonText<'_>) -> Result<()> {
        let relative = |at: usize| {
            let (key, value) = self.pairs.get(at);
            (&key[self.key_bytes..], value)
        };
        let mut previous: &[u8] = if range.start > self.range.start {
            relative(range.start - 1).0
        } else {
            &[]
        };
        for at in range {
            let (key, value) = relative(at);
            text.push_behind(previous, key, value)
                .map_err(|error| malformed(error, self.pairs.get(at).0))?;
            previous = key;
        }
        Ok(())
    }

    fn end(&self, text: JsonText<'_>) -> Result<()> {
        let (last, _) = self.pairs.get(self.range.end - 1);
        text.finish().map_err(|error| malformed(error, last))
    }

    /// Builds the value as a tree in memory.
    ///
    /// # Errors
    /// `INTERNAL`: the pairs are malformed. The log has the key. `TOO_COMPLEX`: the value is deeper
    /// than [`TREE_LEVELS_MAX`].
    pub fn tree(&self, steps: &Steps<'_>) -> Result<Tree> {
        let copied = self.pairs.bytes_of(&self.range) as u64 / COPIED_BYTES_PER_STEP;
        steps.spend(self.range.len() as u64 + copied)?;
        let mut last: &[u8] = &[];
        let pairs = self.pairs().map(|(key, value)| {
            last = key;
            (&key[self.key_bytes..], value)
        });
        key::tree(pairs).map_err(|error| match error {
            NoTree::TooDeep => Error::too_complex(
                Limit::new("valueLevels", TREE_LEVELS_MAX),
                format!(
                    "the value has more than {TREE_LEVELS_MAX} levels, which is the limit: select \
                     a value further down"
                ),
            ),
            NoTree::Malformed(error) => malformed(error, last),
        })
    }

    /// The key of the place.
    pub(crate) fn key(&self) -> &'p [u8] {
        let (first, _) = self.pairs.get(self.range.start);
        &first[..self.key_bytes]
    }

    /// The stored pairs.
    pub fn pairs(&self) -> impl ExactSizeIterator<Item = (&'p [u8], &'p [u8])> + use<'p> {
        let pairs = self.pairs;
        self.range.clone().map(move |at| pairs.get(at))
    }
}

/// The length of the array at the first `array_bytes` of the last key in it. None if the value
/// there is not an array.
///
/// # Errors
/// `INTERNAL`: the key is malformed. The log has it.
pub(crate) fn length_of_array(array_bytes: usize, last_key: &[u8]) -> Result<Option<u64>> {
    match &last_key[array_bytes..] {
        [] => Ok(None),
        below => match step(below) {
            Some((KeyStep::Index(last), _)) => Ok(Some(last.saturating_add(1))),
            Some((KeyStep::Marker(Marker::EmptyArray), _)) => Ok(Some(0)),
            Some(_) => Ok(None),
            None => Err(malformed(Malformed::Segment, last_key)),
        },
    }
}

/// Creates the error for malformed pairs. The client receives a general message; the log has the
/// key.
pub(crate) fn malformed(error: Malformed, key: &[u8]) -> Error {
    Error::internal(format!("{error}, at the key {}", hex(key)))
}

pub(crate) fn check_bytes(bytes: usize, bytes_max: usize) -> Result<()> {
    if bytes <= bytes_max {
        return Ok(());
    }
    Err(Error::too_large(
        Limit::new("responseBytes", bytes_max),
        format!(
            "the value is larger than one response may be ({bytes} bytes; the limit is \
         {bytes_max} bytes): read it in parts by path, or page it with `children`"
        ),
    ))
}
