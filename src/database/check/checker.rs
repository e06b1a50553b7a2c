//! Scans a store and checks every key.

use std::sync::Arc;

use foundationdb_tuple::unpack;
use futures::future::BoxFuture;

use super::bounds::GrowthBound;
use super::change_log::ChangeLogCheck;
use super::entries::CheckedIndexes;
use super::finding::{CheckReport, Finding, FindingKind, Summary};
use super::snapshots::{CheckSnapshot, CheckSnapshots};
use crate::database::catalog::cursor::Cursor;
use crate::database::document_key::covers;
use crate::database::format::is_known;
use crate::error::Result;
use crate::key::{
    Family, FamilyRange, Ranges, SystemKey, Verify, Version, collection_of, split_document,
};
use crate::limits::CHECK_FINDINGS_MAX;
use crate::store::{Read, Store, key_after};

/// Verifies a store or one collection.
pub struct Check {
    pub(super) snapshots: Arc<CheckSnapshots>,
    /// The snapshot of the cursors.
    pub(super) snapshot: CheckSnapshot,
    /// Whether something was checked in this snapshot.
    pub(super) has_progress: bool,
    /// How many snapshots in a row, up to this one, were dropped before anything was checked.
    pub(super) renewals: usize,
    pub(super) ranges: Ranges,
    pub(super) existence: Cursor,
    pub(super) catalog: Cursor,
    pub(super) versions: Cursor,
    pub(super) documents: Cursor,
    pub(super) entries: Cursor,
    pub(super) indexes: CheckedIndexes,
    /// The remaining other ranges, in reverse order.
    pub(super) others: Vec<Cursor>,
    pub(super) format: FormatState,
    /// Until the change log is checked.
    pub(super) change_log: Option<ChangeLogCheck>,
    pub(super) collection: Option<DocumentCounts>,
    pub(super) document: Option<OpenDocument>,
    /// The key of the last document that was checked in full.
    pub(super) last: Option<Vec<u8>>,
    /// The end of the check in the current index, which may grow.
    pub(super) index_bound: Option<GrowthBound>,
    /// The end of the check in the current collection, which may grow.
    pub(super) collection_bound: Option<GrowthBound>,
    /// Documents of the collection whose index entries are checked next.
    pub(super) unchecked: Vec<Vec<u8>>,
    /// Keys in the wrong place that were reported, and that a later snapshot may show again.
    pub(super) misplaced: Misplaced,
    pub(super) report: CheckReport,
    /// Index entries from the current one on whose documents were read.
    pub(super) prepared: usize,
    /// A document that is read again, and how often it was read.
    pub(super) tries: Option<(Vec<u8>, usize)>,
    pub(super) done: bool,
}

/// Index entries whose documents are read at the same time.
const ENTRIES_TOGETHER: usize = 64;
/// Documents whose index entries are read at the same time.
const DOCUMENTS_TOGETHER: usize = 32;

/// The state of the check of the format key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormatState {
    /// Not checked.
    Ignored,
    Missing,
    Seen,
}

/// The documents of a collection, as counted in the catalog and as found.
#[derive(Clone)]
pub(crate) struct DocumentCounts {
    /// The packed name of the collection.
    pub(super) key: Vec<u8>,
    pub(super) counted: i64,
    pub(super) entered: i64,
    /// The number of the snapshot in which it was begun.
    pub(super) snapshot: u64,
}

/// The last keys in the wrong place that were reported.
#[derive(Default)]
pub(crate) struct Misplaced {
    /// In the catalog entries, the catalog and the versions.
    system: [Vec<u8>; 3],
    /// In the documents, with the prefix that was reported.
    foreign: Option<(Vec<u8>, Vec<u8>)>,
}

/// A document whose leaves are being read.
pub(crate) struct OpenDocument {
    pub(super) key: Vec<u8>,
    pub(super) verify: Verify,
    /// The key of the last pair.
    pub(super) last: Vec<u8>,
    /// The value of its version, if it has one.
    pub(super) version: Option<Vec<u8>>,
    /// How often the document was read.
    pub(super) tries: usize,
    /// The counters before the document.
    pub(super) before: (Summary, Option<DocumentCounts>),
}

impl Check {
    /// Creates a check of one snapshot, or of one collection in it. It ends with an error when the
    /// engine drops the snapshot.
    pub fn new(read: &Arc<dyn Read>, collection: Option<&str>) -> Self {
        Self::within(CheckSnapshots::only(read.clone()), collection)
    }

    /// Creates a check of a store, or of one collection. It continues in later snapshots if
    /// the engine does not keep the first one long enough.
    ///
    /// # Errors
    /// As [`Store::snapshot`].
    pub fn of_store(
        store: Arc<dyn Store>,
        collection: Option<&str>,
    ) -> BoxFuture<'_, Result<Self>> {
        Box::pin(async move { Ok(Self::within(CheckSnapshots::of(store).await?, collection)) })
    }

    fn within(snapshots: CheckSnapshots, collection: Option<&str>) -> Self {
        let snapshots = Arc::new(snapshots);
        let snapshot = snapshots.current();
        let read = snapshot.read.clone();
        let ranges = Ranges::new(collection);
        let cursor =
            |(begin, end): &FamilyRange| Cursor::new(read.clone(), begin.clone(), end.clone());
        Self {
            existence: cursor(&ranges.existence),
            catalog: cursor(&ranges.catalog),
            versions: cursor(&ranges.versions),
            documents: cursor(&ranges.documents),
            entries: cursor(&ranges.entries),
            indexes: CheckedIndexes::new(snapshots.clone()),
            others: ranges.others.iter().rev().map(cursor).collect(),
            ranges,
            format: match collection {
                Some(_) => FormatState::Ignored,
                None => FormatState::Missing,
            },
            change_log: collection.is_none().then(|| ChangeLogCheck::new(read)),
            collection: None,
            document: None,
            last: None,
            index_bound: None,
            collection_bound: None,
            unchecked: Vec::new(),
            misplaced: Misplaced::default(),
            report: CheckReport::default(),
            done: false,
            prepared: 0,
            tries: None,
            has_progress: false,
            renewals: 0,
            snapshots,
            snapshot,
        }
    }

    /// The next finding. None at the end.
    ///
    /// # Errors
    /// Errors of the store.
    pub fn next_finding(&mut self) -> BoxFuture<'_, Result<Option<Finding>>> {
        Box::pin(self.find_next())
    }

    async fn find_next(&mut self) -> Result<Option<Finding>> {
        loop {
            // The findings about a document that is read again are dropped.
            let held = self.document.is_some() && self.report.found.len() < CHECK_FINDINGS_MAX;
            if !held && let Some(finding) = self.report.found.pop_front() {
                return Ok(Some(finding));
            }
            if self.done {
                return Ok(None);
            }
            let is_current = self.snapshots.current().number == self.snapshot.number;
            let checked = if is_current {
                self.step().await
            } else {
                self.resume().await
            };
            match checked {
                Ok(()) => self.has_progress |= is_current,
                Err(error) => self.renew(error).await?,
            }
        }
    }

    /// The counters so far.
    pub fn summary(&self) -> Summary {
        self.report.summary
    }

    /// Checks the next pair, or the next document.
    async fn step(&mut self) -> Result<()> {
        if !self.others.is_empty() {
            return self.other().await;
        }
        if let Some(change_log) = &mut self.change_log {
            if !change_log.step(&mut self.report).await? {
                self.change_log = None;
            }
            return Ok(());
        }
        if self.entries.peek().await?.is_some() {
            return self.entry().await;
        }
        if self.document.is_some() {
            return self.leaf().await;
        }
        if self.unchecked.len() >= DOCUMENTS_TOGETHER {
            return self.check_documents().await;
        }
        if self.misplaced().await? {
            return Ok(());
        }
        self.begin().await
    }

    /// Checks the next index entry.
    async fn entry(&mut self) -> Result<()> {
        let key = self.entries.peek().await?.map(|(key, _)| key.to_vec());
        if key.is_some_and(|key| self.skips_entry(&key)) {
            return Ok(());
        }
        if self.prepared == 0 {
            let ahead: Vec<_> = self
                .entries
                .ahead(self.together(ENTRIES_TOGETHER))
                .map(|(key, _)| key.to_vec())
                .collect();
            self.indexes.prepare(&ahead).await?;
            self.prepared = ahead.len();
        }
        let Some((key, value)) = self.entries.peek().await? else {
            return Ok(());
        };
        let mut found = CheckReport::default();
        found.see(key, value);
        self.indexes.check_entry(key, value, &mut found).await?;
        self.report.append(found);
        self.entries.advance();
        self.prepared = self.prepared.saturating_sub(1);
        Ok(())
    }

    /// Checks the index entries of documents that were read.
    pub(super) async fn check_documents(&mut self) -> Result<()> {
        let first = self.together(DOCUMENTS_TOGETHER).min(self.unchecked.len());
        let mut found = CheckReport::default();
        self.indexes
            .check_documents(&self.unchecked[..first], &mut found)
            .await?;
        self.report.append(found);
        self.unchecked.drain(..first);
        Ok(())
    }

    /// How many parts are read at the same time: fewer if the last snapshots were not kept for long
    /// enough.
    fn together(&self, usually: usize) -> usize {
        (usually >> self.renewals).max(1)
    }

    /// Checks a pair that belongs to no document and no collection.
    async fn other(&mut self) -> Result<()> {
        let Some(cursor) = self.others.last_mut() else {
            return Ok(());
        };
        let Some((key, value)) = cursor.peek().await? else {
            self.others.pop();
            if self.others.is_empty() && self.format == FormatState::Missing {
                self.report
                    .add(FindingKind::NoFormat, &Family::Format.key()?);
            }
            return Ok(());
        };
        self.report.see(key, value);
        match SystemKey::parse(key) {
            Some(SystemKey::Format) => {
                self.format = FormatState::Seen;
                if !unpack::<(i64,)>(value).is_ok_and(|(format,)| is_known(format)) {
                    self.report.add(FindingKind::FormatValue, key);
                }
            }
            Some(_) => {}
            None if key.first() == Some(&0) => self.report.add(FindingKind::UnknownKey, key),
            None => self.report.add(FindingKind::Foreign, key),
        }
        cursor.advance();
        Ok(())
    }

    /// Reports and skips the next key that is invalid in its range. Returns whether there was one.
    async fn misplaced(&mut self) -> Result<bool> {
        let cursors = [&mut self.existence, &mut self.catalog, &mut self.versions];
        for (cursor, reported) in cursors.into_iter().zip(&mut self.misplaced.system) {
            if let Some((key, value)) = cursor.peek().await?
                && SystemKey::parse(key).is_none()
            {
                if key > &reported[..] {
                    self.report.see(key, value);
                    self.report.add(FindingKind::UnknownKey, key);
                    key.clone_into(reported);
                }
                cursor.advance();
                return Ok(true);
            }
        }
        let Some((key, value)) = self.documents.peek().await? else {
            return Ok(false);
        };
        let Err(bytes) = split_document(key) else {
            return Ok(false);
        };
        let reported = &mut self.misplaced.foreign;
        if let Some((_, last)) = reported
            && key <= &last[..]
        {
            let next = key_after(last);
            self.documents.seek(&next);
            return Ok(true);
        }
        // A key that ends where an id is expected, or in an invalid id, has no keys below it.
        let (prefix, alone) = (&key[..bytes], key.len() == bytes);
        let is_reported = reported
            .as_ref()
            .is_some_and(|(prefix, last)| !alone && covers(prefix, key) && last != prefix);
        if !is_reported {
            self.report.add(FindingKind::Foreign, prefix);
        }
        self.report.see(key, value);
        *reported = Some((prefix.to_vec(), key.to_vec()));
        self.documents.advance();
        Ok(true)
    }

    /// Begins the next document, or checks a pair of the catalog. The catalog pairs of a collection
    /// precede its documents. Every cursor is at a valid key of its range.
    async fn begin(&mut self) -> Result<()> {
        let catalog = self
            .catalog
            .peek()
            .await?
            .and_then(|(key, _)| SystemKey::parse(key)?.collection())
            .map(<[u8]>::to_vec);
        let document = self.next_document().await?;
        match (catalog, document) {
            (Some(collection), document)
                if document
                    .as_ref()
                    .is_none_or(|document| &collection <= document) =>
            {
                if self.enter(&collection).await? {
                    self.count().await?;
                }
                Ok(())
            }
            (_, Some(document)) => {
                if self.skips_document(&document) {
                    return Ok(());
                }
                if self.enter(collection_of(&document)).await? {
                    self.document(document).await?;
                }
                Ok(())
            }
            (_, None) => {
                self.done = self.settle().await?;
                Ok(())
            }
        }
    }

    /// The key of the first document that has a catalog entry, a version or a leaf.
    async fn next_document(&mut self) -> Result<Option<Vec<u8>>> {
        let existence = self.existence.peek().await?;
        let versions = self.versions.peek().await?;
        let documents = self.documents.peek().await?;
        let keys = [
            existence.and_then(|(key, _)| SystemKey::parse(key)?.document()),
            versions.and_then(|(key, _)| SystemKey::parse(key)?.document()),
            documents.and_then(|(key, _)| key.get(..split_document(key).ok()?)),
        ];
        Ok(keys.into_iter().flatten().min().map(<[u8]>::to_vec))
    }

    /// Checks the catalog entry and the version of a document, and whether it has leaves.
    async fn document(&mut self, document: Vec<u8>) -> Result<()> {
        // Nothing may fail after the first cursor has moved.
        self.existence.peek().await?;
        let version = self.versions.peek().await?.map(|(_, value)| value.to_vec());
        let leaf = self.documents.peek().await?;
        let leaves = leaf.is_some_and(|(key, _)| covers(&document, key));
        let before = (self.report.summary, self.collection.clone());
        let report = &mut self.report;
        let entry = said(&mut self.existence, &document, report).await?;
        let versioned = said(&mut self.versions, &document, report).await?;
        match (&entry, &versioned, leaves) {
            (Some(entry), _, false) => report.add(FindingKind::NoLeaves, entry),
            (None, Some(version), true) => report.add(FindingKind::NotEntered, version),
            (None, Some(version), false) => report.add(FindingKind::VersionAlone, version),
            (None, None, _) => report.add(FindingKind::NotAdopted, &document),
            (Some(_), _, true) => {}
        }
        if entry.is_some() {
            self.unchecked.push(document.clone());
            report.summary.documents += 1;
            if let Some(tally) = &mut self.collection {
                tally.entered += 1;
            }
        }
        if !leaves {
            self.last = Some(document);
            return Ok(());
        }
        let tries = self.tries.take().filter(|(key, _)| *key == document);
        self.document = Some(OpenDocument {
            last: Vec::new(),
            version: version.filter(|_| versioned.is_some()),
            tries: tries.map_or(0, |(_, tries)| tries) + 1,
            key: document,
            verify: Verify::default(),
            before,
        });
        Ok(())
    }

    /// Checks the next pair of the current document, or completes the document.
    async fn leaf(&mut self) -> Result<()> {
        let Some(document) = &mut self.document else {
            return Ok(());
        };
        match self.documents.peek().await? {
            Some((key, value)) if covers(&document.key, key) => {
                self.report.see(key, value);
                let found = document.verify.push(&key[document.key.len()..], value);
                if let Some(malformed) = found.before {
                    self.report
                        .add(FindingKind::Pair(malformed), &document.last);
                }
                if let Some(malformed) = found.here {
                    self.report.add(FindingKind::Pair(malformed), key);
                }
                document.last.clear();
                document.last.extend_from_slice(key);
                self.documents.advance();
            }
            _ => {
                if let Some(malformed) = document.verify.finish() {
                    self.report
                        .add(FindingKind::Pair(malformed), &document.last);
                }
                self.report.summary.leaves += document.verify.leaves();
                self.last = self.document.take().map(|document| document.key);
            }
        }
        Ok(())
    }
}

/// The key of the catalog entry or version of a document if the cursor is at it. Checks its
/// value.
pub(crate) async fn said(
    cursor: &mut Cursor,
    document: &[u8],
    report: &mut CheckReport,
) -> Result<Option<Vec<u8>>> {
    let Some((key, value)) = cursor.peek().await? else {
        return Ok(None);
    };
    match SystemKey::parse(key) {
        Some(SystemKey::Existence(said)) if said == document => {
            if !value.is_empty() {
                report.add(FindingKind::ExistenceValue, key);
            }
        }
        Some(SystemKey::Version(said)) if said == document => {
            let id = Family::document_id(document, collection_of(document).len());
            if id.is_ok_and(|(id, _)| Version::of_document(&id, value).is_none()) {
                report.add(FindingKind::VersionValue, key);
            }
        }
        _ => return Ok(None),
    }
    report.see(key, value);
    let key = key.to_vec();
    cursor.advance();
    Ok(Some(key))
}
