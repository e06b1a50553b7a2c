//! Pages in the order of a value, by an ordered index scan or by sorting.

use std::cmp::Ordering;

use super::entries::ids::id_bytes;
use super::entries::walk::{Along, EntryWalk};
use super::index_hint;
use super::matcher::{Matcher, Passed};
use super::page::{DocumentPage, Order, Page, Position};
use super::paginate::{Candidates, Filled, PageBuilder};
use super::plan::access_path::{OrderedScan, QueryPlan};
use super::search::{Indexes, Search};
use crate::budget::Steps;
use crate::database::index::definition::IndexPath;
use crate::document::id::DocumentId;
use crate::document::jsonpath::SimpleStep;
use crate::error::Result;
use crate::key::IndexKey;
use crate::limits::SCAN_BATCH_DOCUMENTS;

impl Search<'_> {
    /// Returns a page in the order of a value.
    pub(crate) async fn by_value(&self, order: &Order, page: &Page) -> Result<DocumentPage> {
        let indexes = self.indexes(Some(order)).await?;
        let plan = self.plan(&indexes).await?;
        let track = order.by.simple();
        let track = match track {
            Some(by) => self.track(by, &plan, &indexes).await?,
            None => None,
        };
        if let Some(track) = &track
            && plan.ways.iter().all(|way| way.used.is_subset(&track.used))
        {
            return self.walk(order, page, &plan, track, &indexes).await;
        }
        let looked_max = match &track {
            // An ordered scan may fill the page after few documents, so sort only if there are few
            // candidates.
            Some(_) if !plan.is_equality() => SCAN_BATCH_DOCUMENTS.min(self.scan_max),
            _ => self.scan_max,
        };
        let source = self.source(SCAN_BATCH_DOCUMENTS, false, None);
        let mut chosen = self.choose(&plan, source, looked_max).await?;
        if let Some(track) = &track
            && chosen.index.is_none()
        {
            return self.walk(order, page, &plan, track, &indexes).await;
        }
        let ids = {
            let count = looked_max.saturating_add(1);
            chosen.ids.next(count, false, self.budget).await?
        };
        if ids.len() > looked_max {
            return match &track {
                Some(track) => self.walk(order, page, &plan, track, &indexes).await,
                None => Err(index_hint::past_bound(self, &plan, Some(order), &indexes)),
            };
        }
        let look = Matcher::new(
            self.read,
            self.budget,
            self.collection,
            chosen.filter,
            Some(order),
        );
        let mut sorting = Sorting {
            order,
            page,
            look,
            rows: Vec::new(),
        };
        for ids in ids.chunks(SCAN_BATCH_DOCUMENTS) {
            sorting.take(ids).await?;
        }
        let looked = sorting.look.looked;
        Ok(self.found(sorting.filled(), chosen.index, looked))
    }

    /// Returns the best index for an ordered scan.
    async fn track<'i>(
        &self,
        by: &[SimpleStep],
        plan: &QueryPlan<'i>,
        indexes: &'i Indexes,
    ) -> Result<Option<OrderedScan<'i>>> {
        let track = |steps: &Steps<'_>| {
            let track = plan.track(by, &indexes.ready, steps);
            steps.check().map(|()| track)
        };
        self.budget.compute(track).await
    }

    /// Returns a page by an ordered index scan.
    async fn walk(
        &self,
        order: &Order,
        page: &Page,
        plan: &QueryPlan<'_>,
        track: &OrderedScan<'_>,
        indexes: &Indexes,
    ) -> Result<DocumentPage> {
        let index = track.index;
        let from = page.from.as_ref();
        let id = from.map(|from| id_bytes(self.collection, &from.id));
        let id = id.transpose()?;
        let value = from.and_then(|from| from.value.as_ref());
        let first_batch = page.size.saturating_add(1).min(SCAN_BATCH_DOCUMENTS);
        let along = Along {
            key: IndexKey::new(self.collection, index.number)?,
            columns: index.on.len(),
            same: &track.same,
            begin: &track.range.begin,
            end: &track.range.end,
            descending: order.descending != page.backward,
            after: value.map(crate::key::IndexValue::bytes).zip(id.as_deref()),
        };
        let reading = self.source(first_batch, page.backward, None).reading;
        let multiple = index.on.last().is_some_and(IndexPath::is_multiple);
        let filter = plan.residual([&track.covers]);
        let look = Matcher::new(
            self.read,
            self.budget,
            self.collection,
            filter,
            multiple.then_some(order),
        );
        let mut filling = PageBuilder {
            candidates: Candidates::Walk(EntryWalk::new(reading, along)),
            look,
            looked_max: self.scan_max,
        };
        match filling.page(page).await? {
            Some(filled) => Ok(self.found(filled, Some(index.name.clone()), filling.look.looked)),
            None => Err(index_hint::past_bound(self, plan, Some(order), indexes)),
        }
    }
}

/// Sorts documents by value. Holds only as many rows as the page needs.
struct Sorting<'q> {
    order: &'q Order,
    page: &'q Page,
    look: Matcher<'q>,
    rows: Vec<Position>,
}

impl Sorting<'_> {
    async fn take(&mut self, ids: &[DocumentId]) -> Result<()> {
        let passed = self.look.at(ids).await?;
        for (id, passed) in ids.iter().zip(passed) {
            let Some(Passed { value }) = passed else {
                continue;
            };
            let row = Position {
                value,
                id: id.clone(),
            };
            let from = self.page.from.as_ref();
            if from.is_none_or(|from| self.compare(&row, from) == Ordering::Greater) {
                self.rows.push(row);
            }
        }
        if self.rows.len() > 2 * self.page.size + SCAN_BATCH_DOCUMENTS {
            self.keep();
        }
        Ok(())
    }

    /// Keeps the first rows of the page, and one more to detect whether there are more.
    fn keep(&mut self) {
        let mut rows = std::mem::take(&mut self.rows);
        rows.sort_by(|a, b| self.compare(a, b));
        rows.truncate(self.page.size.saturating_add(1));
        self.rows = rows;
    }

    fn filled(mut self) -> Filled {
        self.keep();
        let more = self.rows.len() > self.page.size;
        self.rows.truncate(self.page.size);
        if self.page.backward {
            self.rows.reverse();
        }
        Filled {
            rows: self.rows,
            more,
        }
    }

    /// Compares two rows in the direction of the page.
    fn compare(&self, a: &Position, b: &Position) -> Ordering {
        let values = a.value.cmp(&b.value);
        let values = if self.order.descending {
            values.reverse()
        } else {
            values
        };
        let rows = values.then_with(|| a.id.cmp(&b.id));
        if self.page.backward {
            rows.reverse()
        } else {
            rows
        }
    }
}
