//! The candidate places of paths. A token of digits is an array index or a member name; only the
//! stored document decides which. A token that counts from the end of an array needs its length,
//! which is read first ([`settle_from_end`]).

use std::ops::Range;

use super::fetch::Fetched;
use super::range_plan::{Extent, ReadPlan, sort_steps};
use super::request::{BorrowedRequest, ReadRequest};
use super::value_ref::length_of_array;
use crate::budget::{Reservation, in_turns};
use crate::database::document_key::DocumentKey;
use crate::document::path::{Path, Place, Segment};
use crate::error::{Error, Result};
use crate::limits::DIGIT_TOKENS_AT_ONCE;
use crate::store::Read;

/// Keys count as held memory after each so many bytes. Fewer are part of what a read holds.
const KEY_BYTES_COUNTED: usize = 64 << 10;
/// The copies of a key: in the buffer, which doubles when it is full, and as the end of its range.
const KEY_COPIES: usize = 3;

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
    /// None if the path has only this candidate, whose place follows from the path.
    pub(crate) place: Option<Place>,
}

impl PathCandidate {
    /// The place of the candidate of a request. None if the request is not for a value.
    pub(crate) fn place_for(&self, request: &BorrowedRequest<'_>) -> Option<Place> {
        match (&self.place, request) {
            (Some(place), _) => Some(place.clone()),
            (None, ReadRequest::Value(_, path, _)) => path.place(),
            (None, _) => None,
        }
    }
}

impl PathCandidates {
    /// Computes the candidates of all requested paths. An error is stored with the path that caused
    /// it.
    pub(crate) async fn new(
        read: &dyn Read,
        requested: &[BorrowedRequest<'_>],
        memory: &Reservation,
    ) -> Self {
        let settled = settle_from_end(read, requested, memory).await;
        Self::of_settled(read, requested, settled, memory).await
    }

    /// As [`PathCandidates::new`], with settled paths in place of some of the requested ones.
    async fn of_settled(
        read: &dyn Read,
        requested: &[BorrowedRequest<'_>],
        settled: Vec<Option<SettledPath>>,
        memory: &Reservation,
    ) -> Self {
        let mut settled = settled.into_iter();
        let mut candidates = Self {
            keys: Vec::with_capacity(32 * requested.len()),
            all: Vec::with_capacity(requested.len()),
            of: Vec::with_capacity(requested.len()),
        };
        let mut counted = 0;
        let mut requests = in_turns(requested);
        while let Some(request) = requests.next().await {
            let begin = candidates.all.len();
            let bytes = candidates.keys.len() - counted;
            if bytes > KEY_BYTES_COUNTED {
                if let Err(error) = memory.hold(KEY_COPIES * bytes) {
                    // All requests fail alike, and what the keys take is free.
                    return Self {
                        of: vec![Err(error); requested.len()],
                        ..Self::default()
                    };
                }
                counted += bytes;
            }
            let added = match settled.next().flatten() {
                None => candidates.add_requested(read, request, memory).await,
                Some(SettledPath::Failed(error)) => Err(error),
                Some(SettledPath::Nothing) => Ok(()),
                Some(SettledPath::At(path)) => {
                    let request = request.at(&path);
                    candidates.add_settled(read, &request, memory).await
                }
            };
            if added.is_err() {
                candidates.all.truncate(begin);
            }
            let end = candidates.all.len();
            candidates.of.push(added.map(|()| begin..end));
        }
        candidates
    }

    /// The range of candidates of a requested path.
    ///
    /// # Errors
    /// `TOO_LARGE`: the key of a candidate exceeds the limit. Errors of the store.
    pub(crate) fn numbers(&self, requested: usize) -> Result<Range<usize>> {
        self.of[requested].clone()
    }

    /// The candidate with this number.
    pub(crate) fn get(&self, number: usize) -> &PathCandidate {
        &self.all[number]
    }

    pub(crate) fn key(&self, candidate: &PathCandidate) -> &[u8] {
        &self.keys[candidate.key.clone()]
    }

    /// The keys of all candidates of a requested path.
    pub(crate) fn keys(&self, requested: usize) -> impl Iterator<Item = &[u8]> {
        let of = self.of[requested].as_ref();
        let candidates = of.map_or(&[][..], |of| &self.all[of.clone()]);
        candidates.iter().map(|candidate| self.key(candidate))
    }

    /// The steps of sorting the ranges of all candidates.
    pub(crate) fn sort_steps(&self) -> u64 {
        sort_steps(self.all.len(), self.keys.len())
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

    /// As [`PathCandidates::add_requested`], but keeps the place of an only candidate: it does not
    /// follow from the requested path.
    async fn add_settled(
        &mut self,
        read: &dyn Read,
        request: &BorrowedRequest<'_>,
        memory: &Reservation,
    ) -> Result<()> {
        let begin = self.all.len();
        self.add_requested(read, request, memory).await?;
        if let ReadRequest::Value(_, path, _) = request
            && let [candidate] = &mut self.all[begin..]
            && candidate.place.is_none()
        {
            candidate.place = path.place();
        }
        Ok(())
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

/// A path without tokens that count from the end of an array.
enum SettledPath {
    At(Path),
    /// There is no such array, or no such element in it.
    Nothing,
    Failed(Error),
}

/// Replaces the tokens that count from the end of an array with indexes: one round for each such
/// token of a path, and the paths together. The last key of an array has its length. None for the
/// paths without such tokens; empty if no path has one.
async fn settle_from_end(
    read: &dyn Read,
    requested: &[BorrowedRequest<'_>],
    memory: &Reservation,
) -> Vec<Option<SettledPath>> {
    let with_from_end = |request: &BorrowedRequest<'_>| match request {
        ReadRequest::Value(_, path, _) if path.has_from_end() => {
            Some(SettledPath::At((*path).clone()))
        }
        _ => None,
    };
    if !requested
        .iter()
        .any(|request| with_from_end(request).is_some())
    {
        return Vec::new();
    }
    let mut settled: Vec<Option<SettledPath>> = requested.iter().map(with_from_end).collect();
    loop {
        let arrays: Vec<_> = settled
            .iter()
            .enumerate()
            .filter_map(|(at, path)| match path {
                Some(SettledPath::At(path)) => Some((at, path.split_at_from_end()?)),
                _ => None,
            })
            .collect();
        if arrays.is_empty() {
            return settled;
        }
        let lengths = {
            let requests: Vec<_> = arrays
                .iter()
                .map(|(at, (array, ..))| requested[*at].at(array))
                .collect();
            containers(read, &requests, memory).await
        };
        let mut measured = in_turns(arrays.into_iter().zip(lengths));
        while let Some(((at, (_, from_end, rest)), length)) = measured.next().await {
            settled[at] = Some(match length {
                Err(error) => SettledPath::Failed(error),
                Ok(None) => SettledPath::Nothing,
                Ok(Some((place, length))) => match length.unwrap_or(0).checked_sub(from_end) {
                    None => SettledPath::Nothing,
                    Some(index) => {
                        let element = place.child(Segment::Index(index));
                        SettledPath::At(Path::from(&element).join(&rest))
                    }
                },
            });
        }
    }
}

/// Reads the place of each requested value, and its length if it is an array, in one round. None if
/// nothing is stored there. The paths have no tokens that count from the end of an array.
pub(crate) async fn containers(
    read: &dyn Read,
    requests: &[BorrowedRequest<'_>],
    memory: &Reservation,
) -> Vec<Result<Option<(Place, Option<u64>)>>> {
    let candidates = PathCandidates::of_settled(read, requests, Vec::new(), memory).await;
    let keys = candidates.all.iter();
    let plan = ReadPlan::new(keys.map(|candidate| (candidates.key(candidate), Extent::Last)));
    let fetched = Fetched::read(read, &plan, memory).await;
    let length = |(number, request): (usize, &BorrowedRequest<'_>)| {
        for at in candidates.numbers(number)? {
            let (candidate, source) = (candidates.get(at), &plan.sources[at]);
            let key = candidates.key(candidate);
            let (pairs, range) = fetched.at(source, key, Extent::Last)?;
            let Some(last) = range.last() else { continue };
            let length = length_of_array(key.len(), pairs.get(last).0)?;
            let place = candidate.place_for(request);
            return Ok(place.map(|place| (place, length)));
        }
        Ok(None)
    };
    let mut numbered = in_turns(requests.iter().enumerate());
    let mut all = Vec::with_capacity(requests.len());
    while let Some(request) = numbered.next().await {
        all.push(length(request));
    }
    all
}

/// Replaces the tokens of a path that count from the end of an array with indexes. Returns the path
/// itself if there is no such array or element.
///
/// # Errors
/// `TOO_LARGE`: the key of the array exceeds the limit. Errors of the store.
pub async fn settled_path(
    read: &dyn Read,
    document: &DocumentKey,
    path: Path,
    memory: &Reservation,
) -> Result<Path> {
    let request = [ReadRequest::Value(document, &path, Extent::First)];
    match settle_from_end(read, &request, memory)
        .await
        .pop()
        .flatten()
    {
        Some(SettledPath::At(settled)) => Ok(settled),
        Some(SettledPath::Failed(error)) => Err(error),
        Some(SettledPath::Nothing) | None => Ok(path),
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
