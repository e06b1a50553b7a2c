//! Keeping the entries of a document in step with it, in the transaction that changes it.
//!
//! An entry is about a value and not about the child that has it: several children of an array can
//! have the same value, and their document has one entry for it. So a change reads the children
//! that it touches, before and after. A value that one of them gets has an entry from then on. A
//! value that one of them loses keeps its entry if another child has it, and only then is the rest
//! of the column read, as a stream, up to where the value is found.
//!
//! For an index that is being built, all values of the touched children get their entries, those
//! that they had before included. `build` depends on that.

use std::sync::Arc;

use super::columns::{ColumnRange, ColumnStream, places, streams, whole_children};
use super::definition::{Index, State, indexes};
use super::entries::{
    Row, SingleValue, Unfit, Values, complete, entry_streams, insert, of_leaves, single_value,
    too_long,
};
use super::entry_writer::EntryWriter;
use super::key_ranges::KeyRanges;
use crate::budget::{Budget, Reservation};
use crate::database::document_key::DocumentKey;
use crate::database::document_key::end_of;
use crate::error::Result;
use crate::key::{IndexValue, Leaves};
use crate::store::Transaction;

/// The indexes that a change of one document may concern. Before anything is written the place
/// of it is told ([`touch`](Self::touch)); only indexes that depend on such a place are read.
pub(crate) struct IndexMaintainer<'t> {
    transaction: &'t dyn Transaction,
    budget: Budget,
    /// The memory of the values before the change.
    reserved: Reservation,
    document: Arc<DocumentKey>,
    kept: Vec<Kept>,
}

struct Kept {
    index: Index,
    /// The key of each column's place; none where nothing can be stored.
    places: Vec<Option<Vec<u8>>>,
    touched: Option<Touched>,
}

/// What a change touched of the columns of an index, and what was there before.
#[derive(Default)]
struct Touched {
    /// Of each column. That of the column with `[*]` is not used.
    singles: Vec<SingleValue>,
    in_singles: bool,
    /// What was touched of the column with `[*]`: whole children.
    ranges: KeyRanges,
    before: ColumnValues,
}

/// Values of the column with `[*]` in some children.
#[derive(Default)]
struct ColumnValues {
    values: Values,
    /// Whether there is a value, even one that no entry can hold.
    any: bool,
}

/// What one call of [`IndexMaintainer::touch`] is going to read for an index.
struct Touch {
    kept: usize,
    in_singles: bool,
    ranges: Vec<(Vec<u8>, Vec<u8>)>,
}

impl<'t> IndexMaintainer<'t> {
    /// As if the collection had no index.
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

    /// The indexes of a document that is about to change.
    ///
    /// # Errors
    /// As [`indexes`].
    pub(crate) async fn of(
        transaction: &'t dyn Transaction,
        budget: &Budget,
        document: &Arc<DocumentKey>,
    ) -> Result<Self> {
        let indexes = indexes(transaction, &document.collection).await?;
        let kept = indexes.into_iter().filter(Index::is_kept).map(|index| {
            Ok(Kept {
                places: places(document, &index.on)?,
                index,
                touched: None,
            })
        });
        Ok(Self {
            kept: kept.collect::<Result<_>>()?,
            ..Self::of_none(transaction, budget, document)
        })
    }

    /// The keys from `begin` to before `end` are about to be written.
    ///
    /// # Errors
    /// What the store fails with. [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted).
    pub(crate) async fn touch(&mut self, begin: &[u8], end: &[u8]) -> Result<()> {
        let touches = self.kept.iter().enumerate();
        let touches = touches.filter_map(|(at, kept)| kept.touch(at, begin, end));
        let touches: Vec<Touch> = touches.collect();
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

    /// Of each touch what is there before the change: the single values, if nothing of the index
    /// was touched before, and the values in the ranges.
    async fn before(
        &self,
        touches: &[Touch],
    ) -> Result<Vec<(Option<Vec<SingleValue>>, ColumnValues)>> {
        let mut ranges = Vec::new();
        for touch in touches {
            let kept = &self.kept[touch.kept];
            if kept.touched.is_none() {
                ranges.extend(kept.singles());
            }
            ranges.extend(kept.parts(touch.ranges.iter().cloned()));
        }
        let streams = streams(self.transaction, &self.budget, ranges).await?;
        let mut streams = streams.into_iter();
        let mut found = Vec::with_capacity(touches.len());
        for touch in touches {
            let kept = &self.kept[touch.kept];
            let singles = match kept.touched {
                None => Some(kept.read_singles(&mut streams).await?),
                Some(_) => None,
            };
            let streams = streams.by_ref().take(touch.ranges.len());
            let before = kept.read(streams, Unfit::Skip, &self.reserved).await?;
            found.push((singles, before));
        }
        Ok(found)
    }

    /// The document is written. One that the catalog had not `entered` had no entries.
    ///
    /// # Errors
    /// `UNIQUE_VIOLATION`; `KEY_TOO_LONG`: a value is one that no entry can hold. What the store
    /// fails with. [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted).
    pub(crate) async fn finish(self, entered: bool) -> Result<()> {
        if !entered {
            let indexes: Vec<&Index> = self.kept.iter().map(|kept| &kept.index).collect();
            return enter(self.transaction, &self.budget, &self.document, &indexes).await;
        }
        let concerned = self.kept.iter().filter_map(|kept| {
            let touched = kept.touched.as_ref()?;
            Some((kept, touched))
        });
        let concerned: Vec<(&Kept, &Touched)> = concerned.collect();
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
        let streams = streams(self.transaction, &self.budget, ranges).await?;
        let mut streams = streams.into_iter();
        for (kept, touched) in concerned {
            let row = if touched.in_singles {
                Row::of(&kept.index, &kept.read_singles(&mut streams).await?)?
            } else {
                touched.row(&kept.index)
            };
            let streams = streams.by_ref().take(touched.ranges.iter().count());
            // What has no entry may hold what no entry can hold.
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

    /// Writes the entries that the change of an index comes to.
    async fn write(
        &self,
        kept: &Kept,
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

    /// The values that no child has any more, and those that one has now.
    async fn changes(
        &self,
        kept: &Kept,
        touched: &Touched,
        after: ColumnValues,
    ) -> Result<ColumnChanges> {
        let index = &kept.index;
        let ColumnValues { values, any } = &touched.before;
        let mut removed: Values = values.difference(&after.values).cloned().collect();
        let emptied_or_filled = index.has_missing() && *any != after.any;
        let rest_has_values = if removed.is_empty() && !emptied_or_filled {
            true
        } else {
            self.find_in_rest(kept, touched, &mut removed, emptied_or_filled)
                .await?
        };
        let building = index.state == State::Building;
        let mut added: Values = if building {
            after.values
        } else {
            after.values.difference(values).cloned().collect()
        };
        if emptied_or_filled && !rest_has_values {
            add_missing(index, if after.any { &mut removed } else { &mut added });
        }
        // The builder sets this entry before it has seen the whole column.
        if building && after.any {
            add_missing(index, &mut removed);
        }
        Ok(ColumnChanges { removed, added })
    }

    /// Reads what was not touched of the column with `[*]` until all of some values are found there,
    /// and takes those away that are. Whether anything has a value there, if that is asked for.
    async fn find_in_rest(
        &self,
        kept: &Kept,
        touched: &Touched,
        lost: &mut Values,
        any_wanted: bool,
    ) -> Result<bool> {
        let Some((_, place)) = kept.multiple() else {
            return Ok(false);
        };
        let rest = touched.ranges.gaps(place, &end_of(place));
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

    /// Clears the entries of the whole document, which is about to be removed. What they follow
    /// from is read as a stream.
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
            // What an earlier change of the same transaction replaced.
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

/// What a change of a column with `[*]` comes to.
struct ColumnChanges {
    removed: Values,
    added: Values,
}

impl Touched {
    /// What the entries had in common before the change; none if there was none.
    fn row(&self, index: &Index) -> Option<Row> {
        Row::of(index, &self.singles).ok().flatten()
    }
}

impl Kept {
    /// What is to be read before a range of keys is written; none if the index does not depend on
    /// it, or what it depends on was touched already.
    fn touch(&self, kept: usize, begin: &[u8], end: &[u8]) -> Option<Touch> {
        let multiple = self.multiple();
        let columns = self.places.iter().enumerate();
        let mut singles = columns.filter(|(at, _)| Some(*at) != multiple.map(|(at, _)| at));
        let singles_touched = singles.any(|(_, place)| {
            let place = place.as_deref();
            place.is_some_and(|place| place < end && begin < &end_of(place)[..])
        });
        let touched = multiple.and_then(|(_, place)| {
            if singles_touched {
                Some((place.to_vec(), end_of(place)))
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

    /// The columns that have one value.
    fn singles(&self) -> impl Iterator<Item = ColumnRange<'_>> {
        let columns = self.index.on.iter().zip(&self.places);
        let singles = columns.filter(|(path, _)| !path.is_multiple());
        singles.filter_map(|(path, place)| Some(ColumnRange::whole(path, place.as_ref()?)))
    }

    /// Ranges of the column with `[*]`.
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

    /// The values of the columns that have one, from the streams of [`Kept::singles`].
    async fn read_singles<'r>(
        &self,
        streams: &mut (impl Iterator<Item = ColumnStream<'r>> + Send),
    ) -> Result<Vec<SingleValue>> {
        let mut singles = Vec::with_capacity(self.places.len());
        for (path, place) in self.index.on.iter().zip(&self.places) {
            let stream = if path.is_multiple() || place.is_none() {
                None
            } else {
                streams.next()
            };
            singles.push(match stream {
                Some(mut stream) => single_value(&mut stream, path, usize::MAX).await?,
                None => Ok(None),
            });
        }
        Ok(singles)
    }

    /// The values that streams of the column with `[*]` bring. Of an index that has none, the empty
    /// one.
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

/// The value of an entry that says that `[*]` selects nothing, if the index has such entries.
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

/// Writes the entries of a document that is stored and enters the catalog.
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
