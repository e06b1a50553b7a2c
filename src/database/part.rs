//! A part of a document that was read.

use std::ops::Range;
use std::sync::Arc;

use super::{DocumentKey, end_of};
use crate::document::leaf::Kind;
use crate::document::path::{Path, Place, Segment, Token};
use crate::document::tree::Tree;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{self, JsonText, Malformed, NoTree, append_segment, hex, kind_at};
use crate::limits::{Bounds, LEAVES_AT_A_TIME, TREE_LEVELS_MAX};
use crate::store::Pairs;

/// What stands at a place of a document: a slice of the pairs that some read brought.
#[derive(Clone, Debug)]
pub struct Part {
    /// The document.
    pub document: Arc<DocumentKey>,
    /// The place in the document.
    pub place: Place,
    key: Vec<u8>,
    pairs: Arc<Pairs>,
    range: Range<usize>,
    whole: bool,
}

impl Part {
    /// The part at `place`, whose key is `key`, which is what `pairs` has; none if that is nothing.
    /// `whole` says whether it is all of it or only its beginning.
    pub(super) fn of(
        document: Arc<DocumentKey>,
        place: Place,
        key: Vec<u8>,
        pairs: Arc<Pairs>,
        whole: bool,
    ) -> Option<Self> {
        let part = Self {
            document,
            place,
            key,
            range: 0..pairs.len(),
            pairs,
            whole,
        };
        (!part.range.is_empty()).then_some(part)
    }

    /// As [`Part::of`], but `pairs` may have more than that.
    pub(super) fn among(
        document: Arc<DocumentKey>,
        place: Place,
        key: Vec<u8>,
        pairs: Arc<Pairs>,
        whole: bool,
    ) -> Option<Self> {
        let range = pairs.between(&key, &end_of(&key));
        let all = Self::of(document, place, key, pairs, whole)?;
        (!range.is_empty()).then_some(Self { range, ..all })
    }

    /// Whether all of it was read.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    /// What kind of value it is.
    ///
    /// # Errors
    /// `INTERNAL`: the pairs are none that a document has; the key is in the log.
    pub fn kind(&self) -> Result<Kind> {
        let (key, value) = self.pairs.get(self.range.start);
        kind_at(&key[self.key.len()..], value).map_err(|error| malformed(error, key))
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

    /// As [`Part::json`], of at most so many bytes. Of what is large others have their turn
    /// meanwhile.
    ///
    /// # Errors
    /// As [`Part::json`].
    pub async fn json_within(&self, bytes_max: usize) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        self.write_json(&mut out, bytes_max).await?;
        Ok(out)
    }

    /// Appends its JSON text, of at most so many bytes, to `out`. Of what is large others have
    /// their turn meanwhile.
    ///
    /// # Errors
    /// As [`Part::json`]; `out` then ends with a part of it.
    pub async fn write_json(&self, out: &mut Vec<u8>, bytes_max: usize) -> Result<()> {
        let before = out.len();
        // What is past the bound is not made.
        let likely = 32 * self.range.len();
        out.reserve(likely.min(bytes_max));
        let mut text = JsonText::new(out);
        let Range { mut start, end } = self.range;
        while start < end {
            let part = start..end.min(start + LEAVES_AT_A_TIME);
            start = part.end;
            self.write(part, &mut text)?;
            if start < end {
                check_bytes(text.bytes() - before, bytes_max)?;
                tokio::task::yield_now().await;
            }
        }
        self.end(text)?;
        check_bytes(out.len() - before, bytes_max)
    }

    fn write(&self, range: Range<usize>, text: &mut JsonText<'_>) -> Result<()> {
        for at in range {
            let (key, value) = self.pairs.get(at);
            text.push(&key[self.key.len()..], value)
                .map_err(|error| malformed(error, key))?;
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
    pub fn tree(&self) -> Result<Tree> {
        let mut last = &self.key[..];
        let pairs = self.pairs().map(|(key, value)| {
            last = key;
            (&key[self.key.len()..], value)
        });
        key::tree(pairs).map_err(|error| match error {
            NoTree::TooDeep => Error::new(
                ErrorKind::TooComplex,
                format!(
                    "what is stored here has more than {TREE_LEVELS_MAX} levels, which is the \
                     limit: begin further down"
                ),
            ),
            NoTree::Malformed(error) => malformed(error, last),
        })
    }

    /// The part at a place further down; none if nothing is there.
    pub fn below(&self, place: &[Segment]) -> Option<Self> {
        let mut key = self.key.clone();
        for segment in place {
            append_segment(&mut key, segment.as_ref());
        }
        Self::among(
            self.document.clone(),
            self.place.join(place),
            key,
            self.pairs.clone(),
            self.whole,
        )
    }

    /// The part further down; none if nothing is there. Of a token of digits, whichever of its
    /// readings holds something is meant.
    pub fn at(&self, path: &Path) -> Option<Self> {
        let mut part = self.clone();
        for token in path.tokens() {
            part = match token {
                Token::Segment(segment) => part.below(std::slice::from_ref(segment))?,
                Token::Dash => part.below(&[Segment::Key(token.to_string())])?,
                Token::Digits(digits) => part
                    .below(&[Segment::Index(*digits)])
                    .or_else(|| part.below(&[Segment::Key(digits.to_string())]))?,
            };
        }
        Some(part)
    }

    /// The pairs, their keys relative to the place.
    pub(super) fn relative_pairs(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        self.pairs()
            .map(|(key, value)| (&key[self.key.len()..], value))
    }

    /// The pairs as they are stored.
    pub fn pairs(&self) -> impl ExactSizeIterator<Item = (&[u8], &[u8])> {
        self.range.clone().map(|at| self.pairs.get(at))
    }
}

/// The error about pairs that no document has: the client learns that, the log which key.
pub(super) fn malformed(error: Malformed, key: &[u8]) -> Error {
    Error::internal(format!("{error}, at the key {}", hex(key)))
}

fn check_bytes(bytes: usize, bytes_max: usize) -> Result<()> {
    if bytes <= bytes_max {
        return Ok(());
    }
    Err(Error::too_large(format!(
        "what is stored here is more than one response may carry ({bytes} bytes; the limit is \
         {bytes_max} bytes): read it in parts by path, or page it with `children`"
    )))
}
