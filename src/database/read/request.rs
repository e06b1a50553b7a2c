//! Requests for values and versions of documents, and their answers.

use std::sync::Arc;

use super::projection::between::PartsBetween;
use super::projection::remainder::Remainder;
use super::range_plan::Extent;
use super::value::Value;
use crate::database::document_key::DocumentKey;
use crate::document::path::{Path, PathRange};
use crate::key::Version;

/// A request to the database. `D` names the document, `P` the path, `L` lists paths, `R` is a
/// [`PathRange`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadRequest<D = Arc<DocumentKey>, P = Path, L = Arc<[Path]>, R = Arc<PathRange>> {
    /// The value at a path.
    Value(D, P, Extent),
    /// The value at a path without the parts at other paths of the document, which are inside it.
    Remainder(D, P, L),
    /// The parts of the value at a path between two other paths of the document, which are inside it.
    Between(D, P, R),
    /// The commit that last changed a document.
    Version(D),
}

/// A request that borrows its document and its path.
pub type BorrowedRequest<'r> = ReadRequest<&'r DocumentKey, &'r Path, &'r [Path], &'r PathRange>;

/// The answer to a [`ReadRequest`].
#[derive(Clone, Debug)]
pub enum Answer {
    /// Answers a [`ReadRequest::Value`]. None if nothing is stored there.
    Value(Option<Value>),
    /// Answers a [`ReadRequest::Remainder`]. None if nothing is stored there, or nothing remains.
    Remainder(Option<Remainder>),
    /// Answers a [`ReadRequest::Between`]. None if nothing is stored there.
    Between(Option<PartsBetween>),
    /// Answers a [`ReadRequest::Version`]. None if Phyllo has not written the document.
    Version(Option<Version>),
}

impl ReadRequest {
    /// The same request for another document.
    #[must_use]
    pub fn of(&self, document: &Arc<DocumentKey>) -> Self {
        match self {
            Self::Value(_, path, extent) => Self::Value(document.clone(), path.clone(), *extent),
            Self::Remainder(_, path, omitted) => {
                Self::Remainder(document.clone(), path.clone(), omitted.clone())
            }
            Self::Between(_, path, range) => {
                Self::Between(document.clone(), path.clone(), range.clone())
            }
            Self::Version(_) => Self::Version(document.clone()),
        }
    }

    pub(crate) fn borrowed(&self) -> BorrowedRequest<'_> {
        match self {
            Self::Value(document, path, extent) => ReadRequest::Value(document, path, *extent),
            Self::Remainder(document, path, omitted) => {
                ReadRequest::Remainder(document, path, omitted)
            }
            Self::Between(document, path, range) => ReadRequest::Between(document, path, range),
            Self::Version(document) => ReadRequest::Version(document),
        }
    }
}

impl<D, P> ReadRequest<D, P> {
    /// The number of places that are read: the value, and each part that it omits or that bounds it.
    pub fn places(&self) -> usize {
        match self {
            Self::Value(..) => 1,
            Self::Remainder(_, _, omitted) => 1 + omitted.len(),
            Self::Between(..) => PathRange::PLACES,
            Self::Version(_) => 0,
        }
    }
}

impl<'r> BorrowedRequest<'r> {
    /// The same request for another path of the document.
    pub(crate) fn at<'p>(&self, path: &'p Path) -> BorrowedRequest<'p>
    where
        'r: 'p,
    {
        match *self {
            Self::Value(document, _, extent) => ReadRequest::Value(document, path, extent),
            Self::Remainder(document, _, omitted) => {
                ReadRequest::Remainder(document, path, omitted)
            }
            Self::Between(document, _, range) => ReadRequest::Between(document, path, range),
            Self::Version(document) => ReadRequest::Version(document),
        }
    }
}

impl<D, P, L, R> ReadRequest<D, P, L, R> {
    /// How much of the value at the path is read.
    pub(crate) fn extent(&self) -> Extent {
        match self {
            Self::Value(_, _, extent) => *extent,
            Self::Remainder(..) | Self::Between(..) | Self::Version(_) => Extent::First,
        }
    }
}
