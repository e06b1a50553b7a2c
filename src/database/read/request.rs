//! Requests for values and versions of documents, and their answers.

use super::part::Part;
use super::range_plan::Extent;
use crate::database::document_key::DocumentKey;
use crate::document::path::Path;
use crate::key::Version;
use std::sync::Arc;

/// A request to the database.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Want {
    /// The value at a path.
    Part(Arc<DocumentKey>, Path, Extent),
    /// The commit that last changed a document.
    Version(Arc<DocumentKey>),
}

/// The answer to a [`Want`].
#[derive(Clone, Debug)]
pub enum Answer {
    /// Answers a [`Want::Part`]. None if nothing is stored there.
    Part(Option<Part>),
    /// Answers a [`Want::Version`]. None if Phyllo has not written the document.
    Version(Option<Version>),
}

/// A borrowed [`Want`].
#[derive(Clone, Copy, Debug)]
pub enum Asked<'w> {
    /// The value at a path.
    Part(&'w DocumentKey, &'w Path, Extent),
    /// The commit that last changed a document.
    Version(&'w DocumentKey),
}

impl Want {
    /// Returns the same request for another document.
    #[must_use]
    pub fn of(&self, document: &Arc<DocumentKey>) -> Self {
        match self {
            Self::Part(_, path, extent) => Self::Part(document.clone(), path.clone(), *extent),
            Self::Version(_) => Self::Version(document.clone()),
        }
    }

    pub(crate) fn asked(&self) -> Asked<'_> {
        match self {
            Self::Part(document, path, extent) => Asked::Part(document, path, *extent),
            Self::Version(document) => Asked::Version(document),
        }
    }
}

impl Asked<'_> {
    pub(crate) fn extent(&self) -> Extent {
        match self {
            Self::Part(_, _, extent) => *extent,
            Self::Version(_) => Extent::First,
        }
    }
}
