//! Suggestions of indexes: in the errors of queries that exceed a limit, and for hints.

use super::aggregate::covered::CoveredScan;
use super::aggregate::request::AggregateQuery;
use super::page::{Order, Select, Stopped};
use super::plan::access_path::QueryPlan;
use super::plan::column::ColumnBounds;
use super::plan::conjuncts::flatten;
use super::plan::implication::implied;
use super::search::{Indexes, Search};
use crate::budget::{Budget, Steps};
use crate::database::catalog::collections::count;
use crate::database::index::definition::{Index, IndexPath, State};
use crate::document::filter::{Condition, Filter};
use crate::document::json::write_string;
use crate::document::jsonpath::{Query, SimpleStep};
use crate::error::{Error, Limit, Result};
use crate::limits::{INDEX_PATHS_MAX, SORTED_IDS_MAX, UNINDEXED_DOCUMENTS_MAX};
use crate::store::Read;

/// What a query makes of the documents that match.
#[derive(Clone, Copy)]
pub(crate) enum Goal<'q> {
    /// A page in this order.
    Page(&'q Order),
    /// Groups.
    Groups(&'q AggregateQuery),
}

/// Creates the error of a search that reached a limit.
pub(crate) fn past_bound(
    search: &Search<'_>,
    plan: &QueryPlan<'_>,
    goal: Goal<'_>,
    indexes: &Indexes,
    stopped: &Stopped,
) -> Error {
    let (advice, remedy) = advice(search, plan, goal, indexes, stopped);
    let (limit, reached) = match stopped {
        Stopped::Documents => (
            Limit::new("scannedDocuments", search.scan_max),
            format!(
                "{} documents were examined, which is the limit here",
                search.scan_max
            ),
        ),
        Stopped::LeftOut(index) => (
            Limit::new("orderedEntries", SORTED_IDS_MAX),
            format!(
                "{SORTED_IDS_MAX} entries of the index {index:?}, which provides the order, were \
                 read for documents that `keys` or `orderBy` leaves out"
            ),
        ),
        Stopped::Unsorted(index) => (
            Limit::new("orderedEntries", SORTED_IDS_MAX),
            format!(
                "{SORTED_IDS_MAX} entries of the index {index:?}, which provides the order, have \
                 the same values and would have to be sorted by key"
            ),
        ),
    };
    let message = format!("{reached}, and there are more: {advice}");
    Error::too_complex(limit, message).with_remedy(remedy)
}

/// The mutation that creates an index for the filter of a query that no index serves. None
/// if no index can serve it, or if the collection has few documents, so that no index is needed.
///
/// # Errors
/// Errors of the store and of the budget.
pub async fn missing_index(
    read: &dyn Read,
    budget: &Budget,
    select: &Select,
) -> Result<Option<String>> {
    if select.filter.is_empty() || !select.keys.is_all() {
        return Ok(None);
    }
    let count = count(read, &select.collection).await?;
    if usize::try_from(count).is_ok_and(|count| count < UNINDEXED_DOCUMENTS_MAX) {
        return Ok(None);
    }
    let search = Search::new(
        read,
        budget,
        &select.collection,
        &select.filter,
        select.scan_max,
        String::new(),
    );
    let indexes = search.indexes(true).await?;
    let plan = search.plan(&indexes).await?;
    let missing = |steps: &Steps<'_>| {
        let is_ordered = !select.order.is_by_id();
        let is_served = !plan.access_paths.is_empty()
            || is_ordered && plan.ordered_scan(&select.order, steps).is_some();
        if is_served {
            return Ok(None);
        }
        let paths = paths(&plan.conjuncts, &select.order, &indexes.ready, steps);
        if paths.is_empty() || same_index(&plan, &paths, indexes.all(), steps).is_some() {
            return Ok(None);
        }
        let field = creation(&search, &paths, &indexes);
        steps.check().map(|()| Some(mutation(&field)))
    };
    budget.compute(missing).await
}

/// The field of `Mutation` that creates an index on these paths.
fn creation(search: &Search<'_>, paths: &[Query], indexes: &Indexes) -> String {
    let on: Vec<String> = paths.iter().map(|path| quoted(path.text())).collect();
    format!(
        "createIndex(collection: {}, name: {}, on: [{}])",
        quoted(search.collection),
        quoted(&free_name(paths, indexes)),
        on.join(", ")
    )
}

/// The operation with a field that creates an index.
fn mutation(creation: &str) -> String {
    format!("mutation {{ {creation} {{ name state }} }}")
}

/// The index that is on these paths and has the documents of the query.
fn same_index<'i>(
    plan: &QueryPlan<'_>,
    paths: &[Query],
    mut indexes: impl Iterator<Item = &'i Index>,
    steps: &Steps<'_>,
) -> Option<&'i Index> {
    let conjuncts: Vec<&Filter> = plan.conjuncts.iter().collect();
    indexes.find(|index| {
        let on = index.on.iter().map(|path| Some(path.steps()));
        let filter = index.filter.as_ref();
        on.eq(paths.iter().map(|path| path.simple()))
            && filter.is_none_or(|filter| implied(&conjuncts, filter.filter(), steps))
    })
}

/// What to do, and the mutation that does it.
fn advice(
    search: &Search<'_>,
    plan: &QueryPlan<'_>,
    goal: Goal<'_>,
    indexes: &Indexes,
    stopped: &Stopped,
) -> (String, Option<String>) {
    let steps = Steps::of(search.budget);
    let paths = match goal {
        Goal::Page(order) => paths(&plan.conjuncts, order, &indexes.ready, &steps),
        Goal::Groups(query) => paths_of_groups(&plan.conjuncts, query, &indexes.ready, &steps),
    };
    let remedy = &search.remedy;
    if matches!(stopped, Stopped::LeftOut(_)) {
        let advice = "no index can serve it; request less, or use another order";
        return (advice.to_owned(), None);
    }
    if paths.is_empty() {
        return (format!("no index can serve this query; {remedy}"), None);
    }
    if let Some(index) = same_index(plan, &paths, indexes.others.iter(), &steps) {
        let name = &index.name;
        let advice = match index.state {
            State::Building => format!("the index {name:?}, which would help, is being built"),
            State::Ready | State::Failed => {
                format!("the index {name:?}, which would help, has failed; {remedy}")
            }
        };
        return (advice, None);
    }
    if same_index(plan, &paths, indexes.ready.iter(), &steps).is_some() {
        let advice = format!("the existing indexes do not help further; {remedy}");
        return (advice, None);
    }
    let creation = creation(search, &paths, indexes);
    let use_of = if serves(search, goal, &paths, &steps) {
        "serves this query"
    } else {
        "helps"
    };
    (
        format!("{creation} would create an index that {use_of}; or {remedy}"),
        Some(mutation(&creation)),
    )
}

/// Whether an index on these paths serves a query alone: no document would be examined, and
/// no entries sorted or left out.
fn serves(search: &Search<'_>, goal: Goal<'_>, paths: &[Query], steps: &Steps<'_>) -> bool {
    let on = paths.iter().map(|path| IndexPath::parse(path.text()));
    let Ok(on) = on.collect::<Result<Vec<IndexPath>>>() else {
        return false;
    };
    let index = [Index {
        name: name(paths),
        number: 0,
        on,
        unique: false,
        filter: None,
        exact: true,
        state: State::Ready,
        error: None,
    }];
    let Ok(plan) = QueryPlan::new(search.filter, &index, steps) else {
        return false;
    };
    let order = match goal {
        Goal::Page(order) => order,
        Goal::Groups(query) => return CoveredScan::of(&plan, query, steps).is_some(),
    };
    let all = plan.conjuncts.len();
    if order.is_by_id() {
        let mut access_paths = plan.access_paths.iter();
        return access_paths
            .any(|access_path| access_path.covers.len() == all && access_path.access.is_sorted());
    }
    let scan = plan.ordered_scan(order, steps);
    scan.is_some_and(|scan| {
        scan.covers.len() == all
            && scan.unordered() == 0
            && scan.ordered() <= 1
            && !scan.is_multiple()
            && search.keys.is_all()
    })
}

/// The paths of a useful index: first the paths compared for equality, then the paths of the
/// order; without an order, the path of a range test.
fn paths(conjuncts: &[Filter], order: &Order, ready: &[Index], steps: &Steps<'_>) -> Vec<Query> {
    let (equal, ranges) = tested_paths(conjuncts, steps);
    let by: Vec<&Query> = order.values.iter().map(|value| &value.by).collect();
    // All of the order, or none of it.
    let by = distinct(&[], &by).unwrap_or_default();
    let mut paths = behind_equal(&equal, &by);
    if by.is_empty() {
        let range = ranges.iter().find_map(|range| distinct(&paths, &[range]));
        paths = range.unwrap_or(paths);
    }
    if !paths.is_empty() {
        return paths.into_iter().cloned().collect();
    }
    let alternatives = conjuncts.iter().find_map(|filter| match filter {
        Filter::Any(parts) => Some(parts),
        _ => None,
    });
    let mut unserved = alternatives.into_iter().flatten().filter(|part| {
        let plan = QueryPlan::new(part, ready, steps);
        plan.is_ok_and(|plan| plan.access_paths.is_empty())
    });
    unserved.next().map_or_else(Vec::new, |part| {
        let mut conjuncts = Vec::new();
        flatten(part, &mut conjuncts);
        self::paths(&conjuncts, &Order::default(), ready, steps)
    })
}

/// The paths compared for equality, and those with a range test.
fn tested_paths<'f>(
    conjuncts: &'f [Filter],
    steps: &Steps<'_>,
) -> (Vec<&'f Query>, Vec<&'f Query>) {
    let conditions = conjuncts.iter().filter_map(|filter| match filter {
        Filter::Where(condition) => Some(condition),
        _ => None,
    });
    let mut equal = Vec::new();
    let mut ranges = Vec::new();
    for condition in conditions {
        match column(condition, steps) {
            Some(ColumnBounds::Points { .. }) => equal.push(&condition.at),
            Some(ColumnBounds::Range { .. }) => ranges.push(&condition.at),
            None => {}
        }
    }
    (equal, ranges)
}

/// The paths of an index that covers an aggregate: the paths compared for equality, those
/// with a range test, those to group by, then those to aggregate. If no index can have all of them,
/// returns the paths of an index for the filter.
fn paths_of_groups(
    conjuncts: &[Filter],
    query: &AggregateQuery,
    ready: &[Index],
    steps: &Steps<'_>,
) -> Vec<Query> {
    let (equal, ranges) = tested_paths(conjuncts, steps);
    let group_by = query.group_by.iter();
    let of = query.of.iter().map(|of| &of.path);
    let others: Vec<&Query> = ranges.into_iter().chain(group_by).chain(of).collect();
    let all = distinct(&[], &equal).and_then(|equal| distinct(&equal, &others));
    match all {
        Some(all) => all.into_iter().cloned().collect(),
        None => paths(conjuncts, &Order::default(), ready, steps),
    }
}

/// The paths compared for equality, as far as the paths of the order fit after them.
fn behind_equal<'q>(equal: &[&'q Query], by: &[&'q Query]) -> Vec<&'q Query> {
    let mut paths = Vec::new();
    for path in equal {
        let others: Vec<&Query> = by
            .iter()
            .filter(|by| by.simple() != path.simple())
            .copied()
            .collect();
        // The value that a document is ordered by does not depend on the filter.
        if has_each(path) && others.len() < by.len() {
            continue;
        }
        if let Some(longer) = distinct(&paths, &[path])
            && distinct(&longer, &others).is_some()
        {
            paths = longer;
        }
    }
    distinct(&paths, by).unwrap_or(paths)
}

/// The paths of an index extended by `more`. None if no index can be on them.
fn distinct<'q>(paths: &[&'q Query], more: &[&'q Query]) -> Option<Vec<&'q Query>> {
    let mut all = paths.to_vec();
    for path in more {
        IndexPath::parse(path.text()).ok()?;
        if all.iter().any(|known| known.simple() == path.simple()) {
            continue;
        }
        if has_each(path) && all.iter().any(|known| has_each(known)) {
            return None;
        }
        all.push(path);
    }
    (all.len() <= INDEX_PATHS_MAX).then_some(all)
}

fn has_each(path: &Query) -> bool {
    let steps = path.simple().unwrap_or_default();
    steps.contains(&SimpleStep::Each)
}

fn column(condition: &Condition, steps: &Steps<'_>) -> Option<ColumnBounds> {
    let path = condition.at.simple()?;
    let each = path.iter().filter(|step| **step == SimpleStep::Each);
    if each.count() > 1 {
        return None;
    }
    let tests: Vec<_> = condition.tests.iter().collect();
    ColumnBounds::of(&tests, steps)
}

/// Derives an index name that no index of the collection has.
fn free_name(paths: &[Query], indexes: &Indexes) -> String {
    let name = name(paths);
    let is_free = |name: &String| indexes.all().all(|index| index.name != *name);
    let numbered = (2_u64..).map(|number| format!("{name}_{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    names.find(is_free).unwrap_or(name)
}

/// Derives an index name from the member names in its paths.
fn name(paths: &[Query]) -> String {
    let steps = paths.iter().filter_map(Query::simple).flatten();
    let names: Vec<&str> = steps
        .filter_map(|step| match step {
            SimpleStep::Name(name) => Some(name.as_str()),
            SimpleStep::Index(_) | SimpleStep::Each | SimpleStep::EachName => None,
        })
        .collect();
    if names.is_empty() {
        return "values".to_owned();
    }
    names.join("_")
}

/// Quotes a text as a GraphQL string, in JSON syntax.
fn quoted(text: &str) -> String {
    let mut quoted = Vec::new();
    write_string(&mut quoted, text);
    String::from_utf8_lossy(&quoted).into_owned()
}
