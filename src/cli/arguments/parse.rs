//! Argument parsers.

use crate::database::check_collection;
use crate::document::json::write_string;
use crate::document::path::Path;
use crate::error::Result;

/// A valid path, in the notation in which it was written.
#[derive(Clone, Debug)]
pub(crate) struct WrittenPath {
    pub(crate) text: String,
}

impl WrittenPath {
    /// The path as JSON, in the notation in which it was written: a list, or a string.
    pub(crate) fn json(&self) -> String {
        if self.text.starts_with('[') {
            return self.text.clone();
        }
        let mut json = Vec::new();
        write_string(&mut json, &self.text);
        String::from_utf8_lossy(&json).into_owned()
    }
}

pub(crate) fn parse_path(text: &str) -> Result<WrittenPath> {
    Path::parse(text)?;
    let text = text.to_owned();
    Ok(WrittenPath { text })
}

pub(crate) fn parse_collection(name: &str) -> Result<String> {
    check_collection(name)?;
    Ok(name.to_owned())
}
