//! The inputs `DocumentFilter` and `DocumentOrder`.

use async_graphql::{InputObject, MaybeUndefined};

use crate::budget::{Budget, Steps};
use crate::database::query;
use crate::document::filter::{self, FilterMembers};
use crate::document::flatten::json_text;
use crate::document::tree::Tree;
use crate::error::Result;
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::scalars::types::{Json, JsonPath};
use crate::limits::{HELD_PER_JSONPATH_BYTE, JSON_BYTES_PER_STEP};

/// Holds if one value that `at` selects passes every test given here; without `at`, the whole document is that value. `lt`, `lte`, `gt`, `gte`, `startsWith` and `contains` hold only within one type; equality is deep and compares numbers by value; `ne` holds for whatever is not equal. A null that is given is a value to compare with. `exists: false` stands alone and means that nothing is selected. `all`, `any` and `not` combine filters about the document. A filter in which nothing is given holds for every document.
#[derive(InputObject, Default)]
#[graphql(name = "DocumentFilter")]
pub(crate) struct FilterInput {
    /// What selects the values to test. It goes with a test.
    at: Option<JsonPath>,
    /// Equal to this.
    eq: MaybeUndefined<Json>,
    /// Not equal to this.
    ne: MaybeUndefined<Json>,
    /// Less than this.
    lt: MaybeUndefined<Json>,
    /// Less than or equal to this.
    lte: MaybeUndefined<Json>,
    /// Greater than this.
    gt: MaybeUndefined<Json>,
    /// Greater than or equal to this.
    gte: MaybeUndefined<Json>,
    /// Equal to one of these.
    #[graphql(name = "in")]
    one_of: Option<Vec<Option<Json>>>,
    /// A string that begins with this.
    starts_with: Option<String>,
    /// A string that has this in it, by code points; every string has the empty one in it. No index serves for it.
    contains: Option<String>,
    /// Whether `at` selects anything.
    exists: Option<bool>,
    /// Every one of these holds.
    all: Option<Vec<FilterInput>>,
    /// At least one of these holds.
    any: Option<Vec<FilterInput>>,
    /// This does not hold.
    not: Option<Box<FilterInput>>,
}

/// Documents in which `by` selects nothing are left out; of several values the least counts (descending: the greatest); ties by id. The order is null, booleans, numbers by value, strings by code point, then objects and arrays, of which only the equal ones stand together.
#[derive(InputObject)]
#[graphql(name = "DocumentOrder")]
pub(crate) struct OrderInput {
    /// What selects the value.
    by: JsonPath,
    /// From the greatest value to the least.
    #[graphql(default)]
    descending: bool,
}

impl FilterInput {
    /// The filter that was given.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: a JSONPath or a value is none, or members make no sense together.
    /// `TOO_COMPLEX`: it passes a limit.
    pub(crate) async fn read(&self, request_budget: &RequestBudget) -> Result<filter::Filter> {
        let paths = self.path_bytes();
        request_budget
            .memory
            .hold(paths.saturating_mul(HELD_PER_JSONPATH_BYTE))?;
        let read = |steps: &Steps<'_>| self.part(steps)?.bounded();
        request_budget.budget().compute(read).await
    }

    /// Bytes of all its JSONPaths. Recurses no deeper than the query's brackets and the levels of
    /// its variables.
    fn path_bytes(&self) -> usize {
        let own = self.at.as_ref().map_or(0, |JsonPath(text)| text.len());
        let listed = [&self.all, &self.any].into_iter().flatten().flatten();
        let inner = listed.chain(self.not.as_deref());
        own + inner.map(Self::path_bytes).sum::<usize>()
    }

    fn part(&self, steps: &Steps<'_>) -> Result<filter::Filter> {
        let one_of = self.one_of.as_ref().map(|values| {
            let value = |value: &Option<Json>| match value {
                Some(value) => tree(value, steps),
                None => Tree::from_json("null"),
            };
            values.iter().map(value).collect::<Result<_>>()
        });
        let parts = |parts: &Option<Vec<Self>>| {
            let parts = parts.as_ref();
            let read = parts.map(|parts| parts.iter().map(|part| part.part(steps)).collect());
            read.transpose()
        };
        let value = |name, given| value(name, given, steps);
        let query = |path: &JsonPath| path.query_within(steps);
        filter::Filter::try_from(FilterMembers {
            at: self.at.as_ref().map(query).transpose()?,
            eq: value("eq", &self.eq)?,
            ne: value("ne", &self.ne)?,
            lt: value("lt", &self.lt)?,
            lte: value("lte", &self.lte)?,
            gt: value("gt", &self.gt)?,
            gte: value("gte", &self.gte)?,
            one_of: one_of.transpose().map_err(|error| error.at("`in`"))?,
            starts_with: self.starts_with.clone(),
            contains: self.contains.clone(),
            exists: self.exists,
            all: parts(&self.all)?,
            any: parts(&self.any)?,
            not: self.not.as_ref().map(|not| not.part(steps)).transpose()?,
        })
    }
}

impl OrderInput {
    /// The order that was given.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: its JSONPath is none.
    pub(crate) async fn read(&self, budget: &Budget) -> Result<query::Order> {
        Ok(query::Order {
            by: self.by.query(budget).await?,
            descending: self.descending,
        })
    }
}

/// A value to compare with; null is one, absence is none.
fn value(name: &str, given: &MaybeUndefined<Json>, steps: &Steps<'_>) -> Result<Option<Tree>> {
    let value = match given {
        MaybeUndefined::Undefined => return Ok(None),
        MaybeUndefined::Null => Tree::from_json("null"),
        MaybeUndefined::Value(json) => tree(json, steps),
    };
    value
        .map(Some)
        .map_err(|error| error.at(format!("`{name}`")))
}

fn tree(Json(text): &Json, steps: &Steps<'_>) -> Result<Tree> {
    steps.spend(1 + text.len() as u64 / JSON_BYTES_PER_STEP)?;
    let text = json_text(text)?;
    Tree::from_json(text)
}
