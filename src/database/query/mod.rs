//! Finding documents by what they contain: in the order of their ids or of a value, a page at a
//! time.
//!
//! A filter and the indexes that serve make a plan (`plan`): ways to find what passes. Ids come
//! from spans of entries or from the catalog (`ids`, `walk`); what the entries do not tell is
//! looked up in the documents (`matcher`), in rounds of reads and within a bound.

mod column;
mod find;
mod ids;
mod index_hint;
mod keys;
mod matcher;
mod ordered;
mod paginate;
mod plan;
mod portion;
mod total;
mod union;
mod walk;

use self::find::Search;
pub use self::portion::{Portion, portion};
pub use self::total::Total;
use self::total::total;
use crate::budget::Budget;
use crate::document::filter::Filter;
use crate::document::id::DocumentId;
use crate::document::jsonpath::Query;
use crate::error::{Error, Limit, Result};
use crate::key::IndexValue;
use crate::limits::SCAN_DOCUMENTS_MAX;
use crate::store::Read;

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

/// A page of the documents that pass.
///
/// # Errors
/// `TOO_COMPLEX`: more documents would have to be looked at than allowed; says which index would
/// help. `TOO_LARGE`, `INTERNAL`, what the store fails with.
pub async fn documents(read: &dyn Read, budget: &Budget, select: &Select) -> Result<DocumentPage> {
    let remedy = format!("ask for less, or raise `scanLimit`, which may be {SCAN_DOCUMENTS_MAX}");
    let search = Search::new(
        read,
        budget,
        &select.collection,
        &select.filter,
        select.scan_max,
        remedy,
    );
    let mut found = match &select.order {
        None => search.by_id(&select.page).await?,
        Some(order) => search.by_value(order, &select.page).await?,
    };
    if !select.total {
        return Ok(found);
    }
    if select.page.from.is_none() && !found.more {
        found.total = Some(Total::Exact(found.rows.len() as u64));
        return Ok(found);
    }
    let (total, scanned) = total(read, budget, select).await?;
    found.total = Some(total);
    found.scanned += scanned;
    Ok(found)
}

/// All documents that pass, in the order of their ids. At most `documents_max` are looked at where
/// no index serves.
///
/// # Errors
/// `TOO_LARGE`: they are more than `documents_max`. Otherwise as [`documents`].
pub async fn matching(
    read: &dyn Read,
    budget: &Budget,
    collection: &str,
    filter: &Filter,
    documents_max: usize,
) -> Result<Vec<DocumentId>> {
    let remedy = "change fewer documents at once".to_owned();
    let search = Search::new(read, budget, collection, filter, documents_max, remedy);
    let page = Page {
        size: documents_max,
        backward: false,
        from: None,
    };
    let found = search.by_id(&page).await?;
    if found.more {
        return Err(Error::too_large(
            Limit::new("changedDocuments", documents_max),
            format!(
                "more than {documents_max} documents pass, which is the limit of one operation; \
             nothing was changed"
            ),
        ));
    }
    Ok(found.rows.into_iter().map(|row| row.id).collect())
}
