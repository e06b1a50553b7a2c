//! Writes the entries of one document in one index.

use futures::future::try_join_all;

use super::definition::{Index, IndexPath};
use super::entries::Row;
use crate::budget::Budget;
use crate::database::document_key::{DocumentKey, prefix_end};
use crate::database::versionstamp::is_pending;
use crate::document::id::DocumentId;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{IndexKey, IndexValue, Rank, Version};
use crate::limits::{INDEX_READS_AT_ONCE, STEPS_PER_WRITE};
use crate::store::{RangeRead, Transaction};

/// Writes the entries of one document in one index.
pub(crate) struct EntryWriter<'w> {
    transaction: &'w dyn Transaction,
    budget: &'w Budget,
    document: &'w DocumentKey,
    index: &'w Index,
    key: IndexKey,
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
        })
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

    /// Sets the entries with these values. Returns the total length of their keys in bytes.
    ///
    /// # Errors
    /// `UNIQUE_VIOLATION`. `KEY_TOO_LONG`: an entry exceeds the limit on keys.
    /// [`ErrorKind::Exhausted`]. Errors of the store.
    pub(crate) async fn set(
        &self,
        row: &Row,
        values: impl IntoIterator<Item = &Vec<u8>>,
    ) -> Result<usize> {
        let packed = values.into_iter().map(|value| row.packed(value));
        let packed: Vec<Vec<u8>> = packed.collect();
        let is_pending = is_pending(&self.document.id);
        let mut bytes = 0;
        for some in packed.chunks(INDEX_READS_AT_ONCE) {
            if self.index.unique {
                try_join_all(some.iter().map(|values| self.check_unique(values))).await?;
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

    /// Checks that no other document has these values. A missing value is never a violation.
    async fn check_unique(&self, values: &[u8]) -> Result<()> {
        let columns: Vec<IndexValue> = IndexValue::split_all(values).collect();
        if columns.iter().any(|value| value.rank() == Rank::Missing) {
            return Ok(());
        }
        let (begin, end) = self.key.span(values, &prefix_end(values));
        let found = self
            .transaction
            .range(RangeRead::new(&begin, &end).at_most(2))
            .await?;
        let mut others = found.pairs.iter().filter_map(|(entry, _)| {
            let (_, id) = self.key.parse(entry, columns.len())?;
            (id != self.document.id).then_some(id)
        });
        match others.next() {
            None => Ok(()),
            Some(other) => Err(violation(self.document, self.index, &columns, &other)),
        }
    }
}

fn violation(
    document: &DocumentKey,
    index: &Index,
    columns: &[IndexValue],
    other: &DocumentId,
) -> Error {
    let on = index.on.iter().map(IndexPath::text);
    let values: Vec<String> = on
        .zip(columns)
        .map(|(path, value)| format!("{} at {path}", value.text()))
        .collect();
    let DocumentKey { collection, id } = document;
    Error::new(
        ErrorKind::UniqueViolation,
        format!(
            "the unique index {:?} of the collection {collection:?} has {} of the document \
             {other} already, so the document {id} cannot have it",
            index.name,
            values.join(", "),
        ),
    )
}
