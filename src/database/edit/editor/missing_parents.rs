//! The location of a value whose parents do not exist. Writing the value creates them.

use super::Editor;
use super::locate::no_container;
use super::location::{CreatedParents, Location, Target};
use crate::document::leaf::abridged;
use crate::document::path::{Path, Place, Segment, Token};
use crate::error::{Error, Result};

impl Editor<'_> {
    /// The location of a value whose parent does not exist.
    ///
    /// # Errors
    /// `INVALID_PATH`: the path leads through a value that is no container, or a container that it needs is
    /// not created. Errors of the store.
    pub(crate) async fn below_missing(
        &self,
        path: &Path,
        created: CreatedParents,
    ) -> Result<Location> {
        let mut missing: Vec<Token> = Vec::new();
        let mut above = path.clone();
        loop {
            let Some((parent, last)) = above.split_last() else {
                return Err(Error::internal("nothing is above the whole document"));
            };
            missing.push(last.clone());
            match self.locate(&parent).await? {
                Target::Orphan => above = parent,
                Target::Vacant(location) => return self.inside(location, &missing, created),
                Target::Present(location) => return Err(no_container(&location.place)),
                Target::Unfit(error) => return Err(error),
            }
        }
    }

    /// The location `missing` tokens below a new member or element. The tokens are ordered from the last
    /// one up.
    fn inside(
        &self,
        outermost: Location,
        missing: &[Token],
        created: CreatedParents,
    ) -> Result<Location> {
        let mut place = outermost.place.clone();
        if created == CreatedParents::Objects && outermost.element().is_some() {
            return Err(no_such_element(place.to_string()));
        }
        for token in missing.iter().rev() {
            let segment = match (token, created) {
                (Token::Segment(Segment::Key(name)), _) => Segment::Key(name.clone()),
                (
                    Token::Dash | Token::Digits(0) | Token::Segment(Segment::Index(0)),
                    CreatedParents::ObjectsAndArrays,
                ) => Segment::Index(0),
                (Token::Dash | Token::Digits(_), _) => return Err(ambiguous(&place, token)),
                _ => return Err(no_such_element(format!("{place}/{token}"))),
            };
            place = place.child(segment);
        }
        let key = self.document.place(&place)?;
        Ok(Location {
            place,
            key,
            missing: missing.len(),
            ..outermost
        })
    }
}

fn no_such_element(element: String) -> Error {
    let message = format!(
        "there is no element {:?}: an array index in the path must exist",
        abridged(&element)
    );
    Error::invalid_path(Some(element), message)
}

/// The error for a token that would name an element if its parent were an array.
fn ambiguous(parent: &Place, token: &Token) -> Error {
    let place = format!("{parent}/{token}");
    let message = format!(
        "nothing is stored at {:?}, so {token} in the path can mean an element or a member: store the \
         parent first, or write the name of a member as a string in the list form of a path, such as \
         [\"list\", \"{token}\"]",
        abridged(&parent.to_string())
    );
    Error::invalid_path(Some(place), message)
}
