//! Pages of documents: the field `documents`.

use async_graphql::Value;

use crate::budget::Share;
use crate::database::DocumentKey;
use crate::database::query::{
    self, KeySet, Order, Page, PageRow, Position, Select, Total, UsedIndexes,
};
use crate::document::filter::Filter;
use crate::document::json::write_string;
use crate::document::path::Place;
use crate::error::{Error, Result};
use crate::graphql::arguments::filter_input::{
    FilterInput, KeyFilterInput, OrderInput, read_documents,
};
use crate::graphql::arguments::page_arguments::{AskedPage, PageBoundaries, PageBounds};
use crate::graphql::arguments::place_input::DEFAULT_COLLECTION;
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::scalars::list_cursor;
use crate::graphql::scalars::scalar_types::parsed;
use crate::limits::{HELD_PER_ID_BYTE, SCAN_DOCUMENTS_DEFAULT};
use crate::store::Read;

/// The arguments of the field `documents`.
pub(crate) struct DocumentsRequest {
    pub(crate) collection: String,
    pub(crate) filter: Option<FilterInput>,
    pub(crate) keys: Option<KeyFilterInput>,
    pub(crate) order: Option<Vec<OrderInput>>,
    pub(crate) page: AskedPage,
    pub(crate) scan_limit: Option<i32>,
}

/// How the documents of a page were found.
pub(crate) struct PagePlan {
    /// The names of the indexes that were used.
    pub(crate) index: Option<String>,
    /// Whether one of the indexes is partial.
    pub(crate) partial: bool,
    /// The number of keys that were read, plus the number of documents that were examined.
    pub(crate) scanned: usize,
    /// The number of documents that were examined.
    pub(crate) examined: usize,
    /// Whether no document was read.
    pub(crate) covered: bool,
    /// The number of documents on the page.
    pub(crate) returned: usize,
    /// Why the total number of documents is unknown.
    pub(crate) total_count_reason: Option<&'static str>,
}

/// The request of a field without arguments.
impl Default for DocumentsRequest {
    fn default() -> Self {
        Self {
            collection: DEFAULT_COLLECTION.to_owned(),
            filter: None,
            keys: None,
            order: None,
            page: AskedPage::default(),
            scan_limit: None,
        }
    }
}

impl DocumentsRequest {
    /// Sets an argument.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: it does not have its type.
    pub(crate) fn set(&mut self, name: &str, argument: Value) -> Result<()> {
        let argument = Some(argument);
        match name {
            "collection" => self.collection = parsed(argument)?,
            "where" => self.filter = parsed(argument)?,
            "keys" => self.keys = parsed(argument)?,
            "orderBy" => self.order = parsed(argument)?,
            "first" => self.page.first = parsed(argument)?,
            "after" => self.page.after = parsed(argument)?,
            "last" => self.page.last = parsed(argument)?,
            "before" => self.page.before = parsed(argument)?,
            "scanLimit" => self.scan_limit = parsed(argument)?,
            _ => {}
        }
        Ok(())
    }

    /// The query to run. It counts all documents if `total` requests it.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`, `TOO_COMPLEX`, `TOO_LARGE`: an argument has no meaning, or exceeds a limit.
    pub(crate) async fn query(
        self,
        request_budget: &RequestBudget,
        total: bool,
    ) -> Result<PageQuery> {
        let read = read_documents(&self.collection, self.filter, self.keys, request_budget);
        let (filter, keys) = read.await?;
        let order = self.order.unwrap_or_default();
        let order = OrderInput::read(&order, request_budget.budget()).await;
        let order = order.map_err(|error| error.at("the argument `orderBy`"))?;
        let digest = digest(&self.collection, &filter, &keys, &order);
        let PageBounds {
            size,
            backward,
            cursor,
            cursor_argument,
        } = self.page.bounds("documents")?;
        let ordered_by = order.values.len();
        let position = |text: String| {
            let bytes = list_cursor::decode(&text, digest, cursor_argument, "this query's documents")?;
            Position::decode(&bytes, ordered_by).ok_or_else(|| list_cursor::damaged(cursor_argument))
        };
        let page = Page {
            size,
            backward,
            from: cursor.map(position).transpose()?,
        };
        let select = Select {
            collection: self.collection,
            filter,
            keys,
            order,
            page,
            scan_max: scan_max(self.scan_limit)?,
            total,
        };
        Ok(PageQuery { select, digest })
    }
}

/// The query of a field `documents`.
pub(crate) struct PageQuery {
    pub(crate) select: Select,
    /// Binds cursors to the query.
    digest: u64,
}

impl PageQuery {
    /// Finds the documents of the page.
    pub(crate) async fn search(
        &self,
        read: &dyn Read,
        request_budget: &RequestBudget,
    ) -> Result<FoundDocuments> {
        let select = &self.select;
        let page = query::documents(read, request_budget.budget(), select).await?;
        let rows = page.rows.iter();
        let bytes = rows.map(|row| HELD_PER_ID_BYTE * row.position.id.bytes());
        request_budget.memory.hold(bytes.sum())?;
        let (total_count, total_count_reason) = total_count(page.total);
        let (began, backward) = (select.page.from.is_some(), select.page.backward);
        Ok(FoundDocuments {
            in_a_row: select.filter.is_empty()
                && select.order.is_by_id()
                && !select.keys.is_listed(),
            collection: select.collection.clone(),
            has_next_page: if backward { began } else { page.more },
            has_previous_page: if backward { page.more } else { began },
            digest: self.digest,
            rows: page.rows,
            columns: page.columns,
            index: page.index,
            scanned: page.scanned,
            examined: page.examined,
            total_count,
            total_count_reason,
            _memory: page.memory,
        })
    }
}

/// The documents of a page, before anything is read from them for the selection.
pub(crate) struct FoundDocuments {
    pub(crate) collection: String,
    /// Whether the documents are consecutive in the catalog.
    pub(crate) in_a_row: bool,
    pub(crate) rows: Vec<PageRow>,
    /// As [`DocumentPage::columns`](query::DocumentPage::columns).
    pub(crate) columns: Vec<Place>,
    pub(crate) total_count: Option<i32>,
    total_count_reason: Option<&'static str>,
    has_next_page: bool,
    has_previous_page: bool,
    /// Binds cursors to the query.
    digest: u64,
    index: Option<UsedIndexes>,
    scanned: usize,
    examined: usize,
    /// Memory for the rows, if they were sorted.
    _memory: Option<Share>,
}

impl FoundDocuments {
    /// The cursor of a row.
    pub(crate) fn cursor(&self, row: &PageRow) -> String {
        list_cursor::encode(self.digest, &row.position.encode())
    }

    pub(crate) fn boundaries(&self) -> PageBoundaries {
        let cursor = |row: Option<&PageRow>| row.map(|row| self.cursor(row));
        PageBoundaries {
            has_next_page: self.has_next_page,
            has_previous_page: self.has_previous_page,
            start_cursor: cursor(self.rows.first()),
            end_cursor: cursor(self.rows.last()),
        }
    }

    /// How the documents were found. `is_read`: whether the selection was read from documents.
    pub(crate) fn plan(&self, is_read: bool) -> PagePlan {
        let index = self.index.as_ref();
        PagePlan {
            partial: index.is_some_and(|index| index.partial),
            index: index.map(|index| index.names.clone()),
            scanned: self.scanned,
            examined: self.examined,
            covered: self.examined == 0 && !is_read,
            returned: self.rows.len(),
            total_count_reason: self.total_count_reason,
        }
    }

    /// The keys of the documents, in the order of the rows.
    pub(crate) fn documents(&self) -> impl Iterator<Item = Result<DocumentKey>> {
        let keys = self.rows.iter().map(|row| row.position.id.clone());
        keys.map(|id| DocumentKey::new(&self.collection, id))
    }
}

/// A digest of the query, which binds its cursors to it.
fn digest(collection: &str, filter: &Filter, keys: &KeySet, order: &Order) -> u64 {
    let mut text = Vec::new();
    write_string(&mut text, collection);
    filter.write_canonical(&mut text);
    if !keys.is_all() {
        text.extend(keys.canonical());
    }
    let sign = |descends| if descends { b'-' } else { b'+' };
    for value in &order.values {
        write_string(&mut text, value.by.text());
        text.push(sign(value.descending));
    }
    text.push(sign(order.ids_descend));
    list_cursor::digest(&text)
}

/// The number of documents on all pages, or why it is unknown.
fn total_count(total: Option<Total>) -> (Option<i32>, Option<&'static str>) {
    match total {
        None => (None, None),
        Some(Total::Unknown(why)) => (None, Some(why)),
        Some(Total::Exact(total)) => match i32::try_from(total) {
            Ok(total) => (Some(total), None),
            Err(_) => (None, Some("the count exceeds the range of `Int`")),
        },
    }
}

/// The number of documents that may be examined, from the argument `scanLimit`.
///
/// # Errors
/// `BAD_USER_INPUT`: it is not positive.
pub(crate) fn scan_max(limit: Option<i32>) -> Result<usize> {
    let Some(limit) = limit else {
        return Ok(SCAN_DOCUMENTS_DEFAULT);
    };
    let limited = usize::try_from(limit).ok().filter(|limit| *limit > 0);
    limited.ok_or_else(|| {
        Error::bad_input(format!(
            "`scanLimit` is {limit}; it must be at least 1 document"
        ))
    })
}
