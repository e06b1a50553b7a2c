//! Queries: documents that match a filter, in the order of their ids or of values, one page at a
//! time.
//!
//! `plan` turns a filter and the ready indexes into access paths. `entries` reads document ids from
//! spans of index entries or from the catalog. `matcher` reads the documents to evaluate what the
//! entries do not answer, in rounds of concurrent reads and up to a limit. `search` and `ordered`
//! combine them into a page. `aggregate` groups documents and adds them up.

pub(crate) mod aggregate;
pub(crate) mod entries;
pub(crate) mod find;
pub(crate) mod index_hint;
pub(crate) mod key_set;
pub(crate) mod matcher;
pub(crate) mod ordered;
pub(crate) mod page;
pub(crate) mod paginate;
pub(crate) mod plan;
pub(crate) mod portion;
pub(crate) mod search;
pub(crate) mod total;

pub use aggregate::{
    AggregateQuery, AggregatedPath, Aggregation, Group, GroupOrder, ValueSummary, aggregate,
};
pub use entries::held::HeldEntry;
pub use index_hint::missing_index;
pub use key_set::{KeySet, KeyTests, check_listed};
use matcher::Matcher;
pub use page::{DocumentPage, Order, OrderBy, Page, PageRow, Position, Select, Total, UsedIndexes};
pub use portion::{Portion, portion};
use search::Search;
use total::total;

use crate::budget::Budget;
use crate::document::filter::Filter;
use crate::document::id::DocumentId;
use crate::error::{Error, Limit, Result};
use crate::store::Read;

/// A page of the matching documents.
///
/// # Errors
/// `TOO_COMPLEX`: the query would examine more documents than allowed. The message names an index
/// that would help. `TOO_LARGE`, `INTERNAL`, errors of the store.
pub async fn documents(read: &dyn Read, budget: &Budget, select: &Select) -> Result<DocumentPage> {
    let remedy = "request less, or raise `scanLimit`".to_owned();
    let mut search = Search::new(
        read,
        budget,
        &select.collection,
        &select.filter,
        select.scan_max,
        remedy,
    );
    search.keys = &select.keys;
    let mut found = if select.order.is_by_id() {
        search.by_id(&select.order, &select.page).await?
    } else {
        search.by_value(&select.order, &select.page).await?
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

/// Whether each of some documents of a collection passes a filter. One that does not exist is
/// a document in which no path selects anything.
///
/// # Errors
/// `TOO_COMPLEX`: a JSONPath examines more nodes than allowed. Errors of the store.
pub async fn passing(
    read: &dyn Read,
    budget: &Budget,
    collection: &str,
    filter: &Filter,
    ids: &[DocumentId],
) -> Result<Vec<bool>> {
    let mut matcher = Matcher::new(read, budget, collection, filter.clone(), None);
    let passed = matcher.at(ids).await?;
    Ok(passed.iter().map(Option::is_some).collect())
}

/// All documents that match a filter and have keys in a set, in the order of their ids. Examines at most `documents_max`
/// documents.
///
/// # Errors
/// `TOO_LARGE`: more than `documents_max` documents match. Otherwise as [`documents`].
pub async fn matching(
    read: &dyn Read,
    budget: &Budget,
    collection: &str,
    (filter, keys): (&Filter, &KeySet),
    documents_max: usize,
) -> Result<Vec<DocumentId>> {
    let remedy = "change fewer documents at once".to_owned();
    let mut search = Search::new(read, budget, collection, filter, documents_max, remedy);
    search.keys = keys;
    let page = Page {
        size: documents_max,
        backward: false,
        from: None,
    };
    let found = search.by_id(&Order::default(), &page).await?;
    if found.more {
        return Err(Error::too_large(
            Limit::new("changedDocuments", documents_max),
            format!(
                "more than {documents_max} documents match, which is the limit of one operation; \
             nothing was changed"
            ),
        ));
    }
    Ok(found.rows.into_iter().map(|row| row.position.id).collect())
}
