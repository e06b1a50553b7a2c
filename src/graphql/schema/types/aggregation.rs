//! The types of groups of documents. Their fields are executed from plans.
#![expect(
    unused_variables,
    clippy::unused_async,
    reason = "the derived types declare the schema alone"
)]

use async_graphql::Object;

use crate::error::Result;
use crate::graphql::scalars::types::{Json, JsonPath};
use crate::graphql::schema::declared::declared;

pub(crate) struct DocumentAggregation;

/// The groups of the documents that match `where`.
#[Object]
impl DocumentAggregation {
    /// The first groups, in the order that `orderBy` gives. Without `groupBy`, there is exactly one group.
    async fn groups(&self) -> Result<Vec<DocumentGroup>> {
        declared()
    }

    /// The number of all groups.
    async fn group_count(&self) -> Result<usize> {
        declared()
    }

    /// How the groups were computed.
    async fn plan(&self) -> Result<AggregationPlanObject> {
        declared()
    }
}

pub(crate) struct DocumentGroup;

/// Documents with the same values. Aggregates cover every value that `of` selects in each of the documents; numbers without a fraction are returned as integers.
#[Object]
impl DocumentGroup {
    /// The values of the paths in `groupBy`, in their order. Equal values are one value: numbers are compared by value.
    async fn key(&self) -> Result<Vec<Option<Json>>> {
        declared()
    }

    /// The number of documents.
    async fn count(&self) -> Result<u64> {
        declared()
    }

    /// The sum of the numbers, computed exactly and rounded once to the nearest binary64, or to the nearest integer from 2^53. Null if there are none.
    async fn sum(
        &self,
        #[graphql(desc = "Selects the values; only numbers are added.")] of: JsonPath,
    ) -> Result<Option<Json>> {
        declared()
    }

    /// The average of the numbers, rounded as `sum`. Null if there are none.
    async fn average(
        &self,
        #[graphql(desc = "Selects the values; only numbers count.")] of: JsonPath,
    ) -> Result<Option<Json>> {
        declared()
    }

    /// The least boolean, number or string, in the order of `DocumentOrder`. Null if there are none.
    async fn min(
        &self,
        #[graphql(desc = "Selects the values; null, objects and arrays are ignored.")] of: JsonPath,
    ) -> Result<Option<Json>> {
        declared()
    }

    /// The greatest boolean, number or string, in the order of `DocumentOrder`. Null if there are none.
    async fn max(
        &self,
        #[graphql(desc = "Selects the values; null, objects and arrays are ignored.")] of: JsonPath,
    ) -> Result<Option<Json>> {
        declared()
    }
}

pub(crate) struct AggregationPlanObject;

/// How groups were computed.
#[Object(name = "DocumentAggregationPlan")]
impl AggregationPlanObject {
    /// The index that was used. Several are joined by ` & ` if the plan intersects them, and by ` | ` if it unites them. Null if no index was used.
    async fn index(&self) -> Result<Option<String>> {
        declared()
    }

    /// Whether one of the indexes is partial: the filter of the query implies its filter.
    async fn partial(&self) -> Result<bool> {
        declared()
    }

    /// The number of keys of index entries or of the catalog that were read, plus the number of documents that were examined.
    async fn scanned(&self) -> Result<usize> {
        declared()
    }

    /// The number of documents that were examined: read to evaluate `where`, `groupBy` and `of`. `scanLimit` limits it.
    async fn examined(&self) -> Result<usize> {
        declared()
    }

    /// Whether no document was read: the keys of the catalog or of an index answered the whole query.
    async fn covered(&self) -> Result<bool> {
        declared()
    }
}
