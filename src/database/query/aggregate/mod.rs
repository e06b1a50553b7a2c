//! Aggregates: documents that match a filter, grouped by values, with counts, sums, averages and
//! bounds.
//!
//! Values are compared and grouped as in indexes: by type, numbers by value. So entries of an index
//! hold all that is needed, and if one index has every path of the query and answers its filter
//! exactly, no document is read (`covered`). Otherwise the matching documents are examined
//! (`summary` projects each of them). `groups` adds up both.

pub(crate) mod covered;
pub(crate) mod groups;
pub(crate) mod request;
pub(crate) mod summary;

pub use groups::{Aggregation, Group};
pub use request::{AggregateQuery, AggregatedPath, GroupOrder};
pub use summary::ValueSummary;

use covered::CoveredScan;
use groups::Groups;

use super::entries::ids::id_of;
use super::index_hint::{self, Goal};
use super::matcher::Matcher;
use super::page::{Stopped, UsedIndexes};
use super::search::Search;
use crate::budget::{Budget, Steps};
use crate::database::catalog::collections::count;
use crate::document::filter::Filter;
use crate::document::id::DocumentId;
use crate::error::Result;
use crate::limits::{SCAN_BATCH_DOCUMENTS, SORTED_IDS_MAX, STEPS_PER_READ};
use crate::store::Read;

/// The groups of the matching documents.
///
/// # Errors
/// `TOO_COMPLEX`: the query would examine more documents than allowed, and the message names an
/// index that would help; or a document is in too many groups. `INTERNAL`, errors of the store.
/// [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted).
pub async fn aggregate(
    read: &dyn Read,
    budget: &Budget,
    query: &AggregateQuery,
) -> Result<Aggregation> {
    let remedy = "restrict `where`, or raise `scanLimit`".to_owned();
    let mut search = Search::new(
        read,
        budget,
        &query.collection,
        &query.filter,
        query.scan_max,
        remedy,
    );
    search.keys = &query.keys;
    let has_paths = !query.group_by.is_empty() || !query.of.is_empty();
    if !has_paths && query.filter.is_empty() && query.keys.is_all() {
        let count = count(read, &query.collection).await?;
        let mut groups = Groups::new(query, budget);
        groups.count(u64::try_from(count).unwrap_or_default());
        return groups.aggregation(None, 0, 0).await;
    }
    let indexes = search.indexes(has_paths).await?;
    let plan = search.plan(&indexes).await?;
    let scan = |steps: &Steps<'_>| {
        let scan = CoveredScan::of(&plan, query, steps);
        steps.check().map(|()| scan)
    };
    let scan = budget.compute(scan).await?;
    if let Some(scan) = scan
        && !search.has_few_keys().await?
    {
        let mut groups = search.covered(query, &scan).await?;
        let examined = search.read_containers(query, &mut groups).await?;
        let index = Some(UsedIndexes::of(scan.index));
        let scanned = search.meter.total() + examined;
        return groups.aggregation(index, scanned, examined).await;
    }
    let source = search.source(SCAN_BATCH_DOCUMENTS, false, None);
    let mut chosen = search.choose(&plan, source, SORTED_IDS_MAX).await?;
    let mut matcher = Matcher::new(read, budget, &query.collection, chosen.filter, query);
    matcher.in_a_row = chosen.index.is_none() && !query.keys.is_listed();
    let mut groups = Groups::new(query, budget);
    let memory = budget.share();
    loop {
        memory.clear();
        let ids = chosen
            .ids
            .next(SCAN_BATCH_DOCUMENTS, false, (budget, &memory));
        let mut ids = ids.await?;
        let is_last = ids.len() < SCAN_BATCH_DOCUMENTS;
        let left = query.scan_max - matcher.examined.min(query.scan_max);
        let exceeds = ids.len() > left && !matcher.is_needless();
        if exceeds {
            ids.truncate(left);
        }
        let mut rest = &ids[..];
        while !rest.is_empty() {
            let summaries = matcher.first_of(rest).await?;
            rest = &rest[summaries.len()..];
            for summary in summaries.into_iter().flatten() {
                groups.add(summary).await?;
            }
        }
        if exceeds {
            return Err(index_hint::past_bound(
                &search,
                &plan,
                Goal::Groups(query),
                &indexes,
                &Stopped::Documents,
            ));
        }
        if is_last {
            break;
        }
    }
    let scanned = search.meter.total() + matcher.examined;
    groups
        .aggregation(chosen.index, scanned, matcher.examined)
        .await
}

impl Search<'_> {
    /// Reads the objects and arrays among the values of the groups to return. Returns the number of
    /// documents read.
    async fn read_containers(
        &self,
        query: &AggregateQuery,
        groups: &mut Groups<'_>,
    ) -> Result<usize> {
        let unread = || {
            let unread = groups.unread();
            let ids = unread
                .iter()
                .map(|id| id_of(id))
                .collect::<Result<Vec<DocumentId>>>();
            ids.map(|ids| (unread, ids))
        };
        let steps = STEPS_PER_READ * query.size as u64;
        let (unread, ids) = self.budget.portion(steps, unread).await?;
        let every = Filter::All(Vec::new());
        let mut matcher = Matcher::new(self.read, self.budget, self.collection, every, query);
        let mut read = 0;
        while read < ids.len() {
            let end = ids.len().min(read + SCAN_BATCH_DOCUMENTS);
            let documents = matcher.first_of(&ids[read..end]).await?;
            let unread = &unread[read..];
            read += documents.len();
            for (document, id) in documents.into_iter().zip(unread) {
                if let Some(document) = document {
                    groups.add_texts(id, document)?;
                }
            }
        }
        Ok(ids.len())
    }
}
