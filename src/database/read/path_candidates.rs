//! The candidate places of paths. A token of digits is an array index or a member name; only the
//! stored document decides which.

use std::ops::Range;

use super::fetch::Fetched;
use super::range_plan::{Extent, ReadPlan};
use super::request::{BorrowedRequest, ReadRequest};
use crate::budget::Reservation;
use crate::database::document_key::DocumentKey;
use crate::document::path::{Path, Place};
use crate::error::Result;
use crate::limits::DIGIT_TOKENS_AT_ONCE;
use crate::store::Read;

/// The candidate places of all requested paths. Their keys share one buffer.
#[derive(Default)]
pub(crate) struct PathCandidates {
    /// The concatenated keys.
    keys: Vec<u8>,
    all: Vec<PathCandidate>,
    /// The range of candidates of each requested path.
    of: Vec<Result<Range<usize>>>,
}

/// A candidate place of a path.
pub(crate) struct PathCandidate {
    pub(crate) key: Range<usize>,
    /// None if the path has only this candidate.
    pub(crate) place: Option<Place>,
}

impl PathCandidates {
    /// Computes the candidates of all requested paths. An error is stored with the path that caused
    /// it.
    pub(crate) async fn new(
        read: &dyn Read,
        requested: &[BorrowedRequest<'_>],
        memory: &Reservation,
    ) -> Self {
        let mut candidates = Self {
            keys: Vec::with_capacity(32 * requested.len()),
            all: Vec::with_capacity(requested.len()),
            of: Vec::with_capacity(requested.len()),
        };
        for request in requested {
            let begin = candidates.all.len();
            let added = candidates.add_requested(read, request, memory).await;
            if added.is_err() {
                candidates.all.truncate(begin);
            }
            let end = candidates.all.len();
            candidates.of.push(added.map(|()| begin..end));
        }
        candidates
    }

    /// Returns the range of candidates of a requested path.
    ///
    /// # Errors
    /// `TOO_LARGE`: the key of a candidate exceeds the limit. Errors of the store.
    pub(crate) fn numbers(&self, requested: usize) -> Result<Range<usize>> {
        self.of[requested].clone()
    }

    /// Returns the candidate with this number.
    pub(crate) fn get(&self, number: usize) -> &PathCandidate {
        &self.all[number]
    }

    pub(crate) fn key(&self, candidate: &PathCandidate) -> &[u8] {
        &self.keys[candidate.key.clone()]
    }

    /// Returns the keys of all candidates of a requested path.
    pub(crate) fn keys(&self, requested: usize) -> impl Iterator<Item = &[u8]> {
        let of = self.of[requested].as_ref();
        let candidates = of.map_or(&[][..], |of| &self.all[of.clone()]);
        candidates.iter().map(|candidate| self.key(candidate))
    }

    async fn add_requested(
        &mut self,
        read: &dyn Read,
        requested: &BorrowedRequest<'_>,
        memory: &Reservation,
    ) -> Result<()> {
        let ReadRequest::Value(document, path, _) = requested else {
            return Ok(());
        };
        if path.ambiguous() <= DIGIT_TOKENS_AT_ONCE {
            return self.add(document, path);
        }
        let path = settle(read, document, path, memory).await?;
        self.add_places(document, path.places())
    }

    fn add(&mut self, document: &DocumentKey, path: &Path) -> Result<()> {
        let begin = self.keys.len();
        match document.append_only(&mut self.keys, path) {
            None => self.add_places(document, path.places()),
            Some(appended) => {
                appended?;
                self.push(begin, None);
                Ok(())
            }
        }
    }

    fn add_places(&mut self, document: &DocumentKey, places: Vec<Place>) -> Result<()> {
        for place in places {
            let begin = self.keys.len();
            self.keys.extend_from_slice(&document.place(&place)?);
            self.push(begin, Some(place));
        }
        Ok(())
    }

    /// The first of the places that holds a value; none if none does.
    async fn first_present(&self, read: &dyn Read, memory: &Reservation) -> Result<Option<Place>> {
        let keys = self
            .all
            .iter()
            .map(|place| (self.key(place), Extent::First));
        let plan = ReadPlan::new(keys);
        let fetched = Fetched::read(read, &plan, memory).await;
        for (candidate, source) in self.all.iter().zip(&plan.sources) {
            let (_, range) = fetched.at(source, self.key(candidate), Extent::First)?;
            if !range.is_empty() {
                return Ok(candidate.place.clone());
            }
        }
        Ok(None)
    }

    fn push(&mut self, begin: usize, place: Option<Place>) {
        let key = begin..self.keys.len();
        self.all.push(PathCandidate { key, place });
    }
}

/// Resolves tokens of digits step by step in a path that has too many of them. If a prefix of the
/// path has no value, neither has the path, so any candidate will do.
pub(crate) async fn settle(
    read: &dyn Read,
    document: &DocumentKey,
    path: &Path,
    memory: &Reservation,
) -> Result<Path> {
    let mut path = path.clone();
    while path.ambiguous() > DIGIT_TOKENS_AT_ONCE {
        let (head, rest) = path.split_after_ambiguous(DIGIT_TOKENS_AT_ONCE);
        let mut candidates = PathCandidates::default();
        candidates.add_places(document, head.places())?;
        let Some(place) = candidates.first_present(read, memory).await? else {
            return Ok(path.as_indexes());
        };
        path = Path::from(&place).join(&rest);
    }
    Ok(path)
}
