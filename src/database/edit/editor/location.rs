//! What a path leads to in a document that is about to change.

use crate::database::document_key::{DocumentKey, prefix_end};
use crate::database::read::value_ref::malformed;
use crate::document::leaf::Kind;
use crate::document::path::{Path, Place, Segment};
use crate::error::{Error, Result};
use crate::key::kind_at;
use crate::store::{Pairs, RangeRead, Read};

/// The result of resolving a path.
pub(crate) enum Target {
    /// A value is stored at the place.
    Present(Location),
    /// No value is stored at the place, and one can be added.
    Vacant(Location),
    /// The parent of the place does not exist.
    Orphan,
    /// The parent cannot have such a member or element, because of its kind or its length.
    Unfit(Error),
}

/// One pair determines the kind of a value, a second one whether there are more.
pub(crate) const FIRST_PAIRS: usize = 2;

/// A place in the document.
#[derive(Clone)]
pub(crate) struct Location {
    pub(crate) place: Place,
    pub(crate) key: Vec<u8>,
    /// The first pairs of the value, at most [`FIRST_PAIRS`].
    pub(crate) first: Pairs,
    /// The parent of a new value. None for the whole document, and if a value is stored at the
    /// place.
    pub(crate) parent: Option<Parent>,
    /// The number of containers above a new value that do not exist either.
    pub(crate) missing: usize,
}

/// The properties of a container on which the place of a new member or element depends.
#[derive(Clone)]
pub(crate) struct Parent {
    pub(crate) key: Vec<u8>,
    pub(crate) kind: Kind,
    pub(crate) empty: bool,
    /// The last element of an array, whose existence determines the length.
    pub(crate) evidence: Option<Vec<u8>>,
}

impl Location {
    pub(crate) fn new(place: Place, key: Vec<u8>, first: Pairs) -> Self {
        Self {
            place,
            key,
            first,
            parent: None,
            missing: 0,
        }
    }

    /// The kind of the value. None if there is none.
    pub(crate) fn kind(&self) -> Result<Option<Kind>> {
        let Some((key, value)) = self.first.first() else {
            return Ok(None);
        };
        kind_at(&key[self.key.len()..], value)
            .map(Some)
            .map_err(|error| malformed(error, key))
    }

    /// Whether `first` holds the complete value.
    pub(crate) fn is_whole(&self) -> bool {
        self.first.len() < FIRST_PAIRS
    }

    /// The stored bytes of the value if it is a single leaf.
    pub(crate) fn leaf(&self) -> Option<&[u8]> {
        let (key, value) = self.first.first()?;
        (self.first.len() == 1 && key.len() == self.key.len()).then_some(value)
    }

    /// The place of the outermost new value, and the segments from there to this place.
    pub(crate) fn outermost(&self) -> (Place, &[Segment]) {
        let existing = self.place.0.len() - self.missing;
        let (place, below) = self.place.0.split_at(existing);
        (Place(place.to_vec()), below)
    }

    /// The index if the place is an array element.
    pub(crate) fn element(&self) -> Option<u64> {
        match self.place.0.last()? {
            Segment::Index(index) => Some(*index),
            Segment::Key(_) => None,
        }
    }
}

/// What to do with a value whose parent does not exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingParents {
    /// Fail with `NOT_FOUND`.
    #[default]
    Fail,
    /// Create the objects on the path, and the document. Where the path has `-` or the index 0, create an
    /// array.
    Create,
}

/// Which containers are created on the way to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CreatedParents {
    /// Objects. An index must lead to an existing element.
    Objects,
    /// Objects, and arrays for `-` and the index 0.
    ObjectsAndArrays,
}

/// The candidate places of a path and their keys.
pub(crate) fn candidates(document: &DocumentKey, path: &Path) -> Result<Vec<(Place, Vec<u8>)>> {
    let with_key = |place: Place| document.place(&place).map(|key| (place, key));
    path.places().into_iter().map(with_key).collect()
}

/// The value at one place, which may be empty.
pub(crate) async fn location_at(read: &dyn Read, place: Place, key: Vec<u8>) -> Result<Location> {
    let end = prefix_end(&key);
    let first = read.range(first_of(&key, &end)).await?;
    Ok(Location::new(place, key, first.pairs))
}

/// The read of the pairs that a [`Location`] holds.
pub(crate) fn first_of<'k>(key: &'k [u8], end: &'k [u8]) -> RangeRead<'k> {
    RangeRead::new(key, end).at_most(FIRST_PAIRS)
}

/// The read of the last pair of a container, which determines the length of an array.
pub(crate) fn last_of<'k>(key: &'k [u8], end: &'k [u8]) -> RangeRead<'k> {
    RangeRead {
        reverse: true,
        ..RangeRead::new(key, end).at_most(1)
    }
}
