//! Fills a page with the candidates that match.

use super::entries::ids::{Ids, id_of};
use super::entries::merge_streams::MergedWalk;
use super::matcher::Matcher;
use super::page::{Order, Page, PageRow, Position, Stopped};
use crate::budget::{Budget, Share};
use crate::error::Result;
use crate::limits::SCAN_BATCH_DOCUMENTS;

/// Documents that may match, in the order of the page.
pub(crate) enum Candidates<'r> {
    /// By id. The flag is true if ids descend.
    Ids(Ids<'r>, bool),
    /// By the values in an index.
    Walk(MergedWalk<'r>),
}

/// A page under construction.
pub(crate) struct PageBuilder<'r> {
    pub(crate) candidates: Candidates<'r>,
    pub(crate) matcher: Matcher<'r, Option<&'r Order>>,
    /// The maximum number of documents to examine.
    pub(crate) examined_max: usize,
}

/// A completed page.
pub(crate) struct Filled {
    /// In the order of the query.
    pub(crate) rows: Vec<PageRow>,
    /// Whether more documents follow in the direction of the page.
    pub(crate) more: bool,
    /// Memory for the rows.
    pub(crate) memory: Share,
}

impl Candidates<'_> {
    /// The next rows, at most `count`. Fewer only at the end. `memory` holds them.
    async fn next(
        &mut self,
        count: usize,
        budget: &Budget,
        memory: &Share,
    ) -> Result<Vec<PageRow>> {
        let mut rows = Vec::new();
        while rows.len() < count
            && let Some(row) = self.next_row(budget).await?
        {
            memory.grow(&mut rows, 1)?;
            memory.take(row.own_bytes())?;
            rows.push(row);
        }
        Ok(rows)
    }

    async fn next_row(&mut self, budget: &Budget) -> Result<Option<PageRow>> {
        match self {
            Self::Ids(ids, descend) => {
                let found = ids.next_held(*descend, budget).await?;
                Ok(found.map(|(id, entry)| PageRow {
                    position: Position::new(Vec::new(), id),
                    entry,
                }))
            }
            Self::Walk(walk) => {
                let Some(found) = walk.next().await? else {
                    return Ok(None);
                };
                Ok(Some(PageRow {
                    position: Position::new(found.values, id_of(&found.id)?),
                    entry: found.held,
                }))
            }
        }
    }

    fn stopped(&self) -> Option<Stopped> {
        match self {
            Self::Ids(..) => None,
            Self::Walk(walk) => walk.stopped(),
        }
    }
}

impl PageBuilder<'_> {
    /// Fills the page. Returns the reason if a limit is reached first.
    ///
    /// # Errors
    /// As [`Matcher::at`].
    pub(crate) async fn page(&mut self, page: &Page) -> Result<Result<Filled, Stopped>> {
        let mut rows = Vec::new();
        let memory = self.matcher.budget.share();
        let mut batch = page.size.saturating_add(1);
        let mut more = true;
        while more && rows.len() <= page.size {
            let wanted = page.size.saturating_add(1) - rows.len();
            let count = if self.matcher.is_needless() {
                wanted
            } else {
                batch = batch.min(SCAN_BATCH_DOCUMENTS);
                batch.min(self.examined_max.saturating_sub(self.matcher.examined))
            };
            if count == 0 {
                let next = self.candidates.next_row(self.matcher.budget).await?;
                more = next.is_some() || self.candidates.stopped().is_some();
                if more && rows.len() < page.size {
                    return Ok(Err(Stopped::Documents));
                }
                break;
            }
            let held = memory.held();
            let next = self.candidates.next(count, self.matcher.budget, &memory);
            let candidates = next.await?;
            more = candidates.len() == count;
            if self.matcher.is_needless() && rows.is_empty() {
                rows = candidates;
            } else {
                let passed = self.passing(candidates).await?;
                memory.give(memory.held() - held);
                memory.grow(&mut rows, passed.len())?;
                memory.take(passed.iter().map(PageRow::own_bytes).sum())?;
                rows.extend(passed);
            }
            if let Some(stopped) = self.candidates.stopped() {
                if rows.len() < page.size {
                    return Ok(Err(stopped));
                }
                more = true;
                break;
            }
            // Few candidates matched, so the next round examines more.
            batch = batch.max(wanted) * 2;
        }
        more |= rows.len() > page.size;
        rows.truncate(page.size);
        if page.backward {
            rows.reverse();
        }
        Ok(Ok(Filled { rows, more, memory }))
    }

    /// Filters the candidates that match. If a document has several entries, only the one with its
    /// ordering values counts.
    async fn passing(&mut self, candidates: Vec<PageRow>) -> Result<Vec<PageRow>> {
        if self.matcher.is_needless() {
            return Ok(candidates);
        }
        let ids: Vec<_> = candidates
            .iter()
            .map(|row| row.position.id.clone())
            .collect();
        let passed = self.matcher.at(&ids).await?;
        let rows = candidates
            .into_iter()
            .zip(passed)
            .filter(|(row, passed)| match passed {
                Some(ordering) => ordering
                    .as_ref()
                    .is_none_or(|ordering| ordering.values == row.position.values),
                None => false,
            });
        Ok(rows.map(|(row, _)| row).collect())
    }
}
