//! The values that a transaction writes to unique indexes, which are checked at the end of the
//! operation. Values can therefore be swapped or shifted between documents in any order.

use std::collections::BTreeMap;
use std::mem::take;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::budget::{Budget, Reservation};
use crate::database::document_key::{DocumentKey, prefix_end};
use crate::document::id::DocumentId;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{IndexKey, IndexValue, Rank};
use crate::limits::INDEX_READS_AT_ONCE;
use crate::store::{RangeRead, Transaction};

/// What the check of a unique index needs to know of it.
pub(crate) struct UniqueIndex {
    pub(crate) collection: String,
    pub(crate) number: u64,
    pub(crate) name: String,
    /// The text of the path of each column.
    pub(crate) paths: Vec<String>,
    pub(crate) key: IndexKey,
}

/// A document that has values that another document has in a unique index.
#[derive(Debug)]
pub struct UniqueViolation {
    /// The document that was written last.
    pub document: DocumentKey,
    /// `UNIQUE_VIOLATION`, with both documents.
    pub error: Error,
}

impl UniqueViolation {
    /// The error for callers who may not know the other document.
    pub fn without_documents() -> Error {
        Error::new(
            ErrorKind::UniqueViolation,
            "another document has the same values in a unique index",
        )
    }
}

/// The values that a transaction has written to unique indexes since the last check.
#[derive(Default)]
struct UniqueValues(Mutex<WrittenValues>);

#[derive(Default)]
struct WrittenValues {
    indexes: Vec<UniqueIndex>,
    /// The document that was last written with these values. The key is the position in `indexes`,
    /// and the packed values.
    documents: BTreeMap<(usize, Vec<u8>), DocumentId>,
    /// Memory for the values.
    reserved: Option<Reservation>,
}

impl UniqueValues {
    fn lock(&self) -> MutexGuard<'_, WrittenValues> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether at most one document may have these values. A missing value is never a violation.
pub(crate) fn is_constrained(values: &[u8]) -> bool {
    IndexValue::split_all(values).all(|value| value.rank() != Rank::Missing)
}

/// Records values that a document has got in the unique index with this number. `index` describes it,
/// if the transaction does not know it yet.
///
/// # Errors
/// [`ErrorKind::Exhausted`]: the values to check take too much memory.
pub(crate) fn written(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &DocumentKey,
    number: u64,
    index: impl FnOnce() -> UniqueIndex,
    values: &[Vec<u8>],
) -> Result<()> {
    let attached = transaction.attachments().get::<UniqueValues>();
    let mut written = attached.lock();
    let same =
        |known: &UniqueIndex| known.number == number && known.collection == document.collection;
    let at = written.indexes.iter().position(same).unwrap_or_else(|| {
        written.indexes.push(index());
        written.indexes.len() - 1
    });
    for values in values.iter().filter(|values| is_constrained(values)) {
        let reserved = written.reserved.get_or_insert_with(|| budget.reserve());
        reserved.hold(values.len() + HELD_PER_VALUE)?;
        let key = (at, values.clone());
        written.documents.insert(key, document.id.clone());
    }
    Ok(())
}

/// Approximate memory of a value besides its bytes.
const HELD_PER_VALUE: usize = 128;

/// Checks the values that were written since the last check. Returns the first violation.
///
/// # Errors
/// Errors of the store. [`ErrorKind::Exhausted`].
pub async fn unique_violation(transaction: &dyn Transaction) -> Result<Option<UniqueViolation>> {
    let Some(values) = transaction.attachments().find::<UniqueValues>() else {
        return Ok(None);
    };
    let WrittenValues {
        indexes,
        documents,
        reserved,
    } = take(&mut *values.lock());
    let written: Vec<((usize, Vec<u8>), DocumentId)> = documents.into_iter().collect();
    for some in written.chunks(INDEX_READS_AT_ONCE) {
        let spans: Vec<(Vec<u8>, Vec<u8>)> = some
            .iter()
            .map(|((at, values), _)| {
                let key = &indexes[*at].key;
                key.span(values, &prefix_end(values))
            })
            .collect();
        let reads: Vec<RangeRead<'_>> = spans
            .iter()
            .map(|(begin, end)| RangeRead::new(begin, end).at_most(2))
            .collect();
        let found = transaction.ranges(&reads).await;
        for (((at, values), id), found) in some.iter().zip(found.into_batches()) {
            let found = found?;
            let holders = found.pairs.iter().map(|(entry, _)| entry);
            if let Some(violation) = indexes[*at].violation(values, id, holders) {
                return Ok(Some(violation));
            }
        }
        if let Some(reserved) = &reserved {
            reserved.budget().pace(some.len() as u64).await?;
        }
    }
    Ok(None)
}

/// Checks now that no other document has values that a document is about to get.
///
/// # Errors
/// `UNIQUE_VIOLATION`. Errors of the store.
pub(crate) async fn check_now(
    transaction: &dyn Transaction,
    index: &UniqueIndex,
    id: &DocumentId,
    values: &[u8],
) -> Result<()> {
    if !is_constrained(values) {
        return Ok(());
    }
    let (begin, end) = index.key.span(values, &prefix_end(values));
    let found = transaction
        .range(RangeRead::new(&begin, &end).at_most(2))
        .await?;
    let mut holders = found.pairs.iter();
    let other = holders.find_map(|(entry, _)| index.holder(entry).filter(|holder| holder != id));
    match other {
        Some(other) => Err(index.violated(values, id, &other)),
        None => Ok(()),
    }
}

impl UniqueIndex {
    /// The document that an entry belongs to.
    fn holder(&self, entry: &[u8]) -> Option<DocumentId> {
        self.key.parse(entry, self.paths.len()).map(|(_, id)| id)
    }

    /// The violation if several entries have the same values, of which `written` was written
    /// last.
    fn violation<'e>(
        &self,
        values: &[u8],
        written: &DocumentId,
        entries: impl Iterator<Item = &'e [u8]>,
    ) -> Option<UniqueViolation> {
        let mut holders = entries.filter_map(|entry| self.holder(entry));
        let (first, second) = (holders.next()?, holders.next()?);
        let (id, other) = if first == *written {
            (first, second)
        } else {
            (second, first)
        };
        Some(UniqueViolation {
            error: self.violated(values, &id, &other),
            document: DocumentKey {
                collection: self.collection.clone(),
                id,
            },
        })
    }

    fn violated(&self, values: &[u8], id: &DocumentId, other: &DocumentId) -> Error {
        let columns = IndexValue::split_all(values);
        let columns = self.paths.iter().zip(columns);
        let values: Vec<String> = columns
            .map(|(path, value)| format!("{} at {path}", value.text()))
            .collect();
        Error::new(
            ErrorKind::UniqueViolation,
            format!(
                "the unique index {:?} of the collection {:?} has {} of the document {other} \
                 already, so the document {id} cannot have it",
                self.name,
                self.collection,
                values.join(", "),
            ),
        )
    }
}
