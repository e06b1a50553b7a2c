//! Many reads in one round: what was asked for is planned, read at the same time, and handed out.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures::StreamExt;
use futures::future::{join, join_all};

use super::DocumentKey;
use super::budget::ReadBudget;
use super::part::Part;
use super::plan::{Extent, ReadPlan, Source};
use crate::document::path::{Path, Place};
use crate::error::Result;
use crate::key::{Family, Version};
use crate::limits::{DIGIT_TOKENS_AT_ONCE, PARALLEL_READ_BYTES, PARALLEL_READS_MAX};
use crate::store::{Batch, Batches, Pairs, RangeRead, Read, behind};

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

/// Answers all wants, in their order, from one snapshot or transaction: each range that lies in no
/// other is read once, all at the same time. Paths with more ambiguous tokens than can be tried at
/// once take further rounds.
///
/// # Errors
/// Of each want its own. `TOO_LARGE`: a path makes a key past the limit, or what is stored is more
/// than one response may carry. What the store fails with.
pub async fn load(read: &dyn Read, wants: &[&Want]) -> Vec<Result<Answer>> {
    load_within(read, wants, &ReadBudget::default()).await
}

/// As [`load`], within a budget.
///
/// # Errors
/// As [`load`].
pub async fn load_within(
    read: &dyn Read,
    wants: &[&Want],
    budget: &ReadBudget,
) -> Vec<Result<Answer>> {
    let mut readings = Vec::with_capacity(wants.len());
    for want in wants {
        readings.push(readings_of(read, want, budget).await);
    }
    let keys = wants.iter().zip(&readings).flat_map(|(want, readings)| {
        let extent = want.extent();
        let readings = readings.iter().flatten();
        readings.map(move |reading| (&reading.key[..], extent))
    });
    let plan = ReadPlan::new(keys);
    let (found, versions) = join(read_all(read, &plan, budget), versions(read, wants)).await;
    let sources = plan.sources;
    let mut sources = &sources[..];
    let answers = wants.iter().zip(readings).map(|(want, readings)| {
        let readings = readings?;
        Ok(match want {
            Want::Part(document, ..) => {
                let (own, others) = sources.split_at(readings.len());
                sources = others;
                Answer::Part(part(document, readings, own, &found)?)
            }
            Want::Version(document) => Answer::Version(versions[&**document].clone()?),
        })
    });
    answers.collect()
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

    fn extent(&self) -> Extent {
        match self {
            Self::Part(_, _, extent) => *extent,
            Self::Version(_) => Extent::First,
        }
    }
}

/// One of the places that an ambiguous path may mean.
struct Reading {
    place: Place,
    key: Vec<u8>,
}

async fn readings_of(read: &dyn Read, want: &Want, budget: &ReadBudget) -> Result<Vec<Reading>> {
    let Want::Part(document, path, _) = want else {
        return Ok(Vec::new());
    };
    if path.ambiguous() > DIGIT_TOKENS_AT_ONCE {
        let path = settle_within(read, document, path, budget).await?;
        return readings(document, &path);
    }
    readings(document, path)
}

fn readings(document: &DocumentKey, path: &Path) -> Result<Vec<Reading>> {
    let reading = |place: Place| {
        let key = document.place(&place)?;
        Ok(Reading { place, key })
    };
    path.places().into_iter().map(reading).collect()
}

/// The reading at which something was found.
fn part(
    document: &Arc<DocumentKey>,
    readings: Vec<Reading>,
    sources: &[Source],
    found: &[Result<Arc<Pairs>>],
) -> Result<Option<Part>> {
    for (Reading { place, key }, source) in readings.into_iter().zip(sources) {
        let pairs = found[source.read].clone()?;
        let make = if source.exact { Part::of } else { Part::among };
        let part = make(document.clone(), place, key, pairs, source.whole);
        if part.is_some() {
            return Ok(part);
        }
    }
    Ok(None)
}

async fn read_all(
    read: &dyn Read,
    plan: &ReadPlan<'_>,
    budget: &ReadBudget,
) -> Vec<Result<Arc<Pairs>>> {
    // A range ends with 0xFF behind its key.
    let mut ends = Vec::with_capacity(plan.reads.iter().map(|(key, _)| key.len() + 1).sum());
    for (key, _) in &plan.reads {
        ends.extend_from_slice(key);
        ends.push(0xFF);
    }
    let mut ends = &ends[..];
    let mut ranges = Vec::with_capacity(plan.reads.len());
    for (key, extent) in &plan.reads {
        let (end, rest) = ends.split_at(key.len() + 1);
        ends = rest;
        let range = RangeRead::new(key, end);
        ranges.push(match extent {
            Extent::First => range.at_most(1),
            Extent::Whole => range,
        });
    }
    let batches = read.ranges(&ranges).await;
    let mut found = Vec::with_capacity(ranges.len());
    let mut unfinished = Vec::new();
    for (batch, range) in batches.into_iter().zip(ranges) {
        let batch = batch.and_then(|batch| {
            if range.pairs_max > 1 {
                budget.spend(batch.pairs.bytes())?;
            }
            Ok(batch)
        });
        found.push(batch.map(|batch| {
            if batch.more {
                let at = found.len();
                unfinished.push(async move { (at, read_rest(read, range, batch, budget).await) });
                return Arc::default();
            }
            Arc::new(batch.pairs)
        }));
    }
    for (at, whole) in join_all(unfinished).await {
        found[at] = whole.map(Arc::new);
    }
    found
}

/// The version of each document of which it is wanted, read once.
async fn versions<'w>(
    read: &dyn Read,
    wants: &[&'w Want],
) -> HashMap<&'w DocumentKey, Result<Option<Version>>> {
    let documents = wants.iter().filter_map(|want| match want {
        Want::Version(document) => Some(&**document),
        Want::Part(..) => None,
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

pub(super) async fn version(read: &dyn Read, document: &DocumentKey) -> Result<Option<Version>> {
    let key = Family::Version(&document.collection, &document.id).key()?;
    let value = read.get(&key).await?;
    Ok(value.and_then(|value| Version::decode(&value)))
}

/// Reads what the first batch of a range did not bring, in several parts at the same time where the
/// engine gains by it.
async fn read_rest(
    read: &dyn Read,
    range: RangeRead<'_>,
    first: Batch,
    budget: &ReadBudget,
) -> Result<Pairs> {
    let Batch { mut pairs, .. } = first;
    let Some((last, _)) = pairs.last() else {
        return Ok(pairs);
    };
    let begin = behind(last);
    let points = read.split_points(&begin, range.end).await?;
    let expected = (points.len() + 1) * PARALLEL_READ_BYTES;
    if points.is_empty() || expected > budget.bytes_max.saturating_mul(2) {
        return read_on(read, begin, range.end, pairs, budget).await;
    }
    let begins = std::iter::once(&begin).chain(&points);
    let ends = points.iter().map(Vec::as_slice).chain([range.end]);
    let parts: Vec<_> = begins
        .zip(ends)
        .map(|(begin, end)| read_on(read, begin.clone(), end, Pairs::default(), budget))
        .collect();
    let mut parts = futures::stream::iter(parts).buffered(PARALLEL_READS_MAX);
    while let Some(part) = parts.next().await {
        pairs.append(&part?);
    }
    Ok(pairs)
}

/// Reads on to the end of a range, one batch after another, and puts them behind what is there.
async fn read_on(
    read: &dyn Read,
    begin: Vec<u8>,
    end: &[u8],
    mut pairs: Pairs,
    budget: &ReadBudget,
) -> Result<Pairs> {
    let mut batches = Batches::new(read, begin, end).resumed();
    while let Some(batch) = batches.next().await? {
        budget.spend(batch.bytes())?;
        pairs.append(&batch);
    }
    Ok(pairs)
}

/// Settles, step by step, tokens of digits of a path that has too many of them. A path whose
/// beginning holds nothing holds nothing itself, so any reading of it does.
pub(super) async fn settle(
    read: &dyn Read,
    document: &Arc<DocumentKey>,
    path: &Path,
) -> Result<Path> {
    settle_within(read, document, path, &ReadBudget::default()).await
}

async fn settle_within(
    read: &dyn Read,
    document: &Arc<DocumentKey>,
    path: &Path,
    budget: &ReadBudget,
) -> Result<Path> {
    let mut path = path.clone();
    while path.ambiguous() > DIGIT_TOKENS_AT_ONCE {
        let (head, rest) = path.split_after_ambiguous(DIGIT_TOKENS_AT_ONCE);
        let readings = readings(document, &head)?;
        let keys = readings
            .iter()
            .map(|reading| (&reading.key[..], Extent::First));
        let plan = ReadPlan::new(keys);
        let found = read_all(read, &plan, budget).await;
        let sources = plan.sources;
        let Some(part) = part(document, readings, &sources, &found)? else {
            return Ok(path.as_indexes());
        };
        path = Path::from(&part.place).join(&rest);
    }
    Ok(path)
}
