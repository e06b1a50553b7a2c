//! What to group and to compute.

use crate::database::query::key_set::KeySet;
use crate::document::filter::Filter;
use crate::document::jsonpath::Query;

/// What to group and to compute.
#[derive(Clone, Debug)]
pub struct AggregateQuery {
    /// The collection.
    pub collection: String,
    /// The filter that documents must match.
    pub filter: Filter,
    /// The keys that documents must have.
    pub keys: KeySet,
    /// The values to group by. A document is in the group of each combination of values that they
    /// select, and in none if one of them selects nothing.
    pub group_by: Vec<Query>,
    /// The values to aggregate.
    pub of: Vec<AggregatedPath>,
    /// Whether the counts of groups are needed.
    pub counts: bool,
    /// The order of the groups.
    pub order: GroupOrder,
    /// The maximum number of groups to return.
    pub size: usize,
    /// The maximum number of documents to examine.
    pub scan_max: usize,
}

/// The values of a path, and which aggregates of them are needed.
#[derive(Clone, Debug)]
pub struct AggregatedPath {
    /// Selects the values.
    pub path: Query,
    /// The sum and the average.
    pub sum: bool,
    /// The least and the greatest value.
    pub bounds: bool,
}

/// The order of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupOrder {
    /// By the number of documents, then by the values. Otherwise by the values only.
    pub by_count: bool,
    /// Whether the counts, or else the values, descend.
    pub descending: bool,
}
