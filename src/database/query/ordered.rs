//! Pages in the order of values, by an ordered index scan or by sorting.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::entries::ids::id_bytes;
use super::entries::merge_streams::MergedWalk;
use super::entries::walk::{EntryWalk, IndexEntry, ScanShape};
use super::index_hint::{self, Goal};
use super::matcher::{Matcher, OrderingValues};
use super::page::{DocumentPage, Order, Page, PageRow, Position, Stopped, UsedIndexes, compare};
use super::paginate::{Candidates, Filled, PageBuilder};
use super::plan::access_path::QueryPlan;
use super::plan::ordered_scan::OrderedScan;
use super::search::Search;
use crate::budget::{Budget, Share, Steps};
use crate::database::catalog::collections::count;
use crate::document::filter::Filter;
use crate::document::id::DocumentId;
use crate::error::{Error, Result};
use crate::key::{IndexKey, IndexValue};
use crate::limits::{
    COPIED_BYTES_PER_STEP, KEY_BYTES_MAX, SCAN_BATCH_DOCUMENTS, SORTED_BEFORE_WALK_MAX,
    SORTED_IDS_AHEAD, STEPS_AT_A_TIME,
};

impl Search<'_> {
    /// A page in the order of values.
    pub(crate) async fn by_value(&self, order: &Order, page: &Page) -> Result<DocumentPage> {
        let indexes = self.indexes(true).await?;
        let plan = self.plan(&indexes).await?;
        let scan = self.ordered_scan(order, &plan).await?;
        let covers_access_paths = |scan: &OrderedScan<'_>| {
            let mut access_paths = plan.access_paths.iter();
            self.keys.is_all()
                && access_paths.all(|access_path| access_path.used.is_subset(&scan.used))
        };
        let few_max = match &scan {
            Some(scan) if covers_access_paths(scan) => 0,
            // An ordered scan may fill the page after few documents, so sort only if there are few
            // candidates.
            Some(_) if !plan.is_equality() => SCAN_BATCH_DOCUMENTS.min(self.scan_max),
            Some(_) => SORTED_BEFORE_WALK_MAX.min(self.scan_max),
            None => self.scan_max,
        };
        if few_max > 0
            && let Some(found) = self
                .sorted(order, page, &plan, few_max, scan.is_some())
                .await?
        {
            return Ok(found);
        }
        let stopped = match &scan {
            None => Stopped::Documents,
            Some(scan) => match self.walk(order, page, &plan, scan).await? {
                Ok(found) => return Ok(found),
                Err(stopped) => stopped,
            },
        };
        // If the walk examined as many documents as are allowed, all others are too many, too.
        let is_walked = stopped == Stopped::Documents;
        let may_be_few = !is_walked || few_max > 0 && plan.is_equality();
        if few_max < self.scan_max
            && may_be_few
            && let Some(found) = self
                .sorted(order, page, &plan, self.scan_max, is_walked)
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

    /// A page by sorting all candidates. None if they are more than `examined_max`,
    /// or if they are the whole collection and `has_scan`: an ordered scan is better then.
    async fn sorted(
        &self,
        order: &Order,
        page: &Page,
        plan: &QueryPlan<'_>,
        examined_max: usize,
        has_scan: bool,
    ) -> Result<Option<DocumentPage>> {
        let source = self.source(SCAN_BATCH_DOCUMENTS, false, None);
        let mut chosen = self.choose(plan, source, examined_max).await?;
        let is_whole = chosen.index.is_none() && self.keys.is_all();
        if is_whole && has_scan {
            return Ok(None);
        }
        let mut wanted = SORTED_IDS_AHEAD.min(examined_max.saturating_add(1));
        if is_whole && examined_max >= SORTED_IDS_AHEAD {
            let documents = count(self.read, self.collection).await?;
            if usize::try_from(documents).is_ok_and(|documents| documents > examined_max) {
                return Ok(None);
            }
        }
        let ids_memory = self.budget.share();
        let counted = (self.budget, &ids_memory);
        let mut ids = chosen.ids.next(wanted, false, counted).await?;
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
        let directions = order.directions(page);
        let mut sorting = Sorting {
            order,
            from: self.resume(order, page.from.as_ref()).await?,
            matcher,
            top: TopRows::new(self.budget, &directions, page.size.saturating_add(1)),
        };
        sorting.matcher.in_a_row = chosen.index.is_none() && !self.keys.is_listed();
        loop {
            sorting.take(&ids).await?;
            if ids.len() < wanted {
                break;
            }
            let left = examined_max - sorting.matcher.examined;
            wanted = SCAN_BATCH_DOCUMENTS.min(left.saturating_add(1));
            drop(ids);
            ids_memory.clear();
            ids = chosen.ids.next(wanted, false, counted).await?;
            if ids.len() > left {
                return Ok(None);
            }
        }
        let examined = sorting.matcher.examined;
        let filled = sorting.top.filled(page).await?;
        Ok(Some(self.found(filled, chosen.index, examined)))
    }

    /// Where a page begins. If the position has cut strings, they are read, if the document
    /// still has them.
    async fn resume<'p>(
        &self,
        order: &Order,
        from: Option<&'p Position>,
    ) -> Result<Option<PageBegin<'p>>> {
        let Some(from) = from else {
            return Ok(None);
        };
        let cut = PageBegin {
            at: from,
            whole: None,
        };
        if from.whole.is_none() {
            return Ok(Some(cut));
        }
        let every = Filter::default();
        let mut matcher = Matcher::new(self.read, self.budget, self.collection, every, Some(order));
        let id = std::slice::from_ref(&from.id);
        let found = matcher.at(id).await?.into_iter().next();
        Ok(Some(match found.flatten().flatten() {
            Some(found) if from.has_whole(&found.values) => PageBegin {
                whole: Some(found),
                ..cut
            },
            _ => cut,
        }))
    }

    /// The best index for an ordered scan.
    async fn ordered_scan<'i>(
        &self,
        order: &Order,
        plan: &QueryPlan<'i>,
    ) -> Result<Option<OrderedScan<'i>>> {
        let find = |steps: &Steps<'_>| {
            let scan = plan.ordered_scan(order, steps);
            steps.check().map(|()| scan)
        };
        self.budget.compute(find).await
    }

    /// A page by an ordered index scan, or the reason if a limit is reached first.
    async fn walk(
        &self,
        order: &Order,
        page: &Page,
        plan: &QueryPlan<'_>,
        scan: &OrderedScan<'_>,
    ) -> Result<Result<DocumentPage, Stopped>> {
        let index = scan.index;
        let shape = ScanShape {
            key: IndexKey::new(self.collection, index.number)?,
            name: &index.name,
            columns: index.on.len(),
            fixed: scan.fixed,
            levels: scan.ordered(),
            of_values: scan.columns.clone(),
            directions: order.directions(page),
            keys: self.keys,
            holds: index.holds_values(),
        };
        let after = page
            .from
            .as_ref()
            .map(|from| {
                id_bytes(self.collection, &from.id).map(|id| IndexEntry {
                    values: from.values.clone(),
                    id,
                    held: None,
                })
            })
            .transpose()?;
        // The streams together yield a page.
        let streams = scan.prefixes.len().max(1);
        let first_batch = page
            .size
            .saturating_add(1)
            .min(SCAN_BATCH_DOCUMENTS)
            .div_ceil(streams);
        let reading = self.source(first_batch, page.backward, None).reading;
        let (begin, end) = if scan.columns.iter().all(|column| *column < scan.fixed)
            && scan.fixed == index.on.len()
        {
            // Ids follow the fixed columns.
            self.keys.bounds()
        } else {
            scan.range.clone()
        };
        let walks = scan.prefixes.iter().map(|prefix| {
            let range = (&begin[..], &end[..]);
            EntryWalk::new(reading, &shape, prefix.clone(), range, after.as_ref())
        });
        let walk = MergedWalk::new(reading, &shape, walks.collect());
        let matcher = Matcher::new(
            self.read,
            self.budget,
            self.collection,
            plan.residual([&scan.covers]),
            scan.is_multiple().then_some(order),
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

/// Where a page begins.
struct PageBegin<'p> {
    at: &'p Position,
    /// The whole values of the position, if it has cut ones and the document still has them.
    whole: Option<OrderingValues>,
}

/// Sorts documents by values. Holds only as many rows as the page needs.
struct Sorting<'q> {
    order: &'q Order,
    from: Option<PageBegin<'q>>,
    matcher: Matcher<'q, Option<&'q Order>>,
    top: TopRows<'q>,
}

impl Sorting<'_> {
    async fn take(&mut self, ids: &[DocumentId]) -> Result<()> {
        let mut rest = ids;
        while !rest.is_empty() {
            let passed = self.matcher.first_of(rest).await?;
            let (some, behind) = rest.split_at(passed.len());
            rest = behind;
            for (id, passed) in some.iter().zip(passed) {
                if let Some(Some(OrderingValues { values, memory })) = passed
                    && self.is_behind_begin(&values, id)?
                {
                    // The row is charged from now on.
                    drop(memory);
                    self.top.add(values, id).await?;
                }
            }
        }
        Ok(())
    }

    fn is_behind_begin(&self, values: &[IndexValue], id: &DocumentId) -> Result<bool> {
        let Some(PageBegin { at, whole }) = &self.from else {
            return Ok(true);
        };
        let directions = self.top.directions;
        let order = match whole {
            Some(whole) => Ok(compare(directions, (values, id), (&whole.values, &at.id))),
            None => at.compared_with(directions, values, id),
        };
        match order {
            Ok(order) => Ok(order == Ordering::Greater),
            Err(value) => Err(self.no_begin(value)),
        }
    }

    fn no_begin(&self, value: usize) -> Error {
        let path = self.order.values.get(value).map(|order| order.by.text());
        Error::bad_input(format!(
            "the cursor has only the first {KEY_BYTES_MAX} bytes of a string at {}, its document has \
             changed, and another document has a string that begins with the same bytes: begin with \
             the first page",
            path.unwrap_or_default()
        ))
    }
}

/// The first rows in the order of a page, as many as it needs.
struct TopRows<'q> {
    budget: &'q Budget,
    /// Whether each of the values descends, and then whether ids do.
    directions: &'q [bool],
    rows_max: usize,
    /// The greatest row is the last one in the order.
    rows: BinaryHeap<RankedRow<'q>>,
    /// Memory for the rows.
    memory: Share,
}

/// A row that is compared in the directions of the page.
struct RankedRow<'q> {
    values: Vec<IndexValue>,
    id: DocumentId,
    directions: &'q [bool],
}

impl<'q> TopRows<'q> {
    fn new(budget: &'q Budget, directions: &'q [bool], rows_max: usize) -> Self {
        Self {
            budget,
            directions,
            rows_max,
            rows: BinaryHeap::new(),
            memory: budget.share(),
        }
    }

    /// Adds a row, if it is among the first ones so far.
    async fn add(&mut self, values: Vec<IndexValue>, id: &DocumentId) -> Result<()> {
        let row = RankedRow {
            values,
            id: id.clone(),
            directions: self.directions,
        };
        if self.rows.len() >= self.rows_max {
            let is_behind = self.rows.peek().is_none_or(|last| row >= *last);
            if is_behind {
                return self.budget.pace(row.steps()).await;
            }
            if let Some(last) = self.rows.pop() {
                self.memory.give(last.bytes());
            }
        }
        let compared = 1 + u64::from(self.rows.len().max(1).ilog2());
        let steps = row.steps().saturating_mul(compared);
        self.memory.take(row.bytes())?;
        self.rows.push(row);
        self.budget.pace(steps).await
    }

    /// The rows of the page.
    async fn filled(self, page: &Page) -> Result<Filled> {
        let compared = u64::from(self.rows.len().max(1).ilog2());
        let steps: u64 = self.rows.iter().map(RankedRow::steps).sum();
        let steps = steps.saturating_mul(compared);
        self.budget.pace(steps).await?;
        let rows = self.rows;
        let sort = move || Ok(rows.into_sorted_vec());
        let mut rows = if steps > STEPS_AT_A_TIME {
            self.budget.compute_long(sort).await?
        } else {
            sort()?
        };
        let more = rows.len() > page.size;
        rows.truncate(page.size);
        if page.backward {
            rows.reverse();
        }
        let rows: Vec<PageRow> = rows
            .into_iter()
            .map(|row| PageRow {
                position: Position::new(row.values, row.id),
                entry: None,
            })
            .collect();
        let memory = self.budget.share();
        memory.take(rows.capacity() * size_of::<PageRow>())?;
        memory.take(rows.iter().map(PageRow::own_bytes).sum())?;
        Ok(Filled { rows, more, memory })
    }
}

impl RankedRow<'_> {
    /// The memory of the row.
    fn bytes(&self) -> usize {
        let values = self
            .values
            .iter()
            .map(|value| size_of::<IndexValue>() + value.bytes().len());
        size_of::<Self>() + self.id.bytes() + values.sum::<usize>()
    }

    /// The steps of work to compare the row with another one.
    fn steps(&self) -> u64 {
        let bytes: usize = self.values.iter().map(|value| value.bytes().len()).sum();
        1 + bytes as u64 / COPIED_BYTES_PER_STEP
    }
}

impl Ord for RankedRow<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        let row = (&self.values[..], &self.id);
        compare(self.directions, row, (&other.values, &other.id))
    }
}

impl PartialOrd for RankedRow<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RankedRow<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for RankedRow<'_> {}
