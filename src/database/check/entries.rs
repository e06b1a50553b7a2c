//! Comparison of index entries with documents, in both directions.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use futures::future::try_join_all;

use super::finding::{CheckReport, FindingKind};
use crate::budget::Budget;
use crate::database::document_key::DocumentKey;
use crate::database::index::definition::{Index, State, indexes};
use crate::database::index::entries::{EntryStream, Unfit, entry_streams};
use crate::database::open::unique_values::is_constrained;
use crate::document::id::DocumentId;
use crate::document::path::Place;
use crate::error::{Error, ErrorKind, Limit, Result};
use crate::key::{Family, IndexKey, OwnKey, SystemKey};
use crate::limits::{CHECK_HASHES_BYTES_MAX, INDEX_READS_AT_ONCE};
use crate::store::Read;

/// The indexes of the current collection.
pub(crate) struct CheckedIndexes {
    read: Arc<dyn Read>,
    budget: Budget,
    collection: String,
    found: Arc<[Index]>,
    hashes: Hashes,
    /// The values of the last entry, with the prefix of the index.
    last_values: Vec<u8>,
}

impl CheckedIndexes {
    pub(crate) fn new(read: Arc<dyn Read>) -> Self {
        Self {
            read,
            budget: Budget::of_background(),
            collection: String::new(),
            found: Arc::default(),
            hashes: Hashes::default(),
            last_values: Vec::new(),
        }
    }

    /// Returns the indexes of a collection. Returns none if a definition is damaged, which is a
    /// finding of its own.
    async fn of(&mut self, collection: &str) -> Result<Arc<[Index]>> {
        if self.collection != collection {
            self.found = match indexes(&*self.read, collection).await {
                Ok(indexes) => indexes.into(),
                Err(error) if error.kind() == ErrorKind::Internal => Arc::default(),
                Err(error) => return Err(error),
            };
            collection.clone_into(&mut self.collection);
        }
        Ok(self.found.clone())
    }

    /// Checks that a document has all its entries in the ready indexes.
    pub(crate) async fn check_document(
        &mut self,
        document: &[u8],
        report: &mut CheckReport,
    ) -> Result<()> {
        let Some(key) = document_key(document) else {
            return Ok(());
        };
        for index in &*self.of(&key.collection).await? {
            if index.state == State::Ready {
                let checked = self.check_entries_of(&key, index, report).await;
                verified(checked, document, report)?;
            }
        }
        Ok(())
    }

    async fn check_entries_of(
        &self,
        document: &DocumentKey,
        index: &Index,
        report: &mut CheckReport,
    ) -> Result<()> {
        let key = IndexKey::new(&document.collection, index.number)?;
        let mut entries = self.entries_of(document, index).await?;
        // A value can occur repeatedly. To report each missing entry about once, remember a few of
        // them.
        let mut reported = BTreeSet::new();
        let mut fits = true;
        while let Some(values) = entries.next().await? {
            let values: BTreeSet<Vec<u8>> = values.into_iter().collect();
            let keys = values.iter().map(|values| key.entry(values, &document.id));
            // A value that does not fit into a key has no entry.
            let keys: Vec<Vec<u8>> = keys.filter_map(Result::ok).collect();
            fits &= keys.len() == values.len();
            for some in keys.chunks(INDEX_READS_AT_ONCE) {
                let found = try_join_all(some.iter().map(|entry| self.read.get(entry))).await?;
                for (entry, _) in some.iter().zip(found).filter(|(_, found)| found.is_none()) {
                    if reported.len() >= INDEX_READS_AT_ONCE {
                        reported.clear();
                    }
                    if reported.insert(entry.clone()) {
                        report.tell(FindingKind::NoEntry, entry);
                    }
                }
            }
        }
        if !fits || entries.skipped() {
            report.tell(
                FindingKind::ValueNotIndexed,
                &document.place(&Place::default())?,
            );
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
            report.tell(FindingKind::UnknownKey, entry);
            return Ok(());
        };
        let Some(collection) = OwnKey::of(collection).collection else {
            report.tell(FindingKind::UnknownKey, entry);
            return Ok(());
        };
        let indexes = self.of(&collection).await?;
        let index = indexes.iter().find(|index| index.number == number);
        let Some(index) = index.filter(|index| index.is_kept()) else {
            report.tell(FindingKind::EntryAlone, entry);
            return Ok(());
        };
        let key = IndexKey::new(&collection, number)?;
        let Some((values, id)) = key.parse(entry, index.on.len()) else {
            report.tell(FindingKind::UnknownKey, entry);
            return Ok(());
        };
        // An entry of a document that was compared before needs no read, so the many entries of one
        // document take no round trip each.
        let is_known = self
            .hashes
            .get(&collection, &(number, id.clone()))
            .is_some();
        if !is_known && !self.is_entered(&collection, &id).await? {
            report.tell(FindingKind::StaleEntry, entry);
            return Ok(());
        }
        if !index.exact && !value.is_empty() {
            report.tell(FindingKind::EntryValue, entry);
            return Ok(());
        }
        let document = DocumentKey::new(collection, id)?;
        let values_end = entry.len() - key.relative(entry).map_or(0, <[u8]>::len) + values.len();
        let repeated = self.last_values == entry[..values_end];
        entry[..values_end].clone_into(&mut self.last_values);
        if repeated && index.unique && is_constrained(values) {
            report.tell(FindingKind::NotUnique, entry);
        }
        let compared = self.compare(&document, index, (values, value)).await;
        verified(
            compared.map(|finding| {
                if let Some(finding) = finding {
                    report.tell(finding, entry);
                }
            }),
            entry,
            report,
        )
    }

    /// Returns whether the catalog has a document.
    async fn is_entered(&self, collection: &str, id: &DocumentId) -> Result<bool> {
        match Family::Existence(collection, id).key() {
            Ok(existence) => Ok(self.read.get(&existence).await?.is_some()),
            Err(_) => Ok(false),
        }
    }

    /// Compares an entry with those that its document should have. Returns none if it is one of them.
    async fn compare(
        &mut self,
        document: &DocumentKey,
        index: &Index,
        (values, forms): (&[u8], &[u8]),
    ) -> Result<Option<FindingKind>> {
        if self.holds(document, index, (values, forms)).await? {
            return Ok(None);
        }
        let expected = self.entries_of(document, index).await?.forms().to_vec();
        let is_known =
            expected != forms && self.holds(document, index, (values, &expected)).await?;
        Ok(Some(if is_known {
            FindingKind::EntryValue
        } else {
            FindingKind::StaleEntry
        }))
    }

    /// Returns whether a document should have an entry with these values, in these forms.
    async fn holds(
        &mut self,
        document: &DocumentKey,
        index: &Index,
        (values, forms): (&[u8], &[u8]),
    ) -> Result<bool> {
        let hash = self.hashes.of(values, forms);
        let key = (index.number, document.id.clone());
        if let Some(hashes) = self.hashes.get(&document.collection, &key) {
            return hashes
                .clone()
                .map(|hashes| hashes.binary_search(&hash).is_ok());
        }
        let hashes = self.hashes_of(document, index).await;
        let holds = match &hashes {
            Ok(hashes) => Ok(hashes.binary_search(&hash).is_ok()),
            Err(error) => Err(error.clone()),
        };
        if holds.as_ref().err().is_none_or(is_about_size) {
            self.hashes.insert(key, hashes);
        }
        holds
    }

    /// Returns the hashes of all entries that a document should have, ascending.
    async fn hashes_of(&self, document: &DocumentKey, index: &Index) -> Result<Arc<[u64]>> {
        let mut entries = self.entries_of(document, index).await?;
        let forms = entries.forms().to_vec();
        let mut hashes: Vec<u64> = Vec::new();
        let mut compact_at = HASHES_MAX / 2;
        while let Some(values) = entries.next().await? {
            hashes.extend(values.iter().map(|values| self.hashes.of(values, &forms)));
            if hashes.len() >= compact_at {
                compact(&mut hashes);
                compact_at = (hashes.len() + HASHES_MAX / 4).max(HASHES_MAX / 2);
            }
            if hashes.len() > HASHES_MAX {
                return Err(Error::too_large(
                    Limit::new("comparedEntries", HASHES_MAX),
                    format!(
                        "the document has more than {HASHES_MAX} entries in the index, which is the \
                     limit of this comparison"
                    ),
                ));
            }
        }
        compact(&mut hashes);
        Ok(hashes.into())
    }

    async fn entries_of<'r>(
        &'r self,
        document: &DocumentKey,
        index: &'r Index,
    ) -> Result<EntryStream<'r>> {
        let (read, budget) = (&*self.read, &self.budget);
        let streams = entry_streams(read, budget, document, &[index], Unfit::Skip).await?;
        let stream = streams.into_iter().next();
        stream.ok_or_else(|| Error::internal("no stream of the entries of an index"))
    }
}

/// Turns an error that only means that data could not be verified into a finding. Returns other
/// errors.
fn verified(checked: Result<()>, key: &[u8], report: &mut CheckReport) -> Result<()> {
    match checked {
        Err(error) if is_about_size(&error) => {
            report.tell_unverified(error.message(), key);
            Ok(())
        }
        checked => checked,
    }
}

fn is_about_size(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::TooLarge | ErrorKind::KeyTooLong | ErrorKind::Exhausted(_)
    )
}

fn compact(hashes: &mut Vec<u64>) {
    hashes.sort_unstable();
    hashes.dedup();
}

/// The maximum number of compared entries of one document.
const HASHES_MAX: usize = CHECK_HASHES_BYTES_MAX / size_of::<u64>();

/// A cache of the entry hashes of recently compared documents of one collection, keyed by index
/// number and id. It also stores errors, so that they are not computed again.
#[derive(Default)]
struct Hashes {
    state: RandomState,
    collection: String,
    found: HashMap<(u64, DocumentId), Result<Arc<[u64]>>>,
    order: VecDeque<(u64, DocumentId)>,
    count: usize,
}

impl Hashes {
    fn of(&self, values: &[u8], forms: &[u8]) -> u64 {
        self.state.hash_one((values, forms))
    }

    fn get(&mut self, collection: &str, key: &(u64, DocumentId)) -> Option<&Result<Arc<[u64]>>> {
        if self.collection != collection {
            collection.clone_into(&mut self.collection);
            self.found.clear();
            self.order.clear();
            self.count = 0;
        }
        self.found.get(key)
    }

    fn insert(&mut self, key: (u64, DocumentId), hashes: Result<Arc<[u64]>>) {
        self.count += weight(&hashes);
        self.order.push_back(key.clone());
        self.found.insert(key, hashes);
        while self.count > HASHES_MAX
            && self.order.len() > 1
            && let Some(oldest) = self.order.pop_front()
        {
            self.count -= self.found.remove(&oldest).as_ref().map_or(0, weight);
        }
    }
}

/// Returns the memory of the hashes of a document and of its cache entry, in units of one hash.
fn weight(hashes: &Result<Arc<[u64]>>) -> usize {
    const OF_DOCUMENT: usize = 32;
    OF_DOCUMENT + hashes.as_ref().map_or(0, |hashes| hashes.len())
}

fn document_key(document: &[u8]) -> Option<DocumentKey> {
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

    #[test]
    fn the_oldest_hashes_are_evicted() {
        let mut hashes = Hashes::default();
        let key = |id| (1, DocumentId::Integer(id));
        assert!(hashes.get("D", &key(0)).is_none());
        let many: Arc<[u64]> = vec![7; HASHES_MAX / 4].into();
        for id in 0..6 {
            hashes.insert(key(id), Ok(many.clone()));
            assert!(hashes.count <= HASHES_MAX);
        }
        assert!(hashes.get("D", &key(0)).is_none());
        assert!(hashes.get("D", &key(5)).is_some());
        assert!(hashes.get("E", &key(5)).is_none());
        assert_eq!(hashes.count, 0);
    }
}
