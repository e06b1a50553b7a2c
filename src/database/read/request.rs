//! Requests for values and versions of documents, and their answers.

use std::sync::Arc;

use super::range_plan::Extent;
use super::value::Value;
use crate::database::document_key::DocumentKey;
use crate::document::path::Path;
use crate::key::Version;

/// A request to the database. `D` names the document, `P` the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadRequest<D = Arc<DocumentKey>, P = Path> {
    /// The value at a path.
    Value(D, P, Extent),
    /// The commit that last changed a document.
    Version(D),
}

/// A request that borrows its document and its path.
pub type BorrowedRequest<'r> = ReadRequest<&'r DocumentKey, &'r Path>;

/// The answer to a [`ReadRequest`].
#[derive(Clone, Debug)]
pub enum Answer {
    /// Answers a [`ReadRequest::Value`]. None if nothing is stored there.
    Value(Option<Value>),
    /// Answers a [`ReadRequest::Version`]. None if Phyllo has not written the document.
    Version(Option<Version>),
}

impl ReadRequest {
    /// Returns the same request for another document.
    #[must_use]
    pub fn of(&self, document: &Arc<DocumentKey>) -> Self {
        match self {
            Self::Value(_, path, extent) => Self::Value(document.clone(), path.clone(), *extent),
            Self::Version(_) => Self::Version(document.clone()),
        }
    }

    pub(crate) fn borrowed(&self) -> BorrowedRequest<'_> {
        match self {
            Self::Value(document, path, extent) => ReadRequest::Value(document, path, *extent),
            Self::Version(document) => ReadRequest::Version(document),
        }
    }
}

impl<'r> BorrowedRequest<'r> {
    /// Returns the same request for another path of the document.
    pub(crate) fn at<'p>(&self, path: &'p Path) -> BorrowedRequest<'p>
    where
        'r: 'p,
    {
        match *self {
            Self::Value(document, _, extent) => ReadRequest::Value(document, path, extent),
            Self::Version(document) => ReadRequest::Version(document),
        }
    }
}

impl<D, P> ReadRequest<D, P> {
    /// Returns how much of the value is read.
    pub(crate) fn extent(&self) -> Extent {
        match self {
            Self::Value(_, _, extent) => *extent,
            Self::Version(_) => Extent::First,
        }
    }
}
