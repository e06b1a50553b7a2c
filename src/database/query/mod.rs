//! Finding documents by what they contain: in the order of their ids or of a value, a page at a
//! time.
//!
//! A filter and the indexes that serve make a plan (`plan`): ways to find what passes. Ids come
//! from spans of entries or from the catalog (`ids`, `walk`); what the entries do not tell is
//! looked up in the documents (`matcher`), in rounds of reads and within a bound.

pub(crate) mod entries;
pub(crate) mod find;
pub(crate) mod index_hint;
pub(crate) mod matcher;
pub(crate) mod ordered;
pub(crate) mod page;
pub(crate) mod paginate;
pub(crate) mod plan;
pub(crate) mod portion;
pub(crate) mod search;
pub(crate) mod total;

pub use page::{DocumentPage, Order, Page, Position, Select};

use crate::budget::Budget;
use crate::document::filter::Filter;
use crate::document::id::DocumentId;
use crate::error::{Error, Limit, Result};
use crate::limits::SCAN_DOCUMENTS_MAX;
use crate::store::Read;
pub use page::Total;
pub use portion::{Portion, portion};
use search::Search;
use total::total;

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
