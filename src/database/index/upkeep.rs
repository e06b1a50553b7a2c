//! Keeping the entries of a document in step with it, in the transaction that changes it.

use std::sync::Arc;

use futures::future::try_join_all;

use super::entries::{Values, of_leaves, of_stored};
use super::{Index, indexes};
use crate::budget::Budget;
use crate::database::{DocumentKey, end_of};
use crate::document::id::DocumentId;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{IndexKey, IndexValue, Leaves, Rank};
use crate::store::{RangeRead, Transaction};

/// The indexes that a change of one document may concern. Before anything is written the place
/// of it is told ([`touch`](Self::touch)); only indexes that depend on such a place are looked at.
pub(in crate::database) struct Upkeep<'t> {
    transaction: &'t dyn Transaction,
    document: Arc<DocumentKey>,
    kept: Vec<Kept>,
}

struct Kept {
    index: Index,
    /// What its entries depend on: from the first key to past the last.
    depends_on: Vec<(Vec<u8>, Vec<u8>)>,
    /// The entries before the change, once it concerns them.
    before: Option<Values>,
}

impl<'t> Upkeep<'t> {
    /// As if the collection had no index.
    pub(in crate::database) fn of_none(
        transaction: &'t dyn Transaction,
        _budget: &'t Budget,
        document: &Arc<DocumentKey>,
    ) -> Self {
        Self {
            transaction,
            document: document.clone(),
            kept: Vec::new(),
        }
    }

    /// The indexes of a document that is about to change.
    ///
    /// # Errors
    /// As [`indexes`].
    pub(in crate::database) async fn of(
        transaction: &'t dyn Transaction,
        _budget: &'t Budget,
        document: &Arc<DocumentKey>,
    ) -> Result<Self> {
        let indexes = indexes(transaction, &document.collection).await?;
        let kept = indexes.into_iter().filter(Index::is_kept).map(|index| {
            let places = index.on.iter().map(|path| document.place(&path.place));
            // Nothing stands where no key can be.
            let depends_on = places.flatten().map(|key| (key.clone(), end_of(&key)));
            Kept {
                depends_on: depends_on.collect(),
                index,
                before: None,
            }
        });
        Ok(Self {
            transaction,
            document: document.clone(),
            kept: kept.collect(),
        })
    }

    /// The keys from `begin` to before `end` are about to be written.
    ///
    /// # Errors
    /// What the store fails with.
    pub(in crate::database) async fn touch(&mut self, begin: &[u8], end: &[u8]) -> Result<()> {
        let concerned = |kept: &&mut Kept| {
            let mut ranges = kept.depends_on.iter();
            kept.before.is_none()
                && ranges.any(|(first, past)| &first[..] < end && begin < &past[..])
        };
        let concerned: Vec<&mut Kept> = self.kept.iter_mut().filter(concerned).collect();
        if concerned.is_empty() {
            return Ok(());
        }
        let indexes: Vec<&Index> = concerned.iter().map(|kept| &kept.index).collect();
        let found = of_stored(self.transaction, &self.document, &indexes).await?;
        for (kept, values) in concerned.into_iter().zip(found) {
            // What no entry can hold has none.
            kept.before = Some(values.unwrap_or_default());
        }
        Ok(())
    }

    /// The document is written. One that the catalog had not `entered` had no entries.
    ///
    /// # Errors
    /// `UNIQUE_VIOLATION`; `TOO_LARGE`: an entry passes the limit on keys. What the store fails
    /// with.
    pub(in crate::database) async fn finish(self, entered: bool) -> Result<()> {
        let mut concerned = Vec::new();
        for kept in self.kept {
            match kept.before {
                Some(before) if entered => concerned.push((kept.index, before)),
                None if entered => {}
                _ => concerned.push((kept.index, Values::new())),
            }
        }
        let indexes: Vec<&Index> = concerned.iter().map(|(index, _)| index).collect();
        if indexes.is_empty() {
            return Ok(());
        }
        let after = of_stored(self.transaction, &self.document, &indexes).await?;
        for ((index, before), after) in concerned.iter().zip(after) {
            write(self.transaction, &self.document, index, before, &after?).await?;
        }
        Ok(())
    }

    /// The whole document, which was touched, is removed.
    ///
    /// # Errors
    /// `TOO_LARGE`: the collection's name.
    pub(in crate::database) async fn remove(self) -> Result<()> {
        for kept in &self.kept {
            let before = kept.before.iter().flatten().cloned().collect();
            let (index, after) = (&kept.index, Values::new());
            write(self.transaction, &self.document, index, &before, &after).await?;
        }
        Ok(())
    }
}

/// Writes the entries of a new document.
///
/// # Errors
/// As [`Upkeep::finish`].
pub(in crate::database) async fn insert_entries(
    transaction: &dyn Transaction,
    _budget: &Budget,
    document: &DocumentKey,
    leaves: &Leaves,
    indexes: &[Index],
) -> Result<()> {
    for index in indexes.iter().filter(|index| index.is_kept()) {
        let after = of_leaves(index, leaves)?;
        write(transaction, document, index, &Values::new(), &after).await?;
    }
    Ok(())
}

/// Writes the entries of a document that is stored and enters the catalog.
///
/// # Errors
/// As [`Upkeep::finish`].
pub(in crate::database) async fn enter_entries(
    transaction: &dyn Transaction,
    _budget: &Budget,
    document: &DocumentKey,
    indexes: &[Index],
) -> Result<()> {
    let kept: Vec<&Index> = indexes.iter().filter(|index| index.is_kept()).collect();
    if kept.is_empty() {
        return Ok(());
    }
    let document = Arc::new(document.clone());
    let found = of_stored(transaction, &document, &kept).await?;
    for (index, after) in kept.into_iter().zip(found) {
        write(transaction, &document, index, &Values::new(), &after?).await?;
    }
    Ok(())
}

/// Writes the entries that really change.
pub(super) async fn write(
    transaction: &dyn Transaction,
    document: &DocumentKey,
    index: &Index,
    before: &Values,
    after: &Values,
) -> Result<()> {
    let key = IndexKey::new(&document.collection, index.number)?;
    for values in before.difference(after) {
        // An entry past the limit is none.
        if let Ok(entry) = key.entry(values, &document.id) {
            transaction.clear(&entry);
        }
    }
    if index.unique {
        let added = after.difference(before);
        let checks = added.map(|values| check_unique(transaction, document, index, &key, values));
        try_join_all(checks).await?;
    }
    for values in after.difference(before) {
        let entry = key.entry(values, &document.id);
        let entry = entry.map_err(|error| in_index(index, error))?;
        transaction.set(&entry, &[]);
    }
    Ok(())
}

fn in_index(index: &Index, error: Error) -> Error {
    error.at(format!("the index {:?}", index.name))
}

/// Checks that no other document has these values.
async fn check_unique(
    transaction: &dyn Transaction,
    document: &DocumentKey,
    index: &Index,
    key: &IndexKey,
    values: &[u8],
) -> Result<()> {
    let columns = split(values);
    if columns.iter().any(|value| value.rank() == Rank::Missing) {
        return Ok(());
    }
    let (begin, end) = key.span(values, &end_of(values));
    let found = transaction
        .range(RangeRead::new(&begin, &end).at_most(2))
        .await?;
    let mut others = found.pairs.iter().filter_map(|(entry, _)| {
        let (_, id) = key.parse(entry, columns.len())?;
        (id != document.id).then_some(id)
    });
    match others.next() {
        None => Ok(()),
        Some(other) => Err(violation(document, index, &columns, &other)),
    }
}

fn split(values: &[u8]) -> Vec<IndexValue> {
    let mut columns = Vec::new();
    let mut rest = values;
    while let Some((value, behind)) = IndexValue::split(rest) {
        columns.push(value);
        rest = behind;
    }
    columns
}

fn violation(
    document: &DocumentKey,
    index: &Index,
    columns: &[IndexValue],
    other: &DocumentId,
) -> Error {
    let on = index.on.iter().map(super::IndexPath::text);
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
