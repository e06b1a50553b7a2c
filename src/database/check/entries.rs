//! Comparison of index entries with documents, in both directions.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::{FutureExt as _, StreamExt as _, stream};

use super::document_read::{DocumentRead, DocumentState, state_now};
use super::expected::{Comparison, Expected, HASHES_MAX, Hashes, PREPARED_HASHES_MAX, compact};
use super::finding::{CheckReport, FindingKind};
use super::snapshots::{CheckSnapshot, CheckSnapshots};
use crate::budget::Budget;
use crate::database::document_key::{DocumentKey, prefix_end};
use crate::database::index::definition::{Index, indexes};
use crate::database::index::entries::{EntryStream, Unfit, entry_streams};
use crate::database::open::unique_values::is_constrained;
use crate::document::path::Place;
use crate::error::{Error, ErrorKind, Limit, Result};
use crate::key::{Family, IndexKey, OwnKey, SystemKey};
use crate::limits::{CHECK_DOCUMENTS_AT_ONCE, CHECK_TRIES_MAX};
use crate::store::RangeRead;

/// The indexes of the current collection.
pub(crate) struct CheckedIndexes {
    snapshots: Arc<CheckSnapshots>,
    /// The snapshot of the entries and of the definitions.
    snapshot: CheckSnapshot,
    budget: Budget,
    collection: String,
    found: Arc<[Index]>,
    /// Whether `found` belongs to an earlier snapshot.
    outdated: bool,
    hashes: Hashes,
    /// The values of the last entry, with the prefix of the index.
    last_values: Vec<u8>,
}

impl CheckedIndexes {
    pub(crate) fn new(snapshots: Arc<CheckSnapshots>) -> Self {
        Self {
            snapshot: snapshots.current(),
            snapshots,
            budget: Budget::of_background(),
            collection: String::new(),
            found: Arc::default(),
            outdated: false,
            hashes: Hashes::default(),
            last_values: Vec::new(),
        }
    }

    /// Continues in another snapshot. `entries` is at the first entry that is not checked yet.
    ///
    /// # Errors
    /// Errors of the store.
    pub(crate) async fn resume(&mut self, snapshot: CheckSnapshot) -> Result<()> {
        self.snapshot = snapshot;
        self.outdated = true;
        if self.last_values.is_empty() {
            return Ok(());
        }
        // Whether an entry with the last values is still there.
        let end = prefix_end(&self.last_values);
        let before = RangeRead {
            reverse: true,
            ..RangeRead::new(&self.last_values, &end).at_most(1)
        };
        if self.snapshot.read.range(before).await?.pairs.is_empty() {
            self.last_values.clear();
        }
        Ok(())
    }

    /// The indexes of a collection. None if a definition is damaged, which is a
    /// finding of its own.
    pub(super) async fn of(&mut self, collection: &str) -> Result<Arc<[Index]>> {
        if self.outdated || self.collection != collection {
            let found: Arc<[Index]> = match indexes(&*self.snapshot.read, collection).await {
                Ok(indexes) => indexes.into(),
                Err(error) if error.kind() == ErrorKind::Internal => Arc::default(),
                Err(error) => return Err(error),
            };
            if self.found != found {
                // Another index may have the number of an earlier one.
                self.hashes.clear();
            }
            self.found = found;
            self.outdated = false;
            collection.clone_into(&mut self.collection);
        }
        Ok(self.found.clone())
    }

    /// Reads what the entries of several documents are compared with, all at the same time. What is
    /// not read here, because it is large, is read when an entry is compared.
    pub(crate) async fn prepare(&mut self, entries: &[Vec<u8>]) -> Result<()> {
        let mut wanted = Vec::new();
        let mut seen = BTreeSet::new();
        for entry in entries {
            let Some(SystemKey::Entry(packed, number)) = SystemKey::parse(entry) else {
                continue;
            };
            let Some(collection) = OwnKey::of(packed).collection else {
                continue;
            };
            let indexes = self.of(&collection).await?;
            let index = indexes
                .iter()
                .find(|it| it.number == number && it.is_kept());
            let Some(index) = index.cloned() else {
                continue;
            };
            let key = IndexKey::new(&collection, number)?;
            let Some((_, id)) = key.parse(entry, index.on.len()) else {
                continue;
            };
            let known = self.hashes.get(&collection, &(number, id.clone())).cloned();
            let is_known = match &known {
                Some(Ok(known)) => known.snapshots.1 >= self.snapshot.number,
                Some(Err(_)) => true,
                None => false,
            };
            let document = DocumentKey::new(collection, id);
            if let Ok(document) = document
                && !is_known
                && seen.insert((number, document.place(&Place::default())?))
            {
                wanted.push((document, index, known.and_then(Result::ok)));
            }
        }
        let mut reads = Vec::new();
        for (document, index, known) in &wanted {
            let known = known.as_ref();
            reads.push(
                self.now(document, index, known, PREPARED_HASHES_MAX)
                    .boxed(),
            );
        }
        let reads: Vec<_> = stream::iter(reads)
            .buffered(CHECK_DOCUMENTS_AT_ONCE)
            .collect()
            .await;
        for ((document, index, _), expected) in wanted.into_iter().zip(reads) {
            match expected {
                Ok(expected) => {
                    let key = (index.number, document.id);
                    // Forgets the documents of another collection.
                    self.hashes.get(&document.collection, &key);
                    self.hashes.insert(key, Ok(expected));
                }
                Err(error) if is_unverified(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Checks that an entry belongs to an index and matches its document.
    pub(crate) async fn check_entry(
        &mut self,
        entry: &[u8],
        value: &[u8],
        report: &mut CheckReport,
    ) -> Result<()> {
        let Some(SystemKey::Entry(collection, number)) = SystemKey::parse(entry) else {
            report.add(FindingKind::UnknownKey, entry);
            return Ok(());
        };
        let Some(collection) = OwnKey::of(collection).collection else {
            report.add(FindingKind::UnknownKey, entry);
            return Ok(());
        };
        let indexes = self.of(&collection).await?;
        let index = indexes.iter().find(|index| index.number == number);
        let Some(index) = index.filter(|index| index.is_kept()) else {
            report.add(FindingKind::EntryAlone, entry);
            return Ok(());
        };
        let key = IndexKey::new(&collection, number)?;
        let Some((values, id)) = key.parse(entry, index.on.len()) else {
            report.add(FindingKind::UnknownKey, entry);
            return Ok(());
        };
        let Ok(document) = DocumentKey::new(collection, id) else {
            report.add(FindingKind::StaleEntry, entry);
            return Ok(());
        };
        let compared = self.compare(&document, index, entry, (values, value)).await;
        let finding = match compared {
            Ok(finding) => finding,
            Err(error) => return verified(Err(error), entry, report),
        };
        if finding == Some(Comparison::NoDocument) {
            report.add(FindingKind::StaleEntry, entry);
            return Ok(());
        }
        if !index.exact && !value.is_empty() {
            report.add(FindingKind::EntryValue, entry);
            return Ok(());
        }
        let values_end = entry.len() - key.relative(entry).map_or(0, <[u8]>::len) + values.len();
        let repeated = self.last_values == entry[..values_end];
        entry[..values_end].clone_into(&mut self.last_values);
        if repeated && index.unique && is_constrained(values) {
            report.add(FindingKind::NotUnique, entry);
        }
        match finding {
            Some(Comparison::OtherForms) => report.add(FindingKind::EntryValue, entry),
            Some(_) => report.add(FindingKind::StaleEntry, entry),
            None => {}
        }
        Ok(())
    }

    /// Compares an entry with those that its document should have. None if it is one of them.
    async fn compare(
        &mut self,
        document: &DocumentKey,
        index: &Index,
        entry: &[u8],
        (values, forms): (&[u8], &[u8]),
    ) -> Result<Option<Comparison>> {
        let key = (index.number, document.id.clone());
        let known = self
            .hashes
            .get(&document.collection, &key)
            .cloned()
            .transpose()?;
        let expected = match known {
            Some(known) if known.snapshots.1 >= self.snapshot.number => known,
            known => {
                let now = self.now(document, index, known.as_ref(), HASHES_MAX).await;
                if now.as_ref().err().is_none_or(is_about_size) {
                    self.hashes.insert(key, now.clone());
                }
                now?
            }
        };
        let hash = self.hashes.of(values, forms);
        let found = expected.compare(hash);
        if found.is_none() {
            return Ok(None);
        }
        // The document of an entry was read from the same snapshot as the entry, or the entry may be
        // one of an earlier or later state of the document.
        let (first, last) = expected.snapshots;
        let certain = (first..=last).contains(&self.snapshot.number);
        if found == Some(Comparison::NoDocument) && certain {
            return Ok(found);
        }
        self.compare_again(
            document,
            index,
            entry,
            (values, forms),
            certain.then_some(expected),
        )
        .await
    }

    /// Looks again for a fault, in one state of the entry and its document, and determines its kind.
    /// `expected` is known if it belongs to the snapshot of the entry.
    async fn compare_again(
        &self,
        document: &DocumentKey,
        index: &Index,
        entry: &[u8],
        (values, forms): (&[u8], &[u8]),
        expected: Option<Expected>,
    ) -> Result<Option<Comparison>> {
        let mut tries = 1;
        loop {
            let Some(read) = self.begin(document, index, Some(entry)).await? else {
                return Ok(None);
            };
            if !read.has_entry() {
                return Ok(None);
            }
            if !read.is_entered() {
                return Ok(Some(Comparison::NoDocument));
            }
            let known = expected.as_ref().and_then(|known| known.hashes.clone());
            let compared = self.compare_in(&read, document, index, (values, forms), known);
            match compared.await {
                Err(error) if error.kind() == ErrorKind::Conflict && tries < CHECK_TRIES_MAX => {
                    tries += 1;
                }
                compared => return compared,
            }
        }
    }

    async fn compare_in(
        &self,
        read: &DocumentRead,
        document: &DocumentKey,
        index: &Index,
        (values, forms): (&[u8], &[u8]),
        known: Option<Arc<[u64]>>,
    ) -> Result<Option<Comparison>> {
        let own_forms = self
            .entries_of(read, document, index)
            .await?
            .forms()
            .to_vec();
        let hashes = match known {
            Some(hashes) => hashes,
            None => self.hashes_in(read, document, index, HASHES_MAX).await?,
        };
        let has = |forms: &[u8]| {
            let hash = self.hashes.of(values, forms);
            hashes.binary_search(&hash).is_ok()
        };
        if has(forms) {
            return Ok(None);
        }
        Ok(Some(if own_forms != forms && has(&own_forms) {
            Comparison::OtherForms
        } else {
            Comparison::NotOfDocument
        }))
    }

    /// The entries that a document should have now, at most `hashes_max`: those of an earlier
    /// snapshot, if the document is still the same.
    async fn now(
        &self,
        document: &DocumentKey,
        index: &Index,
        known: Option<&Expected>,
        hashes_max: usize,
    ) -> Result<Expected> {
        if let Some(known) = known {
            let (state, number) = state_now(&self.snapshots, document).await?;
            if known.state.is_kept(&state) {
                let snapshots = (known.snapshots.0, number);
                return Ok(Expected {
                    snapshots,
                    ..known.clone()
                });
            }
        }
        self.expected(document, index, hashes_max).await
    }

    /// The entries that a document should have, at most `hashes_max`.
    async fn expected(
        &self,
        document: &DocumentKey,
        index: &Index,
        hashes_max: usize,
    ) -> Result<Expected> {
        let mut tries = 1;
        loop {
            let Some(read) = self.begin(document, index, None).await? else {
                return Ok(Expected {
                    hashes: None,
                    state: DocumentState::default(),
                    snapshots: (u64::MAX, u64::MAX),
                });
            };
            let hashes = if read.is_entered() {
                let hashes = self.hashes_in(&read, document, index, hashes_max).await;
                hashes.map(Some)
            } else {
                Ok(None)
            };
            match hashes {
                Err(error) if error.kind() == ErrorKind::Conflict && tries < CHECK_TRIES_MAX => {
                    tries += 1;
                }
                hashes => {
                    let (state, snapshots) = read.state();
                    return Ok(Expected {
                        hashes: hashes?,
                        state,
                        snapshots,
                    });
                }
            }
        }
    }

    /// The hashes of all entries that a document should have, ascending.
    async fn hashes_in(
        &self,
        read: &DocumentRead,
        document: &DocumentKey,
        index: &Index,
        hashes_max: usize,
    ) -> Result<Arc<[u64]>> {
        let mut entries = self.entries_of(read, document, index).await?;
        let forms = entries.forms().to_vec();
        let mut hashes: Vec<u64> = Vec::new();
        let mut compact_at = hashes_max / 2;
        while let Some(values) = entries.next().await? {
            hashes.extend(values.iter().map(|values| self.hashes.of(values, &forms)));
            if hashes.len() >= compact_at {
                compact(&mut hashes);
                compact_at = (hashes.len() + hashes_max / 4).max(hashes_max / 2);
            }
            if hashes.len() > hashes_max {
                return Err(Error::too_large(
                    Limit::new("comparedEntries", hashes_max),
                    format!(
                        "the document has more than {hashes_max} entries in the index, which is the \
                     limit of this comparison"
                    ),
                ));
            }
        }
        compact(&mut hashes);
        Ok(hashes.into())
    }

    pub(super) async fn begin(
        &self,
        document: &DocumentKey,
        index: &Index,
        entry: Option<&[u8]>,
    ) -> Result<Option<DocumentRead>> {
        let defined = self.snapshot.number;
        DocumentRead::begin(&self.snapshots, document, index, defined, entry).await
    }

    pub(super) async fn entries_of<'r>(
        &'r self,
        read: &'r DocumentRead,
        document: &DocumentKey,
        index: &'r Index,
    ) -> Result<EntryStream<'r>> {
        let streams = entry_streams(read, &self.budget, document, &[index], Unfit::Skip).await?;
        let stream = streams.into_iter().next();
        stream.ok_or_else(|| Error::internal("no stream of the entries of an index"))
    }
}

/// Turns an error that only means that data could not be verified into a finding. Returns other
/// errors.
pub(super) fn verified(checked: Result<()>, key: &[u8], report: &mut CheckReport) -> Result<()> {
    match checked {
        Err(error) if is_unverified(&error) => {
            report.add_unverified(error.message(), key);
            Ok(())
        }
        checked => checked,
    }
}

/// Whether an error only means that something could not be verified.
fn is_unverified(error: &Error) -> bool {
    is_about_size(error) || error.kind() == ErrorKind::Conflict
}

fn is_about_size(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::TooLarge | ErrorKind::KeyTooLong | ErrorKind::Exhausted(_)
    )
}

pub(super) fn document_key(document: &[u8]) -> Option<DocumentKey> {
    let collection = OwnKey::of(document).collection?;
    let bytes = super::collection_of(document).len();
    let (id, _) = Family::document_id(document, bytes).ok()?;
    DocumentKey::new(collection, id).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Resource;
    use crate::database::check::finding::Severity;

    #[test]
    fn exceeded_limits_are_findings_and_other_errors_fail() {
        for error in [
            Error::exhausted(
                Resource::ReadBytes,
                Limit::new("readBytes", 10),
                "more than 10 bytes",
            ),
            Error::too_large(Limit::new("readBytes", 10), "more than 10 bytes"),
        ] {
            let mut report = CheckReport::default();
            assert!(verified(Err(error), b"key", &mut report).is_ok());
            assert_eq!(report.summary.not_verified, 1);
            assert_eq!(report.summary.faults, 0);
            let finding = report.found.pop_front().expect("a finding");
            assert_eq!(finding.severity, Severity::Unverified);
            assert_eq!(finding.message, "not verified: more than 10 bytes");
            assert_eq!(finding.key, b"key");
        }
        let mut report = CheckReport::default();
        let lost = Error::unavailable("the store is away", "");
        assert!(verified(Err(lost), b"key", &mut report).is_err());
        assert!(report.found.is_empty());
    }
}
