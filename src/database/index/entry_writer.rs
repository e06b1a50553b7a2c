//! Writes the entries of one document in one index.

use futures::future::try_join_all;

use super::definition::{Index, IndexPath};
use super::entries::Row;
use crate::budget::{Budget, begun_in_turns};
use crate::database::document_key::{DocumentKey, is_pending};
use crate::database::open::unique_values::{UniqueIndex, check_now, written};
use crate::error::{ErrorKind, Result};
use crate::key::{IndexKey, Version};
use crate::limits::{INDEX_READS_AT_ONCE, STEPS_PER_WRITE};
use crate::store::Transaction;

/// Writes the entries of one document in one index.
pub(crate) struct EntryWriter<'w> {
    transaction: &'w dyn Transaction,
    budget: &'w Budget,
    document: &'w DocumentKey,
    index: &'w Index,
    key: IndexKey,
    /// Whether each entry is checked before it is written, and not at the end of the operation.
    checks_now: bool,
}

impl<'w> EntryWriter<'w> {
    /// # Errors
    /// `KEY_TOO_LONG`: the collection's name is too long.
    pub(crate) fn new(
        transaction: &'w dyn Transaction,
        budget: &'w Budget,
        document: &'w DocumentKey,
        index: &'w Index,
    ) -> Result<Self> {
        Ok(Self {
            transaction,
            budget,
            document,
            index,
            key: IndexKey::new(&document.collection, index.number)?,
            // The entry of a document whose id is not known yet cannot be read.
            checks_now: is_pending(&document.id),
        })
    }

    /// What the check of the values needs to know of the index.
    fn unique_index(&self) -> UniqueIndex {
        let paths = self.index.on.iter().map(IndexPath::text);
        UniqueIndex {
            collection: self.document.collection.clone(),
            number: self.index.number,
            name: self.index.name.clone(),
            paths: paths.map(str::to_owned).collect(),
            key: self.key.clone(),
        }
    }

    /// Checks each entry in a unique index before it is written.
    pub(crate) fn checking_now(mut self) -> Self {
        self.checks_now = true;
        self
    }

    /// Clears the entries with these values. Values that do not fit into a key have no entry and
    /// are skipped.
    ///
    /// # Errors
    /// [`ErrorKind::Exhausted`].
    pub(crate) async fn clear(
        &self,
        row: &Row,
        values: impl IntoIterator<Item = &Vec<u8>, IntoIter: Send>,
    ) -> Result<()> {
        for value in values {
            match self.key.entry(&row.packed(value), &self.document.id) {
                Ok(entry) => self.transaction.clear(&entry),
                Err(error) if error.kind() == ErrorKind::KeyTooLong => {}
                Err(error) => return Err(error),
            }
            self.budget.pace(STEPS_PER_WRITE).await?;
        }
        Ok(())
    }

    /// Checks now that no other document has values in a unique index, or records them for the check
    /// at the end of the operation.
    async fn check_or_record(&self, values: &[Vec<u8>]) -> Result<()> {
        let (transaction, document) = (self.transaction, self.document);
        if self.checks_now {
            let index = self.unique_index();
            let checks = values
                .iter()
                .map(|values| check_now(transaction, &index, &document.id, values));
            return try_join_all(begun_in_turns(checks)).await.map(drop);
        }
        let index = || self.unique_index();
        written(
            transaction,
            self.budget,
            document,
            self.index.number,
            index,
            values,
        )
    }

    /// Sets the entries with these values. Returns the total length of their keys in bytes. Whether
    /// the values are unique is checked at the end of the operation, by
    /// [`unique_violation`](crate::database::unique_violation).
    ///
    /// # Errors
    /// `UNIQUE_VIOLATION`, if each entry is checked now. `KEY_TOO_LONG`: an entry exceeds the limit on keys.
    /// [`ErrorKind::Exhausted`]. Errors of the store.
    pub(crate) async fn set(
        &self,
        row: &Row,
        values: impl IntoIterator<Item = &Vec<u8>>,
    ) -> Result<usize> {
        let packed: Vec<Vec<u8>> = values.into_iter().map(|value| row.packed(value)).collect();
        let is_pending = is_pending(&self.document.id);
        let mut bytes = 0;
        for some in packed.chunks(INDEX_READS_AT_ONCE) {
            if self.index.unique {
                self.check_or_record(some).await?;
            }
            for values in some {
                let entry = self.key.entry(values, &self.document.id);
                let entry =
                    entry.map_err(|error| error.at(format!("the index {:?}", self.index.name)))?;
                if is_pending {
                    // The entry ends with the id.
                    let stamp_at = entry.len() - Version::PLACEHOLDER.len();
                    self.transaction
                        .set_versionstamped_key(&entry, stamp_at, row.forms());
                } else {
                    self.transaction.set(&entry, row.forms());
                }
                bytes += entry.len();
            }
            self.budget
                .pace(STEPS_PER_WRITE * some.len() as u64)
                .await?;
        }
        Ok(bytes)
    }
}
