//! What the fields of `Document` and `Subdocument` read.
//!
//! Binding a plan (`execute/planned/binding/bind.rs`) collects the reads of a selection before the first of
//! them. What a field reads at its place, and when two reads become one, is decided here.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash};
use std::sync::Arc;

use crate::database::{Extent, ReadRequest};
use crate::document::path::{Path, PathRange};
use crate::limits::READS_COMPARED_MAX;

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
pub(crate) struct FieldReads<D, P>(pub(crate) Vec<ReadRequest<D, P>>, ReadNumbers);

/// The numbers of the reads, by the first read of their root field and the hash of what is read. The
/// first [`READS_COMPARED_MAX`] reads of a root field are compared without it.
type ReadNumbers = HashMap<(usize, u64), Vec<usize>>;

impl<D, P> Default for FieldReads<D, P> {
    fn default() -> Self {
        Self(Vec::new(), ReadNumbers::default())
    }
}

impl<D, P: Eq + Hash> FieldReads<D, P> {
    /// Adds a read of the value at a place, or extends a read of the same place. Considers the reads
    /// from number `first` on, which must be of the same document. Returns the read's number.
    pub(crate) fn value(&mut self, first: usize, document: D, path: P, extent: Extent) -> usize {
        let merged = |read: &ReadRequest<D, P>| match read {
            ReadRequest::Value(_, present, present_extent) if *present == path => {
                present_extent.merged(extent)
            }
            _ => None,
        };
        let is_same = |read: &ReadRequest<D, P>| merged(read).is_some();
        match self.find(first, &path, is_same) {
            Ok(at) => {
                let both = merged(&self.0[at]);
                if let (ReadRequest::Value(_, _, extent), Some(both)) = (&mut self.0[at], both) {
                    *extent = both;
                }
                at
            }
            Err(hash) => self.push(first, hash, ReadRequest::Value(document, path, extent)),
        }
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
        match self.find(first, &(&path, &omitted), is_same) {
            Ok(at) => at,
            Err(hash) => self.push(first, hash, ReadRequest::Remainder(document, path, omitted)),
        }
    }

    /// Adds a read of the parts of the value at a place between two paths, as [`FieldReads::value`].
    pub(crate) fn between(
        &mut self,
        first: usize,
        document: D,
        path: P,
        range: PathRange,
    ) -> usize {
        let is_same = |read: &ReadRequest<D, P>| match read {
            ReadRequest::Between(_, present, of) => *present == path && **of == range,
            _ => false,
        };
        match self.find(first, &(&path, &range), is_same) {
            Ok(at) => at,
            Err(hash) => {
                let range = Arc::new(range);
                self.push(first, hash, ReadRequest::Between(document, path, range))
            }
        }
    }

    /// Adds a read of the document's version, as [`FieldReads::value`].
    pub(crate) fn version(&mut self, first: usize, document: D) -> usize {
        match self.find(first, &(), is_version) {
            Ok(at) => at,
            Err(hash) => self.push(first, hash, ReadRequest::Version(document)),
        }
    }

    /// The number of an equal read, or the hash of `what` is read, if there are many reads.
    fn find(
        &self,
        first: usize,
        what: &impl Hash,
        is_same: impl Fn(&ReadRequest<D, P>) -> bool,
    ) -> Result<usize, Option<u64>> {
        let Self(reads, numbers) = self;
        let mut compared = reads[first..].iter().take(READS_COMPARED_MAX);
        if let Some(at) = compared.position(&is_same) {
            return Ok(first + at);
        }
        if reads.len() - first < READS_COMPARED_MAX {
            return Err(None);
        }
        let hash = numbers.hasher().hash_one(what);
        let mut equal = numbers
            .get(&(first, hash))
            .into_iter()
            .flatten()
            .copied()
            .take(READS_COMPARED_MAX);
        equal.find(|at| is_same(&reads[*at])).ok_or(Some(hash))
    }

    fn push(&mut self, first: usize, hash: Option<u64>, read: ReadRequest<D, P>) -> usize {
        let number = self.0.len();
        self.0.push(read);
        if let Some(hash) = hash {
            self.1.entry((first, hash)).or_default().push(number);
        }
        number
    }
}

/// Whether a read is of the document's version.
pub(crate) fn is_version<D, P>(read: &ReadRequest<D, P>) -> bool {
    matches!(read, ReadRequest::Version(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::jsonpath::ElementRange;

    fn path(name: usize) -> Path {
        Path::parse(&format!("/{name}")).expect("a path")
    }

    /// The reads of many places by two root fields, each twice. The paths are distinct, so a comparison
    /// with all earlier reads would take seconds.
    #[test]
    fn many_reads_are_found_again() {
        const PLACES: usize = 30_000;
        let mut reads = FieldReads::<usize, Path>::default();
        for first in [0, 2 * PLACES + 1] {
            let omitted: Arc<[Path]> = vec![path(0)].into();
            let mut numbers = Vec::new();
            for round in 0..2 {
                for place in 0..PLACES {
                    let extent = [Extent::First, Extent::Whole][round];
                    let value = reads.value(first, first, path(place), extent);
                    let remainder = reads.remainder(first, first, path(place), omitted.clone());
                    if round == 0 {
                        numbers.push((value, remainder));
                    }
                    assert_eq!(numbers[place], (value, remainder));
                }
                let version = reads.version(first, first);
                assert_eq!(version, first + 2 * PLACES);
            }
            let (last, _) = numbers[PLACES - 1];
            assert!(matches!(
                reads.0[last],
                ReadRequest::Value(_, _, Extent::Whole)
            ));
        }
        assert_eq!(reads.0.len(), 2 * (2 * PLACES + 1));
    }

    /// The values of one place without other parts of it are separate reads, and so are other elements
    /// of one list. Their number of equal hashes grows, and only some of them are compared.
    #[test]
    fn reads_that_cannot_be_one_are_separate() {
        const READS: usize = 20_000;
        let mut reads = FieldReads::<usize, Path>::default();
        let remainders = (0..READS).map(|at| {
            let omitted: Arc<[Path]> = vec![path(at)].into();
            reads.remainder(0, 0, path(0), omitted)
        });
        assert_eq!(
            remainders.collect::<Vec<_>>(),
            (0..READS).collect::<Vec<_>>()
        );
        let elements = (0..READS as u64).map(|begin| {
            let end = Some(begin + 1);
            let elements = Extent::Elements(ElementRange { begin, end });
            reads.value(0, 0, path(0), elements)
        });
        assert_eq!(
            elements.collect::<Vec<_>>(),
            (READS..2 * READS).collect::<Vec<_>>()
        );
    }
}
