//! The total number of documents over all pages of a query, where it is cheap: from the catalog, or
//! by counting the entries of indexes that cover the filter.

use std::collections::BTreeSet;

use super::entries::ids::Ids;
use super::entries::keys::Meter;
use super::page::{Order, OrderBy, Select, Total};
use super::plan::access_path::{AccessPath, QueryPlan};
use super::search::Search;
use crate::budget::Budget;
use crate::database::catalog::collections::count;
use crate::document::filter::{Condition, Filter, Tests};
use crate::error::{Error, Result};
use crate::limits::{COUNTED_ENTRIES_MAX, PROBE_ENTRIES};
use crate::store::Read;

const NOT_INDEXED: &str = "the documents would have to be examined: no index answers `where` and \
                           `orderBy` exactly";
const TOO_MANY: &str = "more than 10000 keys or index entries would have to be counted";
const _: () = assert!(COUNTED_ENTRIES_MAX == 10_000, "the message names it");

/// The total of a query and the number of keys read for it.
///
/// # Errors
/// Errors of the store. `INTERNAL`: the catalog or an index is damaged.
pub(crate) async fn total(
    read: &dyn Read,
    budget: &Budget,
    select: &Select,
) -> Result<(Total, usize)> {
    if select.filter.is_empty() && select.order.is_by_id() && select.keys.is_all() {
        let count = count(read, &select.collection).await?;
        let count = u64::try_from(count).map_err(|_| {
            let name = &select.collection;
            Error::internal(format!("the catalog has {count} documents in {name:?}"))
        })?;
        return Ok((Total::Exact(count), 0));
    }
    let filter = selecting(select.filter.clone(), &select.order);
    let mut search = Search::new(read, budget, &select.collection, &filter, 0, String::new());
    search.keys = &select.keys;
    search.meter = Meter::at_most(COUNTED_ENTRIES_MAX);
    let total = search.total().await?;
    Ok((total, search.meter.total()))
}

/// Adds the conditions that `order` selects values: other documents are not part of the result.
fn selecting(filter: Filter, order: &Order) -> Filter {
    order.values.iter().fold(filter, selecting_value)
}

fn selecting_value(filter: Filter, order: &OrderBy) -> Filter {
    let mut conjuncts = Vec::new();
    super::plan::conjuncts::flatten(&filter, &mut conjuncts);
    let selects = |filter: &Filter| matches!(filter, Filter::Where(it) if it.at.simple() == order.by.simple());
    if order.by.simple().is_some() && conjuncts.iter().any(selects) {
        return filter;
    }
    let selected = Filter::Where(Condition {
        at: order.by.clone(),
        tests: Tests::default(),
    });
    Filter::All(vec![filter, selected])
}

impl Search<'_> {
    async fn total(&self) -> Result<Total> {
        let indexes = self.indexes(false).await?;
        let plan = self.plan(&indexes).await?;
        let access_paths = exact(&plan);
        if access_paths.is_empty() && plan.conjuncts.is_empty() {
            let mut source = self.source(COUNTED_ENTRIES_MAX + 1, false, None);
            source.reading.batch_max = COUNTED_ENTRIES_MAX + 1;
            return self.count(source.every()?).await;
        }
        if access_paths.is_empty() {
            return Ok(Total::Unknown(NOT_INDEXED));
        }
        let spans: usize = access_paths
            .iter()
            .map(|access_path| access_path.access.spans())
            .sum();
        // After the limit is exceeded each stream stops at its next batch, so all streams together
        // read little more than twice the limit.
        let batch_max = (COUNTED_ENTRIES_MAX / spans.max(1)).max(1);
        let mut source = self.source(batch_max.min(PROBE_ENTRIES), false, None);
        source.reading.batch_max = batch_max;
        let mut parts = Vec::with_capacity(access_paths.len());
        for access_path in access_paths {
            match source
                .open(&access_path.access, COUNTED_ENTRIES_MAX)
                .await?
            {
                Some(ids) => parts.push(ids),
                None => return Ok(Total::Unknown(TOO_MANY)),
            }
        }
        let ids = match <[Ids<'_>; 1]>::try_from(parts) {
            Ok([only]) => only,
            Err(parts) => Ids::Intersection(parts, self.budget),
        };
        self.count(ids).await
    }

    /// Counts the ids. A document with several entries counts once.
    async fn count(&self, mut ids: Ids<'_>) -> Result<Total> {
        let mut total = 0;
        loop {
            let next = ids.next_held(false, self.budget).await?;
            if self.meter.is_passed() {
                return Ok(Total::Unknown(TOO_MANY));
            }
            if next.is_none() {
                return Ok(Total::Exact(total));
            }
            total += 1;
        }
    }
}

/// Access paths whose intersection is exactly the matching documents: a single one if
/// possible. None if documents would have to be examined.
fn exact<'p, 'i>(plan: &'p QueryPlan<'i>) -> Vec<&'p AccessPath<'i>> {
    let all = plan.conjuncts.len();
    if let Some(access_path) = plan
        .access_paths
        .iter()
        .find(|access_path| access_path.covers.len() == all)
    {
        return vec![access_path];
    }
    let access_paths: Vec<_> = plan.access_paths.iter().collect();
    let covered: BTreeSet<usize> = access_paths
        .iter()
        .flat_map(|access_path| &access_path.covers)
        .copied()
        .collect();
    if covered.len() == all {
        access_paths
    } else {
        Vec::new()
    }
}
