//! The operator `rename`: gives a member of an object another name.

use bytes::Bytes;

use super::editor::Editor;
use super::editor::location::{Location, MissingParents, location_at};
use crate::document::flatten::{json_error, json_text};
use crate::document::json::{Event, Reader};
use crate::document::leaf::{Kind, abridged};
use crate::document::path::{Path, Segment};
use crate::error::{Error, Result};

/// A member, and its new name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rename {
    /// The name of the member.
    pub member: String,
    /// Its new name.
    pub to: String,
}

impl Rename {
    /// Parses an object with the members `member` and `to`, which are strings.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the text is no such object.
    pub fn parse(text: &Bytes) -> Result<Self> {
        let text = json_text(text)?;
        let in_text = |error| json_error(&error, text);
        let mut reader = Reader::new(text, 1);
        let (mut member, mut to) = (None, None);
        if reader.next().map_err(in_text)? == Event::BeginObject {
            while let Some((name, value)) = reader.next_member().map_err(in_text)? {
                match name.as_ref() {
                    "member" => member = string(value),
                    "to" => to = string(value),
                    _ => return Err(no_rename()),
                }
            }
            reader.next().map_err(in_text)?;
        }
        match (member, to) {
            (Some(member), Some(to)) => Ok(Self { member, to }),
            _ => Err(no_rename()),
        }
    }
}

fn string(text: &str) -> Option<String> {
    match Reader::new(text, 0).next() {
        Ok(Event::String(text)) => Some(text.into_owned()),
        _ => None,
    }
}

fn no_rename() -> Error {
    Error::bad_input("an object with the strings `member` and `to` is expected")
}

impl Editor<'_> {
    /// Renames a member of an object. A member that has the new name is replaced. Does nothing if there is no
    /// member to rename.
    pub(crate) async fn rename(&mut self, object: &Location, rename: &Rename) -> Result<()> {
        if object.kind()? != Some(Kind::Object) {
            return Err(Error::bad_input(format!(
                "the value at {:?} is not an object",
                abridged(&object.place.to_string())
            )));
        }
        let named = |name: &str| object.place.child(Segment::Key(name.to_owned()));
        let (place, to) = (named(&rename.member), named(&rename.to));
        let key = self.document.place(&place)?;
        let member = location_at(self.transaction, place, key).await?;
        if member.first.is_empty() || rename.member == rename.to {
            return Ok(());
        }
        let memory = self.budget.reserve();
        let leaves = self.leaves_at(&member).await?;
        memory.hold(leaves.held())?;
        let to = Path::from(&to);
        let target = self.locate(&to).await?;
        self.put(target, &to, &leaves, MissingParents::default())
            .await?;
        self.clear_place(&member).await
    }
}
