//! Counts the documents of a collection during a check.

use super::checker::{Check, DocumentCounts};
use super::count::{Counted, count_again, stored_count};
use super::finding::FindingKind;
use super::snapshots::in_one_snapshot;
use crate::database::index::definition::is_definition;
use crate::database::types::define::stored_type;
use crate::error::{ErrorKind, Result};
use crate::key::{SystemKey, counts_of, name_of_collection};

impl Check {
    /// Makes a collection the current one. Returns false if another one must be completed first.
    pub(super) async fn enter(&mut self, collection: &[u8]) -> Result<bool> {
        if let Some(tally) = &self.collection {
            if tally.key == collection {
                return Ok(true);
            }
            return self.settle().await;
        }
        self.collection = Some(DocumentCounts {
            key: collection.to_vec(),
            counted: 0,
            entered: 0,
            snapshot: self.snapshot.number,
        });
        Ok(true)
    }

    /// Does the next step to complete the check of the current collection. Returns whether there is
    /// none.
    pub(super) async fn settle(&mut self) -> Result<bool> {
        if !self.unchecked.is_empty() {
            self.check_documents().await?;
            return Ok(false);
        }
        let Some(tally) = &self.collection else {
            return Ok(true);
        };
        let key = counts_of(&tally.key);
        let mut found = Some(Counted {
            counted: tally.counted,
            entered: tally.entered,
        });
        if tally.snapshot != self.snapshot.number
            && (tally.counted != tally.entered
                || stored_count(&self.snapshots, &tally.key).await? != tally.counted)
        {
            found = count_again(&self.snapshots, &tally.key).await?;
        }
        match found {
            Some(Counted { counted, entered }) if counted != entered => {
                let kind = FindingKind::Count { counted, entered };
                self.report.add(kind, &key);
            }
            Some(_) => {}
            None => self.report.add_unverified(
                "the number of documents changed while they were counted",
                &key,
            ),
        }
        self.collection = None;
        Ok(false)
    }

    /// Whether the type of a collection is not damaged.
    async fn is_type_whole(&self, collection: &str) -> Result<bool> {
        let read = in_one_snapshot!(self.snapshots, |read| stored_type(read, collection));
        match read {
            Err(error) if error.kind() == ErrorKind::Internal => Ok(false),
            read => read.map(|_| true),
        }
    }

    /// Checks a catalog pair of the current collection.
    pub(super) async fn count(&mut self) -> Result<()> {
        let Some((key, value)) = self.catalog.peek().await? else {
            return Ok(());
        };
        self.report.see(key, value);
        match (SystemKey::parse(key), &mut self.collection) {
            (Some(SystemKey::Count(_)), Some(tally)) => match value.try_into() {
                Ok(count) => {
                    tally.counted = tally.counted.wrapping_add(i64::from_le_bytes(count));
                }
                Err(_) => self.report.add(FindingKind::CountValue, key),
            },
            (Some(SystemKey::Definition(_)), _) if !is_definition(key, value) => {
                self.report.add(FindingKind::Definition, key);
            }
            (Some(SystemKey::Type(collection)), _) => {
                let key = key.to_vec();
                if let Some((name, _)) = name_of_collection(collection)
                    && !self.is_type_whole(&name).await?
                {
                    self.report.add(FindingKind::TypeDefinition, &key);
                }
            }
            _ => {}
        }
        self.catalog.advance();
        Ok(())
    }
}
