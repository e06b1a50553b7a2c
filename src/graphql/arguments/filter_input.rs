//! The inputs `DocumentFilter`, `DocumentKeyFilter` and `DocumentOrder`.

use std::cell::Cell;

use async_graphql::{ID, InputObject, MaybeUndefined};

use crate::budget::{Budget, Share, Steps};
use crate::database::{check_collection, query};
use crate::document::filter::{self, FilterMembers};
use crate::document::flatten::json_text;
use crate::document::id::DocumentId;
use crate::document::tree::Tree;
use crate::error::{Error, Limit, Result};
use crate::graphql::context::request_budget::RequestBudget;
use crate::graphql::scalars::scalar_types::{Json, JsonPath};
use crate::limits::{HELD_PER_ID_BYTE, HELD_PER_JSONPATH_BYTE, JSON_BYTES_PER_STEP, ORDERS_MAX};

/// The input `DocumentFilter`, which schema.graphql describes.
#[derive(InputObject, Default)]
#[graphql(name = "DocumentFilter")]
pub(crate) struct FilterInput {
    at: Option<JsonPath>,
    eq: MaybeUndefined<Json>,
    ne: MaybeUndefined<Json>,
    lt: MaybeUndefined<Json>,
    lte: MaybeUndefined<Json>,
    gt: MaybeUndefined<Json>,
    gte: MaybeUndefined<Json>,
    #[graphql(name = "in")]
    one_of: Option<Vec<Option<Json>>>,
    starts_with: Option<String>,
    contains: Option<String>,
    exists: Option<bool>,
    all: Option<Vec<FilterInput>>,
    any: Option<Vec<FilterInput>>,
    not: Option<Box<FilterInput>>,
}

/// The input `DocumentOrder`, which schema.graphql describes.
#[derive(InputObject)]
#[graphql(name = "DocumentOrder")]
pub(crate) struct OrderInput {
    by: Option<JsonPath>,
    #[graphql(default)]
    descending: bool,
}

impl FilterInput {
    /// Converts the input to a filter.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: a JSONPath or a value is invalid, or members contradict each other.
    /// `TOO_COMPLEX`: the filter exceeds a limit.
    pub(crate) async fn read(&self, request_budget: &RequestBudget) -> Result<filter::Filter> {
        let budget = request_budget.budget();
        // Many inputs may wait for their turn.
        let input = budget.counted_share();
        input.take(self.inputs() * size_of::<Self>())?;
        let read = |steps: &Steps<'_>| {
            let reading = FilterReading::new(steps);
            let filter = self.part(&reading)?.bounded()?;
            Ok((filter, reading.bytes.get()))
        };
        let (filter, bytes) = budget.compute(read).await?;
        request_budget.memory.hold(bytes)?;
        Ok(filter)
    }

    /// The bytes of the JSON values and the texts in this filter, as they were sent. The recursion is bounded as
    /// that of [`FilterInput::inputs`].
    pub(crate) fn text_bytes(&self) -> usize {
        let tests = [&self.eq, &self.ne, &self.lt, &self.lte, &self.gt, &self.gte];
        let tests = tests.into_iter().filter_map(MaybeUndefined::value);
        let listed = self.one_of.iter().flatten().flatten();
        let values = tests.chain(listed).map(|Json(text)| text.len());
        let texts = [&self.starts_with, &self.contains];
        let texts = texts.into_iter().flatten().map(String::len);
        let listed = [&self.all, &self.any].into_iter().flatten().flatten();
        let inner = listed.chain(self.not.as_deref()).map(Self::text_bytes);
        values.chain(texts).chain(inner).sum()
    }

    /// The number of filters in this one, with itself. The recursion is bounded by the limits on the
    /// query's brackets and on the levels of filters in variables.
    fn inputs(&self) -> usize {
        let listed = [&self.all, &self.any].into_iter().flatten().flatten();
        let inner = listed.chain(self.not.as_deref());
        1 + inner.map(Self::inputs).sum::<usize>()
    }

    fn part(&self, reading: &FilterReading<'_>) -> Result<filter::Filter> {
        let FilterReading { steps, .. } = *reading;
        reading.take(size_of::<filter::Filter>() + size_of::<filter::Condition>())?;
        if let Some(JsonPath(text)) = &self.at {
            reading.take(text.len().saturating_mul(HELD_PER_JSONPATH_BYTE))?;
        }
        for text in [&self.starts_with, &self.contains].into_iter().flatten() {
            reading.take(text.len())?;
        }
        let one_of = self.one_of.as_ref().map(|values| {
            let value = |value: &Option<Json>| match value {
                Some(value) => tree(value, reading),
                None => Tree::from_json("null"),
            };
            values.iter().map(value).collect::<Result<_>>()
        });
        let parts = |parts: &Option<Vec<Self>>| {
            let parts = parts.as_ref();
            let read = parts.map(|parts| parts.iter().map(|part| part.part(reading)).collect());
            read.transpose()
        };
        let value = |name, given| value(name, given, reading);
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
            not: self.not.as_ref().map(|not| not.part(reading)).transpose()?,
        })
    }
}

/// Filters that are being converted, and their memory.
struct FilterReading<'s> {
    steps: &'s Steps<'s>,
    /// The memory until the request holds it.
    share: Share,
    bytes: Cell<usize>,
}

impl<'s> FilterReading<'s> {
    fn new(steps: &'s Steps<'s>) -> Self {
        Self {
            share: steps.counted_share(),
            steps,
            bytes: Cell::new(0),
        }
    }

    fn take(&self, bytes: usize) -> Result<()> {
        self.bytes.set(self.bytes.get().saturating_add(bytes));
        self.share.take(bytes).map(|_| ())
    }
}

/// The documents of a collection that a field reads, from its arguments `where` and `keys`.
///
/// # Errors
/// Each error names the argument. As [`check_collection`], [`FilterInput::read`] and
/// [`KeyFilterInput::read`].
pub(crate) async fn read_documents(
    collection: &str,
    filter: Option<FilterInput>,
    keys: Option<KeyFilterInput>,
    request_budget: &RequestBudget,
) -> Result<(filter::Filter, query::KeySet)> {
    check_collection(collection)?;
    let filter = filter
        .unwrap_or_default()
        .read(request_budget)
        .await
        .map_err(|error| error.at("the argument `where`"))?;
    let keys = read_keys(collection, keys, request_budget).await?;
    Ok((filter, keys))
}

/// The keys of the documents of a collection that a field uses, from its argument `keys`.
///
/// # Errors
/// Each error names the argument. As [`KeyFilterInput::read`].
pub(crate) async fn read_keys(
    collection: &str,
    keys: Option<KeyFilterInput>,
    request_budget: &RequestBudget,
) -> Result<query::KeySet> {
    let keys = keys
        .unwrap_or_default()
        .read(collection, request_budget)
        .await;
    keys.map_err(|error| error.at("the argument `keys`"))
}

impl OrderInput {
    /// Converts a list of inputs to an order.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: a JSONPath is invalid, or an order follows that by key. `TOO_COMPLEX`: the
    /// list is too long.
    pub(crate) async fn read(list: &[Self], budget: &Budget) -> Result<query::Order> {
        if list.len() > ORDERS_MAX {
            return Err(Error::too_complex(
                Limit::new("orders", ORDERS_MAX),
                format!(
                    "a list of {} orders; at most {ORDERS_MAX} are allowed",
                    list.len()
                ),
            ));
        }
        let mut order = query::Order {
            values: Vec::with_capacity(list.len()),
            ids_descend: list.last().is_some_and(|last| last.descending),
        };
        for (at, input) in list.iter().enumerate() {
            let descending = input.descending;
            match &input.by {
                Some(by) => {
                    let by = by.query(budget).await?;
                    order.values.push(query::OrderBy { by, descending });
                }
                None if at + 1 < list.len() => {
                    return Err(Error::bad_input(
                        "an order without `by` is by key; keys are unique, so no other order can \
                         follow",
                    ));
                }
                None => {}
            }
        }
        Ok(order)
    }
}

/// The input `DocumentKeyFilter`, which schema.graphql describes.
#[derive(InputObject, Default)]
#[graphql(name = "DocumentKeyFilter")]
pub(crate) struct KeyFilterInput {
    prefix: Option<String>,
    gt: Option<ID>,
    gte: Option<ID>,
    lt: Option<ID>,
    lte: Option<ID>,
    #[graphql(name = "in")]
    one_of: Option<Vec<ID>>,
}

impl KeyFilterInput {
    /// Converts the input to a set of keys of a collection.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: a key or the prefix is invalid, or tests exclude each other. `TOO_COMPLEX`:
    /// too many keys are listed. `TOO_LARGE`: a key exceeds the limit.
    pub(crate) async fn read(
        &self,
        collection: &str,
        request_budget: &RequestBudget,
    ) -> Result<query::KeySet> {
        let listed = self.one_of.as_deref().unwrap_or_default();
        query::check_listed(listed.len())?;
        let bytes = listed
            .iter()
            .map(|id| size_of::<DocumentId>() + HELD_PER_ID_BYTE * id.len());
        request_budget.memory.hold(bytes.sum())?;
        let set = |steps: &Steps<'_>| query::KeySet::new(collection, self.tests(steps)?);
        request_budget.budget().compute(set).await
    }

    fn tests(&self, steps: &Steps<'_>) -> Result<query::KeyTests> {
        // A text is parsed, packed, sorted, and digested for cursors.
        let spend = |text: &str| steps.spend(1 + 4 * text.len() as u64 / JSON_BYTES_PER_STEP);
        let parse = |id: &ID| {
            spend(id)?;
            DocumentId::parse(id)
        };
        let prefix = self.prefix.as_ref().map(|text| {
            spend(text)?;
            DocumentId::parse_prefix(text).map_err(|error| error.at("`prefix`"))
        });
        let id = |name: &str, id: &Option<ID>| {
            let id = id.as_ref().map(parse).transpose();
            id.map_err(|error| error.at(format!("`{name}`")))
        };
        let one_of = self.one_of.as_ref().map(|ids| {
            let ids = ids.iter().map(parse);
            ids.collect::<Result<_>>().map_err(|error| error.at("`in`"))
        });
        Ok(query::KeyTests {
            prefix: prefix.transpose()?,
            gt: id("gt", &self.gt)?,
            gte: id("gte", &self.gte)?,
            lt: id("lt", &self.lt)?,
            lte: id("lte", &self.lte)?,
            one_of: one_of.transpose()?,
        })
    }
}

/// A value to compare with. A null value is one; an undefined value is none.
fn value(
    name: &str,
    given: &MaybeUndefined<Json>,
    reading: &FilterReading<'_>,
) -> Result<Option<Tree>> {
    let value = match given {
        MaybeUndefined::Undefined => return Ok(None),
        MaybeUndefined::Null => Tree::from_json("null"),
        MaybeUndefined::Value(json) => tree(json, reading),
    };
    value
        .map(Some)
        .map_err(|error| error.at(format!("`{name}`")))
}

fn tree(Json(text): &Json, reading: &FilterReading<'_>) -> Result<Tree> {
    let steps = reading.steps;
    steps.spend(1 + text.len() as u64 / JSON_BYTES_PER_STEP)?;
    let text = json_text(text)?;
    reading.take(Tree::bytes_of(text))?;
    Tree::from_json(text)
}
