//! Queries and the pages that they return.

use std::cmp::Ordering;

use super::entries::held::HeldEntry;
use super::key_set::KeySet;
use crate::database::index::definition::Index;
use crate::document::filter::Filter;
use crate::document::id::DocumentId;
use crate::document::jsonpath::Query;
use crate::document::path::Place;
use crate::key::IndexValue;

/// The order of a query: by these values, the first one first, then by id. Documents in which one
/// of them selects nothing are omitted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Order {
    /// The values to sort by.
    pub values: Vec<OrderBy>,
    /// Whether ids descend.
    pub ids_descend: bool,
}

/// One of the values that a query sorts by: the least (descending: greatest) that `by` selects.
#[derive(Clone, Debug, PartialEq)]
pub struct OrderBy {
    /// Selects the value.
    pub by: Query,
    /// Whether values descend.
    pub descending: bool,
}

impl Order {
    /// Whether documents are ordered by id only.
    pub fn is_by_id(&self) -> bool {
        self.values.is_empty()
    }

    /// Whether each of the values descends on a page, and then whether ids do.
    pub(crate) fn directions(&self, page: &Page) -> Vec<bool> {
        let values = self.values.iter().map(|value| value.descending);
        let all = values.chain([self.ids_descend]);
        all.map(|descends| descends != page.backward).collect()
    }
}

/// Compares two rows by their values and then by their ids, in these directions.
pub(crate) fn compare<T: Ord>(
    directions: &[bool],
    (a_values, a): (&[IndexValue], &T),
    (b_values, b): (&[IndexValue], &T),
) -> Ordering {
    let directed = |descends: &bool, order: Ordering| {
        if *descends { order.reverse() } else { order }
    };
    let pairs = a_values.iter().zip(b_values).zip(directions);
    let differing = pairs
        .map(|((a, b), descends)| directed(descends, a.cmp(b)))
        .find(|order| order.is_ne());
    differing.unwrap_or_else(|| directed(directions.last().unwrap_or(&false), a.cmp(b)))
}

/// A query.
#[derive(Clone, Debug)]
pub struct Select {
    /// The collection.
    pub collection: String,
    /// The filter that documents must match.
    pub filter: Filter,
    /// The keys that documents must have.
    pub keys: KeySet,
    /// The order.
    pub order: Order,
    /// The page requested.
    pub page: Page,
    /// The maximum number of documents to examine.
    pub scan_max: usize,
    /// Whether to return the total over all pages.
    pub total: bool,
}

/// The page requested.
#[derive(Clone, Debug)]
pub struct Page {
    /// The maximum number of documents.
    pub size: usize,
    /// Whether to return the last documents instead of the first ones.
    pub backward: bool,
    /// Return only documents after this position, or before it if `backward`.
    pub from: Option<Position>,
}

/// The position of a document in the order of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The ordering values.
    pub values: Vec<IndexValue>,
    /// The id.
    pub id: DocumentId,
}

impl Position {
    /// Encodes the position for a cursor.
    pub fn encode(&self) -> Vec<u8> {
        let values = self.values.iter().flat_map(IndexValue::bytes).copied();
        values.chain(self.id.to_string().bytes()).collect()
    }

    /// Decodes a position with this number of ordering values. Returns none if the bytes are
    /// invalid.
    pub fn decode(bytes: &[u8], ordered_by: usize) -> Option<Self> {
        let mut values = Vec::with_capacity(ordered_by);
        let mut rest = bytes;
        while values.len() < ordered_by {
            let (value, behind) = IndexValue::split(rest)?;
            values.push(value);
            rest = behind;
        }
        let id = DocumentId::parse(std::str::from_utf8(rest).ok()?).ok()?;
        Some(Self { values, id })
    }
}

/// A document on a page.
#[derive(Clone, Debug)]
pub struct PageRow {
    /// Its position in the order of the query.
    pub position: Position,
    /// The values of the [columns](DocumentPage::columns), from an index entry. None if the document
    /// was not found by such an entry.
    pub entry: Option<HeldEntry>,
}

/// A page of documents.
#[derive(Clone, Debug)]
pub struct DocumentPage {
    /// In the order of the query, for both directions of the page.
    pub rows: Vec<PageRow>,
    /// The places of the columns in the entries of the rows. Empty if the rows have none.
    pub columns: Vec<Place>,
    /// Whether more documents follow in the direction of the page. If the page is full when the
    /// limit of examined documents is reached, whether more may follow.
    pub more: bool,
    /// The indexes used. None if no index was used.
    pub index: Option<UsedIndexes>,
    /// The number of keys of entries or of the catalog read, plus the number of documents examined.
    pub scanned: usize,
    /// The number of documents examined.
    pub examined: usize,
    /// The total over all pages, if it was requested.
    pub total: Option<Total>,
}

/// The indexes that a query used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedIndexes {
    /// The names. ` & ` joins indexes whose results were intersected, ` | ` those whose results were
    /// united.
    pub names: String,
    /// Whether one of them is partial.
    pub partial: bool,
}

impl UsedIndexes {
    /// Returns one index.
    pub(crate) fn of(index: &Index) -> Self {
        Self {
            names: index.name.clone(),
            partial: index.filter.is_some(),
        }
    }
}

/// The number of documents over all pages of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Total {
    /// This many documents.
    Exact(u64),
    /// The number would be expensive to determine, for this reason.
    Unknown(&'static str),
}

/// Why a search stopped before its page was full.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stopped {
    /// The limit of examined documents is reached.
    Documents,
    /// An ordered scan of this index reached the limit of entries that it leaves out.
    LeftOut(String),
    /// An ordered scan of this index reached entries of equal values that are too many to be
    /// sorted.
    Unsorted(String),
}
