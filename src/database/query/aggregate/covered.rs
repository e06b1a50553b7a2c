//! Aggregates from the entries of one index.
//!
//! An index covers a query if
//!
//! * each path of the query is one of its columns;
//! * it answers the filter exactly;
//! * a document that it has no entries for contributes nothing: the query groups by the first column,
//!   or its filter requires a value there, or it aggregates that column alone and counts nothing;
//! * each entry is a document in a group: the column with `[*]`, if there is one, is a path to group
//!   by without a condition, or the filter fixes it at one value.
//!
//! An entry has only a digest of an object or an array. If one of the groups returned has such a
//! value, it is read from a document of the group.

use super::groups::Groups;
use super::request::AggregateQuery;
use crate::budget::Steps;
use crate::database::document_key::prefix_end;
use crate::database::index::definition::Index;
use crate::database::query::entries::ids::no_entry;
use crate::database::query::entries::keys::KeyStream;
use crate::database::query::plan::access_path::{
    EntrySource, QueryPlan, Span, UsableIndex, conditions_on, span_of,
};
use crate::database::query::search::Search;
use crate::document::jsonpath::Query;
use crate::error::Result;
use crate::key::{IndexKey, IndexValue, Rank};
use crate::limits::{BATCH_PAIRS_MAX, LEAVES_PER_PACE};

/// A scan of the entries of an index that covers a query.
pub(crate) struct CoveredScan<'i> {
    pub(crate) index: &'i Index,
    spans: Vec<Span>,
    /// The number of columns fixed by equality. If it is all columns, the entries are in the order of
    /// the keys.
    equal: usize,
    /// The column of each path to group by.
    group_by: Vec<usize>,
    /// The column of each path to aggregate.
    of: Vec<usize>,
}

impl<'i> CoveredScan<'i> {
    /// The best covering index for a query. None if no index covers it.
    pub(crate) fn of(
        plan: &QueryPlan<'i>,
        query: &AggregateQuery,
        steps: &Steps<'_>,
    ) -> Option<Self> {
        let scans = plan
            .usable
            .iter()
            .filter_map(|usable| covering(plan, query, usable, steps));
        // The index with the fewest columns has the smallest entries.
        scans.min_by_key(|scan| scan.index.on.len())
    }

    /// The number of columns up to the last one to group by.
    fn grouped(&self) -> usize {
        self.group_by.iter().max().map_or(0, |last| last + 1)
    }
}

fn covering<'i>(
    plan: &QueryPlan<'_>,
    query: &AggregateQuery,
    usable: &UsableIndex<'i>,
    steps: &Steps<'_>,
) -> Option<CoveredScan<'i>> {
    let index = usable.index;
    let column = |path: &Query| {
        let mut columns = index.on.iter();
        columns.position(|column| path.simple() == Some(column.steps()))
    };
    let group_by: Vec<usize> = query.group_by.iter().map(column).collect::<Option<_>>()?;
    let of: Vec<usize> = query
        .of
        .iter()
        .map(|of| column(&of.path))
        .collect::<Option<_>>()?;
    let CoveringSpans {
        spans,
        equal,
        is_bounded,
    } = spans(plan, usable, steps)?;
    let counts_first_alone = query.group_by.is_empty()
        && !query.counts
        && !of.is_empty()
        && of.iter().all(|column| *column == 0);
    if !is_bounded && !group_by.contains(&0) && !counts_first_alone {
        return None;
    }
    if let Some(multiple) = index.multiple() {
        let is_tested = !conditions_on(&plan.conjuncts, index.on[multiple].steps()).is_empty();
        let is_grouped = group_by.contains(&multiple) && !is_tested;
        let is_fixed = multiple < equal && spans.len() == 1;
        let is_aggregated = of.contains(&multiple);
        if is_aggregated || !(is_grouped || is_fixed && !group_by.contains(&multiple)) {
            return None;
        }
    }
    Some(CoveredScan {
        index,
        spans,
        equal,
        group_by,
        of,
    })
}

/// The spans of an index that have exactly the matching documents that it has entries for.
struct CoveringSpans {
    spans: Vec<Span>,
    /// The number of columns fixed by equality.
    equal: usize,
    /// Whether a matching document has a value in the first column.
    is_bounded: bool,
}

fn spans(
    plan: &QueryPlan<'_>,
    usable: &UsableIndex<'_>,
    steps: &Steps<'_>,
) -> Option<CoveringSpans> {
    let all = plan.conjuncts.len();
    let Some(access_path) = span_of(&plan.conjuncts, usable, steps) else {
        let whole = Span {
            begin: Vec::new(),
            end: vec![0xFF],
        };
        // The filter of the index answers the query.
        return (usable.proves.len() == all).then_some(CoveringSpans {
            spans: vec![whole],
            equal: 0,
            is_bounded: false,
        });
    };
    match access_path.access {
        EntrySource::Index { spans, .. } if access_path.covers.len() == all => {
            Some(CoveringSpans {
                spans,
                equal: access_path.equal,
                is_bounded: true,
            })
        }
        EntrySource::Index { .. } | EntrySource::Union(_) => None,
    }
}

impl Search<'_> {
    /// Adds up the entries of a scan.
    ///
    /// # Errors
    /// Errors of the store. `INTERNAL`: damaged entries.
    /// [`ErrorKind::Exhausted`](crate::error::ErrorKind::Exhausted).
    pub(crate) async fn covered<'q>(
        &'q self,
        query: &'q AggregateQuery,
        scan: &CoveredScan<'_>,
    ) -> Result<Groups<'q>> {
        let key = IndexKey::new(self.collection, scan.index.number)?;
        let skips = !query.counts && query.of.is_empty() && self.keys.is_all();
        let (first_id, past_ids) = self.keys.bounds();
        let mut groups = Groups::new(query, self.budget);
        let mut added = 0;
        let mut group = Vec::new();
        for span in &scan.spans {
            let (begin, end) = if scan.equal == scan.index.on.len() {
                let after = |id: &[u8]| [&span.begin[..], id].concat();
                key.span(&after(&first_id), &after(&past_ids))
            } else {
                key.span(&span.begin, &span.end)
            };
            let first_batch = if skips { 16 } else { BATCH_PAIRS_MAX };
            let reading = self.source(first_batch, false, None).reading;
            let mut keys = KeyStream::new(reading, &begin, &end, false);
            while let Some(entry) = keys.peek().await? {
                let values = values(&key, entry, scan.index.on.len());
                let (values, id) = values.ok_or_else(|| no_entry(entry))?;
                let of_group = scan.group_by.iter().map(|column| &values[*column]);
                let is_complete = of_group.clone().all(|value| value.rank() != Rank::Missing);
                if is_complete && self.keys.contains(id) {
                    group.clear();
                    for value in of_group {
                        group.extend_from_slice(value.bytes());
                        if value.rank() == Rank::Container {
                            groups.add_container(value, id)?;
                        }
                    }
                    let of = scan.of.iter().map(|column| &values[*column]);
                    groups.add_entry(&group, of)?;
                }
                if skips {
                    keys.advance_to(&past_group(&key, &values[..scan.grouped()]));
                } else {
                    keys.advance();
                }
                added += 1;
                if added % LEAVES_PER_PACE == 0 {
                    let work = LEAVES_PER_PACE * (1 + query.of.len());
                    self.budget.pace(work as u64).await?;
                }
            }
        }
        Ok(groups)
    }
}

/// The values of an entry, and its id.
fn values<'e>(
    key: &IndexKey,
    entry: &'e [u8],
    columns: usize,
) -> Option<(Vec<IndexValue>, &'e [u8])> {
    let mut rest = key.relative(entry)?;
    let mut values = Vec::with_capacity(columns);
    for _ in 0..columns {
        let (value, behind) = IndexValue::split(rest)?;
        values.push(value);
        rest = behind;
    }
    Some((values, rest))
}

/// The first key after the entries that begin with these values.
fn past_group(key: &IndexKey, values: &[IndexValue]) -> Vec<u8> {
    let packed: Vec<u8> = values.iter().flat_map(IndexValue::bytes).copied().collect();
    key.span(&packed, &prefix_end(&packed)).1
}
