//! Error messages of queries that exceed the limit of examined documents: they suggest an index.

use super::page::Order;
use super::plan::access_path::{QueryPlan, flatten};
use super::plan::column::ColumnBounds;
use super::search::{Indexes, Search};
use crate::budget::Steps;
use crate::database::index::definition::{Index, State};
use crate::document::filter::{Condition, Filter};
use crate::document::json::write_string;
use crate::document::jsonpath::{Query, SimpleStep};
use crate::error::{Error, Limit};
use crate::limits::INDEX_PATHS_MAX;

/// Creates the error of a search that exceeded its limit.
pub(crate) fn past_bound(
    search: &Search<'_>,
    plan: &QueryPlan<'_>,
    order: Option<&Order>,
    indexes: &Indexes,
) -> Error {
    let looked = search.scan_max;
    let advice = advice(search, plan, order, indexes);
    Error::too_complex(
        Limit::new("scannedDocuments", looked),
        format!(
            "{looked} documents were examined, which is the limit here, and there are more: \
             {advice}"
        ),
    )
}

fn advice(
    search: &Search<'_>,
    plan: &QueryPlan<'_>,
    order: Option<&Order>,
    indexes: &Indexes,
) -> String {
    let steps = Steps::of(search.budget);
    let paths = paths(&plan.conjuncts, order, &indexes.ready, &steps);
    let remedy = &search.remedy;
    if paths.is_empty() {
        return format!("no index can serve this query; {remedy}");
    }
    let same = |index: &&Index| {
        let on = index.on.iter().map(|path| Some(path.steps()));
        on.eq(paths.iter().map(|path| path.simple()))
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
    format!(
        "createIndex(collection: {}, name: {}, on: [{}]) would create an index that helps; or {remedy}",
        quoted(search.collection),
        quoted(&name(&paths)),
        on.join(", ")
    )
}

/// Returns the paths of a useful index: first the paths compared for equality, then the path of the
/// order, then the path of a range test.
fn paths(
    conjuncts: &[Filter],
    order: Option<&Order>,
    ready: &[Index],
    steps: &Steps<'_>,
) -> Vec<Query> {
    let conditions = conjuncts.iter().filter_map(|filter| match filter {
        Filter::Where(condition) => Some(condition),
        _ => None,
    });
    let mut equal = Vec::new();
    let mut ranges = Vec::new();
    for condition in conditions {
        match column(condition, steps) {
            Some(ColumnBounds::Points { .. }) => equal.push(condition.at.clone()),
            Some(ColumnBounds::Range { .. }) => ranges.push(condition.at.clone()),
            None => {}
        }
    }
    let by = order.map(|order| order.by.clone());
    let mut paths: Vec<Query> = Vec::new();
    for path in equal
        .into_iter()
        .chain(by)
        .chain(ranges.into_iter().take(1))
    {
        let Some(steps) = path.simple() else {
            continue;
        };
        let each = |steps: &[SimpleStep]| steps.contains(&SimpleStep::Each);
        let known = |other: &Query| {
            let other = other.simple().unwrap_or_default();
            other == steps || each(other) && each(steps)
        };
        if !paths.iter().any(known) && paths.len() < INDEX_PATHS_MAX {
            paths.push(path);
        }
    }
    if !paths.is_empty() {
        return paths;
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
        paths_of_one(&conjuncts, ready, steps)
    })
}

fn paths_of_one(conjuncts: &[Filter], ready: &[Index], steps: &Steps<'_>) -> Vec<Query> {
    paths(conjuncts, None, ready, steps)
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

/// Derives an index name from the member names in its paths.
fn name(paths: &[Query]) -> String {
    let steps = paths.iter().filter_map(Query::simple).flatten();
    let names = steps.filter_map(|step| match step {
        SimpleStep::Name(name) => Some(name.as_str()),
        SimpleStep::Index(_) | SimpleStep::Each => None,
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
