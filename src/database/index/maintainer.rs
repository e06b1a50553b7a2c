//! Maintenance of the index entries of a document, in the transaction that changes it.
//!
//! An entry belongs to a value and not to the child that holds it. If several children of an array
//! hold the same value, the document has one entry for it. A change therefore works in three steps:
//!
//! 1. Before each write, [`IndexMaintainer::touch`] reads the values of the children that the write
//!    affects. Indexes whose columns the write does not affect are not read.
//! 2. After the writes, [`IndexMaintainer::finish`] reads the same children again.
//! 3. A value that is new gets an entry. A value that is gone loses its entry, unless another child
//!    still holds it. Only to decide this, or whether the column is now empty, the rest of the
//!    column is read, as a stream, until the answer is known.
//!
//! A change of a column without `[*]` changes every entry of the document, so it touches the whole
//! column with `[*]`.
//!
//! For an index that is being built, every value of the touched children gets its entry, including
//! values that did not change. `build` relies on this.

use std::sync::Arc;

use super::columns::{ColumnRange, ColumnStream, places, streams, whole_children};
use super::definition::{Index, State};
use super::entries::{
    Row, SingleValue, Unfit, Values, complete, entry_streams, insert, of_leaves, passes,
    single_value, too_long,
};
use super::entry_writer::EntryWriter;
use super::key_ranges::KeyRanges;
use crate::budget::{Budget, Reservation};
use crate::database::document_key::{DocumentKey, prefix_end};
use crate::error::Result;
use crate::key::{IndexValue, Leaves};
use crate::store::Transaction;

/// The indexes that a change of one document may affect. Call [`touch`](Self::touch) before each
/// write and [`finish`](Self::finish) after the last one.
pub(crate) struct IndexMaintainer<'t> {
    transaction: &'t dyn Transaction,
    budget: Budget,
    /// Memory for the values before the change.
    reserved: Reservation,
    document: Arc<DocumentKey>,
    kept: Vec<MaintainedIndex>,
}

struct MaintainedIndex {
    index: Index,
    /// The key of each column's place. None if the key exceeds the limit.
    places: Vec<Option<Vec<u8>>>,
    /// The key of each place that the filter reads.
    filter_places: Vec<Option<Vec<u8>>>,
    touched: Option<Touched>,
}

/// What all entries of a document depend on.
#[derive(Default)]
struct Singles {
    /// Whether the document passes the filter of the index.
    pass: bool,
    /// The value of each column. The one of the column with `[*]` is unused.
    values: Vec<SingleValue>,
}

impl Singles {
    /// The values common to all entries. None if there is no entry.
    ///
    /// # Errors
    /// `KEY_TOO_LONG`: a value does not fit into an entry.
    fn row(&self, index: &Index) -> Result<Option<Row>> {
        if self.pass {
            Row::of(index, &self.values)
        } else {
            Ok(None)
        }
    }
}

/// What a change touched in the columns of an index, and the values before the change.
#[derive(Default)]
struct Touched {
    singles: Singles,
    in_singles: bool,
    /// The touched ranges of the column with `[*]`: whole children.
    ranges: KeyRanges,
    before: ColumnValues,
}

/// The values of the column with `[*]` in some children.
#[derive(Default)]
struct ColumnValues {
    values: Values,
    /// Whether there is a value, including values that do not fit into an entry.
    any: bool,
}

/// What one call of [`IndexMaintainer::touch`] reads for an index.
struct Touch {
    kept: usize,
    in_singles: bool,
    ranges: Vec<(Vec<u8>, Vec<u8>)>,
}

impl<'t> IndexMaintainer<'t> {
    /// Creates a maintainer without indexes.
    pub(crate) fn of_none(
        transaction: &'t dyn Transaction,
        budget: &Budget,
        document: &Arc<DocumentKey>,
    ) -> Self {
        Self {
            transaction,
            budget: budget.clone(),
            reserved: budget.reserve(),
            document: document.clone(),
            kept: Vec::new(),
        }
    }

    /// Creates the maintainer of a document that is about to change, with the indexes of its
    /// collection.
    ///
    /// # Errors
    /// `KEY_TOO_LONG`: a key of the document exceeds the limit.
    pub(crate) fn of(
        transaction: &'t dyn Transaction,
        budget: &Budget,
        document: &Arc<DocumentKey>,
        indexes: Vec<Index>,
    ) -> Result<Self> {
        let kept = indexes.into_iter().filter(Index::is_kept).map(|index| {
            Ok(MaintainedIndex {
                places: places(document, &index.on)?,
                filter_places: match &index.filter {
                    Some(filter) => filter.places(document)?,
                    None => Vec::new(),
                },
                index,
                touched: None,
            })
        });
        Ok(Self {
            kept: kept.collect::<Result<_>>()?,
            ..Self::of_none(transaction, budget, document)
        })
    }

    /// Records that the keys from `begin` to before `end` are about to be written.
    ///
    /// # Errors
    /// Errors of the store. [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted).
    pub(crate) async fn touch(&mut self, begin: &[u8], end: &[u8]) -> Result<()> {
        let touches: Vec<Touch> = self
            .kept
            .iter()
            .enumerate()
            .filter_map(|(at, kept)| kept.touch(at, begin, end))
            .collect();
        if touches.is_empty() {
            return Ok(());
        }
        let read = self.before(&touches).await?;
        for (touch, (singles, before)) in touches.into_iter().zip(read) {
            let touched = self.kept[touch.kept].touched.get_or_insert_default();
            if let Some(singles) = singles {
                touched.singles = singles;
            }
            touched.in_singles |= touch.in_singles;
            for (begin, end) in touch.ranges {
                touched.ranges.add(begin, end);
            }
            touched.before.any |= before.any;
            touched.before.values.extend(before.values);
        }
        Ok(())
    }

    /// Reads, for each touch, the values before the change: the columns without `[*]` and the filter,
    /// if the index was not touched before, and the values in the ranges.
    async fn before(&self, touches: &[Touch]) -> Result<Vec<(Option<Singles>, ColumnValues)>> {
        let mut ranges = Vec::new();
        for touch in touches {
            let kept = &self.kept[touch.kept];
            if kept.touched.is_none() {
                ranges.extend(kept.singles());
            }
            ranges.extend(kept.parts(touch.ranges.iter().cloned()));
        }
        let mut streams = streams(self.transaction, &self.budget, ranges)
            .await?
            .into_iter();
        let mut found = Vec::with_capacity(touches.len());
        for touch in touches {
            let kept = &self.kept[touch.kept];
            let singles = match kept.touched {
                None => Some(kept.read_singles(&mut streams, &self.budget).await?),
                Some(_) => None,
            };
            let streams = streams.by_ref().take(touch.ranges.len());
            let before = kept.read(streams, Unfit::Skip, &self.reserved).await?;
            found.push((singles, before));
        }
        Ok(found)
    }

    /// Updates the entries after the document was written. A document that was not `entered` in the
    /// catalog had no entries.
    ///
    /// # Errors
    /// `UNIQUE_VIOLATION`. `KEY_TOO_LONG`: a value does not fit into an entry. Errors of the store.
    /// [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted).
    pub(crate) async fn finish(self, entered: bool) -> Result<()> {
        if !entered {
            let indexes: Vec<&Index> = self.kept.iter().map(|kept| &kept.index).collect();
            return enter(self.transaction, &self.budget, &self.document, &indexes).await;
        }
        let concerned: Vec<(&MaintainedIndex, &Touched)> = self
            .kept
            .iter()
            .filter_map(|kept| {
                let touched = kept.touched.as_ref()?;
                Some((kept, touched))
            })
            .collect();
        if concerned.is_empty() {
            return Ok(());
        }
        let mut ranges = Vec::new();
        for (kept, touched) in &concerned {
            if touched.in_singles {
                ranges.extend(kept.singles());
            }
            ranges.extend(kept.parts(touched.ranges.iter().cloned()));
        }
        let mut streams = streams(self.transaction, &self.budget, ranges)
            .await?
            .into_iter();
        for (kept, touched) in concerned {
            let row = if touched.in_singles {
                let singles = kept.read_singles(&mut streams, &self.budget).await?;
                singles.row(&kept.index)?
            } else {
                touched.row(&kept.index)
            };
            let streams = streams.by_ref().take(touched.ranges.iter().count());
            // A document without entries may hold values that do not fit into an entry.
            let unfit = if row.is_some() {
                Unfit::Refuse
            } else {
                Unfit::Skip
            };
            let after = kept.read(streams, unfit, &self.reserved).await?;
            self.write(kept, touched, row, after).await?;
        }
        Ok(())
    }

    /// Writes the changes of the entries in one index.
    async fn write(
        &self,
        kept: &MaintainedIndex,
        touched: &Touched,
        row: Option<Row>,
        after: ColumnValues,
    ) -> Result<()> {
        let index = &kept.index;
        let writer = EntryWriter::new(self.transaction, &self.budget, &self.document, index)?;
        let before = touched.row(index);
        if before != row {
            // The whole column with `[*]` was touched, so these are all of its values.
            if let Some(before) = before {
                let mut values = touched.before.values.clone();
                if !touched.before.any || index.state == State::Building {
                    add_missing(index, &mut values);
                }
                writer.clear(&before, &values).await?;
            }
            if let Some(row) = row {
                let mut values = after.values;
                if !after.any {
                    complete(index, &mut values);
                }
                writer.set(&row, &values).await?;
            }
            return Ok(());
        }
        let Some(row) = row else {
            return Ok(());
        };
        let ColumnChanges { removed, added } = self.changes(kept, touched, after).await?;
        writer.clear(&row, &removed).await?;
        writer.set(&row, &added).await?;
        Ok(())
    }

    /// The values that no child holds any more, and the new values.
    async fn changes(
        &self,
        kept: &MaintainedIndex,
        touched: &Touched,
        after: ColumnValues,
    ) -> Result<ColumnChanges> {
        let index = &kept.index;
        let ColumnValues { values, any } = &touched.before;
        let mut removed: Values = values.difference(&after.values).cloned().collect();
        let emptied_or_filled = index.has_missing() && *any != after.any;
        let mut shared = if index.is_of_names() {
            // No other child has the same name.
            Values::new()
        } else {
            std::mem::take(&mut removed)
        };
        let rest_has_values = if shared.is_empty() && !emptied_or_filled {
            true
        } else {
            self.find_in_rest(kept, touched, &mut shared, emptied_or_filled)
                .await?
        };
        removed.append(&mut shared);
        let building = index.state == State::Building;
        let mut added: Values = if building {
            after.values
        } else {
            after.values.difference(values).cloned().collect()
        };
        if emptied_or_filled && !rest_has_values {
            add_missing(index, if after.any { &mut removed } else { &mut added });
        }
        // The builder may set this entry before it has read the whole column.
        if building && after.any {
            add_missing(index, &mut removed);
        }
        Ok(ColumnChanges { removed, added })
    }

    /// Searches the untouched rest of the column with `[*]` for the values in `lost` and removes
    /// those found. Stops when `lost` is empty. Returns whether the rest has any value; the result
    /// is reliable only if `any_wanted`.
    async fn find_in_rest(
        &self,
        kept: &MaintainedIndex,
        touched: &Touched,
        lost: &mut Values,
        any_wanted: bool,
    ) -> Result<bool> {
        let Some((_, place)) = kept.multiple() else {
            return Ok(false);
        };
        let rest = touched.ranges.gaps(place, &prefix_end(place));
        let ranges = kept.parts(rest.into_iter()).collect();
        let mut any = false;
        for mut stream in streams(self.transaction, &self.budget, ranges).await? {
            while !(lost.is_empty() && (any || !any_wanted))
                && let Some(values) = stream.next_portion().await?
            {
                any |= !values.is_empty();
                for value in values.into_iter().flatten() {
                    lost.remove(value.bytes());
                }
            }
        }
        Ok(any)
    }

    /// Clears the entries of the whole document, which is about to be removed. Reads the indexed
    /// values as a stream.
    ///
    /// # Errors
    /// As [`IndexMaintainer::touch`].
    pub(crate) async fn remove(&self) -> Result<()> {
        let indexes: Vec<&Index> = self.kept.iter().map(|kept| &kept.index).collect();
        if indexes.is_empty() {
            return Ok(());
        }
        let (transaction, budget) = (self.transaction, &self.budget);
        let streams =
            entry_streams(transaction, budget, &self.document, &indexes, Unfit::Skip).await?;
        for (kept, mut stream) in self.kept.iter().zip(streams) {
            let index = &kept.index;
            let writer = EntryWriter::new(transaction, budget, &self.document, index)?;
            if let Some(row) = stream.row().cloned() {
                while let Some(values) = stream.next_values(usize::MAX).await? {
                    let values: Values = values.into_iter().collect();
                    writer.clear(&row, &values).await?;
                }
                writer.clear(&row, &missing(index)).await?;
            }
            // Entries that an earlier change in the same transaction made obsolete.
            if let Some(touched) = &kept.touched
                && let Some(row) = touched.row(index)
            {
                writer.clear(&row, &touched.before.values).await?;
                writer.clear(&row, &missing(index)).await?;
            }
        }
        Ok(())
    }
}

/// The changes of the entries of a column with `[*]`.
struct ColumnChanges {
    removed: Values,
    added: Values,
}

impl Touched {
    /// The values common to all entries before the change. None if there was no entry.
    fn row(&self, index: &Index) -> Option<Row> {
        self.singles.row(index).ok().flatten()
    }
}

impl MaintainedIndex {
    /// What to read before a range of keys is written. None if the index does not depend on
    /// the range, or everything in it was touched before.
    fn touch(&self, kept: usize, begin: &[u8], end: &[u8]) -> Option<Touch> {
        let multiple = self.multiple();
        let columns = self.places.iter().enumerate();
        let mut singles = columns
            .filter(|(at, _)| Some(*at) != multiple.map(|(at, _)| at))
            .map(|(_, place)| place)
            .chain(&self.filter_places)
            .flatten();
        let singles_touched =
            singles.any(|place| &place[..] < end && begin < &prefix_end(place)[..]);
        let touched = multiple.and_then(|(_, place)| {
            if singles_touched {
                Some((place.to_vec(), prefix_end(place)))
            } else {
                whole_children(place, begin, end)
            }
        });
        let known = self.touched.as_ref();
        let ranges = match (touched, known) {
            (None, _) => Vec::new(),
            (Some(range), None) => vec![range],
            (Some((begin, end)), Some(known)) => known.ranges.gaps(&begin, &end),
        };
        let new = singles_touched && known.is_none_or(|known| !known.in_singles);
        (new || !ranges.is_empty()).then_some(Touch {
            kept,
            in_singles: singles_touched,
            ranges,
        })
    }

    /// The number and the place of the column with `[*]`.
    fn multiple(&self) -> Option<(usize, &[u8])> {
        let at = self.index.multiple()?;
        Some((at, self.places[at].as_deref()?))
    }

    /// The columns without `[*]`, and what the filter reads.
    fn singles(&self) -> impl Iterator<Item = ColumnRange<'_>> {
        let columns = self.index.on.iter().zip(&self.places);
        let singles = columns.filter(|(path, _)| !path.is_multiple());
        let singles =
            singles.filter_map(|(path, place)| Some(ColumnRange::whole(path, place.as_ref()?)));
        singles.chain(ColumnRange::tested(&self.filter_places))
    }

    /// Returns ranges of the column with `[*]`.
    fn parts(
        &self,
        ranges: impl Iterator<Item = (Vec<u8>, Vec<u8>)>,
    ) -> impl Iterator<Item = ColumnRange<'_>> {
        let multiple = self.multiple();
        ranges.filter_map(move |range| {
            let (at, place) = multiple?;
            Some(ColumnRange::whole(&self.index.on[at], place).part(range))
        })
    }

    /// What all entries depend on, from the streams of [`MaintainedIndex::singles`].
    async fn read_singles<'r>(
        &self,
        streams: &mut (impl Iterator<Item = ColumnStream<'r>> + Send),
        budget: &Budget,
    ) -> Result<Singles> {
        let mut values = Vec::with_capacity(self.places.len());
        for (path, place) in self.index.on.iter().zip(&self.places) {
            let stream = if path.is_multiple() || place.is_none() {
                None
            } else {
                streams.next()
            };
            values.push(match stream {
                Some(mut stream) => single_value(&mut stream, path, usize::MAX).await?,
                None => Ok(None),
            });
        }
        let mut pass = true;
        if let Some(filter) = &self.index.filter {
            let places = self.filter_places.iter();
            let streams: Vec<_> = places
                .map(|place| place.as_ref().and_then(|_| streams.next()))
                .collect();
            pass = passes(filter, streams, budget).await?;
        }
        Ok(Singles { pass, values })
    }

    /// The values in streams of the column with `[*]`. Returns the single empty value if
    /// the index has no such column.
    async fn read<'r>(
        &self,
        streams: impl Iterator<Item = ColumnStream<'r>> + Send,
        unfit: Unfit,
        reserved: &Reservation,
    ) -> Result<ColumnValues> {
        let mut selected = ColumnValues::default();
        let Some(at) = self.index.multiple() else {
            complete(&self.index, &mut selected.values);
            return Ok(selected);
        };
        for mut stream in streams {
            while let Some(values) = stream.next_portion().await? {
                for value in values {
                    selected.any = true;
                    match value {
                        Ok(value) => insert(&mut selected.values, value.bytes(), reserved)?,
                        Err(_) if unfit == Unfit::Skip => {}
                        Err(bytes) => {
                            return Err(too_long(&self.index, &self.index.on[at], bytes));
                        }
                    }
                }
            }
        }
        Ok(selected)
    }
}

/// The missing value, which marks an entry of a document in which `[*]` selects nothing.
/// None if the index has no such entries.
pub(crate) fn missing(index: &Index) -> Option<Vec<u8>> {
    let missing = || IndexValue::missing().bytes().to_vec();
    index.has_missing().then(missing)
}

fn add_missing(index: &Index, values: &mut Values) {
    values.extend(missing(index));
}

/// Writes the entries of a new document.
///
/// # Errors
/// As [`IndexMaintainer::finish`].
pub(crate) async fn insert_entries(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &DocumentKey,
    leaves: &Leaves,
    indexes: &[Index],
) -> Result<()> {
    for index in indexes.iter().filter(|index| index.is_kept()) {
        if let Some((row, values)) = of_leaves(index, leaves, budget).await? {
            let writer = EntryWriter::new(transaction, budget, document, index)?;
            writer.set(&row, &values).await?;
        }
    }
    Ok(())
}

/// Writes the entries of a stored document that enters the catalog.
///
/// # Errors
/// As [`IndexMaintainer::finish`].
pub(crate) async fn enter_entries(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &DocumentKey,
    indexes: &[Index],
) -> Result<()> {
    let kept: Vec<&Index> = indexes.iter().filter(|index| index.is_kept()).collect();
    enter(transaction, budget, document, &kept).await
}

async fn enter(
    transaction: &dyn Transaction,
    budget: &Budget,
    document: &DocumentKey,
    indexes: &[&Index],
) -> Result<()> {
    if indexes.is_empty() {
        return Ok(());
    }
    let streams = entry_streams(transaction, budget, document, indexes, Unfit::Refuse).await?;
    for (index, mut stream) in indexes.iter().zip(streams) {
        let Some(row) = stream.row().cloned() else {
            continue;
        };
        let writer = EntryWriter::new(transaction, budget, document, index)?;
        while let Some(values) = stream.next_values(usize::MAX).await? {
            let values: Values = values.into_iter().collect();
            writer.set(&row, &values).await?;
        }
    }
    Ok(())
}
