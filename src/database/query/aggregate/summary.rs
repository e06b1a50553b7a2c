//! The values that one document contributes to its groups.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::ControlFlow;

use super::request::{AggregateQuery, AggregatedPath};
use crate::budget::{Share, Steps};
use crate::database::query::matcher::{Projection, StoredValues, unpacked};
use crate::database::query::plan::column::index_value;
use crate::document::filter::FilterValue;
use crate::document::jsonpath::Query;
use crate::document::leaf::Leaf;
use crate::document::number::exact_sum::ExactSum;
use crate::document::tree::{Tree, text_work};
use crate::error::Result;
use crate::key::{IndexValue, Rank};
use crate::limits::COPIED_BYTES_PER_STEP;

/// Aggregates of the values of one path.
#[derive(Clone, Debug, Default)]
pub struct ValueSummary {
    /// The number of values that are numbers.
    numbers: u64,
    sum: ExactSum,
    least: Option<IndexValue>,
    greatest: Option<IndexValue>,
}

/// What one document contributes.
pub(crate) struct DocumentSummary {
    /// The distinct values of each path to group by. Containers have their JSON text, because an
    /// index value is only a digest of them.
    pub(crate) keys: Vec<BTreeMap<IndexValue, Option<String>>>,
    /// The values of each path to aggregate.
    pub(crate) of: Vec<ValueSummary>,
    /// Memory for the values, until they are added to the groups.
    pub(crate) _memory: Share,
}

impl ValueSummary {
    /// The sum of the numbers. None if there are none.
    pub fn sum(&self) -> Option<Leaf<'static>> {
        (self.numbers > 0).then(|| self.sum.total())
    }

    /// The average of the numbers. None if there are none.
    pub fn average(&self) -> Option<Leaf<'static>> {
        (self.numbers > 0).then(|| self.sum.divided_by(self.numbers))
    }

    /// The least boolean, number or string. None if there are none.
    pub fn least(&self) -> Option<Leaf<'_>> {
        self.least.as_ref().and_then(IndexValue::leaf)
    }

    /// The greatest boolean, number or string. None if there are none.
    pub fn greatest(&self) -> Option<Leaf<'_>> {
        self.greatest.as_ref().and_then(IndexValue::leaf)
    }

    /// The bytes held on the heap.
    pub(crate) fn bytes(&self) -> usize {
        let values = [&self.least, &self.greatest].into_iter().flatten();
        values.map(|value| value.bytes().len()).sum()
    }

    pub(crate) fn add(&mut self, path: &AggregatedPath, value: &IndexValue) {
        let rank = value.rank();
        if path.sum
            && rank == Rank::Number
            && let Some(leaf) = value.leaf()
            && self.sum.add(&leaf)
        {
            self.numbers += 1;
        }
        if path.bounds && (Rank::False..=Rank::String).contains(&rank) {
            self.add_bounds(Some(value), Some(value));
        }
    }

    pub(crate) fn add_all(&mut self, other: &Self) {
        self.numbers += other.numbers;
        if other.numbers > 0 {
            self.sum.add_sum(&other.sum);
        }
        self.add_bounds(other.least.as_ref(), other.greatest.as_ref());
    }

    fn add_bounds(&mut self, least: Option<&IndexValue>, greatest: Option<&IndexValue>) {
        if let Some(value) = least
            && self.least.as_ref().is_none_or(|least| value < least)
        {
            self.least = Some(value.clone());
        }
        if let Some(value) = greatest
            && self.greatest.as_ref().is_none_or(|least| value > least)
        {
            self.greatest = Some(value.clone());
        }
    }
}

impl Projection for &AggregateQuery {
    type Output = DocumentSummary;

    fn queries(&self) -> Vec<&Query> {
        let of = self.of.iter().map(|of| &of.path);
        self.group_by.iter().chain(of).collect()
    }

    fn project(
        &self,
        stored: &StoredValues<'_, '_>,
        steps: &Steps<'_>,
    ) -> Result<Option<DocumentSummary>> {
        let memory = steps.counted_share();
        let mut keys = Vec::with_capacity(self.group_by.len());
        for path in &self.group_by {
            let mut values = BTreeMap::new();
            each_value(path, stored, steps, |value| {
                let text = || match value {
                    Tree::Leaf(_) => None,
                    Tree::Array(_) | Tree::Object(_) => Some(value.to_json()),
                };
                steps.spend(text_work(value))?;
                let key = index_value(value).ok_or_else(|| unpacked(path))?;
                if let Entry::Vacant(entry) = values.entry(key) {
                    let text = text();
                    let bytes = text.as_ref().map_or(0, String::len);
                    memory.take(entry.key().bytes().len() + bytes)?;
                    entry.insert(text);
                }
                Ok(())
            })?;
            if values.is_empty() {
                return Ok(None);
            }
            keys.push(values);
        }
        let mut of = Vec::with_capacity(self.of.len());
        for aggregated in &self.of {
            let mut summary = ValueSummary::default();
            each_value(&aggregated.path, stored, steps, |value| {
                if let Tree::Leaf(leaf) = value {
                    let is_string = matches!(leaf, Leaf::String(_));
                    if aggregated.bounds || !is_string {
                        let value = IndexValue::of_leaf(leaf);
                        steps.spend(value.bytes().len() as u64 / COPIED_BYTES_PER_STEP)?;
                        let before = summary.bytes();
                        summary.add(aggregated, &value);
                        memory.take(summary.bytes().saturating_sub(before))?;
                    }
                }
                Ok(())
            })?;
            of.push(summary);
        }
        Ok(Some(DocumentSummary {
            keys,
            of,
            _memory: memory,
        }))
    }
}

/// Calls `each` with the values that a query selects.
fn each_value(
    query: &Query,
    stored: &StoredValues<'_, '_>,
    steps: &Steps<'_>,
    mut each: impl FnMut(&Tree) -> Result<()>,
) -> Result<()> {
    let FilterValue::Value(value) = stored(query.prefix()) else {
        return Ok(());
    };
    query.visit(value, steps, |value| {
        steps.spend(1)?;
        each(value)?;
        Ok(ControlFlow::Continue(()))
    })
}
