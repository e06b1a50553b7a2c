//! Pages of documents: the field `documents`.

use async_graphql::Value;

use super::filter_input::{FilterInput, KeyFilterInput, OrderInput, read_documents};
use super::page_arguments::{AskedPage, FieldRequest, PageBounds};
use super::place_input::DEFAULT_COLLECTION;
use crate::database::DocumentKey;
use crate::database::query::{self, DocumentPage, KeySet, Order, Page, Position, Select, Total};
use crate::document::filter::Filter;
use crate::document::json::write_string;
use crate::error::{Error, Result};
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::scalars::list_cursor;
use crate::graphql::scalars::scalar_types::parsed;
use crate::limits::{HELD_PER_ID_BYTE, JSON_BYTES_PER_STEP, SCAN_DOCUMENTS_DEFAULT};
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

impl FieldRequest for DocumentsRequest {
    fn set(&mut self, name: &str, argument: Value) -> Result<()> {
        match name {
            "collection" => self.collection = parsed(Some(argument))?,
            "where" => self.filter = parsed(Some(argument))?,
            "keys" => self.keys = parsed(Some(argument))?,
            "orderBy" => self.order = parsed(Some(argument))?,
            "scanLimit" => self.scan_limit = parsed(Some(argument))?,
            _ => self.page.set(name, argument)?,
        }
        Ok(())
    }
}

impl DocumentsRequest {
    /// The query to run. It counts all documents if `total` requests it.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`, `TOO_COMPLEX`, `TOO_LARGE`: an argument has no meaning, or exceeds a limit.
    pub(crate) async fn query(
        self,
        request_budget: &RequestBudget,
        total: bool,
    ) -> Result<PageQuery> {
        let filter_bytes = self.filter.as_ref().map_or(0, FilterInput::text_bytes);
        let read = read_documents(&self.collection, self.filter, self.keys, request_budget);
        let (filter, keys) = read.await?;
        let order = self.order.unwrap_or_default();
        let order = OrderInput::read(&order, request_budget.budget())
            .await
            .map_err(|error| error.at("the argument `orderBy`"))?;
        let budget = request_budget.budget();
        let canonical = budget.counted_share();
        canonical.take(filter_bytes)?;
        let steps = filter_bytes as u64 / JSON_BYTES_PER_STEP;
        let digest = || digest(&self.collection, &filter, &keys, &order, filter_bytes);
        let digest = budget.portion(steps, digest).await;
        drop(canonical);
        let PageBounds {
            size,
            backward,
            cursor,
            cursor_argument,
        } = self.page.bounds("documents")?;
        let ordered_by = order.values.len();
        let position = |text: String| {
            let bytes =
                list_cursor::decode(&text, digest, cursor_argument, "this query's documents")?;
            Position::decode(&bytes, ordered_by)
                .ok_or_else(|| list_cursor::damaged(cursor_argument))
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
#[derive(Clone)]
pub(crate) struct PageQuery {
    pub(crate) select: Select,
    /// Binds cursors to the query.
    digest: u64,
}

impl PageQuery {
    /// The same page of those documents that pass a filter, too. Its cursors are those of the page without
    /// the filter.
    pub(crate) fn within(mut self, filter: Filter) -> Self {
        self.select.filter = std::mem::take(&mut self.select.filter).and(filter);
        self
    }

    /// Finds the documents of the page, and their total number if it is requested.
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
        let (began, backward) = (select.page.from.is_some(), select.page.backward);
        Ok(FoundDocuments {
            in_a_row: select.filter.is_empty()
                && select.order.is_by_id()
                && !select.keys.is_listed(),
            collection: select.collection.clone(),
            has_next_page: if backward { began } else { page.more },
            has_previous_page: if backward { page.more } else { began },
            digest: self.digest,
            page,
        })
    }
}

/// The documents of a page, before anything is read from them for the selection.
pub(crate) struct FoundDocuments {
    pub(crate) page: DocumentPage,
    collection: String,
    /// Whether the documents are consecutive in the catalog.
    pub(crate) in_a_row: bool,
    pub(crate) has_next_page: bool,
    pub(crate) has_previous_page: bool,
    /// Binds cursors to the query.
    digest: u64,
}

impl FoundDocuments {
    /// The cursor of the row with this number.
    pub(crate) fn cursor(&self, row: usize) -> Option<String> {
        let row = self.page.rows.get(row)?;
        Some(list_cursor::encode(self.digest, &row.position.encode()))
    }

    /// The number of documents on all pages, or why it is unknown.
    pub(crate) fn total_count(&self) -> (Option<i32>, Option<&'static str>) {
        match self.page.total {
            None => (None, None),
            Some(Total::Unknown(why)) => (None, Some(why)),
            Some(Total::Exact(total)) => match i32::try_from(total) {
                Ok(total) => (Some(total), None),
                Err(_) => (None, Some("the count exceeds the range of `Int`")),
            },
        }
    }

    /// The keys of the documents, in the order of the rows.
    pub(crate) fn documents(&self) -> impl Iterator<Item = Result<DocumentKey>> {
        let keys = self.page.rows.iter().map(|row| row.position.id.clone());
        keys.map(|id| DocumentKey::new(&self.collection, id))
    }
}

/// A digest of the query, which binds its cursors to it. The canonical text of the filter has about so many
/// bytes.
fn digest(
    collection: &str,
    filter: &Filter,
    keys: &KeySet,
    order: &Order,
    filter_bytes: usize,
) -> u64 {
    let mut text = Vec::with_capacity(filter_bytes);
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
