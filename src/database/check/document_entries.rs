//! Checks that documents have all their index entries.

use std::collections::BTreeSet;

use futures::future::try_join_all;
use futures::{FutureExt as _, StreamExt as _, TryStreamExt as _, stream};

use super::document_read::DocumentRead;
use super::entries::{CheckedIndexes, document_key, verified};
use super::finding::{CheckReport, FindingKind};
use crate::database::document_key::DocumentKey;
use crate::database::index::definition::{Index, State};
use crate::document::path::Place;
use crate::error::{ErrorKind, Result};
use crate::key::IndexKey;
use crate::limits::{CHECK_DOCUMENTS_AT_ONCE, CHECK_TRIES_MAX, INDEX_READS_AT_ONCE};
use crate::store::Read as _;

impl CheckedIndexes {
    /// Checks that documents have all their entries in the ready indexes. They are of one
    /// collection.
    pub(crate) async fn check_documents(
        &mut self,
        documents: &[Vec<u8>],
        report: &mut CheckReport,
    ) -> Result<()> {
        let keys: Vec<DocumentKey> = documents
            .iter()
            .filter_map(|document| document_key(document))
            .collect();
        let Some(first) = keys.first() else {
            return Ok(());
        };
        let indexes = self.of(&first.collection).await?;
        let mut compared = Vec::new();
        for (key, document) in keys.iter().zip(documents) {
            for index in indexes.iter().filter(|it| it.state == State::Ready) {
                compared.push(self.check_document(key, document, index).boxed());
            }
        }
        let compared = stream::iter(compared).buffered(CHECK_DOCUMENTS_AT_ONCE);
        let reports: Vec<CheckReport> = compared.try_collect().await?;
        for found in reports {
            report.append(found);
        }
        Ok(())
    }

    async fn check_document(
        &self,
        key: &DocumentKey,
        document: &[u8],
        index: &Index,
    ) -> Result<CheckReport> {
        let mut found = CheckReport::default();
        let checked = self.check_entries_of(key, index, &mut found).await;
        verified(checked, document, &mut found)?;
        Ok(found)
    }

    async fn check_entries_of(
        &self,
        document: &DocumentKey,
        index: &Index,
        report: &mut CheckReport,
    ) -> Result<()> {
        let mut tries = 1;
        loop {
            let mut found = CheckReport::default();
            let Some(read) = self.begin(document, index, None).await? else {
                return Ok(());
            };
            if !read.is_entered() {
                return Ok(());
            }
            match self
                .missing_entries(&read, document, index, &mut found)
                .await
            {
                Err(error) if error.kind() == ErrorKind::Conflict && tries < CHECK_TRIES_MAX => {
                    tries += 1;
                }
                checked => {
                    report.append(found);
                    return checked;
                }
            }
        }
    }

    async fn missing_entries(
        &self,
        read: &DocumentRead,
        document: &DocumentKey,
        index: &Index,
        report: &mut CheckReport,
    ) -> Result<()> {
        let key = IndexKey::new(&document.collection, index.number)?;
        let mut entries = self.entries_of(read, document, index).await?;
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
                let found = try_join_all(some.iter().map(|entry| read.get(entry))).await?;
                for (entry, _) in some.iter().zip(found).filter(|(_, found)| found.is_none()) {
                    if reported.len() >= INDEX_READS_AT_ONCE {
                        reported.clear();
                    }
                    if reported.insert(entry.clone()) {
                        report.add(FindingKind::NoEntry, entry);
                    }
                }
            }
        }
        if !fits || entries.skipped() {
            report.add(
                FindingKind::ValueNotIndexed,
                &document.place(&Place::default())?,
            );
        }
        Ok(())
    }
}
