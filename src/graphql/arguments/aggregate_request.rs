//! Groups of documents and their aggregates: the field `aggregate`.

use async_graphql::{Enum, Value};

use super::documents_request::scan_max;
use super::filter_input::{FilterInput, KeyFilterInput, read_documents};
use super::page_arguments::{FieldRequest, page_size};
use super::place_input::DEFAULT_COLLECTION;
use crate::database::query::{self, AggregateQuery, AggregatedPath, ValueSummary};
use crate::error::{Error, Limit, Result};
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::scalars::scalar_types::{JsonPath, parsed};
use crate::limits::{AGGREGATED_PATHS_MAX, HELD_PER_JSONPATH_BYTE, INDEX_PATHS_MAX};
use crate::store::Read;

/// The order of groups.
#[derive(Enum, Clone, Copy, PartialEq, Eq)]
#[graphql(name = "DocumentGroupOrder")]
pub(crate) enum GroupOrderInput {
    /// By the values of `groupBy`, in the order of `DocumentOrder`.
    Key,
    /// By the number of documents. Groups with the same number are sorted by their values.
    Count,
}

/// The arguments of the field `aggregate`.
pub(crate) struct AggregateRequest {
    pub(crate) collection: String,
    pub(crate) filter: Option<FilterInput>,
    pub(crate) keys: Option<KeyFilterInput>,
    pub(crate) group_by: Vec<JsonPath>,
    pub(crate) order: GroupOrderInput,
    pub(crate) descending: bool,
    pub(crate) first: Option<i32>,
    pub(crate) scan_limit: Option<i32>,
}

/// The request of a field without arguments.
impl Default for AggregateRequest {
    fn default() -> Self {
        Self {
            collection: DEFAULT_COLLECTION.to_owned(),
            filter: None,
            keys: None,
            group_by: Vec::new(),
            order: GroupOrderInput::Key,
            descending: false,
            first: None,
            scan_limit: None,
        }
    }
}

/// What the selection of groups needs.
#[derive(Clone, Default)]
pub(crate) struct AggregatedValues {
    /// The texts of the aggregated paths, and whether sums and bounds are needed.
    pub(crate) of: Vec<AggregatedText>,
    /// Whether the counts of groups are selected.
    pub(crate) counts: bool,
}

/// A path whose values are aggregated.
#[derive(Clone)]
pub(crate) struct AggregatedText {
    pub(crate) path: String,
    pub(crate) sum: bool,
    pub(crate) bounds: bool,
}

impl AggregatedValues {
    /// Adds a path. Returns its number.
    pub(crate) fn add(&mut self, path: &str, sum: bool, bounds: bool) -> usize {
        let known = self.of.iter().position(|known| known.path == path);
        let number = known.unwrap_or(self.of.len());
        if known.is_none() {
            self.of.push(AggregatedText {
                path: path.to_owned(),
                sum: false,
                bounds: false,
            });
        }
        self.of[number].sum |= sum;
        self.of[number].bounds |= bounds;
        number
    }
}

impl FieldRequest for AggregateRequest {
    fn set(&mut self, name: &str, argument: Value) -> Result<()> {
        let argument = Some(argument);
        match name {
            "collection" => self.collection = parsed(argument)?,
            "where" => self.filter = parsed(argument)?,
            "keys" => self.keys = parsed(argument)?,
            "groupBy" => self.group_by = parsed(argument)?,
            "orderBy" => self.order = parsed(argument)?,
            "descending" => self.descending = parsed(argument)?,
            "first" => self.first = parsed(argument)?,
            "scanLimit" => self.scan_limit = parsed(argument)?,
            _ => {}
        }
        Ok(())
    }
}

impl AggregateRequest {
    /// The query to run, for what the selection needs.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`, `TOO_COMPLEX`, `TOO_LARGE`: an argument has no meaning, or exceeds a limit.
    pub(crate) async fn query(
        self,
        request_budget: &RequestBudget,
        values: &AggregatedValues,
    ) -> Result<AggregateQuery> {
        let budget = request_budget.budget();
        let read = read_documents(&self.collection, self.filter, self.keys, request_budget);
        let (filter, keys) = read.await?;
        if self.group_by.len() > INDEX_PATHS_MAX {
            return Err(too_many("groupBy", self.group_by.len(), INDEX_PATHS_MAX));
        }
        let paths = self.group_by.iter().map(|JsonPath(text)| text.len());
        let bytes = paths.sum::<usize>().saturating_mul(HELD_PER_JSONPATH_BYTE);
        request_budget.memory.hold(bytes)?;
        let mut group_by = Vec::with_capacity(self.group_by.len());
        for path in &self.group_by {
            let path = path.query(budget).await;
            group_by.push(path.map_err(|error| error.at("the argument `groupBy`"))?);
        }
        if values.of.len() > AGGREGATED_PATHS_MAX {
            return Err(too_many("of", values.of.len(), AGGREGATED_PATHS_MAX));
        }
        let mut of = Vec::with_capacity(values.of.len());
        for text in &values.of {
            let held = text.path.len().saturating_mul(HELD_PER_JSONPATH_BYTE);
            request_budget.memory.hold(held)?;
            let path = JsonPath(text.path.clone())
                .query(budget)
                .await
                .map_err(|error| error.at("the argument `of`"))?;
            let (sum, bounds) = (text.sum, text.bounds);
            of.push(AggregatedPath { path, sum, bounds });
        }
        let by_count = self.order == GroupOrderInput::Count;
        Ok(AggregateQuery {
            collection: self.collection,
            filter,
            keys,
            group_by,
            of,
            counts: values.counts || by_count,
            order: query::GroupOrder {
                by_count,
                descending: self.descending,
            },
            size: page_size("first", self.first, "groups")?,
            scan_max: scan_max(self.scan_limit)?,
        })
    }
}

/// Computes the groups.
pub(crate) async fn groups(
    query: &AggregateQuery,
    read: &dyn Read,
    request_budget: &RequestBudget,
) -> Result<query::Aggregation> {
    let found = query::aggregate(read, request_budget.budget(), query).await?;
    let values = found.groups.iter().map(|group| {
        let keys: usize = group.key.iter().map(String::len).sum();
        keys + group.of.iter().map(ValueSummary::bytes).sum::<usize>()
    });
    request_budget.memory.hold(values.sum())?;
    Ok(found)
}

fn too_many(argument: &str, paths: usize, paths_max: usize) -> Error {
    Error::too_complex(
        Limit::new("aggregatedPaths", paths_max),
        format!(
            "{paths} paths in the argument `{argument}` of `aggregate`; the limit is {paths_max}"
        ),
    )
}
