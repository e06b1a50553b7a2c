//! Argument parsers.

use crate::database::check_collection;
use crate::document::path::Path;
use crate::error::Result;

/// A path, and the text that it was parsed from.
#[derive(Clone, Debug)]
pub(crate) struct WrittenPath {
    pub(crate) text: String,
    pub(crate) path: Path,
}

pub(crate) fn parse_path(text: &str) -> Result<WrittenPath> {
    let path = Path::parse(text)?;
    let text = text.to_owned();
    Ok(WrittenPath { text, path })
}

pub(crate) fn parse_collection(name: &str) -> Result<String> {
    check_collection(name)?;
    Ok(name.to_owned())
}
