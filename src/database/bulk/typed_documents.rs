//! Validates the stored documents of a collection against a type, in the order of their ids.

use crate::budget::{Budget, Steps};
use crate::database::document_key::{DocumentKey, prefix_end};
use crate::database::types::misfits::Misfit;
use crate::database::types::validate::{found, push_all};
use crate::document::path::Place;
use crate::error::Result;
use crate::key::{Family, Version};
use crate::limits::{TYPE_CHECK_DOCUMENTS_AT_ONCE, TYPE_CHECK_FIRST_PAIRS};
use crate::store::{Batch, RangeRead, Read, key_after};
use crate::types::CollectionType;

/// Where a portion of documents ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PortionBounds {
    pub(crate) documents: usize,
    /// Bytes of keys and values. The last document can exceed it.
    pub(crate) bytes: usize,
    pub(crate) misfits: usize,
}

/// Documents that were validated.
#[derive(Debug, Default)]
pub(crate) struct ValidatedPortion {
    pub(crate) documents: u64,
    /// Where the next portion begins: the key behind the last catalog entry, without the common prefix.
    pub(crate) position: Vec<u8>,
    /// Whether there is no further document.
    pub(crate) is_last: bool,
    /// The places that do not fit.
    pub(crate) misfits: Vec<Misfit>,
    /// The documents that have such places, with their versions.
    pub(crate) unfit: Vec<(DocumentKey, Option<Version>)>,
}

/// Validates the next documents of the catalog from a position on.
///
/// # Errors
/// `INTERNAL`: damaged data. Errors of the store.
pub(crate) async fn validate_portion(
    read: &dyn Read,
    budget: &Budget,
    of: &CollectionType,
    position: &[u8],
    bounds: PortionBounds,
) -> Result<ValidatedPortion> {
    let (prefix, end) = Family::existences(of.collection());
    let begin = [&prefix[..], position].concat();
    let range = RangeRead::new(&begin, &end).at_most(bounds.documents);
    let entries = read.range(range).await?;
    let mut portion = ValidatedPortion {
        position: position.to_vec(),
        is_last: !entries.more && entries.pairs.len() < bounds.documents,
        ..ValidatedPortion::default()
    };
    let keys: Vec<&[u8]> = entries.pairs.iter().map(|(key, _)| key).collect();
    let mut bytes = 0;
    for some in keys.chunks(TYPE_CHECK_DOCUMENTS_AT_ONCE) {
        for (entry, document, first) in first_pairs(read, of.collection(), some).await? {
            if bytes >= bounds.bytes || portion.misfits.len() >= bounds.misfits {
                portion.is_last = false;
                return Ok(portion);
            }
            if let Some((document, first)) = document.zip(first) {
                let room = bounds.misfits - portion.misfits.len();
                let found = validate_document(read, budget, of, &document, first?).await?;
                bytes += found.bytes;
                if !found.misfits.is_empty() {
                    let version = version(read, &document).await?;
                    portion.misfits.extend(found.misfits.into_iter().take(room));
                    portion.unfit.push((document, version));
                }
            }
            portion.documents += 1;
            portion.position = key_after(&entry[prefix.len()..]);
        }
    }
    Ok(portion)
}

/// The documents of some catalog entries, with their first pairs, read in one round.
async fn first_pairs<'e>(
    read: &dyn Read,
    collection: &str,
    entries: &[&'e [u8]],
) -> Result<Vec<(&'e [u8], Option<DocumentKey>, Option<Result<Batch>>)>> {
    let (prefix, _) = Family::existences(collection);
    let documents = entries.iter().map(|entry| {
        let id = Family::existing_id(entry, &prefix);
        id.map(|id| DocumentKey::new(collection, id)).transpose()
    });
    let documents: Vec<Option<DocumentKey>> = documents.collect::<Result<_>>()?;
    let keys = documents.iter().flatten();
    let keys = keys.map(|document| document.place(&Place::default()));
    let keys: Vec<Vec<u8>> = keys.collect::<Result<_>>()?;
    let ends: Vec<Vec<u8>> = keys.iter().map(|key| prefix_end(key)).collect();
    let ranges = keys.iter().zip(&ends);
    let ranges = ranges.map(|(key, end)| RangeRead::new(key, end).at_most(TYPE_CHECK_FIRST_PAIRS));
    let ranges: Vec<RangeRead<'_>> = ranges.collect();
    let mut batches = read.ranges(&ranges).await.into_batches();
    let found = entries.iter().zip(documents).map(|(entry, document)| {
        let first = document.as_ref().and_then(|_| batches.next());
        (*entry, document, first)
    });
    Ok(found.collect())
}

/// What the validation of a document found.
pub(crate) struct ValidatedDocument {
    pub(crate) bytes: usize,
    pub(crate) misfits: Vec<Misfit>,
}

/// Validates a document, whose first pairs were read.
async fn validate_document(
    read: &dyn Read,
    budget: &Budget,
    of: &CollectionType,
    document: &DocumentKey,
    first: Batch,
) -> Result<ValidatedDocument> {
    let prefix = document.place(&Place::default())?;
    let end = prefix_end(&prefix);
    let steps = Steps::of(budget);
    let mut validator = of.validator(&[], &steps);
    let mut bytes = 0;
    let mut batch = first;
    loop {
        bytes += batch.pairs.bytes();
        let pairs = batch.pairs.iter();
        let pairs = pairs.map(|(key, value)| (&key[prefix.len()..], value));
        push_all(&mut validator, budget, pairs).await?;
        let more = batch.more || batch.pairs.len() >= TYPE_CHECK_FIRST_PAIRS;
        let Some((last, _)) = batch.pairs.last().filter(|_| more) else {
            break;
        };
        let begin = key_after(last);
        batch = read.range(RangeRead::new(&begin, &end)).await?;
    }
    let misfits = found(validator)?.into_iter().map(|violation| Misfit {
        id: document.id.clone(),
        violation,
    });
    Ok(ValidatedDocument {
        bytes,
        misfits: misfits.collect(),
    })
}

/// The version of a document. None if it has none.
pub(crate) async fn version(read: &dyn Read, document: &DocumentKey) -> Result<Option<Version>> {
    let key = Family::Version(&document.collection, &document.id).key()?;
    let value = read.get(&key).await?;
    Ok(value.and_then(|value| Version::of_document(&document.id, &value)))
}
