//! What is asked of a document, and the answer.

use super::part::Part;
use super::range_plan::Extent;
use crate::database::document_key::DocumentKey;
use crate::document::path::Path;
use crate::key::Version;
use std::sync::Arc;

/// Something that is asked of the database.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Want {
    /// What stands at a place.
    Part(Arc<DocumentKey>, Path, Extent),
    /// The commit that last changed a document.
    Version(Arc<DocumentKey>),
}

/// What came of a [`Want`].
#[derive(Clone, Debug)]
pub enum Answer {
    /// Of a [`Want::Part`]; none if nothing is stored there.
    Part(Option<Part>),
    /// Of a [`Want::Version`]; none if Phyllo has not written the document.
    Version(Option<Version>),
}

/// A [`Want`], borrowed.
#[derive(Clone, Copy, Debug)]
pub enum Asked<'w> {
    /// What stands at a place.
    Part(&'w DocumentKey, &'w Path, Extent),
    /// The commit that last changed a document.
    Version(&'w DocumentKey),
}

impl Want {
    /// The same of another document.
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
