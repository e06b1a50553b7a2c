//! Parts of a JSON text, as they are written there: numbers stay exact, at any level.

use crate::document::flatten::json_error;
use crate::document::json::{Event, JsonError, Reader};
use crate::error::Result;

/// A JSON value as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RawJson<'t>(&'t str);

impl<'t> RawJson<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self(text)
    }

    /// The text.
    pub(crate) fn text(self) -> &'t str {
        self.0
    }

    /// Whether the value is null.
    pub(crate) fn is_null(self) -> bool {
        self.0 == "null"
    }

    /// A member of an object. `None` if it is not there or null.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the text is not JSON.
    pub(crate) fn member(self, name: &str) -> Result<Option<Self>> {
        let found = self.find(name);
        let found = found.map_err(|error| json_error(&error, self.0))?;
        Ok(found.filter(|found| !found.is_null()))
    }

    fn find(self, name: &str) -> Result<Option<Self>, JsonError> {
        let mut reader = Reader::new(self.0, usize::MAX);
        if reader.next()? != Event::BeginObject {
            return Ok(None);
        }
        while let Event::Name(found) = reader.next()? {
            let is_found = found == name;
            let value = reader.skip_value()?;
            if is_found {
                return Ok(Some(Self(value)));
            }
        }
        Ok(None)
    }

    /// The elements of an array. Of another value, none.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the text is not JSON.
    pub(crate) fn elements(self) -> Result<Vec<Self>> {
        let all = self.all_elements();
        all.map_err(|error| json_error(&error, self.0))
    }

    fn all_elements(self) -> Result<Vec<Self>, JsonError> {
        let mut rest = self.0.trim_start();
        let mut elements = Vec::new();
        let Some(inside) = rest.strip_prefix('[') else {
            return Ok(elements);
        };
        rest = inside.trim_start();
        while !rest.starts_with(']') && !rest.is_empty() {
            let mut reader = Reader::new(rest, usize::MAX);
            let value = reader.skip_value()?;
            elements.push(Self(value));
            rest = rest[reader.offset()..].trim_start();
            rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        }
        Ok(elements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_elements_are_as_written() {
        let text = r#"{"a":null,"b":{"c":[1e300, "x,]", [ 2 ],{"d":-0.0}]},"é":1}"#;
        let root = RawJson::new(text);
        let member = |of: RawJson<'static>, name| of.member(name).expect("JSON");
        assert_eq!(member(root, "a"), None);
        assert_eq!(member(root, "x"), None);
        assert_eq!(member(root, "é").map(RawJson::text), Some("1"));
        let elements = member(root, "b").and_then(|b| member(b, "c"));
        let elements = elements.expect("an array").elements().expect("JSON");
        let texts: Vec<_> = elements.iter().map(|element| element.text()).collect();
        assert_eq!(texts, ["1e300", "\"x,]\"", "[ 2 ]", "{\"d\":-0.0}"]);
        assert!(RawJson::new("[]").elements().expect("JSON").is_empty());
        assert!(RawJson::new("{").member("a").is_err());
    }
}
