//! What a query asks for and the page that it returns.

use crate::document::filter::Filter;
use crate::document::id::DocumentId;
use crate::document::jsonpath::Query;
use crate::key::IndexValue;

/// What documents are ordered by: the least value that `by` selects, or the greatest; then by id.
/// Documents in which it selects nothing are left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// What selects the value.
    pub by: Query,
    /// From the greatest to the least, ids ascending all the same.
    pub descending: bool,
}

/// What to find.
#[derive(Clone, Debug)]
pub struct Select {
    /// The collection.
    pub collection: String,
    /// What documents have to pass.
    pub filter: Filter,
    /// Their order, if it is not that of their ids.
    pub order: Option<Order>,
    /// Which of them.
    pub page: Page,
    /// How many documents may be looked at.
    pub scan_max: usize,
    /// Whether to tell how many there are on all pages.
    pub total: bool,
}

/// Which of the documents that pass.
#[derive(Clone, Debug)]
pub struct Page {
    /// How many, at most.
    pub size: usize,
    /// The last ones, not the first ones.
    pub backward: bool,
    /// Only those behind this one, or before it if `backward`.
    pub from: Option<Position>,
}

/// Where a document stands among the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// What it is ordered by; none if by its id.
    pub value: Option<IndexValue>,
    /// Its id.
    pub id: DocumentId,
}

impl Position {
    /// As bytes, for a cursor.
    pub fn encode(&self) -> Vec<u8> {
        let value = self.value.as_ref().map_or(&[][..], IndexValue::bytes);
        [value, self.id.to_string().as_bytes()].concat()
    }

    /// The position of these bytes, `ordered` by a value or by its id alone; none if they are none.
    pub fn decode(bytes: &[u8], ordered: bool) -> Option<Self> {
        let (value, id) = if ordered {
            let (value, id) = IndexValue::split(bytes)?;
            (Some(value), id)
        } else {
            (None, bytes)
        };
        let id = DocumentId::parse(std::str::from_utf8(id).ok()?).ok()?;
        Some(Self { value, id })
    }
}

/// A page of documents.
#[derive(Clone, Debug)]
pub struct DocumentPage {
    /// In the order asked for, whatever the direction of the page.
    pub rows: Vec<Position>,
    /// Whether there are more in the direction of the page. If the bound on documents looked at
    /// was met with the page full, whether there may be.
    pub more: bool,
    /// The indexes they were found by: joined by ` & ` if each had to lead to a document, by ` | `
    /// if any; none if every document of the collection was looked at.
    pub index: Option<String>,
    /// How many keys of entries or of the catalog were read, and documents looked at.
    pub scanned: usize,
    /// How many there are on all pages, if that was asked.
    pub total: Option<Total>,
}

/// How many documents a query has on all its pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Total {
    /// So many.
    Exact(u64),
    /// It is not cheap to tell, for this reason.
    Unknown(&'static str),
}
