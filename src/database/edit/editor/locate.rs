//! Finding the place that a change is about.

use futures::future::try_join_all;

use super::Editor;
use super::below;
use crate::database::DocumentKey;
use crate::database::document_key::end_of;
use crate::database::read::path_candidates::settle;
use crate::database::read::slice::malformed;
use crate::document::leaf::{Kind, abridged};
use crate::document::path::{Path, Place, Segment, Token};
use crate::error::{Error, Result};
use crate::key::{KeyStep, Marker, kind_at, step};
use crate::limits::DIGIT_TOKENS_AT_ONCE;
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
const FIRST_PAIRS: usize = 2;

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

impl Editor<'_> {
    /// Finds what a path leads to, by what stands there or else by its parent.
    pub(crate) async fn locate(&self, path: &Path) -> Result<Target> {
        self.locate_by(path, self.transaction).await
    }

    /// As [`locate`](Self::locate); what stands at the place itself is read by `read`.
    pub(crate) async fn locate_by(&self, path: &Path, read: &dyn Read) -> Result<Target> {
        let settled;
        let path = if path.ambiguous() > DIGIT_TOKENS_AT_ONCE {
            settled = {
                let free = self.transaction.without_conflict();
                settle(free, &self.document, path, &self.budget.reserve()).await?
            };
            &settled
        } else {
            path
        };
        if let Some(spot) = self.standing(path, read).await? {
            return Ok(Target::Present(spot));
        }
        let Some((above, last)) = path.split_last() else {
            return Ok(Target::Vacant(Location::new(
                Place::default(),
                self.prefix.clone(),
                Pairs::default(),
            )));
        };
        let free = self.transaction.without_conflict();
        let found = try_join_all(candidates(&self.document, &above)?.into_iter().map(
            |(place, key)| async move {
                let end = end_of(&key);
                let last = free.range(last_of(&key, &end)).await?;
                Ok::<_, Error>((place, last.pairs, key))
            },
        ));
        let found = found.await?;
        let parent = found.into_iter().find(|(_, pairs, _)| !pairs.is_empty());
        match parent {
            Some((place, pairs, key)) => self.child_of(&place, key, &pairs, last),
            None => Ok(Target::Orphan),
        }
    }

    /// What stands at a path, if anything does.
    async fn standing(&self, path: &Path, read: &dyn Read) -> Result<Option<Location>> {
        let places = candidates(&self.document, path)?;
        let spots = places
            .into_iter()
            .map(|(place, key)| spot(read, place, key));
        let mut spots = try_join_all(spots).await?.into_iter();
        Ok(spots.find(|spot| !spot.first.is_empty()))
    }

    /// The place of a new member or element of the container whose last pair this is.
    fn child_of(&self, place: &Place, key: Vec<u8>, last: &Pairs, token: &Token) -> Result<Target> {
        let Some((last, _)) = last.first() else {
            return Ok(Target::Orphan);
        };
        let relative = &last[key.len()..];
        let (kind, length) = match step(relative).map(|(step, _)| step) {
            _ if relative.is_empty() => return Ok(Target::Unfit(no_container(place))),
            Some(KeyStep::Key(_)) => (Kind::Object, 1),
            Some(KeyStep::Index(index)) => (Kind::Array, index + 1),
            Some(KeyStep::Marker(Marker::EmptyObject)) => (Kind::Object, 0),
            Some(KeyStep::Marker(Marker::EmptyArray)) => (Kind::Array, 0),
            Some(KeyStep::Marker(Marker::Piece)) => return Ok(Target::Unfit(no_container(place))),
            None => {
                return Err(malformed(crate::key::Malformed::Segment, last));
            }
        };
        let segment = if kind == Kind::Object {
            match token.as_key() {
                Some(name) => Segment::Key(name.into_owned()),
                None => return Ok(Target::Unfit(no_element(place, token))),
            }
        } else {
            match token {
                Token::Dash => Segment::Index(length),
                Token::Digits(index) | Token::Segment(Segment::Index(index))
                    if *index == length =>
                {
                    Segment::Index(length)
                }
                Token::Digits(index) | Token::Segment(Segment::Index(index)) if *index < length => {
                    return Err(Error::internal(format!(
                        "the array {place} of the document {} in {:?} has no element {index}, \
                         and {length} in all",
                        self.document.id, self.document.collection
                    )));
                }
                _ => return Ok(Target::Unfit(past_end(place, token, length))),
            }
        };
        let evidence =
            (kind == Kind::Array && length > 0).then(|| below(&key, &Segment::Index(length - 1)));
        let spot = Location {
            key: self.document.place(&place.child(segment.clone()))?,
            place: place.child(segment),
            first: Pairs::default(),
            parent: Some(Parent {
                key,
                kind,
                empty: length == 0,
                evidence,
            }),
        };
        Ok(Target::Vacant(spot))
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

fn shown(place: &Place) -> String {
    match place.to_string() {
        root if root.is_empty() => "the document".to_owned(),
        pointer => format!("what stands at {:?}", abridged(&pointer)),
    }
}

pub(crate) fn no_container(place: &Place) -> Error {
    let shown = shown(place);
    Error::invalid_path(
        Some(place.to_string()),
        format!("{shown} is neither an object nor an array"),
    )
}

fn no_element(place: &Place, token: &Token) -> Error {
    let shown = shown(place);
    Error::invalid_path(
        Some(place.to_string()),
        format!("{shown} is an object, which has no element {token}: a key is a string"),
    )
}

fn past_end(place: &Place, token: &Token, length: u64) -> Error {
    let shown = shown(place);
    Error::invalid_path(
        Some(place.to_string()),
        match token {
            Token::Segment(Segment::Key(key)) => format!(
                "{shown} is an array, which has no member {:?}: an element has an index",
                abridged(key)
            ),
            _ => format!(
                "the index {token} is past the end of an array: {shown} has {length} elements, and \
             {length} is the index that appends"
            ),
        },
    )
}
