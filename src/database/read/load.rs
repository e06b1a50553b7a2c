//! Concurrent reads of many requested values in one round: plan, fetch, assign.

use super::request::Answer;
use super::request::Asked;
use super::request::Want;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use futures::future::{join, join_all};

use super::fetch::Fetched;
use super::part::{Brought, Part};
use super::path_candidates::{PathCandidate, PathCandidates};
use super::range_plan::{RangeSource, ReadPlan};
use super::slice::Slice;
use crate::budget::Reservation;
use crate::database::document_key::DocumentKey;
use crate::document::path::Place;
use crate::error::Result;
use crate::key::{Family, Version};
use crate::store::{Pairs, Read};

/// Answers all wants, in their order, from one snapshot or transaction. Reads each range that lies
/// in no other once, all concurrently. A path with too many ambiguous tokens takes further rounds.
///
/// # Errors
/// Each want has its own result. `TOO_LARGE`: the key of a path exceeds the limit. As
/// [`Reservation::hold`]. Errors of the store.
pub async fn load(read: &dyn Read, wants: &[&Want], memory: &Reservation) -> Vec<Result<Answer>> {
    let asked: Vec<Asked<'_>> = wants.iter().map(|want| want.asked()).collect();
    let loaded = read_asked(read, &asked, memory).await;
    let answers = wants.iter().enumerate().map(|(at, want)| {
        Ok(match want {
            Want::Part(document, ..) => Answer::Part(loaded.part(at, document)?),
            Want::Version(_) => Answer::Version(loaded.version(at)?),
        })
    });
    answers.collect()
}

/// As [`load`], without copying the values.
pub async fn read_asked<'w>(
    read: &dyn Read,
    asked: &'w [Asked<'w>],
    memory: &Reservation,
) -> Loaded<'w> {
    let readings = PathCandidates::new(read, asked, memory).await;
    let keys = asked.iter().enumerate().flat_map(|(number, asked)| {
        let extent = asked.extent();
        readings.keys(number).map(move |key| (key, extent))
    });
    let plan = ReadPlan::new(keys);
    let (found, versions) = join(Fetched::read(read, &plan, memory), versions(read, asked)).await;
    Loaded {
        asked,
        sources: plan.sources,
        readings,
        found,
        versions,
    }
}

/// The results of all requests. A request is identified by its position.
#[derive(Default)]
pub struct Loaded<'w> {
    asked: &'w [Asked<'w>],
    readings: PathCandidates,
    /// The read that serves each candidate.
    sources: Vec<RangeSource>,
    found: Fetched,
    versions: HashMap<&'w DocumentKey, Result<Option<Version>>>,
}

/// The value found at a candidate place.
struct Standing<'l> {
    reading: &'l PathCandidate,
    pairs: &'l Arc<Pairs>,
    range: Range<usize>,
    whole: bool,
}

impl Loaded<'_> {
    /// Returns the requested value. None if nothing is stored there.
    ///
    /// # Errors
    /// As [`load`].
    pub fn slice(&self, number: usize) -> Result<Option<Slice<'_>>> {
        let standing = self.standing(number)?;
        Ok(standing.and_then(|it| Slice::new(it.pairs, it.range, it.reading.key.len())))
    }

    /// Returns the place of the requested value. None if nothing is stored there.
    ///
    /// # Errors
    /// As [`load`].
    pub fn place(&self, number: usize) -> Result<Option<Place>> {
        let standing = self.standing(number)?;
        Ok(standing.and_then(|it| self.place_of(number, it.reading)))
    }

    fn part(&self, number: usize, document: &Arc<DocumentKey>) -> Result<Option<Part>> {
        let Some(standing) = self.standing(number)? else {
            return Ok(None);
        };
        let Standing {
            reading,
            pairs,
            range,
            whole,
        } = standing;
        let Some(place) = self.place_of(number, reading) else {
            return Ok(None);
        };
        let brought = Brought {
            pairs: pairs.clone(),
            range,
            whole,
        };
        Ok(Part::of(
            document.clone(),
            place,
            reading.key.len(),
            brought,
        ))
    }

    fn place_of(&self, number: usize, reading: &PathCandidate) -> Option<Place> {
        match (&reading.place, &self.asked[number]) {
            (Some(place), _) => Some(place.clone()),
            (None, Asked::Part(_, path, _)) => path.place(),
            (None, Asked::Version(_)) => None,
        }
    }

    /// Returns the first candidate that has a value, with its pairs. None if no candidate has one.
    fn standing(&self, number: usize) -> Result<Option<Standing<'_>>> {
        for at in self.readings.numbers(number)? {
            let (reading, source) = (self.readings.get(at), &self.sources[at]);
            let (pairs, range) = self.found.at(source, self.readings.key(reading))?;
            if !range.is_empty() {
                return Ok(Some(Standing {
                    reading,
                    pairs,
                    range,
                    whole: source.whole,
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
        match &self.asked[number] {
            Asked::Version(document) => self.versions[document].clone(),
            Asked::Part(..) => Ok(None),
        }
    }
}

/// Reads the version of each requested document, once.
async fn versions<'w>(
    read: &dyn Read,
    asked: &'w [Asked<'w>],
) -> HashMap<&'w DocumentKey, Result<Option<Version>>> {
    let documents = asked.iter().filter_map(|asked| match asked {
        Asked::Version(document) => Some(*document),
        Asked::Part(..) => None,
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
    Ok(value.and_then(|value| Version::decode(&value)))
}
