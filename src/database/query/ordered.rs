//! Pages in the order of values, by an ordered index scan or by sorting.

use std::cmp::Ordering;

use super::entries::ids::id_bytes;
use super::entries::merge::MergedWalk;
use super::entries::walk::{EntryWalk, IndexEntry, ScanShape};
use super::index_hint::{self, Goal};
use super::matcher::Matcher;
use super::page::{DocumentPage, Order, Page, PageRow, Position, Stopped, UsedIndexes, compare};
use super::paginate::{Candidates, Filled, PageBuilder};
use super::plan::access_path::QueryPlan;
use super::plan::ordered_scan::OrderedScan;
use super::search::Search;
use crate::budget::Steps;
use crate::document::id::DocumentId;
use crate::error::Result;
use crate::key::IndexKey;
use crate::limits::SCAN_BATCH_DOCUMENTS;

impl Search<'_> {
    /// Returns a page in the order of values.
    pub(crate) async fn by_value(&self, order: &Order, page: &Page) -> Result<DocumentPage> {
        let indexes = self.indexes(true).await?;
        let plan = self.plan(&indexes).await?;
        let track = self.track(order, &plan).await?;
        let covers_ways = |track: &OrderedScan<'_>| {
            let mut ways = plan.ways.iter();
            self.keys.is_all() && ways.all(|way| way.used.is_subset(&track.used))
        };
        let few_max = match &track {
            Some(track) if covers_ways(track) => 0,
            // An ordered scan may fill the page after few documents, so sort only if there are few
            // candidates.
            Some(_) if !plan.is_equality() => SCAN_BATCH_DOCUMENTS.min(self.scan_max),
            _ => self.scan_max,
        };
        if few_max > 0
            && let Some(found) = self
                .sorted(order, page, &plan, few_max, track.is_some())
                .await?
        {
            return Ok(found);
        }
        let stopped = match &track {
            None => Stopped::Documents,
            Some(track) => match self.walk(order, page, &plan, track).await? {
                Ok(found) => return Ok(found),
                Err(stopped) => stopped,
            },
        };
        if stopped != Stopped::Documents
            && few_max < self.scan_max
            && let Some(found) = self
                .sorted(order, page, &plan, self.scan_max, false)
                .await?
        {
            return Ok(found);
        }
        Err(index_hint::past_bound(
            self,
            &plan,
            Goal::Page(order),
            &indexes,
            &stopped,
        ))
    }

    /// Returns a page by sorting all candidates. Returns none if they are more than `examined_max`,
    /// or if they are the whole collection and `has_track`: an ordered scan is better then.
    async fn sorted(
        &self,
        order: &Order,
        page: &Page,
        plan: &QueryPlan<'_>,
        examined_max: usize,
        has_track: bool,
    ) -> Result<Option<DocumentPage>> {
        let source = self.source(SCAN_BATCH_DOCUMENTS, false, None);
        let mut chosen = self.choose(plan, source, examined_max).await?;
        if has_track && chosen.index.is_none() && self.keys.is_all() {
            return Ok(None);
        }
        let count = examined_max.saturating_add(1);
        let ids = chosen.ids.next(count, false, self.budget).await?;
        if ids.len() > examined_max {
            return Ok(None);
        }
        let matcher = Matcher::new(
            self.read,
            self.budget,
            self.collection,
            chosen.filter,
            Some(order),
        );
        let mut sorting = Sorting {
            directions: order.directions(page),
            page,
            matcher,
            rows: Vec::new(),
        };
        for ids in ids.chunks(SCAN_BATCH_DOCUMENTS) {
            sorting.take(ids).await?;
        }
        let examined = sorting.matcher.examined;
        Ok(Some(self.found(sorting.filled(), chosen.index, examined)))
    }

    /// Returns the best index for an ordered scan.
    async fn track<'i>(
        &self,
        order: &Order,
        plan: &QueryPlan<'i>,
    ) -> Result<Option<OrderedScan<'i>>> {
        let track = |steps: &Steps<'_>| {
            let track = plan.track(order, steps);
            steps.check().map(|()| track)
        };
        self.budget.compute(track).await
    }

    /// Returns a page by an ordered index scan, or the reason if a limit is reached first.
    async fn walk(
        &self,
        order: &Order,
        page: &Page,
        plan: &QueryPlan<'_>,
        track: &OrderedScan<'_>,
    ) -> Result<Result<DocumentPage, Stopped>> {
        let index = track.index;
        let shape = ScanShape {
            key: IndexKey::new(self.collection, index.number)?,
            name: &index.name,
            columns: index.on.len(),
            fixed: track.fixed,
            levels: track.ordered(),
            of_values: track.columns.clone(),
            directions: order.directions(page),
            keys: self.keys,
            holds: index.holds_values(),
        };
        let after = page.from.as_ref().map(|from| {
            id_bytes(self.collection, &from.id).map(|id| IndexEntry {
                values: from.values.clone(),
                id,
                held: None,
            })
        });
        let after = after.transpose()?;
        // The streams together yield a page.
        let streams = track.prefixes.len().max(1);
        let first_batch = page.size.saturating_add(1).min(SCAN_BATCH_DOCUMENTS);
        let first_batch = first_batch.div_ceil(streams);
        let reading = self.source(first_batch, page.backward, None).reading;
        let (begin, end) = if track.columns.iter().all(|column| *column < track.fixed)
            && track.fixed == index.on.len()
        {
            // Ids follow the fixed columns.
            self.keys.bounds()
        } else {
            track.range.clone()
        };
        let walks = track.prefixes.iter().map(|prefix| {
            let range = (&begin[..], &end[..]);
            EntryWalk::new(reading, &shape, prefix.clone(), range, after.as_ref())
        });
        let walk = MergedWalk::new(reading, &shape, walks.collect());
        let matcher = Matcher::new(
            self.read,
            self.budget,
            self.collection,
            plan.residual([&track.covers]),
            track.is_multiple().then_some(order),
        );
        let mut filling = PageBuilder {
            candidates: Candidates::Walk(walk),
            matcher,
            examined_max: self.scan_max,
        };
        let filled = filling.page(page).await?;
        Ok(filled.map(|filled| DocumentPage {
            columns: index.on.iter().map(|path| path.place.clone()).collect(),
            ..self.found(
                filled,
                Some(UsedIndexes::of(index)),
                filling.matcher.examined,
            )
        }))
    }
}

/// Sorts documents by values. Holds only as many rows as the page needs.
struct Sorting<'q> {
    directions: Vec<bool>,
    page: &'q Page,
    matcher: Matcher<'q, Option<&'q Order>>,
    rows: Vec<Position>,
}

impl Sorting<'_> {
    async fn take(&mut self, ids: &[DocumentId]) -> Result<()> {
        let passed = self.matcher.at(ids).await?;
        for (id, passed) in ids.iter().zip(passed) {
            let Some(Some(values)) = passed else {
                continue;
            };
            let row = Position {
                values,
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
        let rows = self.rows.into_iter().map(|position| PageRow {
            position,
            entry: None,
        });
        Filled {
            rows: rows.collect(),
            more,
        }
    }

    /// Compares two rows in the direction of the page.
    fn compare(&self, a: &Position, b: &Position) -> Ordering {
        compare(&self.directions, (&a.values, &a.id), (&b.values, &b.id))
    }
}
