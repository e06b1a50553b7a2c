//! The entries that a document has in an index.

use std::collections::BTreeSet;

use super::columns::{ColumnMatcher, ColumnRange, ColumnStream, ColumnValue, places, streams};
use super::definition::{Index, IndexPath};
use super::partial::IndexFilter;
use crate::budget::{Budget, Reservation};
use crate::database::document_key::DocumentKey;
use crate::error::{Error, Limit, Result};
use crate::key::{IndexValue, Leaves, NumberForm, append_place};
use crate::limits::{INDEX_PORTION_PAIRS_MAX, KEY_BYTES_MAX};
use crate::store::Read;

/// Distinct packed values of the column with `[*]`. A single empty value if the index has no such
/// column.
pub(crate) type Values = BTreeSet<Vec<u8>>;

/// The value of a column without `[*]`, or none. The error is the length in bytes of a string that
/// does not fit into a key.
pub(crate) type SingleValue = Result<Option<IndexValue>, usize>;

/// The packed values of the columns without `[*]`, split around the column with `[*]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    left: Vec<u8>,
    right: Vec<u8>,
    /// The value of the entries: the forms of the columns without `[*]`. Empty if all are plain.
    forms: Vec<u8>,
}

impl Row {
    /// Creates the row of an index from the values of its columns. The value of the column with
    /// `[*]` is ignored. None if the document has no entry.
    ///
    /// # Errors
    /// `KEY_TOO_LONG`: a value does not fit into an entry.
    pub(crate) fn of(index: &Index, values: &[SingleValue]) -> Result<Option<Self>> {
        let (mut left, mut right) = (Vec::new(), Vec::new());
        let mut forms = Vec::new();
        let multiple = index.multiple();
        for (at, value) in values.iter().enumerate() {
            if Some(at) == multiple {
                continue;
            }
            let side = if multiple.is_some_and(|multiple| multiple < at) {
                &mut right
            } else {
                &mut left
            };
            match value {
                Ok(Some(value)) => {
                    side.extend_from_slice(value.bytes());
                    forms.push(value.form().byte());
                }
                Ok(None) if at == 0 => return Ok(None),
                Ok(None) => {
                    side.extend_from_slice(IndexValue::missing().bytes());
                    forms.push(NumberForm::Plain.byte());
                }
                Err(bytes) => return Err(too_long(index, &index.on[at], *bytes)),
            }
        }
        let is_plain = |form: &u8| *form == NumberForm::Plain.byte();
        if !index.exact || forms.iter().all(is_plain) {
            forms.clear();
        }
        Ok(Some(Self { left, right, forms }))
    }

    /// The value of the entries.
    pub(crate) fn forms(&self) -> &[u8] {
        &self.forms
    }

    /// The packed values of the entry with `value` in the column with `[*]`.
    pub(crate) fn packed(&self, value: &[u8]) -> Vec<u8> {
        [&self.left[..], value, &self.right].concat()
    }

    /// The length of [`Row::packed`] without the value.
    pub(crate) fn bytes(&self) -> usize {
        self.left.len() + self.right.len()
    }
}

impl Index {
    /// The number of the column with `[*]`.
    pub(crate) fn multiple(&self) -> Option<usize> {
        self.on.iter().position(IndexPath::is_multiple)
    }

    /// Returns whether an entry has the values of its document, except for objects and arrays.
    pub(crate) fn holds_values(&self) -> bool {
        self.exact && self.multiple().is_none()
    }

    /// Whether the values of the column with `[*]` are names of members.
    pub(crate) fn is_of_names(&self) -> bool {
        self.on.iter().any(IndexPath::is_of_names)
    }

    /// Whether a document in which `[*]` selects nothing has an entry with a missing value.
    /// False if the column with `[*]` is the first column: then the document has no entry.
    pub(crate) fn has_missing(&self) -> bool {
        self.multiple().is_some_and(|multiple| multiple > 0)
    }
}

/// Creates the error for a string that does not fit into an entry.
pub(crate) fn too_long(index: &Index, path: &IndexPath, bytes: usize) -> Error {
    Error::key_too_long(
        Limit::new("keyBytes", KEY_BYTES_MAX),
        format!(
            "a string of {bytes} bytes at {} is too long for an entry of the index {:?}",
            path.text, index.name
        ),
    )
}

/// Adds a value and reserves memory for it.
///
/// # Errors
/// [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted).
pub(crate) fn insert(values: &mut Values, value: &[u8], reserved: &Reservation) -> Result<()> {
    if !values.contains(value) {
        reserved.hold(value.len() + size_of::<Vec<u8>>())?;
        values.insert(value.to_vec());
    }
    Ok(())
}

/// The entries of a document given by its leaves.
///
/// # Errors
/// `KEY_TOO_LONG`: a value does not fit into an entry.
/// [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted).
pub(crate) async fn of_leaves(
    index: &Index,
    leaves: &Leaves,
    budget: &Budget,
) -> Result<Option<(Row, Values)>> {
    if let Some(filter) = &index.filter
        && !filter.passes_leaves(leaves, budget).await?
    {
        return Ok(None);
    }
    let reserved = budget.reserve();
    let mut singles = Vec::with_capacity(index.on.len());
    let mut values = Values::new();
    for path in &index.on {
        let mut place = Vec::new();
        append_place(&mut place, &path.place);
        let mut column = ColumnMatcher::new(path);
        for (at, (key, value)) in leaves.below(&place).enumerate() {
            if let Some(value) = column.push(key, value) {
                add(index, path, &mut values, value, &reserved)?;
            }
            if at % INDEX_PORTION_PAIRS_MAX == INDEX_PORTION_PAIRS_MAX - 1 {
                budget.pace(INDEX_PORTION_PAIRS_MAX as u64).await?;
            }
        }
        let last = column.finish();
        if path.is_multiple() {
            if let Some(value) = last {
                add(index, path, &mut values, value, &reserved)?;
            }
            singles.push(Ok(None));
        } else {
            singles.push(last.transpose());
        }
    }
    complete(index, &mut values);
    Ok(Row::of(index, &singles)?.map(|row| (row, values)))
}

fn add(
    index: &Index,
    path: &IndexPath,
    values: &mut Values,
    value: ColumnValue,
    reserved: &Reservation,
) -> Result<()> {
    let value = value.map_err(|bytes| too_long(index, path, bytes))?;
    insert(values, value.bytes(), reserved)
}

/// Completes the values of a document: adds the empty value if the index has no `[*]`, or the
/// missing value if `[*]` selects nothing.
pub(crate) fn complete(index: &Index, values: &mut Values) {
    match index.multiple() {
        None => drop(values.insert(Vec::new())),
        Some(1..) if values.is_empty() => {
            values.insert(IndexValue::missing().bytes().to_vec());
        }
        Some(_) => {}
    }
}

/// Whether a stored document passes the filter of an index, from a stream for each of its
/// places that can exist.
///
/// # Errors
/// As [`ColumnStream::next`].
pub(crate) async fn passes(
    filter: &IndexFilter,
    streams: Vec<Option<ColumnStream<'_>>>,
    budget: &Budget,
) -> Result<bool> {
    let mut found = Vec::with_capacity(streams.len());
    for stream in streams {
        found.push(match stream {
            Some(mut stream) => stream.filter_value().await?,
            None => None,
        });
    }
    filter.holds(&found, budget).await
}

/// The value of a column without `[*]`.
///
/// # Errors
/// `TOO_LARGE`: the keys and values of the column exceed `bytes_max` bytes. As
/// [`ColumnStream::next`].
pub(crate) async fn single_value(
    stream: &mut ColumnStream<'_>,
    path: &IndexPath,
    bytes_max: usize,
) -> Result<SingleValue> {
    let mut found = None;
    while let Some(values) = stream.next_portion().await? {
        found = values.into_iter().next();
        check_value_bytes(stream, path, bytes_max)?;
    }
    Ok(found.transpose())
}

/// Checks that a value is small enough to be read in one transaction.
///
/// # Errors
/// `TOO_LARGE`: the message names the limit.
pub(crate) fn check_value_bytes(
    stream: &ColumnStream<'_>,
    path: &IndexPath,
    bytes_max: usize,
) -> Result<()> {
    // Only the first pairs of a member are read for its name.
    if stream.value_bytes() <= bytes_max || path.is_of_names() {
        return Ok(());
    }
    Err(Error::too_large(
        Limit::new("indexValueBytes", bytes_max),
        format!(
            "a value at {} has more than {bytes_max} bytes of keys and values, which is the limit of \
         an indexed value",
            path.text
        ),
    ))
}

/// The handling of a value that does not fit into an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// Skip it; it has no entry.
    Skip,
    /// Return an error.
    Refuse,
}

/// A stream of the entries that a stored document should have in an index, in portions. A value can
/// occur more than once.
pub(crate) struct EntryStream<'r> {
    index: &'r Index,
    unfit: Unfit,
    row: Option<Row>,
    stream: Option<ColumnStream<'r>>,
    any: bool,
    ended: bool,
    skipped: bool,
}

/// Creates a stream for each index. Reads the beginning of all of them in one round.
///
/// # Errors
/// `KEY_TOO_LONG`: a value does not fit into an entry and `unfit` is [`Unfit::Refuse`]. Errors of
/// the store. [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted).
pub(crate) async fn entry_streams<'r>(
    read: &'r dyn Read,
    budget: &Budget,
    document: &DocumentKey,
    indexes: &[&'r Index],
    unfit: Unfit,
) -> Result<Vec<EntryStream<'r>>> {
    let mut ranges = Vec::new();
    for index in indexes {
        ranges.extend(ranges_of(document, index)?);
    }
    let mut streams = streams(read, budget, ranges).await?.into_iter();
    let mut found = Vec::with_capacity(indexes.len());
    for index in indexes {
        let streams = IndexStreams::take(document, index, &mut streams)?;
        found.push(EntryStream::new(index, streams, budget, unfit, usize::MAX).await?);
    }
    Ok(found)
}

/// The ranges of the columns of an index in a document, in column order, and then those that
/// its filter reads. Omits places that exceed the key limit.
///
/// # Errors
/// `INTERNAL`.
pub(crate) fn ranges_of<'i>(
    document: &DocumentKey,
    index: &'i Index,
) -> Result<Vec<ColumnRange<'i>>> {
    let places = places(document, &index.on)?;
    let mut ranges: Vec<ColumnRange<'_>> = index
        .on
        .iter()
        .zip(&places)
        .filter_map(|(path, place)| Some(ColumnRange::whole(path, place.as_ref()?)))
        .collect();
    if let Some(filter) = &index.filter {
        ranges.extend(ColumnRange::tested(&filter.places(document)?));
    }
    Ok(ranges)
}

/// The streams over what an index depends on in a document. None for a place that exceeds the key
/// limit.
pub(crate) struct IndexStreams<'r> {
    pub(crate) columns: Vec<Option<ColumnStream<'r>>>,
    filter: Vec<Option<ColumnStream<'r>>>,
}

impl<'r> IndexStreams<'r> {
    /// Takes the streams of the ranges of [`ranges_of`].
    ///
    /// # Errors
    /// `INTERNAL`.
    pub(crate) fn take(
        document: &DocumentKey,
        index: &Index,
        streams: &mut impl Iterator<Item = ColumnStream<'r>>,
    ) -> Result<Self> {
        let mut of = |places: Vec<Option<Vec<u8>>>| {
            let places = places.into_iter();
            places
                .map(|place| place.and_then(|_| streams.next()))
                .collect()
        };
        Ok(Self {
            columns: of(places(document, &index.on)?),
            filter: match &index.filter {
                Some(filter) => of(filter.places(document)?),
                None => Vec::new(),
            },
        })
    }
}

impl<'r> EntryStream<'r> {
    /// Creates the stream from the streams of an index.
    ///
    /// # Errors
    /// As [`entry_streams`]. `TOO_LARGE`: the value of a column without `[*]` exceeds `bytes_max`
    /// bytes.
    pub(crate) async fn new(
        index: &'r Index,
        IndexStreams { columns, filter }: IndexStreams<'r>,
        budget: &Budget,
        unfit: Unfit,
        bytes_max: usize,
    ) -> Result<Self> {
        if let Some(tested) = &index.filter
            && !passes(tested, filter, budget).await?
        {
            return Ok(Self {
                index,
                unfit,
                row: None,
                stream: None,
                any: false,
                ended: true,
                skipped: false,
            });
        }
        let mut singles = Vec::with_capacity(columns.len());
        let mut multiple = None;
        for (path, column) in index.on.iter().zip(columns) {
            singles.push(match column {
                Some(column) if path.is_multiple() => {
                    multiple = Some(column);
                    Ok(None)
                }
                Some(mut column) => single_value(&mut column, path, bytes_max).await?,
                None => Ok(None),
            });
        }
        let row = Row::of(index, &singles);
        let skipped = row.is_err() && unfit == Unfit::Skip;
        let row = if skipped { None } else { row? };
        Ok(Self {
            index,
            unfit,
            ended: row.is_none(),
            row,
            stream: multiple,
            any: false,
            skipped,
        })
    }

    /// The values common to all entries. None if there is no entry.
    pub(crate) fn row(&self) -> Option<&Row> {
        self.row.as_ref()
    }

    /// The value of the entries.
    pub(crate) fn forms(&self) -> &[u8] {
        self.row.as_ref().map_or(&[], |row| &row.forms)
    }

    /// Whether a value so far was skipped because it does not fit into an entry.
    pub(crate) fn skipped(&self) -> bool {
        self.skipped
    }

    /// The stream and the path of the column with `[*]`.
    pub(crate) fn column(&self) -> Option<(&ColumnStream<'r>, &'r IndexPath)> {
        let at = self.index.multiple()?;
        Some((self.stream.as_ref()?, &self.index.on[at]))
    }

    /// The number of children begun in the column with `[*]`.
    pub(crate) fn children(&self) -> u64 {
        self.stream.as_ref().map_or(0, ColumnStream::children)
    }

    /// Marks the stream as the continuation of another one. If it yields no value, it does not
    /// conclude that `[*]` selects nothing.
    pub(crate) fn resume(&mut self) {
        self.any = true;
    }

    /// The next values of the column with `[*]`, from about `pairs_max` pairs at most. None
    /// after the last. Yields one empty value if the index has no `[*]`, and the missing value if
    /// `[*]` selects nothing.
    ///
    /// # Errors
    /// As [`entry_streams`].
    pub(crate) async fn next_values(&mut self, pairs_max: usize) -> Result<Option<Vec<Vec<u8>>>> {
        if self.ended {
            return Ok(None);
        }
        let Some(stream) = &mut self.stream else {
            self.ended = true;
            let mut last = Values::new();
            complete(self.index, &mut last);
            return Ok(Some(last.into_iter().collect()));
        };
        let Some(values) = stream.next(pairs_max).await? else {
            self.ended = true;
            let mut last = Values::new();
            if !self.any {
                complete(self.index, &mut last);
            }
            return Ok(Some(last.into_iter().collect()));
        };
        let mut fit = Vec::with_capacity(values.len());
        for value in values {
            // A value that does not fit still means that the column selects something.
            self.any = true;
            match value {
                Ok(value) => fit.push(value.bytes().to_vec()),
                Err(_) if self.unfit == Unfit::Skip => self.skipped = true,
                Err(bytes) => {
                    let path = self.index.multiple().map(|at| &self.index.on[at]);
                    return Err(path.map_or_else(
                        || Error::internal("a value of no column"),
                        |path| too_long(self.index, path, bytes),
                    ));
                }
            }
        }
        Ok(Some(fit))
    }

    /// The packed values of the next entries.
    ///
    /// # Errors
    /// As [`entry_streams`].
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<Vec<u8>>>> {
        let values = self.next_values(INDEX_PORTION_PAIRS_MAX).await?;
        let row = self.row.as_ref();
        Ok(values.map(|values| {
            let values = values.iter();
            values
                .filter_map(|value| Some(row?.packed(value)))
                .collect()
        }))
    }

    /// All values, without duplicates.
    ///
    /// # Errors
    /// As [`entry_streams`].
    pub(crate) async fn all(&mut self, reserved: &Reservation) -> Result<Values> {
        let mut all = Values::new();
        while let Some(values) = self.next_values(INDEX_PORTION_PAIRS_MAX).await? {
            for value in values {
                insert(&mut all, &value, reserved)?;
            }
        }
        Ok(all)
    }
}
