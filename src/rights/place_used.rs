//! A place that a request uses.

use std::borrow::Cow;
use std::fmt;

use super::action::Action;
use crate::document::id::DocumentId;
use crate::document::path::Path;

/// A place that a request uses, and what it does there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PlaceUsed<'r> {
    /// What the request does there.
    pub action: Action,
    /// The collection.
    pub collection: Cow<'r, str>,
    /// The document. None for every document of the collection, and for a new document whose id the
    /// server chooses.
    pub id: Option<Cow<'r, DocumentId>>,
    /// The path in the document. Empty for the whole document.
    pub path: Cow<'r, Path>,
}

impl<'r> PlaceUsed<'r> {
    /// The use of a path in one document.
    pub fn in_document(
        action: Action,
        collection: &'r str,
        id: &'r DocumentId,
        path: &'r Path,
    ) -> Self {
        Self {
            action,
            collection: Cow::Borrowed(collection),
            id: Some(Cow::Borrowed(id)),
            path: Cow::Borrowed(path),
        }
    }

    /// The use of a path in every document of a collection.
    pub fn in_collection(action: Action, collection: &'r str, path: &'r Path) -> Self {
        Self {
            action,
            collection: Cow::Borrowed(collection),
            id: None,
            path: Cow::Borrowed(path),
        }
    }

    /// The same without borrowed parts.
    pub fn into_owned(self) -> PlaceUsed<'static> {
        PlaceUsed {
            action: self.action,
            collection: Cow::Owned(self.collection.into_owned()),
            id: self.id.map(|id| Cow::Owned(id.into_owned())),
            path: Cow::Owned(self.path.into_owned()),
        }
    }
}

/// Names the action and the place, for messages: `read "/name" of document FRA of "countries"`.
impl fmt::Display for PlaceUsed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            action, collection, ..
        } = self;
        write!(f, "{action} ")?;
        if !self.path.tokens().is_empty() {
            write!(f, "{:?} of ", self.path.to_string())?;
        }
        match &self.id {
            Some(id) => write!(f, "document {id} of ")?,
            None => f.write_str("the documents of ")?,
        }
        write!(f, "collection {collection:?}")
    }
}
