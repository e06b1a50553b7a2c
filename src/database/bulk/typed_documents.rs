//! Validates the stored documents of a collection against a type, in the order of their ids.

use std::sync::Arc;

use crate::budget::{Budget, Steps};
use crate::database::document_key::{DocumentKey, prefix_end};
use crate::database::open::Database;
use crate::database::read::load::version;
use crate::database::types::misfits::Misfit;
use crate::database::types::validate::{found, push_all};
use crate::document::path::Place;
use crate::error::{Error, ErrorKind, Result, TypeViolation};
use crate::key::{Family, Version};
use crate::limits::{
    CHECKED_DOCUMENT_STEPS_MAX, TYPE_CHECK_DOCUMENTS_AT_ONCE, TYPE_CHECK_FIRST_PAIRS,
};
use crate::store::{Batch, RangeRead, Read, key_after};
use crate::types::{CollectionType, NotValidated};

/// Where documents are read.
pub(crate) struct PortionRead<'r> {
    read: &'r dyn Read,
    /// The database, in a later snapshot of which a document may be read on.
    later: Option<&'r Database>,
}

impl<'r> PortionRead<'r> {
    /// One snapshot, or a transaction.
    pub(crate) fn only(read: &'r dyn Read) -> Self {
        Self { read, later: None }
    }

    /// A snapshot of a database. If the engine drops it while a document is read, the document is read on
    /// in a later one, if its version is still the same.
    pub(crate) fn renewed(read: &'r dyn Read, database: &'r Database) -> Self {
        Self {
            read,
            later: Some(database),
        }
    }
}

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
    pub(crate) documents: usize,
    /// The bytes of their keys and values.
    pub(crate) bytes: usize,
    /// Where the next portion begins: the key behind the last catalog entry, without the common prefix.
    pub(crate) position: Vec<u8>,
    /// Whether there is no further document.
    pub(crate) is_last: bool,
    /// The places that do not fit.
    pub(crate) misfits: Vec<Misfit>,
    /// The documents that have such places, with their versions, if they are read from snapshots.
    pub(crate) unfit: Vec<(DocumentKey, Option<Version>)>,
}

/// Validates the next documents of the catalog from a position on.
///
/// # Errors
/// `CONFLICT`: a document was changed while it was read from several snapshots. Errors of the store.
pub(crate) async fn validate_portion(
    source: PortionRead<'_>,
    budget: &Budget,
    of: &CollectionType,
    position: &[u8],
    bounds: PortionBounds,
) -> Result<ValidatedPortion> {
    let (prefix, end) = Family::existences(of.collection());
    let begin = [&prefix[..], position].concat();
    let read = source.read;
    // One more entry than documents are validated shows whether there is a further document.
    let range = RangeRead::new(&begin, &end).at_most(bounds.documents + 1);
    let entries = read.range(range).await?;
    let mut portion = ValidatedPortion {
        position: position.to_vec(),
        is_last: !entries.more && entries.pairs.len() <= bounds.documents,
        ..ValidatedPortion::default()
    };
    let keys: Vec<&[u8]> = entries
        .pairs
        .iter()
        .take(bounds.documents)
        .map(|(key, _)| key)
        .collect();
    for some in keys.chunks(TYPE_CHECK_DOCUMENTS_AT_ONCE) {
        for (entry, document, first) in first_pairs(read, of.collection(), some).await? {
            if portion.bytes >= bounds.bytes || portion.misfits.len() >= bounds.misfits {
                portion.is_last = false;
                return Ok(portion);
            }
            if let Some((document, first)) = document.zip(first) {
                let room = bounds.misfits - portion.misfits.len();
                let mut reading = DocumentReading::of(&source, &document, first?);
                let found = reading.validate(budget, of).await?;
                portion.bytes += reading.bytes;
                if !found.is_empty() {
                    let version = match (reading.version, source.later) {
                        (VersionRead::Known(version), _) => version,
                        (VersionRead::Unread, Some(_)) => version(read, &document).await?,
                        // Only a check needs it. The transaction may have changed the document.
                        (VersionRead::Unread, None) => None,
                    };
                    let misfits = found.into_iter().map(|violation| Misfit {
                        id: document.id.clone(),
                        violation,
                    });
                    portion.misfits.extend(misfits.take(room));
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
    let documents: Vec<Option<DocumentKey>> = entries
        .iter()
        .map(|entry| {
            let id = Family::existing_id(entry, &prefix);
            id.map(|id| DocumentKey::new(collection, id)).transpose()
        })
        .collect::<Result<_>>()?;
    let keys: Vec<Vec<u8>> = documents
        .iter()
        .flatten()
        .map(|document| document.place(&Place::default()))
        .collect::<Result<_>>()?;
    let ends: Vec<Vec<u8>> = keys.iter().map(|key| prefix_end(key)).collect();
    let ranges: Vec<RangeRead<'_>> = keys
        .iter()
        .zip(&ends)
        .map(|(key, end)| RangeRead::new(key, end).at_most(TYPE_CHECK_FIRST_PAIRS))
        .collect();
    let mut batches = read.ranges(&ranges).await.into_batches();
    let found = entries.iter().zip(documents).map(|(entry, document)| {
        let first = document.as_ref().and_then(|_| batches.next());
        (*entry, document, first)
    });
    Ok(found.collect())
}

/// A document that is read batch by batch.
struct DocumentReading<'r> {
    source: &'r PortionRead<'r>,
    document: &'r DocumentKey,
    /// The snapshot in place of the first one, which the engine has dropped.
    later: Option<Arc<dyn Read>>,
    version: VersionRead,
    batch: Batch,
    bytes: usize,
}

impl<'r> DocumentReading<'r> {
    /// A document whose first pairs were read.
    fn of(source: &'r PortionRead<'r>, document: &'r DocumentKey, first: Batch) -> Self {
        Self {
            source,
            document,
            later: None,
            version: VersionRead::Unread,
            bytes: first.pairs.bytes(),
            batch: first,
        }
    }

    async fn validate(
        &mut self,
        budget: &Budget,
        of: &CollectionType,
    ) -> Result<Vec<TypeViolation>> {
        let own = Budget::of_checked_document();
        let budget = self.source.later.map_or(budget, |_| &own);
        let steps = Steps::of(budget);
        let mut validator = of.validator(&[], &steps);
        let bytes = self.document.place(&Place::default())?.len();
        loop {
            let pairs = self
                .batch
                .pairs
                .iter()
                .map(|(key, value)| (&key[bytes..], value));
            if let Err(error) = push_all(&mut validator, budget, pairs).await {
                return self.not_validated(error);
            }
            if !self.next().await? {
                break;
            }
        }
        found(validator).or_else(|error| self.not_validated(error))
    }

    /// A document whose pairs are malformed fits no type, and neither does one whose check takes too long.
    fn not_validated(&self, error: NotValidated) -> Result<Vec<TypeViolation>> {
        let expected = match error {
            NotValidated::Malformed(malformed) => {
                format!("a document that is not damaged: {malformed}")
            }
            NotValidated::Failed(error) => match error.kind() {
                ErrorKind::Exhausted(_) if self.source.later.is_some() => {
                    format!("a document that is validated in {CHECKED_DOCUMENT_STEPS_MAX} steps")
                }
                _ => return Err(error),
            },
        };
        Ok(vec![TypeViolation {
            place: String::new(),
            keyword: "type".to_owned(),
            expected,
            value: None,
        }])
    }

    /// Reads the next batch. Returns whether there is one.
    async fn next(&mut self) -> Result<bool> {
        let more = self.batch.more || self.batch.pairs.len() >= TYPE_CHECK_FIRST_PAIRS;
        let Some((last, _)) = self.batch.pairs.last().filter(|_| more) else {
            return Ok(false);
        };
        let (begin, end) = (
            key_after(last),
            prefix_end(&self.document.place(&Place::default())?),
        );
        if self.version == VersionRead::Unread && self.source.later.is_some() {
            let version = version(self.source.read, self.document).await?;
            self.version = VersionRead::Known(version);
        }
        let range = RangeRead::new(&begin, &end);
        let read = self.later.as_deref().unwrap_or(self.source.read);
        let batch = read.range(range).await;
        self.batch = match (batch, self.source.later) {
            (Err(error), Some(database)) if error.kind() == ErrorKind::Timeout => {
                let renewed = database.snapshot().await?;
                let version = version(&*renewed, self.document).await?;
                if self.version != VersionRead::Known(version) {
                    return Err(changed_meanwhile(self.document));
                }
                let batch = renewed.range(range).await?;
                self.later = Some(renewed);
                batch
            }
            (batch, _) => batch?,
        };
        self.bytes += self.batch.pairs.bytes();
        Ok(!self.batch.pairs.is_empty())
    }
}

/// The version of a document in the first snapshot in which it is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum VersionRead {
    Unread,
    Known(Option<Version>),
}

fn changed_meanwhile(DocumentKey { collection, id }: &DocumentKey) -> Error {
    Error::new(
        ErrorKind::Conflict,
        format!("the document {id} of the collection {collection:?} was changed while it was read"),
    )
}
