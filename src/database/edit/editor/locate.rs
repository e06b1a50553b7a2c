//! Resolves a path to the place that an edit changes.

use futures::future::try_join_all;

use super::Editor;
use super::location::{Location, Parent, Target, candidates, last_of, location_at};
use crate::database::document_key::{below, prefix_end};
use crate::database::read::path_candidates::settle;
use crate::database::read::value_ref::malformed;
use crate::document::leaf::{Kind, abridged};
use crate::document::path::{Path, Place, Segment, Token};
use crate::error::{Error, Result};
use crate::key::{KeyStep, Marker, step};
use crate::limits::DIGIT_TOKENS_AT_ONCE;
use crate::store::{Pairs, Read};

impl Editor<'_> {
    /// Resolves a path by the value at its place, or else by its parent.
    pub(crate) async fn locate(&self, path: &Path) -> Result<Target> {
        self.locate_by(path, self.transaction).await
    }

    /// As [`locate`](Self::locate), but reads the value at the place through `read`.
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
        if let Some(location) = self.existing(path, read).await? {
            return Ok(Target::Present(location));
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
                let end = prefix_end(&key);
                let last = free.range(last_of(&key, &end)).await?;
                Ok::<_, Error>((place, last.pairs, key))
            },
        ))
        .await?;
        let parent = found.into_iter().find(|(_, pairs, _)| !pairs.is_empty());
        match parent {
            Some((place, pairs, key)) => self.child_of(&place, key, &pairs, last),
            None => Ok(Target::Orphan),
        }
    }

    /// The value at a path. None if no candidate place has one.
    async fn existing(&self, path: &Path, read: &dyn Read) -> Result<Option<Location>> {
        let places = candidates(&self.document, path)?;
        let locations = places
            .into_iter()
            .map(|(place, key)| location_at(read, place, key));
        let mut locations = try_join_all(locations).await?.into_iter();
        Ok(locations.find(|location| !location.first.is_empty()))
    }

    /// The place of a new member or element of a container, given the last pair of the
    /// container.
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
                        "the array {place} of the document {} in {:?} has {length} elements and no \
                         element {index}",
                        self.document.id, self.document.collection
                    )));
                }
                _ => return Ok(Target::Unfit(past_end(place, token, length))),
            }
        };
        let evidence =
            (kind == Kind::Array && length > 0).then(|| below(&key, &Segment::Index(length - 1)));
        let location = Location {
            key: self.document.place(&place.child(segment.clone()))?,
            place: place.child(segment),
            first: Pairs::default(),
            parent: Some(Parent {
                key,
                kind,
                empty: length == 0,
                evidence,
            }),
            missing: 0,
        };
        Ok(Target::Vacant(location))
    }
}

fn shown(place: &Place) -> String {
    match place.to_string() {
        root if root.is_empty() => "the document".to_owned(),
        pointer => format!("the value at {:?}", abridged(&pointer)),
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
            Token::FromEnd(_) => format!(
                "the index {token} is before the first element of an array: {shown} has {length} \
                 elements"
            ),
            _ => format!(
                "the index {token} is past the end of an array: {shown} has {length} elements, and \
             {length} is the index that appends"
            ),
        },
    )
}
