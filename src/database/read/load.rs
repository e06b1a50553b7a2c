//! Concurrent reads of many requested values in one round: plan, fetch, assign.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::{Deref, Range};
use std::sync::Arc;

use futures::future::{join, join_all};

use super::fetch::Fetched;
use super::path_candidates::{PathCandidate, PathCandidates};
use super::path_range::{self, KeyRange, RangeKeys, key_ranges};
use super::projection::between::PartsBetween;
use super::projection::remainder::{Remainder, disjoint, ranges_between};
use super::range_plan::{Extent, RangeSource, ReadPlan};
use super::request::{Answer, BorrowedRequest, ReadRequest};
use super::value::{PairRange, Value};
use super::value_ref::ValueRef;
use crate::budget::{Reservation, begun_in_turns, in_turns};
use crate::database::document_key::{DocumentKey, covers};
use crate::document::path::Place;
use crate::error::{Error, Result};
use crate::key::{Family, Version};
use crate::limits::PARTS_AT_ONCE;
use crate::store::{Pairs, Read};

/// Answers all requests, in their order, from one snapshot or transaction. Reads each range that lies
/// in no other once, all concurrently. A path with too many ambiguous tokens takes further rounds.
///
/// # Errors
/// Each request has its own result. `TOO_LARGE`: the key of a path exceeds the limit. As
/// [`Reservation::hold`]. Errors of the store.
pub async fn load(
    read: &dyn Read,
    requests: &[&ReadRequest],
    memory: &Reservation,
) -> Vec<Result<Answer>> {
    let requested = || requests.iter().map(|request| request.borrowed()).collect();
    let steps = requests.len() as u64;
    let requested: Vec<_> = memory.budget().portion(steps, requested).await;
    let loaded = read_requested(read, &requested, memory).await;
    let mut answers = Vec::with_capacity(requests.len());
    let mut numbered = in_turns(requests.iter().enumerate());
    while let Some((at, request)) = numbered.next().await {
        answers.push(loaded.answer(at, request));
    }
    answers
}

/// As [`load`], without copying the values.
pub async fn read_requested<'w>(
    read: &dyn Read,
    requested: &'w [BorrowedRequest<'w>],
    memory: &Reservation,
) -> Loaded<'w> {
    let budget = memory.budget();
    let omitting = || with_omitted_parts(requested);
    let (requested, parts) = budget.portion(requested.len() as u64, omitting).await;
    let candidates = PathCandidates::new(read, &requested, memory).await;
    let ranges = key_ranges(read, &requested, memory).await;
    let steps = requested.len() as u64 + candidates.sort_steps() + path_range::sort_steps(&ranges);
    let planned = || {
        let keys = requested.iter().enumerate().flat_map(|(number, request)| {
            let extent = request.extent();
            candidates.keys(number).map(move |key| (key, extent))
        });
        let plan = ReadPlan::new(keys);
        let further = FurtherRanges::new(parts, ranges, &candidates, &plan, memory);
        (plan.reads, plan.sources, further)
    };
    let (reads, sources, further) = budget.portion(steps, planned).await;
    let (found, versions) = join(
        Fetched::read_with(read, &reads, &further.read, memory),
        versions(read, &requested),
    )
    .await;
    Loaded {
        reads: reads.len(),
        sources,
        requested,
        candidates,
        found,
        versions,
        further,
        positions: None,
    }
}

/// The parts that a request omits.
struct OmittedParts {
    /// The number of the request.
    request: usize,
    /// The numbers of the requests for the first pairs of the parts.
    parts: Range<usize>,
}

/// Adds a request for the first pair of each part that a request omits.
fn with_omitted_parts<'w>(
    requested: &'w [BorrowedRequest<'w>],
) -> (Requested<'w>, Vec<OmittedParts>) {
    let mut all = Cow::Borrowed(requested);
    let mut parts = Vec::new();
    for (number, request) in requested.iter().enumerate() {
        if let ReadRequest::Remainder(document, path, omitted) = *request {
            let all = all.to_mut();
            all[number] = ReadRequest::Value(document, path, Extent::First);
            let first = all.len();
            let part = |part| ReadRequest::Value(document, part, Extent::First);
            all.extend(omitted.iter().map(part));
            parts.push(OmittedParts {
                request: number,
                parts: first..all.len(),
            });
        }
    }
    let all = match all {
        Cow::Borrowed(all) => Requested::Given(all),
        Cow::Owned(all) => Requested::More(all),
    };
    (all, parts)
}

/// The requests that were given, or these and more. Unlike a `Cow`, it is covariant.
enum Requested<'w> {
    Given(&'w [BorrowedRequest<'w>]),
    More(Vec<BorrowedRequest<'w>>),
}

impl Default for Requested<'_> {
    fn default() -> Self {
        Self::Given(&[])
    }
}

impl<'w> Deref for Requested<'w> {
    type Target = [BorrowedRequest<'w>];

    fn deref(&self) -> &Self::Target {
        match self {
            Self::Given(given) => given,
            Self::More(more) => more,
        }
    }
}

/// The results of all requests. A request is identified by its position.
#[derive(Default)]
pub struct Loaded<'w> {
    requested: Requested<'w>,
    candidates: PathCandidates,
    /// The read that serves each candidate.
    sources: Vec<RangeSource>,
    found: Fetched,
    /// The number of reads of the plan. Those of `further` follow.
    reads: usize,
    further: FurtherRanges,
    versions: HashMap<&'w DocumentKey, Result<Option<Version>>>,
    /// The positions of the requests under the numbers that the caller uses. None if they are the
    /// same.
    positions: Option<Vec<Option<usize>>>,
}

/// The ranges to read of the values that are requested without some of their parts, or with some of them.
#[derive(Default)]
struct FurtherRanges {
    read: Vec<(Vec<u8>, Vec<u8>)>,
    /// In the order of the requests.
    of: Vec<RequestedRemainder>,
    /// In the order of the requests.
    between: Vec<RequestedRange>,
    /// Why nothing was read: the ranges take too much memory.
    failed: Option<Error>,
}

/// A value that is requested without some of its parts.
struct RequestedRemainder {
    omitted: OmittedParts,
    /// The ranges to read for each candidate of which no read has the whole value: the number of
    /// the candidate, and those of the ranges.
    ranges: Vec<(usize, Range<usize>)>,
}

/// The parts of a value that are requested between two paths.
struct RequestedRange {
    /// The number of the request.
    request: usize,
    /// None if there are none.
    source: Result<Option<PartsSource>>,
}

/// The keys of a range, and the number of the read that has them.
struct PartsSource {
    keys: RangeKeys,
    read: Option<usize>,
}

impl FurtherRanges {
    fn new(
        requested: Vec<OmittedParts>,
        between: Vec<KeyRange>,
        candidates: &PathCandidates,
        plan: &ReadPlan<'_>,
        memory: &Reservation,
    ) -> Self {
        let mut ranges = Self::default();
        for OmittedParts { request, parts } in requested {
            // Errors are reported with the result.
            let bases = candidates
                .numbers(request)
                .unwrap_or_default()
                .filter(|at| !plan.sources[*at].whole);
            let mut of = Vec::new();
            for at in bases {
                let key = candidates.key(candidates.get(at));
                let omitted: Vec<&[u8]> = parts
                    .clone()
                    .flat_map(|part| candidates.keys(part))
                    .filter(|part| covers(key, part))
                    .collect();
                let bytes: usize = omitted.iter().map(|part| part.len()).sum();
                if let Err(error) = memory.hold(2 * (key.len() + bytes)) {
                    return Self {
                        failed: Some(error),
                        ..Self::default()
                    };
                }
                let first = ranges.read.len();
                let between = ranges_between(key, &disjoint(omitted));
                ranges.read.extend(between);
                of.push((at, first..ranges.read.len()));
            }
            ranges.of.push(RequestedRemainder {
                omitted: OmittedParts { request, parts },
                ranges: of,
            });
        }
        ranges.add_between(between, plan);
        ranges
    }

    /// Adds ranges of keys that no read of the plan has. Those that overlap are read as one.
    fn add_between(&mut self, between: Vec<KeyRange>, plan: &ReadPlan<'_>) {
        let requested = between.into_iter().map(|KeyRange { request, keys }| {
            let source = keys.map(|keys| {
                let keys = keys?;
                let read = plan.whole_around(&keys.begin[..keys.key_bytes]);
                Some(PartsSource { keys, read })
            });
            RequestedRange { request, source }
        });
        self.between = requested.collect();
        let sources = self.between.iter_mut();
        let mut unread: Vec<&mut PartsSource> = sources
            .filter_map(|range| range.source.as_mut().ok()?.as_mut())
            .filter(|source| source.read.is_none())
            .collect();
        unread.sort_unstable_by(|a, b| a.keys.begin.cmp(&b.keys.begin));
        let first = self.read.len();
        for PartsSource { read, keys } in unread {
            match self.read[first..].last_mut() {
                Some((_, end)) if keys.begin < *end => {
                    if *end < keys.end {
                        end.clone_from(&keys.end);
                    }
                }
                _ => self.read.push((keys.begin.clone(), keys.end.clone())),
            }
            *read = Some(plan.reads.len() + self.read.len() - 1);
        }
    }
}

/// The value found at a candidate place.
struct FoundRange<'l> {
    candidate: &'l PathCandidate,
    pairs: &'l Arc<Pairs>,
    range: Range<usize>,
    whole: bool,
}

impl Loaded<'_> {
    /// The results under other numbers: for each number the position of its request. Without
    /// one, nothing was requested, and the result is that nothing is stored.
    #[must_use]
    pub fn renumbered(self, positions: Vec<Option<usize>>) -> Self {
        Self {
            positions: Some(positions),
            ..self
        }
    }

    /// The position of the request with a number.
    fn position(&self, number: usize) -> Option<usize> {
        match &self.positions {
            None => Some(number),
            Some(positions) => positions.get(number).copied().flatten(),
        }
    }

    fn answer(&self, at: usize, request: &ReadRequest) -> Result<Answer> {
        Ok(match request {
            ReadRequest::Value(document, ..) => Answer::Value(self.part(at, document)?),
            ReadRequest::Remainder(..) => Answer::Remainder(self.remainder(at)?),
            ReadRequest::Between(..) => Answer::Between(self.between(at)?),
            ReadRequest::Version(_) => Answer::Version(self.version(at)?),
        })
    }

    /// The requested value. None if nothing is stored there.
    ///
    /// # Errors
    /// As [`load`].
    pub fn slice(&self, number: usize) -> Result<Option<ValueRef<'_>>> {
        let Some(number) = self.position(number) else {
            return Ok(None);
        };
        let found = self.found(number)?;
        Ok(found.and_then(|it| ValueRef::new(it.pairs, it.range, it.candidate.key.len())))
    }

    /// The place of the requested value. None if nothing is stored there.
    ///
    /// # Errors
    /// As [`load`].
    pub fn place(&self, number: usize) -> Result<Option<Place>> {
        let Some(number) = self.position(number) else {
            return Ok(None);
        };
        let found = self.found(number)?;
        Ok(found.and_then(|it| it.candidate.place_for(&self.requested[number])))
    }

    /// The requested value of a document. None if nothing is stored there.
    ///
    /// # Errors
    /// As [`load`].
    pub fn part(&self, number: usize, document: &Arc<DocumentKey>) -> Result<Option<Value>> {
        let Some(number) = self.position(number) else {
            return Ok(None);
        };
        let Some(found) = self.found(number)? else {
            return Ok(None);
        };
        let FoundRange {
            candidate,
            pairs,
            range,
            whole,
        } = found;
        let Some(place) = candidate.place_for(&self.requested[number]) else {
            return Ok(None);
        };
        let brought = PairRange {
            pairs: pairs.clone(),
            range,
            whole,
        };
        Ok(Value::of(
            document.clone(),
            place,
            candidate.key.len(),
            brought,
        ))
    }

    /// The requested value without the omitted parts. None if nothing is stored there, or if
    /// the value itself is omitted.
    ///
    /// # Errors
    /// As [`load`].
    pub fn remainder(&self, number: usize) -> Result<Option<Remainder>> {
        if let Some(error) = &self.further.failed {
            return Err(error.clone());
        }
        let Some(number) = self.position(number) else {
            return Ok(None);
        };
        let of = &self.further.of;
        let of = of
            .binary_search_by_key(&number, |of| of.omitted.request)
            .map_err(|_| Error::internal("a remainder was not requested"))?;
        let of = &self.further.of[of];
        let Some(found) = self.found(number)? else {
            return Ok(None);
        };
        let key = self.candidates.key(found.candidate);
        let mut omitted = Vec::new();
        for part in of.omitted.parts.clone() {
            for at in self.candidates.numbers(part)? {
                let part = self.candidates.key(self.candidates.get(at));
                let (_, range) = self.found.at(&self.sources[at], part, Extent::First)?;
                if covers(key, part) && !range.is_empty() {
                    omitted.push(part);
                }
            }
        }
        let mut pieces = Vec::new();
        for at in self.candidates.numbers(number)? {
            if self.candidates.key(self.candidates.get(at)) != key {
                continue;
            }
            let source = &self.sources[at];
            if source.whole {
                let (pairs, range) = self.found.of(source.read)?;
                for (begin, end) in ranges_between(key, &disjoint(omitted.clone())) {
                    pieces.push((pairs.clone(), pairs.between(range.clone(), &begin, &end)));
                }
            } else if let Some((_, reads)) = of.ranges.iter().find(|(from, _)| *from == at) {
                for read in reads.clone() {
                    let (pairs, range) = self.found.of(self.reads + read)?;
                    pieces.push((pairs.clone(), range));
                }
            }
            break;
        }
        Ok(Remainder::new(key, pieces, omitted))
    }

    /// The requested parts of a value between two paths. None if nothing is stored there.
    ///
    /// # Errors
    /// As [`load`].
    pub fn between(&self, number: usize) -> Result<Option<PartsBetween>> {
        if let Some(error) = &self.further.failed {
            return Err(error.clone());
        }
        let Some(number) = self.position(number) else {
            return Ok(None);
        };
        let of = &self.further.between;
        let of = of
            .binary_search_by_key(&number, |of| of.request)
            .map_err(|_| Error::internal("a range was not requested"))?;
        let source = self.further.between[of].source.as_ref();
        let Some(source) = source.map_err(Clone::clone)? else {
            return Ok(None);
        };
        let PartsSource { keys, read } = source;
        let read = read.ok_or_else(|| Error::internal("a range was not read"))?;
        let (pairs, range) = self.found.of(read)?;
        let range = pairs.between(range, &keys.begin, &keys.end);
        Ok(PartsBetween::new(pairs.clone(), range, keys.key_bytes))
    }

    /// The first candidate that has a value, with its pairs. None if no candidate has one.
    fn found(&self, number: usize) -> Result<Option<FoundRange<'_>>> {
        let extent = self.requested[number].extent();
        for at in self.candidates.numbers(number)? {
            let (candidate, source) = (self.candidates.get(at), &self.sources[at]);
            let (pairs, range) = self
                .found
                .at(source, self.candidates.key(candidate), extent)?;
            if !range.is_empty() {
                return Ok(Some(FoundRange {
                    candidate,
                    pairs,
                    range,
                    whole: source.whole && matches!(extent, Extent::First | Extent::Whole),
                }));
            }
        }
        Ok(None)
    }

    /// The commit that last changed the requested document. None if Phyllo has not written
    /// it.
    ///
    /// # Errors
    /// As [`load`].
    pub fn version(&self, number: usize) -> Result<Option<Version>> {
        let Some(number) = self.position(number) else {
            return Ok(None);
        };
        match &self.requested[number] {
            ReadRequest::Version(document) => self.versions[document].clone(),
            _ => Ok(None),
        }
    }
}

/// Reads the version of each requested document, once.
async fn versions<'w>(
    read: &dyn Read,
    requested: &[BorrowedRequest<'w>],
) -> HashMap<&'w DocumentKey, Result<Option<Version>>> {
    let documents: HashSet<&DocumentKey> = requested
        .iter()
        .filter_map(|request| match request {
            ReadRequest::Version(document) => Some(*document),
            _ => None,
        })
        .collect();
    if documents.is_empty() {
        return HashMap::new();
    }
    let documents = Vec::from_iter(documents);
    let mut versions = HashMap::with_capacity(documents.len());
    for documents in documents.chunks(PARTS_AT_ONCE) {
        let read = documents
            .iter()
            .map(|document| async move { (*document, version(read, document).await) });
        versions.extend(join_all(begun_in_turns(read)).await);
    }
    versions
}

/// The version of a document. `None` if it has none.
pub(crate) async fn version(read: &dyn Read, document: &DocumentKey) -> Result<Option<Version>> {
    let key = Family::Version(&document.collection, &document.id).key()?;
    let value = read.get(&key).await?;
    Ok(value.and_then(|value| Version::of_document(&document.id, &value)))
}
