//! Error messages of queries that exceed a limit: they suggest an index.

use super::aggregate::covered::CoveredScan;
use super::aggregate::request::AggregateQuery;
use super::page::{Order, Stopped};
use super::plan::access_path::QueryPlan;
use super::plan::column::ColumnBounds;
use super::plan::conjuncts::flatten;
use super::plan::implication::implied;
use super::search::{Indexes, Search};
use crate::budget::Steps;
use crate::database::index::definition::{Index, IndexPath, State};
use crate::document::filter::{Condition, Filter};
use crate::document::json::write_string;
use crate::document::jsonpath::{Query, SimpleStep};
use crate::error::{Error, Limit, Result};
use crate::limits::{INDEX_PATHS_MAX, SORTED_IDS_MAX};

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
    let advice = advice(search, plan, goal, indexes, stopped);
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
    Error::too_complex(limit, format!("{reached}, and there are more: {advice}"))
}

fn advice(
    search: &Search<'_>,
    plan: &QueryPlan<'_>,
    goal: Goal<'_>,
    indexes: &Indexes,
    stopped: &Stopped,
) -> String {
    let steps = Steps::of(search.budget);
    let paths = match goal {
        Goal::Page(order) => paths(&plan.conjuncts, order, &indexes.ready, &steps),
        Goal::Groups(query) => paths_of_groups(&plan.conjuncts, query, &indexes.ready, &steps),
    };
    let remedy = &search.remedy;
    if matches!(stopped, Stopped::LeftOut(_)) {
        return "no index can serve it; request less, or use another order".to_owned();
    }
    if paths.is_empty() {
        return format!("no index can serve this query; {remedy}");
    }
    let conjuncts: Vec<&Filter> = plan.conjuncts.iter().collect();
    let same = |index: &&Index| {
        let on = index.on.iter().map(|path| Some(path.steps()));
        let filter = index.filter.as_ref();
        on.eq(paths.iter().map(|path| path.simple()))
            && filter.is_none_or(|filter| implied(&conjuncts, filter.filter(), &steps))
    };
    if let Some(index) = indexes.others.iter().find(same) {
        let name = &index.name;
        return match index.state {
            State::Building => format!("the index {name:?}, which would help, is being built"),
            State::Ready | State::Failed => {
                format!("the index {name:?}, which would help, has failed; {remedy}")
            }
        };
    }
    if indexes.ready.iter().any(|index| same(&index)) {
        return format!("the existing indexes do not help further; {remedy}");
    }
    let on: Vec<String> = paths.iter().map(|path| quoted(path.text())).collect();
    let use_of = if serves(search, goal, &paths, &steps) {
        "serves this query"
    } else {
        "helps"
    };
    format!(
        "createIndex(collection: {}, name: {}, on: [{}]) would create an index that {use_of}; or {remedy}",
        quoted(search.collection),
        quoted(&free_name(&paths, indexes)),
        on.join(", ")
    )
}

/// Returns whether an index on these paths serves a query alone: no document would be examined, and
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
        let mut ways = plan.ways.iter();
        return ways.any(|way| way.covers.len() == all && way.access.is_sorted());
    }
    let track = plan.track(order, steps);
    track.is_some_and(|track| {
        track.covers.len() == all
            && track.unordered() == 0
            && track.ordered() <= 1
            && !track.is_multiple()
            && search.keys.is_all()
    })
}

/// Returns the paths of a useful index: first the paths compared for equality, then the paths of the
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
    let unserved = alternatives.into_iter().flatten();
    let mut unserved = unserved.filter(|part| {
        let plan = QueryPlan::new(part, ready, steps);
        plan.is_ok_and(|plan| plan.ways.is_empty())
    });
    unserved.next().map_or_else(Vec::new, |part| {
        let mut conjuncts = Vec::new();
        flatten(part, &mut conjuncts);
        self::paths(&conjuncts, &Order::default(), ready, steps)
    })
}

/// Returns the paths compared for equality, and those with a range test.
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

/// Returns the paths of an index that covers an aggregate: the paths compared for equality, those
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

/// Returns the paths compared for equality, as far as the paths of the order fit after them.
fn behind_equal<'q>(equal: &[&'q Query], by: &[&'q Query]) -> Vec<&'q Query> {
    let mut paths = Vec::new();
    for path in equal {
        let others = by.iter().filter(|by| by.simple() != path.simple());
        let others: Vec<&Query> = others.copied().collect();
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

/// Returns the paths of an index extended by `more`. None if no index can be on them.
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
    let is_free = |name: &String| {
        let mut all = indexes.ready.iter().chain(&indexes.others);
        all.all(|index| index.name != *name)
    };
    let numbered = (2_u64..).map(|number| format!("{name}_{number}"));
    let mut names = std::iter::once(name.clone()).chain(numbered);
    names.find(is_free).unwrap_or(name)
}

/// Derives an index name from the member names in its paths.
fn name(paths: &[Query]) -> String {
    let steps = paths.iter().filter_map(Query::simple).flatten();
    let names = steps.filter_map(|step| match step {
        SimpleStep::Name(name) => Some(name.as_str()),
        SimpleStep::Index(_) | SimpleStep::Each | SimpleStep::EachName => None,
    });
    let names: Vec<&str> = names.collect();
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
