//! Many reads in one round: what was asked for is planned, read at the same time, and handed out.

use std::collections::HashMap;
use std::sync::Arc;

use futures::future::{try_join, try_join_all};

use super::part::{Part, too_large};
use super::plan::{Extent, ReadPlan};
use super::{DocumentKey, end_of};
use crate::document::path::{Path, Place, Token};
use crate::error::Result;
use crate::key::{Family, Version};
use crate::limits::{DIGIT_TOKENS_AT_ONCE, RESPONSE_BYTES_MAX};
use crate::store::{Pairs, RangeRead, Read};

/// Pairs carry a key for each leaf, so they may be larger than the JSON text they make.
const READ_BYTES_MAX: usize = 4 * RESPONSE_BYTES_MAX;

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

/// Answers all wants from one snapshot or transaction: each range that lies in no other is read
/// once, all at the same time. Paths with more ambiguous tokens than can be tried at once take
/// further rounds.
///
/// # Errors
/// `TOO_LARGE`: a path makes a key past the limit, or what is stored is more than one response
/// may carry. What the store fails with.
pub async fn load(read: &dyn Read, wants: &[Want]) -> Result<HashMap<Want, Answer>> {
    let wants = resolve_long_paths(read, wants).await?;
    let (parts, versions) = try_join(load_parts(read, &wants), load_versions(read, &wants)).await?;
    Ok(parts.into_iter().chain(versions).collect())
}

/// A want, and the path to read for it: where the want's own is too ambiguous, one in which
/// enough tokens are settled.
type Asked = (Want, Option<Path>);

struct Reading {
    place: Place,
    key: Vec<u8>,
}

async fn load_parts(read: &dyn Read, asked: &[Asked]) -> Result<Vec<(Want, Answer)>> {
    let mut readings: Vec<(&Want, &Arc<DocumentKey>, Extent, Vec<Reading>)> = Vec::new();
    for (want, path) in asked {
        if let (Want::Part(document, _, extent), Some(path)) = (want, path) {
            let places = path.places().into_iter().map(|place| {
                let key = document.place(&place)?;
                Ok(Reading { place, key })
            });
            readings.push((want, document, *extent, places.collect::<Result<_>>()?));
        }
    }
    let keys = readings.iter().flat_map(|(_, _, extent, readings)| {
        readings
            .iter()
            .map(|reading| (reading.key.clone(), *extent))
    });
    let plan = ReadPlan::new(keys);
    let read_all = plan
        .reads
        .iter()
        .map(|(key, extent)| read_one(read, key, *extent));
    let found: Vec<Arc<Pairs>> = try_join_all(read_all).await?;
    let answers = readings.into_iter().map(|(want, document, _, readings)| {
        let part = readings.into_iter().find_map(|Reading { place, key }| {
            let at = plan.read_of(&key);
            let whole = plan.reads[at].1 == Extent::Whole;
            Part::among(document.clone(), place, key, found[at].clone(), whole)
        });
        (want.clone(), Answer::Part(part))
    });
    Ok(answers.collect())
}

async fn load_versions(read: &dyn Read, asked: &[Asked]) -> Result<Vec<(Want, Answer)>> {
    let wanted = asked.iter().filter_map(|(want, _)| match want {
        Want::Version(document) => Some((want, document)),
        Want::Part(..) => None,
    });
    let gets = wanted.map(|(want, document)| async move {
        let version = version(read, document).await?;
        Ok((want.clone(), Answer::Version(version)))
    });
    try_join_all(gets).await
}

pub(super) async fn version(read: &dyn Read, document: &DocumentKey) -> Result<Option<Version>> {
    let key = Family::Version(&document.collection, &document.id).key()?;
    let value = read.get(&key).await?;
    Ok(value.and_then(|value| Version::decode(&value)))
}

async fn read_one(read: &dyn Read, key: &[u8], extent: Extent) -> Result<Arc<Pairs>> {
    let end = end_of(key);
    let range = RangeRead::new(key, &end);
    let pairs = match extent {
        Extent::First => read.range(range.at_most(1)).await?.pairs,
        Extent::Whole => read_whole(read, range).await?,
    };
    Ok(Arc::new(pairs))
}

async fn read_whole(read: &dyn Read, range: RangeRead<'_>) -> Result<Pairs> {
    let mut batch = read.range(range).await?;
    let mut pairs = std::mem::take(&mut batch.pairs);
    while batch.more {
        let Some((last, _)) = pairs.last() else { break };
        let begin = [last, &[0]].concat();
        batch = read
            .range(RangeRead {
                begin: &begin,
                resumed: true,
                ..range
            })
            .await?;
        pairs.append(&batch.pairs);
        if pairs.bytes() > READ_BYTES_MAX {
            return Err(too_large(pairs.bytes()));
        }
    }
    Ok(pairs)
}

/// Settles, step by step, the tokens of digits of those paths that have too many of them.
async fn resolve_long_paths(read: &dyn Read, wants: &[Want]) -> Result<Vec<Asked>> {
    let resolved = wants.iter().map(|want| async move {
        let path = match want {
            Want::Part(document, path, _) => Some(resolve(read, document, path).await?),
            Want::Version(_) => None,
        };
        // A path whose beginning holds nothing holds nothing itself, so any reading of it does.
        Ok((want.clone(), path))
    });
    try_join_all(resolved).await
}

async fn resolve(read: &dyn Read, document: &Arc<DocumentKey>, path: &Path) -> Result<Path> {
    let mut path = path.clone();
    while path.ambiguous() > DIGIT_TOKENS_AT_ONCE {
        let digits = |token: &Token| matches!(token, Token::Digits(_));
        let ambiguous = path
            .tokens()
            .iter()
            .enumerate()
            .filter(|(_, token)| digits(token));
        let last = ambiguous.map(|(at, _)| at).nth(DIGIT_TOKENS_AT_ONCE - 1);
        let (settled, open) = path.tokens().split_at(last.map_or(0, |at| at + 1));
        let head = Path::new(settled.to_vec());
        let want = Want::Part(document.clone(), head.clone(), Extent::First);
        let found = load_parts(read, &[(want, Some(head))]).await?;
        let Some((_, Answer::Part(Some(part)))) = found.into_iter().next() else {
            return Ok(first_reading(&path));
        };
        path = Path::from(&part.place).join(&Path::new(open.to_vec()));
    }
    Ok(path)
}

fn first_reading(path: &Path) -> Path {
    let index = |token: &Token| match token {
        Token::Digits(digits) => Token::Segment(crate::document::path::Segment::Index(*digits)),
        Token::Segment(_) => token.clone(),
    };
    Path::new(path.tokens().iter().map(index).collect())
}
