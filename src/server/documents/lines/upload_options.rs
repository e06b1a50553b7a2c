//! The parameters of an upload.

use std::borrow::Cow;

use crate::document::id::DocumentId;
use crate::document::path::Path;
use crate::error::{Error, Result};

/// What an upload does with each line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UploadMode {
    /// A document that exists is an error.
    Insert,
    /// A document that exists is kept.
    Skip,
    /// A document that exists is an error unless it is equal.
    Compare,
    Replace,
    Merge,
}

impl UploadMode {
    const ALL: [Self; 5] = [
        Self::Insert,
        Self::Skip,
        Self::Compare,
        Self::Replace,
        Self::Merge,
    ];

    /// The value of the parameter `mode`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Insert => "insert",
            Self::Skip => "skip",
            Self::Compare => "compare",
            Self::Replace => "replace",
            Self::Merge => "merge",
        }
    }
}

/// The parameters of an upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UploadOptions {
    pub(crate) mode: UploadMode,
    /// Whether the lines after one that is rejected are still written.
    pub(crate) go_on: bool,
    /// The one document into which all lines are merged. Without it, each line names its document.
    pub(crate) into: Option<DocumentId>,
    /// The path in each document into which lines are merged.
    pub(crate) path: Path,
    /// Whether the report contains how many documents were created, replaced and left unchanged.
    pub(crate) counts: bool,
}

impl UploadOptions {
    /// Parses the query of a URL.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: a parameter is unknown, is there twice, or has no such value.
    /// `INVALID_PATH`: the path is malformed.
    pub(crate) fn parse(query: &str) -> Result<Self> {
        let (mut mode, mut on_error, mut counts) = (None, None, None);
        let (mut id, mut path) = (None, None);
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let parameter = match &*name {
                "mode" => &mut mode,
                "onError" => &mut on_error,
                "counts" => &mut counts,
                "id" => &mut id,
                "path" => &mut path,
                _ => return Err(Error::bad_input(format!("unknown parameter {name:?}"))),
            };
            if parameter.replace(value).is_some() {
                return Err(Error::bad_input(format!(
                    "the parameter {name} is there twice"
                )));
            }
        }
        let of_merge = id.is_some() || path.is_some();
        let options = Self {
            mode: match mode.as_deref() {
                None => UploadMode::Insert,
                Some(named) => {
                    let found = UploadMode::ALL
                        .into_iter()
                        .find(|mode| mode.name() == named);
                    let expected = "insert, skip, compare, replace or merge";
                    found.ok_or_else(|| no_value("mode", named, expected))?
                }
            },
            go_on: match on_error.as_deref() {
                None | Some("stop") => false,
                Some("continue") => true,
                Some(other) => return Err(no_value("onError", other, "stop or continue")),
            },
            into: id.as_deref().map(DocumentId::parse).transpose()?,
            path: Path::pointer(&path.unwrap_or(Cow::Borrowed("")))?,
            counts: match counts.as_deref() {
                None | Some("false") => false,
                Some("true") => true,
                Some(other) => return Err(no_value("counts", other, "true or false")),
            },
        };
        if of_merge && options.mode != UploadMode::Merge {
            return Err(Error::bad_input(
                "the parameters id and path have a meaning only with mode=merge",
            ));
        }
        Ok(options)
    }
}

fn no_value(name: &str, found: &str, expected: &str) -> Error {
    Error::bad_input(format!("{name} is {found:?} and must be {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_those_that_the_page_lists() {
        let options = |mode, go_on| UploadOptions {
            mode,
            go_on,
            into: None,
            path: Path::default(),
            counts: false,
        };
        let parsed = |query: &str| UploadOptions::parse(query).ok();
        assert_eq!(parsed(""), Some(options(UploadMode::Insert, false)));
        let replaced = parsed("onError=continue&mode=replace");
        assert_eq!(replaced, Some(options(UploadMode::Replace, true)));
        for mode in UploadMode::ALL {
            let named = parsed(&format!("mode={}&counts=true", mode.name()));
            let expected = UploadOptions {
                counts: true,
                ..options(mode, false)
            };
            assert_eq!(named, Some(expected));
        }
        let into = parsed("mode=merge&id=%2242%22&path=/a/b");
        let expected = UploadOptions {
            into: Some(DocumentId::Text("42".to_owned())),
            path: Path::pointer("/a/b").expect("a pointer"),
            ..options(UploadMode::Merge, false)
        };
        assert_eq!(into, Some(expected));
        for query in [
            "mode=upsert",
            "onError=",
            "counts=1",
            "mode=insert&mode=insert",
            "id=1",
            "mode=replace&path=/a",
            "mode=merge&path=a",
            "mode=merge&id=",
            "x=1",
        ] {
            assert_eq!(parsed(query), None, "{query}");
        }
    }
}
