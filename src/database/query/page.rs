//! Queries and the pages that they return.

use crate::document::filter::Filter;
use crate::document::id::DocumentId;
use crate::document::jsonpath::Query;
use crate::key::IndexValue;

/// The order of a query: by the least (descending: greatest) value that `by` selects, then by id.
/// Documents in which it selects nothing are omitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// Selects the value.
    pub by: Query,
    /// Whether values descend. Ids always ascend.
    pub descending: bool,
}

/// A query.
#[derive(Clone, Debug)]
pub struct Select {
    /// The collection.
    pub collection: String,
    /// The filter that documents must match.
    pub filter: Filter,
    /// The order. None means by id.
    pub order: Option<Order>,
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
    /// The ordering value. None if documents are ordered by id.
    pub value: Option<IndexValue>,
    /// The id.
    pub id: DocumentId,
}

impl Position {
    /// Encodes the position for a cursor.
    pub fn encode(&self) -> Vec<u8> {
        let value = self.value.as_ref().map_or(&[][..], IndexValue::bytes);
        [value, self.id.to_string().as_bytes()].concat()
    }

    /// Decodes a position, with an ordering value if `ordered`. Returns none if the bytes are
    /// invalid.
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
    /// In the order of the query, for both directions of the page.
    pub rows: Vec<Position>,
    /// Whether more documents follow in the direction of the page. If the page is full when the
    /// limit of examined documents is reached, whether more may follow.
    pub more: bool,
    /// The indexes used. ` & ` joins indexes whose results were intersected, ` | ` those whose
    /// results were united. None if no index was used.
    pub index: Option<String>,
    /// The number of keys of entries or of the catalog read, plus the number of documents examined.
    pub scanned: usize,
    /// The total over all pages, if it was requested.
    pub total: Option<Total>,
}

/// The number of documents over all pages of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Total {
    /// This many documents.
    Exact(u64),
    /// The number would be expensive to determine, for this reason.
    Unknown(&'static str),
}
