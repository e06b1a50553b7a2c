//! A page in the order of ids.

use super::entries::id_source::IdSource;
use super::index_hint::{self, Goal};
use super::matcher::Matcher;
use super::page::{DocumentPage, Order, Page, UsedIndexes};
use super::paginate::{Candidates, Filled, PageBuilder};
use super::search::Search;
use crate::error::Result;
use crate::limits::SORTED_IDS_MAX;

impl Search<'_> {
    /// A page in the order of ids.
    pub(crate) async fn by_id(&self, order: &Order, page: &Page) -> Result<DocumentPage> {
        let indexes = self.indexes(false).await?;
        let plan = self.plan(&indexes).await?;
        let from = page.from.as_ref().map(|from| &from.id);
        let backward = order.ids_descend != page.backward;
        let source = IdSource {
            holds: true,
            ..self.source(page.size.saturating_add(1), backward, from)
        };
        let chosen = self.choose(&plan, source, SORTED_IDS_MAX).await?;
        let mut matcher =
            Matcher::new(self.read, self.budget, self.collection, chosen.filter, None);
        matcher.in_a_row = chosen.index.is_none() && !self.keys.is_listed();
        let mut filling = PageBuilder {
            candidates: Candidates::Ids(chosen.ids, backward),
            matcher,
            examined_max: self.scan_max,
        };
        match filling.page(page).await? {
            Ok(filled) => Ok(DocumentPage {
                columns: chosen.columns,
                ..self.found(filled, chosen.index, filling.matcher.examined)
            }),
            Err(stopped) => Err(index_hint::past_bound(
                self,
                &plan,
                Goal::Page(order),
                &indexes,
                &stopped,
            )),
        }
    }

    pub(crate) fn found(
        &self,
        filled: Filled,
        index: Option<UsedIndexes>,
        examined: usize,
    ) -> DocumentPage {
        DocumentPage {
            rows: filled.rows,
            columns: Vec::new(),
            more: filled.more,
            index,
            scanned: self.meter.total() + examined,
            examined,
            total: None,
            memory: filled.memory,
        }
    }
}
