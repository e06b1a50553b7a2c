//! A part of a document that was read.

use std::ops::Range;
use std::sync::Arc;

use super::slice::Slice;
use crate::budget::{Budget, Steps};
use crate::database::document_key::DocumentKey;
use crate::database::document_key::end_of;
use crate::document::leaf::Kind;
use crate::document::path::{Path, Place, Segment, Token};
use crate::document::tree::Tree;
use crate::error::Result;
use crate::key::append_segment;
use crate::store::Pairs;

/// What stands at a place of a document: some of the pairs that a read brought.
#[derive(Clone, Debug)]
pub struct Part {
    /// The document.
    pub document: Arc<DocumentKey>,
    /// The place in the document.
    pub place: Place,
    pairs: Arc<Pairs>,
    /// Not empty.
    range: Range<usize>,
    /// Of each key, what names the place.
    key_bytes: usize,
    whole: bool,
}

/// Pairs that a read brought, and which of them are spoken of.
#[derive(Clone, Debug)]
pub(crate) struct Brought {
    pub(crate) pairs: Arc<Pairs>,
    pub(crate) range: Range<usize>,
    /// Whether they are all that stands where they were read, or only its beginning.
    pub(crate) whole: bool,
}

impl Brought {
    /// Those at and below a place, whose key is this.
    pub(crate) fn below(&self, key: &[u8]) -> Self {
        Self {
            pairs: self.pairs.clone(),
            range: self.pairs.between(self.range.clone(), key, &end_of(key)),
            whole: self.whole,
        }
    }
}

impl Part {
    /// The part at `place`, whose key has so many bytes and which is what was brought; none if that
    /// is nothing.
    pub(crate) fn of(
        document: Arc<DocumentKey>,
        place: Place,
        key_bytes: usize,
        brought: Brought,
    ) -> Option<Self> {
        let Brought {
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

    /// Whether all of it was read.
    pub fn is_whole(&self) -> bool {
        self.whole
    }

    fn slice(&self) -> Slice<'_> {
        let slice = Slice::new(&self.pairs, self.range.clone(), self.key_bytes);
        slice.expect("a part has a pair at least")
    }

    /// As [`Slice::kind`].
    ///
    /// # Errors
    /// As [`Slice::kind`].
    pub fn kind(&self) -> Result<Kind> {
        self.slice().kind()
    }

    /// As [`Slice::json`].
    ///
    /// # Errors
    /// As [`Slice::json`].
    pub fn json(&self) -> Result<Vec<u8>> {
        self.slice().json()
    }

    /// As [`Part::json`], as a part of the response. Of what is large others have their turn
    /// meanwhile.
    ///
    /// # Errors
    /// As [`Slice::write_json`].
    pub async fn json_within(&self, budget: &Budget) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        self.slice().write_json(&mut out, budget).await?;
        Ok(out)
    }

    /// As [`Slice::tree`].
    ///
    /// # Errors
    /// As [`Slice::tree`].
    pub fn tree(&self, steps: &Steps<'_>) -> Result<Tree> {
        self.slice().tree(steps)
    }

    /// About how many bytes [`Part::tree`] takes besides the texts in it.
    pub fn tree_bytes(&self) -> usize {
        2 * self.range.len() * size_of::<Tree>()
    }

    /// The part at a place further down; none if nothing is there.
    pub fn below(&self, place: &[Segment]) -> Option<Self> {
        let (first, _) = self.pairs.get(self.range.start);
        let mut key = first[..self.key_bytes].to_vec();
        for segment in place {
            append_segment(&mut key, segment.as_ref());
        }
        let brought = Brought {
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

    /// The pairs as they are stored.
    pub fn pairs(&self) -> impl ExactSizeIterator<Item = (&[u8], &[u8])> {
        self.slice().pairs()
    }
}
