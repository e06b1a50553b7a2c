//! What stands at a place: some of the pairs that a read brought.

use std::ops::Range;

use crate::budget::{Budget, Steps};
use crate::document::leaf::Kind;
use crate::document::tree::Tree;
use crate::error::{Error, Limit, Result};
use crate::key::{self, JsonText, Malformed, NoTree, hex, kind_at};
use crate::limits::{Bounds, LEAVES_WRITTEN_AT_A_TIME, TREE_LEVELS_MAX};
use crate::store::Pairs;

/// Pairs at and below a place of a document, of which there is one at least.
#[derive(Clone, Debug)]
pub struct Slice<'p> {
    pairs: &'p Pairs,
    range: Range<usize>,
    /// Of each key, what names the place.
    key_bytes: usize,
}

impl<'p> Slice<'p> {
    /// The pairs in a range of those that were read, whose keys begin with the `key_bytes` of the
    /// place; none if there are none.
    pub(crate) fn new(pairs: &'p Pairs, range: Range<usize>, key_bytes: usize) -> Option<Self> {
        (!range.is_empty()).then_some(Self {
            pairs,
            range,
            key_bytes,
        })
    }

    /// What kind of value it is.
    ///
    /// # Errors
    /// `INTERNAL`: the pairs are none that a document has; the key is in the log.
    #[inline]
    pub fn kind(&self) -> Result<Kind> {
        let (key, value) = self.pairs.get(self.range.start);
        kind_at(&key[self.key_bytes..], value).map_err(|error| malformed(error, key))
    }

    /// Its JSON text.
    ///
    /// # Errors
    /// `INTERNAL`: the pairs are none that a document has; the key is in the log. `TOO_LARGE`: it
    /// passes what one response may carry.
    pub fn json(&self) -> Result<Vec<u8>> {
        let mut out = Vec::with_capacity(32 * self.range.len());
        let mut text = JsonText::new(&mut out);
        self.write(self.range.clone(), &mut text)?;
        self.end(text)?;
        check_bytes(out.len(), Bounds::DEFAULT.response_bytes)?;
        Ok(out)
    }

    /// Appends its JSON text to `out`, which is a part of the response. Of what is large others
    /// have their turn meanwhile.
    ///
    /// # Errors
    /// As [`Slice::json`]; `out` then ends with a part of it. `TOO_LARGE`: it passes what the
    /// response may carry. As [`Budget::check`].
    pub async fn write_json(&self, out: &mut Vec<u8>, budget: &Budget) -> Result<()> {
        let before = out.len();
        let bytes_max = budget.response_bytes_max();
        // What is past the bound is not made.
        let likely = self.pairs.bytes_of(&self.range) + 8 * self.range.len();
        out.reserve(likely.min(bytes_max));
        let mut text = JsonText::new(out);
        let Range { mut start, end } = self.range;
        while start < end {
            let part = start..end.min(start + LEAVES_WRITTEN_AT_A_TIME);
            start = part.end;
            self.write(part, &mut text)?;
            if start < end {
                check_bytes(text.bytes() - before, bytes_max)?;
                budget.check_response(text.bytes())?;
                budget.check()?;
                tokio::task::yield_now().await;
            }
        }
        self.end(text)?;
        check_bytes(out.len() - before, bytes_max)
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

    /// It as a value that is held whole.
    ///
    /// # Errors
    /// `INTERNAL`: the pairs are none that a document has; the key is in the log. `TOO_COMPLEX`: it
    /// is deeper than [`TREE_LEVELS_MAX`].
    pub fn tree(&self, steps: &Steps<'_>) -> Result<Tree> {
        steps.spend(self.range.len() as u64)?;
        let mut last: &[u8] = &[];
        let pairs = self.pairs().map(|(key, value)| {
            last = key;
            (&key[self.key_bytes..], value)
        });
        key::tree(pairs).map_err(|error| match error {
            NoTree::TooDeep => Error::too_complex(
                Limit::new("valueLevels", TREE_LEVELS_MAX),
                format!(
                    "what is stored here has more than {TREE_LEVELS_MAX} levels, which is the \
                     limit: begin further down"
                ),
            ),
            NoTree::Malformed(error) => malformed(error, last),
        })
    }

    /// The pairs as they are stored.
    pub fn pairs(&self) -> impl ExactSizeIterator<Item = (&'p [u8], &'p [u8])> + use<'p> {
        let pairs = self.pairs;
        self.range.clone().map(move |at| pairs.get(at))
    }
}

/// The error about pairs that no document has: the client learns that, the log which key.
pub(crate) fn malformed(error: Malformed, key: &[u8]) -> Error {
    Error::internal(format!("{error}, at the key {}", hex(key)))
}

fn check_bytes(bytes: usize, bytes_max: usize) -> Result<()> {
    if bytes <= bytes_max {
        return Ok(());
    }
    Err(Error::too_large(
        Limit::new("responseBytes", bytes_max),
        format!(
            "what is stored here is more than one response may carry ({bytes} bytes; the limit is \
         {bytes_max} bytes): read it in parts by path, or page it with `children`"
        ),
    ))
}
