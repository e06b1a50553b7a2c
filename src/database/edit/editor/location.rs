//! What a path leads to in a document that is about to change.

use crate::database::document_key::DocumentKey;
use crate::database::document_key::end_of;
use crate::database::read::slice::malformed;
use crate::document::leaf::Kind;
use crate::document::path::{Path, Place, Segment};
use crate::error::{Error, Result};
use crate::key::kind_at;
use crate::store::{Pairs, RangeRead, Read};

/// What a path leads to.
pub(crate) enum Target {
    /// Something stands there.
    Present(Location),
    /// Nothing does, and something may be put there.
    Vacant(Location),
    /// Nothing stands where its parent would.
    Orphan,
    /// Its parent is of a kind, or a length, that has no such member or element.
    Unfit(Error),
}

/// One pair says what kind of value it is, another whether that is all.
pub(crate) const FIRST_PAIRS: usize = 2;

/// One place of the document.
#[derive(Clone)]
pub(crate) struct Location {
    pub(crate) place: Place,
    pub(crate) key: Vec<u8>,
    /// The first pairs of what stands there, [`FIRST_PAIRS`] at most.
    pub(crate) first: Pairs,
    /// What it stands in; none for the whole document, and where something stands already.
    pub(crate) parent: Option<Parent>,
}

/// A container, as far as the place of a new member or element depends on it.
#[derive(Clone)]
pub(crate) struct Parent {
    pub(crate) key: Vec<u8>,
    pub(crate) kind: Kind,
    pub(crate) empty: bool,
    /// The element whose being there says how long an array is.
    pub(crate) evidence: Option<Vec<u8>>,
}

impl Location {
    pub(crate) fn new(place: Place, key: Vec<u8>, first: Pairs) -> Self {
        Self {
            place,
            key,
            first,
            parent: None,
        }
    }

    /// The kind of what stands there; none if nothing does.
    pub(crate) fn kind(&self) -> Result<Option<Kind>> {
        let Some((key, value)) = self.first.first() else {
            return Ok(None);
        };
        kind_at(&key[self.key.len()..], value)
            .map(Some)
            .map_err(|error| malformed(error, key))
    }

    /// Whether what it knows is all that stands there.
    pub(crate) fn is_whole(&self) -> bool {
        self.first.len() < FIRST_PAIRS
    }

    /// The value of the plain leaf that stands there, alone.
    pub(crate) fn leaf(&self) -> Option<&[u8]> {
        let (key, value) = self.first.first()?;
        (self.first.len() == 1 && key.len() == self.key.len()).then_some(value)
    }

    /// Whether it is an element of an array.
    pub(crate) fn element(&self) -> Option<u64> {
        match self.place.0.last()? {
            Segment::Index(index) => Some(*index),
            Segment::Key(_) => None,
        }
    }
}

/// The places that a path may lead to, and their keys.
pub(crate) fn candidates(document: &DocumentKey, path: &Path) -> Result<Vec<(Place, Vec<u8>)>> {
    let with_key = |place: Place| document.place(&place).map(|key| (place, key));
    path.places().into_iter().map(with_key).collect()
}

/// What stands at one place, which may be nothing.
pub(crate) async fn spot(read: &dyn Read, place: Place, key: Vec<u8>) -> Result<Location> {
    let end = end_of(&key);
    let first = read.range(first_of(&key, &end)).await?;
    Ok(Location::new(place, key, first.pairs))
}

/// The read of what a [`Location`] knows of what stands there.
pub(crate) fn first_of<'k>(key: &'k [u8], end: &'k [u8]) -> RangeRead<'k> {
    RangeRead::new(key, end).at_most(FIRST_PAIRS)
}

/// The read of the last pair of a container, which tells how long an array is.
pub(crate) fn last_of<'k>(key: &'k [u8], end: &'k [u8]) -> RangeRead<'k> {
    RangeRead {
        reverse: true,
        ..RangeRead::new(key, end).at_most(1)
    }
}
