//! The raw variables of a request. They are located while the body is read, so that a body of many
//! megabytes is not scanned twice.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;

use crate::document::json::{Event, JsonError, Reader};
use crate::error::{Error, Limit, Result};
use crate::limits::VARIABLES_MAX;

/// The variables of a request: the JSON text of an object; empty if the request has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GivenVariables {
    text: Bytes,
    members: Arc<[(Bytes, Bytes)]>,
}

impl GivenVariables {
    /// Reads the object that is next in `reader`. The reader's text must be all of `body`.
    ///
    /// # Errors
    /// The error that `to_error` returns, if the text is not JSON. `TOO_COMPLEX`: the object has more
    /// than [`VARIABLES_MAX`] members.
    pub(crate) fn read(
        reader: &mut Reader<'_>,
        body: &Bytes,
        to_error: &dyn Fn(JsonError) -> Error,
    ) -> Result<Self> {
        reader.peek_value();
        let begin = reader.offset();
        let mut members = Vec::new();
        reader.next().map_err(to_error)?;
        while let Event::Name(name) = reader.next().map_err(to_error)? {
            if members.len() == VARIABLES_MAX {
                return Err(Error::too_complex(
                    Limit::new("variables", VARIABLES_MAX),
                    format!("more than {VARIABLES_MAX} variables, which is the limit"),
                ));
            }
            let value = reader.skip_value().map_err(to_error)?;
            let name = match name {
                Cow::Borrowed(name) => body.slice_ref(name.as_bytes()),
                Cow::Owned(name) => name.into(),
            };
            members.push((name, body.slice_ref(value.as_bytes())));
        }
        Ok(Self {
            text: body.slice(begin..reader.offset()),
            members: members.into(),
        })
    }

    /// The JSON text of the object.
    pub fn text(&self) -> &Bytes {
        &self.text
    }

    /// The name and JSON text of each variable, in order. Names can repeat.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], &Bytes)> {
        self.members.iter().map(|(name, text)| (&**name, text))
    }
}
