//! The members of a document that are its id.

use crate::document::id::DocumentId;
use crate::document::leaf::Leaf;
use crate::document::path::Path;
use crate::error::{Error, Result};
use crate::key::{Leaves, append_place, decode_leaf};

/// Members that documents often have as their ids, and the options that use them.
const USUAL: [(&str, &str); 3] = [
    ("/_id/$oid", "--extended-json --id /_id"),
    ("/_id", "--id /_id"),
    ("/id", "--id /id"),
];

/// The members that --id names, one or several.
#[derive(Clone, Debug)]
pub(crate) struct IdMembers(Vec<Path>);

impl IdMembers {
    /// The members at these paths. `None` if there are none.
    pub(crate) fn new(paths: Vec<Path>) -> Option<Self> {
        (!paths.is_empty()).then_some(Self(paths))
    }

    /// The id of a document. Several members are joined with `/`. In each, `~` becomes `~0` and `/` becomes
    /// `~1`, as in a JSON Pointer, so that different members never have the same id.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: a member is missing, or is neither a string nor a 64-bit integer.
    pub(crate) fn id(&self, leaves: &Leaves) -> Result<DocumentId> {
        if let [path] = &self.0[..] {
            return member(leaves, path).map_err(|problem| {
                Error::bad_input(format!("the member that --id names {problem}"))
            });
        }
        let mut parts = Vec::with_capacity(self.0.len());
        for (number, path) in (1..).zip(&self.0) {
            let part = member(leaves, path).map_err(|problem| {
                Error::bad_input(format!(
                    "the member that --id number {number} names {problem}"
                ))
            })?;
            parts.push(match part {
                DocumentId::Text(text) => text.replace('~', "~0").replace('/', "~1"),
                other => other.to_string(),
            });
        }
        Ok(DocumentId::Text(parts.join("/")))
    }
}

/// The options that take the id from a member of this document, which has no `doc_id`.
pub(crate) fn proposed(leaves: &Leaves) -> Option<&'static str> {
    USUAL.into_iter().find_map(|(pointer, options)| {
        let path = Path::pointer(pointer).ok()?;
        member(leaves, &path).ok().map(|_| options)
    })
}

/// # Errors
/// What is wrong with the member.
fn member(leaves: &Leaves, path: &Path) -> std::result::Result<DocumentId, &'static str> {
    let found = path.places().into_iter().find_map(|place| {
        let mut key = Vec::new();
        append_place(&mut key, &place);
        let (_, value) = leaves.iter().find(|(found, _)| *found == key)?;
        decode_leaf(value)
    });
    match found {
        Some(Leaf::Integer(integer)) => Ok(DocumentId::Integer(integer)),
        Some(Leaf::String(text)) => Ok(DocumentId::Text(text.into_owned())),
        Some(_) => Err("is neither a string nor a 64-bit integer"),
        None => Err("is missing, or is an object or an array"),
    }
}
