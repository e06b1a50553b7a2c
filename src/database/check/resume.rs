//! Continues a check in another snapshot.

use super::bounds::{GrowthBound, last_key};
use super::checker::{Check, OpenDocument};
use super::snapshots::changed;
use crate::database::document_key::prefix_end;
use crate::error::{Error, Result};
use crate::key::{Entry, FamilyRange, IndexKey, OwnKey, SystemKey, collection_of};
use crate::limits::CHECK_TRIES_MAX;
use crate::store::{Read, key_after};

impl Check {
    /// Takes another snapshot after an error, if that helps.
    pub(super) async fn renew(&mut self, error: Error) -> Result<()> {
        self.renewals = if self.has_progress {
            0
        } else {
            self.renewals + 1
        };
        if self.renewals >= CHECK_TRIES_MAX {
            return Err(error);
        }
        let failed = self.snapshots.current().number;
        self.snapshots.after(failed, error).await?;
        self.has_progress = false;
        Ok(())
    }

    /// Continues in the current snapshot of the check.
    pub(super) async fn resume(&mut self) -> Result<()> {
        let snapshot = self.snapshots.current();
        let read = &snapshot.read;
        self.prepared = 0;
        self.indexes.resume(snapshot.clone()).await?;
        self.bound(&**read).await?;
        let is_same = match &self.document {
            Some(document) => Some(document.is_same(&**read).await?),
            None => None,
        };
        for cursor in &mut self.others {
            cursor.resume(read.clone());
        }
        if let Some(change_log) = &mut self.change_log {
            change_log.resume(read.clone());
        }
        self.entries.resume(read.clone());
        self.catalog.resume(read.clone());
        if is_same == Some(true) {
            self.documents.resume(read.clone());
        } else {
            self.restart_document();
            let (begin, end) = match &self.last {
                Some(last) => (Some(&last[..]), prefix_end(last)),
                None => (None, self.ranges.documents.0.clone()),
            };
            let of = |entry: Entry, range: &FamilyRange| {
                begin.map_or(range.0.clone(), |last| key_after(&entry.key_of(last)))
            };
            let existence = of(Entry::Existence, &self.ranges.existence);
            let versions = of(Entry::Version, &self.ranges.versions);
            self.existence.renew(read.clone(), existence);
            self.versions.renew(read.clone(), versions);
            self.documents.renew(read.clone(), end);
        }
        if let (Some(true), Some(document)) = (is_same, &self.document) {
            let after = |entry: Entry| key_after(&entry.key_of(&document.key));
            self.existence.renew(read.clone(), after(Entry::Existence));
            self.versions.renew(read.clone(), after(Entry::Version));
        }
        self.snapshot = snapshot;
        Ok(())
    }

    /// Forgets what was found in the current document, because it will be read again, or reports that
    /// it cannot be verified.
    fn restart_document(&mut self) {
        let Some(document) = self.document.take() else {
            return;
        };
        if document.tries >= CHECK_TRIES_MAX {
            let error = changed("the document");
            self.report.add_unverified(error.message(), &document.key);
            self.last = Some(document.key);
            return;
        }
        let (summary, collection) = document.before;
        self.report.summary = summary;
        self.report.found.clear();
        self.collection = collection;
        self.unchecked.pop_if(|last| *last == document.key);
        self.tries = Some((document.key, document.tries));
    }
}

impl Check {
    /// Bounds the current index and the current collection in another snapshot, unless they are
    /// bounded.
    ///
    /// # Errors
    /// Errors of the store.
    async fn bound(&mut self, read: &dyn Read) -> Result<()> {
        if let Some((begin, end)) = self.current_index()?
            && self.index_bound.as_ref().is_none_or(|it| it.begin != begin)
        {
            let last = last_key(read, &begin, &end).await?;
            self.index_bound = Some(GrowthBound { begin, end, last });
        }
        let document = self.document.as_ref().map(|document| &document.key);
        if let Some(document) = document.or(self.last.as_ref()) {
            let begin = collection_of(document).to_vec();
            let end = prefix_end(&begin);
            if self
                .collection_bound
                .as_ref()
                .is_none_or(|it| it.begin != begin)
            {
                let leaf = last_key(read, &begin, &end).await?;
                let entries = [&begin, &end].map(|key| Entry::Existence.key_of(key));
                let entry = last_key(read, &entries[0], &entries[1]).await?;
                let last = leaf.max(Entry::Existence.document(&entry).to_vec());
                self.collection_bound = Some(GrowthBound { begin, end, last });
            }
        }
        Ok(())
    }

    /// The range of the index whose entry was checked last.
    fn current_index(&self) -> Result<Option<(Vec<u8>, Vec<u8>)>> {
        let position = self.entries.position();
        let Some(SystemKey::Entry(packed, number)) = SystemKey::parse(&position) else {
            return Ok(None);
        };
        match OwnKey::of(packed).collection {
            Some(collection) => Ok(Some(IndexKey::new(&collection, number)?.all())),
            None => Ok(None),
        }
    }

    /// Skips the rest of the current index if its next entry, with this key, is not checked. Returns
    /// whether it did.
    pub(super) fn skips_entry(&mut self, key: &[u8]) -> bool {
        let Some(end) = self.index_bound.as_ref().and_then(|it| it.end_for(key)) else {
            return false;
        };
        self.entries.seek(end);
        self.prepared = 0;
        true
    }

    /// Skips the rest of the current collection if this document is not checked. Returns whether it
    /// did.
    pub(super) fn skips_document(&mut self, document: &[u8]) -> bool {
        let bound = self.collection_bound.as_ref();
        let Some(end) = bound.and_then(|it| it.end_for(document)) else {
            return false;
        };
        self.existence.seek(&Entry::Existence.key_of(end));
        self.versions.seek(&Entry::Version.key_of(end));
        self.documents.seek(end);
        true
    }
}

impl OpenDocument {
    /// Whether the document is the same in another snapshot: every change changes its version. A
    /// document without a version may have changed.
    async fn is_same(&self, read: &dyn Read) -> Result<bool> {
        let key = Entry::Version.key_of(&self.key);
        Ok(self.version.is_some() && read.get(&key).await? == self.version)
    }
}
