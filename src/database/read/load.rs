//! Concurrent reads of many requested values in one round: plan, fetch, assign.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use futures::future::{join, join_all};

use super::fetch::Fetched;
use super::path_candidates::{PathCandidate, PathCandidates};
use super::range_plan::{Extent, RangeSource, ReadPlan};
use super::request::{Answer, BorrowedRequest, ReadRequest};
use super::value::{PairRange, Value};
use super::value_ref::ValueRef;
use crate::budget::Reservation;
use crate::database::document_key::DocumentKey;
use crate::document::path::Place;
use crate::error::Result;
use crate::key::{Family, Version};
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
    let requested: Vec<BorrowedRequest<'_>> =
        requests.iter().map(|request| request.borrowed()).collect();
    let loaded = read_requested(read, &requested, memory).await;
    let answers = requests.iter().enumerate().map(|(at, request)| {
        Ok(match request {
            ReadRequest::Value(document, ..) => Answer::Value(loaded.part(at, document)?),
            ReadRequest::Version(_) => Answer::Version(loaded.version(at)?),
        })
    });
    answers.collect()
}

/// As [`load`], without copying the values.
pub async fn read_requested<'w>(
    read: &dyn Read,
    requested: &'w [BorrowedRequest<'w>],
    memory: &Reservation,
) -> Loaded<'w> {
    let candidates = PathCandidates::new(read, requested, memory).await;
    let keys = requested.iter().enumerate().flat_map(|(number, request)| {
        let extent = request.extent();
        candidates.keys(number).map(move |key| (key, extent))
    });
    let plan = ReadPlan::new(keys);
    let (found, versions) = join(
        Fetched::read(read, &plan, memory),
        versions(read, requested),
    )
    .await;
    Loaded {
        requested,
        sources: plan.sources,
        candidates,
        found,
        versions,
    }
}

/// The results of all requests. A request is identified by its position.
#[derive(Default)]
pub struct Loaded<'w> {
    requested: &'w [BorrowedRequest<'w>],
    candidates: PathCandidates,
    /// The read that serves each candidate.
    sources: Vec<RangeSource>,
    found: Fetched,
    versions: HashMap<&'w DocumentKey, Result<Option<Version>>>,
}

/// The value found at a candidate place.
struct FoundRange<'l> {
    candidate: &'l PathCandidate,
    pairs: &'l Arc<Pairs>,
    range: Range<usize>,
    whole: bool,
}

impl Loaded<'_> {
    /// Returns the requested value. None if nothing is stored there.
    ///
    /// # Errors
    /// As [`load`].
    pub fn slice(&self, number: usize) -> Result<Option<ValueRef<'_>>> {
        let found = self.found(number)?;
        Ok(found.and_then(|it| ValueRef::new(it.pairs, it.range, it.candidate.key.len())))
    }

    /// Returns the place of the requested value. None if nothing is stored there.
    ///
    /// # Errors
    /// As [`load`].
    pub fn place(&self, number: usize) -> Result<Option<Place>> {
        let found = self.found(number)?;
        Ok(found.and_then(|it| self.place_of(number, it.candidate)))
    }

    fn part(&self, number: usize, document: &Arc<DocumentKey>) -> Result<Option<Value>> {
        let Some(found) = self.found(number)? else {
            return Ok(None);
        };
        let FoundRange {
            candidate,
            pairs,
            range,
            whole,
        } = found;
        let Some(place) = self.place_of(number, candidate) else {
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

    fn place_of(&self, number: usize, candidate: &PathCandidate) -> Option<Place> {
        match (&candidate.place, &self.requested[number]) {
            (Some(place), _) => Some(place.clone()),
            (None, ReadRequest::Value(_, path, _)) => path.place(),
            (None, ReadRequest::Version(_)) => None,
        }
    }

    /// Returns the first candidate that has a value, with its pairs. None if no candidate has one.
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

    /// Returns the commit that last changed the requested document. None if Phyllo has not written
    /// it.
    ///
    /// # Errors
    /// As [`load`].
    pub fn version(&self, number: usize) -> Result<Option<Version>> {
        match &self.requested[number] {
            ReadRequest::Version(document) => self.versions[document].clone(),
            ReadRequest::Value(..) => Ok(None),
        }
    }
}

/// Reads the version of each requested document, once.
async fn versions<'w>(
    read: &dyn Read,
    requested: &'w [BorrowedRequest<'w>],
) -> HashMap<&'w DocumentKey, Result<Option<Version>>> {
    let documents = requested.iter().filter_map(|request| match request {
        ReadRequest::Version(document) => Some(*document),
        ReadRequest::Value(..) => None,
    });
    let documents: HashSet<&DocumentKey> = documents.collect();
    if documents.is_empty() {
        return HashMap::new();
    }
    let versions = documents
        .into_iter()
        .map(|document| async move { (document, version(read, document).await) });
    join_all(versions).await.into_iter().collect()
}

pub(crate) async fn version(read: &dyn Read, document: &DocumentKey) -> Result<Option<Version>> {
    let key = Family::Version(&document.collection, &document.id).key()?;
    let value = read.get(&key).await?;
    Ok(value.and_then(|value| Version::of_document(&document.id, &value)))
}
