//! Names of existing collections and documents, for messages about those that do not exist.

use std::collections::BTreeSet;

use super::collections::{collections, first_collections};
use crate::budget::Budget;
use crate::database::document_key::{DocumentKey, prefix_end};
use crate::document::path::Place;
use crate::error::Result;
use crate::key::{Family, FamilyRange, name_of_collection, ranges_of_collection};
use crate::limits::{
    COLLECTIONS_COMPARED_MAX, NAME_COMPARED_CHARACTERS_MAX, NAMES_LOOKED_AT_MAX, SIMILAR_NAMES_MAX,
};
use crate::store::{RangeRead, Read, key_after};

/// Whether a collection holds anything: a leaf (possibly stored by another program), a
/// catalog entry or an index.
///
/// # Errors
/// Errors of the store.
pub async fn is_there(read: &dyn Read, collection: &str) -> Result<bool> {
    // Most collections have documents.
    let documents = [Family::documents(collection)];
    if any_has_key(read, &documents).await? {
        return Ok(true);
    }
    any_has_key(read, &ranges_of_collection(collection)[1..]).await
}

async fn any_has_key(read: &dyn Read, ranges: &[FamilyRange]) -> Result<bool> {
    for has_key in have_keys(read, ranges).await {
        if has_key? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether each range has a key.
async fn have_keys(read: &dyn Read, ranges: &[FamilyRange]) -> impl Iterator<Item = Result<bool>> {
    let firsts = ranges
        .iter()
        .map(|(begin, end)| RangeRead::new(begin, end).at_most(1));
    let batches = read
        .ranges(&firsts.collect::<Vec<_>>())
        .await
        .into_batches();
    batches.map(|batch| Ok(!batch?.pairs.is_empty()))
}

/// The names of collections that hold a document or an index, and of collections that only
/// other programs wrote. At most [`NAMES_LOOKED_AT_MAX`] reads look for the latter.
///
/// # Errors
/// Errors of the store.
pub async fn names(read: &dyn Read) -> Result<Vec<String>> {
    let known = collections(read).await?;
    let mut names: BTreeSet<String> = known.into_iter().map(|known| known.name).collect();
    let mut begin = vec![0x02];
    for _ in 0..NAMES_LOOKED_AT_MAX {
        let first = read
            .range(RangeRead::new(&begin, &[0x03]).at_most(1))
            .await?;
        let Some((key, _)) = first.pairs.first() else {
            break;
        };
        begin = match name_of_collection(key) {
            Some((name, bytes)) => {
                names.insert(name);
                prefix_end(&key[..bytes])
            }
            None => key_after(key),
        };
    }
    Ok(names.into_iter().collect())
}

/// Names of collections that a client may have meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NearNames {
    /// At most [`SIMILAR_NAMES_MAX`] names, the nearest one first.
    pub names: Vec<String>,
    /// Whether the names resemble the given one. If none does, they are the first names.
    pub similar: bool,
}

/// The names of collections that are nearest to `name`. Looks at the beginning of a long
/// catalog only.
///
/// # Errors
/// Errors of the store and of the budget.
pub async fn near_names(read: &dyn Read, budget: &Budget, name: &str) -> Result<NearNames> {
    let (found, _) = first_collections(read, COLLECTIONS_COMPARED_MAX).await?;
    let mut similar = Vec::new();
    for collection in &found {
        budget.pace(1 + STEPS_PER_COMPARISON).await?;
        similar.extend(distance(name, &collection.name).map(|near| (near, &collection.name)));
    }
    similar.sort_unstable();
    if similar.is_empty() {
        let names = found.into_iter().take(SIMILAR_NAMES_MAX);
        return Ok(NearNames {
            names: names.map(|collection| collection.name).collect(),
            similar: false,
        });
    }
    let names = similar.into_iter().take(SIMILAR_NAMES_MAX);
    Ok(NearNames {
        names: names.map(|(_, name)| name.clone()).collect(),
        similar: true,
    })
}

/// The steps of work of one comparison of names.
const STEPS_PER_COMPARISON: u64 =
    (NAME_COMPARED_CHARACTERS_MAX * NAME_COMPARED_CHARACTERS_MAX / 16) as u64;

/// The edit distance of two names without regard to case. None if they are not similar.
fn distance(a: &str, b: &str) -> Option<usize> {
    let characters = |name: &str| -> Option<Vec<char>> {
        let lower = name.chars().flat_map(char::to_lowercase);
        let some: Vec<char> = lower.take(NAME_COMPARED_CHARACTERS_MAX + 1).collect();
        (some.len() <= NAME_COMPARED_CHARACTERS_MAX).then_some(some)
    };
    let (a, b) = (characters(a)?, characters(b)?);
    let longer = a.len().max(b.len());
    let common = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    // The row of distances from the first characters of `a` to each beginning of `b`.
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (at, from) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = at + 1;
        for (to, character) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != character);
            diagonal = row[to + 1];
            row[to + 1] = replaced.min(diagonal + 1).min(row[to] + 1);
        }
    }
    let distance = row[b.len()];
    // Singular and plural begin alike: `country` and `countries`.
    let is_similar = 3 * distance <= longer || 2 * common > longer && common >= 3;
    is_similar.then_some(distance)
}

/// What is stored of some documents, and of a collection.
#[derive(Debug)]
pub struct StoredKeys {
    /// Whether anything is stored in each of the documents.
    pub documents: Vec<bool>,
    /// Whether the collection has a document.
    pub in_collection: bool,
}

/// Reads, in one round, what is stored of some documents and of a collection.
///
/// # Errors
/// Errors of the store. `TOO_LARGE`: a key exceeds the limit.
pub async fn stored_keys(
    read: &dyn Read,
    documents: &[DocumentKey],
    collection: &str,
) -> Result<StoredKeys> {
    let of_documents = documents.iter().map(|document| {
        let begin = document.place(&Place::default())?;
        let end = prefix_end(&begin);
        Ok((begin, end))
    });
    let ranges = std::iter::once(Ok(Family::documents(collection))).chain(of_documents);
    let ranges: Vec<FamilyRange> = ranges.collect::<Result<_>>()?;
    let mut have_keys = have_keys(read, &ranges).await;
    let in_collection = have_keys.next().transpose()?.unwrap_or_default();
    Ok(StoredKeys {
        documents: have_keys.collect::<Result<_>>()?,
        in_collection,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelled_names_and_plurals_are_similar() {
        for (a, b, expected) in [
            ("countries", "countries", Some(0)),
            ("Countries", "countries", Some(0)),
            ("country", "countries", Some(3)),
            ("contries", "countries", Some(1)),
            ("user", "users", Some(1)),
            ("order", "orders", Some(1)),
            ("caf\u{e9}", "cafe", Some(1)),
            ("D", "E", None),
            ("D", "D1", None),
            ("orders", "customers", None),
            ("", "a", None),
        ] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
            assert_eq!(distance(b, a), expected, "{b} {a}");
        }
        assert_eq!(
            distance(&"a".repeat(100), &"a".repeat(100)),
            None,
            "too long"
        );
    }
}
