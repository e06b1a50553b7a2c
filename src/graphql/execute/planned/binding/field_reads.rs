//! What the fields of `Document` and `Subdocument` read.
//!
//! Binding a plan (`execute/planned/binding/bind.rs`) collects the reads of a selection before the first of
//! them. What a field reads at its place, and when two reads become one, is decided here.

use std::sync::Arc;

use crate::database::{Extent, ReadRequest};
use crate::document::path::Path;
use crate::limits::READS_AHEAD_MAX;

/// A field that reads at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlaceField {
    /// `kind`
    Kind,
    /// `value`, and for each of their paths `values` and `pick`.
    Value,
    /// `subdocument`, and every other field that returns a part of a document or null.
    Subdocument,
}

impl PlaceField {
    /// How much the field reads of the value at its place.
    pub(crate) const fn extent(self) -> Extent {
        match self {
            Self::Kind | Self::Subdocument => Extent::First,
            Self::Value => Extent::Whole,
        }
    }
}

/// The reads of a selection. No pair is read twice because two fields need the same place.
pub(crate) struct FieldReads<D, P>(pub(crate) Vec<ReadRequest<D, P>>);

impl<D, P> Default for FieldReads<D, P> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<D, P: PartialEq> FieldReads<D, P> {
    /// Adds a read of the value at a place, or extends a read of the same place. Considers the
    /// first reads from number `first`, which must be of the same document. Returns the read's number.
    pub(crate) fn value(&mut self, first: usize, document: D, path: P, extent: Extent) -> usize {
        let compared = self.0[first..].iter_mut().take(READS_AHEAD_MAX);
        for (at, read) in compared.enumerate() {
            if let ReadRequest::Value(_, present, present_extent) = read
                && *present == path
                && let Some(merged) = present_extent.merged(extent)
            {
                *present_extent = merged;
                return first + at;
            }
        }
        self.push(ReadRequest::Value(document, path, extent))
    }

    /// Adds a read of the value at a place without parts of it, as [`FieldReads::value`].
    pub(crate) fn remainder(
        &mut self,
        first: usize,
        document: D,
        path: P,
        omitted: Arc<[Path]>,
    ) -> usize {
        let is_same = |read: &ReadRequest<D, P>| match read {
            ReadRequest::Remainder(_, present, parts) => *present == path && *parts == omitted,
            _ => false,
        };
        let mut compared = self.0[first..].iter().take(READS_AHEAD_MAX);
        match compared.position(is_same) {
            Some(at) => first + at,
            None => self.push(ReadRequest::Remainder(document, path, omitted)),
        }
    }

    /// Adds a read of the document's version, as [`FieldReads::value`].
    pub(crate) fn version(&mut self, first: usize, document: D) -> usize {
        let present = self.0[first..].iter().position(is_version);
        match present {
            Some(at) => first + at,
            None => self.push(ReadRequest::Version(document)),
        }
    }

    fn push(&mut self, read: ReadRequest<D, P>) -> usize {
        self.0.push(read);
        self.0.len() - 1
    }
}

/// Whether a read is of the document's version.
pub(crate) fn is_version<D, P>(read: &ReadRequest<D, P>) -> bool {
    matches!(read, ReadRequest::Version(_))
}
