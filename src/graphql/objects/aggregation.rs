//! Groups of documents and their aggregates: the field `aggregate`.

use std::sync::Arc;

use async_graphql::{Context, Enum, Object, SelectionField, SimpleObject, Value};
use bytes::Bytes;

use super::documents::scan_max;
use super::filter::{FilterInput, KeyFilterInput, read_documents};
use super::lookahead::argument;
use super::page::page_size;
use crate::database::query::{self, AggregateQuery, AggregatedPath, Group, ValueSummary};
use crate::document::leaf::Leaf;
use crate::error::{Error, Limit, Result};
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::context::session::Session;
use crate::graphql::response::counted::CountedBytes;
use crate::graphql::scalars::types::{Json, JsonPath, parsed};
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

/// The groups of a query.
pub(crate) struct DocumentAggregation {
    groups: Vec<DocumentGroup>,
    group_count: usize,
    plan: AggregationPlanObject,
}

/// A group of documents.
#[derive(Clone)]
pub(crate) struct DocumentGroup {
    /// The texts of the aggregated paths.
    of: Arc<Vec<String>>,
    group: Arc<Group>,
}

/// How groups were computed.
#[derive(SimpleObject, Clone)]
#[graphql(name = "DocumentAggregationPlan")]
pub(crate) struct AggregationPlanObject {
    /// The index that was used. Several are joined by ` & ` if the plan intersects them, and by ` | ` if it unites them. Null if no index was used.
    index: Option<CountedBytes<String>>,
    /// Whether one of the indexes is partial: the filter of the query implies its filter.
    partial: bool,
    /// The number of keys of index entries or of the catalog that were read, plus the number of documents that were examined.
    scanned: usize,
    /// The number of documents that were examined: read to evaluate `where`, `groupBy` and `of`. `scanLimit` limits it.
    examined: usize,
    /// Whether no document was read: the keys of the catalog or of an index answered the whole query.
    covered: bool,
}

/// The request of a field without arguments.
impl Default for AggregateRequest {
    fn default() -> Self {
        Self {
            collection: "D".to_owned(),
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

impl AggregateRequest {
    /// Sets an argument.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: it does not have its type.
    pub(crate) fn set(&mut self, name: &str, argument: Value) -> Result<()> {
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

    /// Computes the groups.
    pub(crate) async fn search(
        self,
        read: &dyn Read,
        request_budget: &RequestBudget,
        values: &AggregatedValues,
    ) -> Result<query::Aggregation> {
        request_budget.check()?;
        let query = self.query(request_budget, values).await?;
        let found = query::aggregate(read, request_budget.budget(), &query).await?;
        let values = found.groups.iter().map(|group| {
            let keys: usize = group.key.iter().map(String::len).sum();
            keys + group.of.iter().map(ValueSummary::bytes).sum::<usize>()
        });
        request_budget.memory.hold(values.sum())?;
        Ok(found)
    }

    /// As [`AggregateRequest::search`], for a resolver.
    pub(crate) async fn compute(self, context: &Context<'_>) -> Result<DocumentAggregation> {
        let session = Session::of(context);
        let values = aggregated_values(context).await?;
        let read = session.read().await?;
        let request_budget = session.request_budget();
        let found = self.search(&*read, request_budget, &values).await?;
        request_budget.elements(found.groups.len(), context.field())?;
        let of = values.of.iter().map(|of| of.path.clone());
        let of: Arc<Vec<String>> = Arc::new(of.collect());
        let groups = found.groups.into_iter().map(|group| DocumentGroup {
            of: of.clone(),
            group: Arc::new(group),
        });
        Ok(DocumentAggregation {
            groups: groups.collect(),
            group_count: found.group_count,
            plan: AggregationPlanObject {
                partial: found.index.as_ref().is_some_and(|index| index.partial),
                index: found.index.map(|index| CountedBytes(index.names)),
                scanned: found.scanned,
                examined: found.examined,
                covered: found.examined == 0,
            },
        })
    }

    async fn query(
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
            let path = JsonPath(text.path.clone()).query(budget).await;
            let path = path.map_err(|error| error.at("the argument `of`"))?;
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

/// Returns what is aggregated below the field.
async fn aggregated_values(context: &Context<'_>) -> Result<AggregatedValues> {
    let session = Session::of(context);
    let mut found = AggregatedValues::default();
    let field = context.field();
    let groups = field
        .selection_set()
        .filter(|field| field.name() == "groups");
    for field in groups.flat_map(|groups| groups.selection_set().collect::<Vec<_>>()) {
        let (sum, bounds) = match field.name() {
            "count" => {
                found.counts = true;
                continue;
            }
            "sum" | "average" => (true, false),
            "min" | "max" => (false, true),
            _ => continue,
        };
        session.budget().pace(1).await?;
        // The resolver reports a missing argument.
        if let Some(text) = of_argument(&field) {
            found.add(&text, sum, bounds);
        }
    }
    Ok(found)
}

fn of_argument(field: &SelectionField<'_>) -> Option<String> {
    match argument(field, "of")? {
        Value::String(text) => Some(text),
        _ => None,
    }
}

fn too_many(argument: &str, paths: usize, paths_max: usize) -> Error {
    Error::too_complex(
        Limit::new("aggregatedPaths", paths_max),
        format!(
            "{paths} paths in the argument `{argument}` of `aggregate`; the limit is {paths_max}"
        ),
    )
}

/// The groups of the documents that match `where`.
#[Object]
impl DocumentAggregation {
    /// The first groups, in the order that `orderBy` gives. Without `groupBy`, there is exactly one group.
    async fn groups(&self) -> Vec<DocumentGroup> {
        self.groups.clone()
    }

    /// The number of all groups.
    async fn group_count(&self) -> usize {
        self.group_count
    }

    /// How the groups were computed.
    async fn plan(&self) -> AggregationPlanObject {
        self.plan.clone()
    }
}

impl DocumentGroup {
    async fn summary(
        &self,
        context: &Context<'_>,
        JsonPath(of): &JsonPath,
    ) -> Result<&ValueSummary> {
        Session::of(context).budget().pace(1).await?;
        let at = self.of.iter().position(|path| path == of);
        let summary = at.and_then(|at| self.group.of.get(at));
        summary.ok_or_else(|| Error::internal(format!("{of} was not aggregated")))
    }
}

/// Documents with the same values. Aggregates cover every value that `of` selects in each of the documents; numbers without a fraction are returned as integers.
#[Object]
impl DocumentGroup {
    /// The values of the paths in `groupBy`, in their order. Equal values are one value: numbers are compared by value.
    async fn key(&self) -> Vec<Option<CountedBytes<Json>>> {
        let texts = self.group.key.iter();
        let json = |text: &String| Json(Bytes::copy_from_slice(text.as_bytes()));
        texts.map(|text| Some(CountedBytes(json(text)))).collect()
    }

    /// The number of documents.
    async fn count(&self) -> u64 {
        self.group.count
    }

    /// The sum of the numbers, computed exactly and rounded once to the nearest binary64, or to the nearest integer from 2^53. Null if there are none.
    async fn sum(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Selects the values; only numbers are added.")] of: JsonPath,
    ) -> Result<Option<CountedBytes<Json>>> {
        Ok(self.summary(context, &of).await?.sum().as_ref().map(json))
    }

    /// The average of the numbers, rounded as `sum`. Null if there are none.
    async fn average(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Selects the values; only numbers count.")] of: JsonPath,
    ) -> Result<Option<CountedBytes<Json>>> {
        Ok(self
            .summary(context, &of)
            .await?
            .average()
            .as_ref()
            .map(json))
    }

    /// The least boolean, number or string, in the order of `DocumentOrder`. Null if there are none.
    async fn min(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Selects the values; null, objects and arrays are ignored.")] of: JsonPath,
    ) -> Result<Option<CountedBytes<Json>>> {
        Ok(self.summary(context, &of).await?.least().as_ref().map(json))
    }

    /// The greatest boolean, number or string, in the order of `DocumentOrder`. Null if there are none.
    async fn max(
        &self,
        context: &Context<'_>,
        #[graphql(desc = "Selects the values; null, objects and arrays are ignored.")] of: JsonPath,
    ) -> Result<Option<CountedBytes<Json>>> {
        Ok(self
            .summary(context, &of)
            .await?
            .greatest()
            .as_ref()
            .map(json))
    }
}

fn json(leaf: &Leaf<'_>) -> CountedBytes<Json> {
    let mut text = Vec::new();
    leaf.write_json(&mut text);
    CountedBytes(Json(text.into()))
}
