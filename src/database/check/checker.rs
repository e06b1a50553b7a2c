//! Scans a store and checks every key.

use std::sync::Arc;

use foundationdb_tuple::unpack;

use super::change_log::check_change_log;
use super::entries::CheckedIndexes;
use super::finding::{CheckReport, Finding, FindingKind, Summary};
use crate::database::catalog::cursor::Cursor;
use crate::database::format::is_known;
use crate::database::index::definition::is_definition;
use crate::database::read::range_plan::covers;
use crate::error::Result;
use crate::key::{
    Family, Ranges, SystemKey, Verify, Version, collection_of, counts_of, split_document,
};
use crate::store::Read;

/// Verifies a store or one collection.
pub struct Check {
    existence: Cursor,
    catalog: Cursor,
    versions: Cursor,
    documents: Cursor,
    entries: Cursor,
    indexes: CheckedIndexes,
    /// The remaining other ranges, in reverse order.
    others: Vec<Cursor>,
    format: FormatState,
    /// The snapshot, until the change log is checked.
    change_log: Option<Arc<dyn Read>>,
    collection: Option<DocumentCounts>,
    document: Option<OpenDocument>,
    report: CheckReport,
    done: bool,
}

/// The state of the check of the format key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormatState {
    /// Not checked.
    Ignored,
    Missing,
    Seen,
}

/// The documents of a collection, as counted in the catalog and as found.
pub(crate) struct DocumentCounts {
    /// The packed name of the collection.
    key: Vec<u8>,
    counted: i64,
    entered: i64,
}

/// A document whose leaves are being read.
pub(crate) struct OpenDocument {
    key: Vec<u8>,
    verify: Verify,
    /// The key of the last pair.
    last: Vec<u8>,
}

impl Check {
    /// Creates a check of a whole snapshot, or of one collection.
    pub fn new(read: &Arc<dyn Read>, collection: Option<&str>) -> Self {
        let ranges = Ranges::new(collection);
        let cursor = |(begin, end)| Cursor::new(read.clone(), begin, end);
        Self {
            existence: cursor(ranges.existence),
            catalog: cursor(ranges.catalog),
            versions: cursor(ranges.versions),
            documents: cursor(ranges.documents),
            entries: cursor(ranges.entries),
            indexes: CheckedIndexes::new(read.clone()),
            others: ranges.others.into_iter().rev().map(cursor).collect(),
            format: match collection {
                Some(_) => FormatState::Ignored,
                None => FormatState::Missing,
            },
            change_log: collection.is_none().then(|| read.clone()),
            collection: None,
            document: None,
            report: CheckReport::default(),
            done: false,
        }
    }

    /// Returns the next finding. None at the end.
    ///
    /// # Errors
    /// Errors of the store.
    pub async fn next(&mut self) -> Result<Option<Finding>> {
        loop {
            if let Some(finding) = self.report.found.pop_front() {
                return Ok(Some(finding));
            }
            if self.done {
                return Ok(None);
            }
            self.step().await?;
        }
    }

    /// Returns the counters so far.
    pub fn summary(&self) -> Summary {
        self.report.summary
    }

    /// Checks the next pair, or the next document.
    async fn step(&mut self) -> Result<()> {
        if !self.others.is_empty() {
            return self.other().await;
        }
        if let Some(read) = self.change_log.take() {
            return check_change_log(&read, &mut self.report).await;
        }
        if let Some((key, value)) = self.entries.peek().await? {
            self.report.see(key, value);
            self.indexes
                .check_entry(key, value, &mut self.report)
                .await?;
            self.entries.advance();
            return Ok(());
        }
        if self.document.is_some() {
            return self.leaf().await;
        }
        if self.misplaced().await? {
            return Ok(());
        }
        self.begin().await
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
                    .tell(FindingKind::NoFormat, &Family::Format.key()?);
            }
            return Ok(());
        };
        self.report.see(key, value);
        match SystemKey::parse(key) {
            Some(SystemKey::Format) => {
                self.format = FormatState::Seen;
                if !unpack::<(i64,)>(value).is_ok_and(|(format,)| is_known(format)) {
                    self.report.tell(FindingKind::FormatValue, key);
                }
            }
            Some(_) => {}
            None if key.first() == Some(&0) => self.report.tell(FindingKind::UnknownKey, key),
            None => self.report.tell(FindingKind::Foreign, key),
        }
        cursor.advance();
        Ok(())
    }

    /// Reports and skips the next key that is invalid in its range. Returns whether there was one.
    async fn misplaced(&mut self) -> Result<bool> {
        for cursor in [&mut self.existence, &mut self.catalog, &mut self.versions] {
            if let Some((key, value)) = cursor.peek().await?
                && SystemKey::parse(key).is_none()
            {
                self.report.see(key, value);
                self.report.tell(FindingKind::UnknownKey, key);
                cursor.advance();
                return Ok(true);
            }
        }
        let Some((key, _)) = self.documents.peek().await? else {
            return Ok(false);
        };
        let Err(bytes) = split_document(key) else {
            return Ok(false);
        };
        let (prefix, alone) = (key[..bytes].to_vec(), key.len() == bytes);
        self.report.tell(FindingKind::Foreign, &prefix);
        // A key that ends where an id is expected, or in an invalid id, has no keys below it.
        while let Some((key, value)) = self.documents.peek().await?
            && covers(&prefix, key)
            && (!alone || key == prefix)
        {
            self.report.see(key, value);
            self.documents.advance();
        }
        Ok(true)
    }

    /// Begins the next document, or checks a pair of the catalog. The catalog pairs of a collection
    /// precede its documents. Every cursor is at a valid key of its range.
    async fn begin(&mut self) -> Result<()> {
        let catalog = self.catalog.peek().await?;
        let catalog = catalog.and_then(|(key, _)| SystemKey::parse(key)?.collection());
        let catalog = catalog.map(<[u8]>::to_vec);
        let document = self.next_document().await?;
        match (catalog, document) {
            (Some(collection), document)
                if document
                    .as_ref()
                    .is_none_or(|document| &collection <= document) =>
            {
                self.enter(&collection);
                self.count().await
            }
            (_, Some(document)) => {
                self.enter(collection_of(&document));
                self.document(document).await
            }
            (_, None) => {
                self.settle();
                self.done = true;
                Ok(())
            }
        }
    }

    /// Returns the key of the first document that has a catalog entry, a version or a leaf.
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

    /// Makes a collection the current one.
    fn enter(&mut self, collection: &[u8]) {
        if self
            .collection
            .as_ref()
            .is_none_or(|tally| tally.key != collection)
        {
            self.settle();
            self.collection = Some(DocumentCounts {
                key: collection.to_vec(),
                counted: 0,
                entered: 0,
            });
        }
    }

    /// Completes the check of the current collection.
    fn settle(&mut self) {
        if let Some(tally) = self.collection.take()
            && tally.counted != tally.entered
        {
            let DocumentCounts {
                key,
                counted,
                entered,
            } = tally;
            self.report
                .tell(FindingKind::Count { counted, entered }, &counts_of(&key));
        }
    }

    /// Checks a catalog pair of the current collection.
    async fn count(&mut self) -> Result<()> {
        let Some((key, value)) = self.catalog.peek().await? else {
            return Ok(());
        };
        self.report.see(key, value);
        match (SystemKey::parse(key), &mut self.collection) {
            (Some(SystemKey::Count(_)), Some(tally)) => match value.try_into() {
                Ok(count) => {
                    tally.counted = tally.counted.wrapping_add(i64::from_le_bytes(count));
                }
                Err(_) => self.report.tell(FindingKind::CountValue, key),
            },
            (Some(SystemKey::Definition(_)), _) if !is_definition(key, value) => {
                self.report.tell(FindingKind::Definition, key);
            }
            _ => {}
        }
        self.catalog.advance();
        Ok(())
    }

    /// Checks the catalog entry and the version of a document, and whether it has leaves.
    async fn document(&mut self, document: Vec<u8>) -> Result<()> {
        let report = &mut self.report;
        let entry = said(&mut self.existence, &document, report).await?;
        let version = said(&mut self.versions, &document, report).await?;
        let leaf = self.documents.peek().await?;
        let leaves = leaf.is_some_and(|(key, _)| covers(&document, key));
        match (&entry, &version, leaves) {
            (Some(entry), _, false) => report.tell(FindingKind::NoLeaves, entry),
            (None, Some(version), true) => report.tell(FindingKind::NotEntered, version),
            (None, Some(version), false) => report.tell(FindingKind::VersionAlone, version),
            (None, None, _) => report.tell(FindingKind::NotAdopted, &document),
            (Some(_), _, true) => {}
        }
        if entry.is_some() {
            self.indexes.check_document(&document, report).await?;
            report.summary.documents += 1;
            if let Some(tally) = &mut self.collection {
                tally.entered += 1;
            }
        }
        self.document = leaves.then(|| OpenDocument {
            last: Vec::new(),
            key: document,
            verify: Verify::default(),
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
                        .tell(FindingKind::Pair(malformed), &document.last);
                }
                if let Some(malformed) = found.here {
                    self.report.tell(FindingKind::Pair(malformed), key);
                }
                document.last.clear();
                document.last.extend_from_slice(key);
                self.documents.advance();
            }
            _ => {
                if let Some(malformed) = document.verify.finish() {
                    self.report
                        .tell(FindingKind::Pair(malformed), &document.last);
                }
                self.report.summary.leaves += document.verify.leaves();
                self.document = None;
            }
        }
        Ok(())
    }
}

/// Returns the key of the catalog entry or version of a document if the cursor is at it. Checks its
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
                report.tell(FindingKind::ExistenceValue, key);
            }
        }
        Some(SystemKey::Version(said)) if said == document => {
            let id = Family::document_id(document, collection_of(document).len());
            if id.is_ok_and(|(id, _)| Version::of_document(&id, value).is_none()) {
                report.tell(FindingKind::VersionValue, key);
            }
        }
        _ => return Ok(None),
    }
    report.see(key, value);
    let key = key.to_vec();
    cursor.advance();
    Ok(Some(key))
}
