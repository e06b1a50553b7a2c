//! The `where` filter of a query, and its evaluation for one document.

mod always_true;
mod canonical;
mod shared_tests;

use std::cmp::Ordering;
use std::ops::ControlFlow;

pub use self::shared_tests::Tests;
use super::jsonpath::Query;
use super::leaf::Leaf;
use super::path::Segment;
use super::tree::{self, Tree};
use crate::budget::Steps;
use crate::error::{Error, Limit, Result};
use crate::limits::{FILTER_LEVELS_MAX, FILTER_VALUES_MAX, FILTERS_MAX, SEARCHED_BYTES_PER_STEP};

#[cfg(test)]
mod tests;

/// A condition on a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// Every filter holds. True if the list is empty.
    All(Vec<Filter>),
    /// At least one filter holds. False if the list is empty.
    Any(Vec<Filter>),
    /// The filter does not hold.
    Not(Box<Filter>),
    /// A value at a path passes tests.
    Where(Condition),
}

/// Holds if one value that `at` selects passes all tests. Without tests, holds if `at` selects
/// anything.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The path that selects the values.
    pub at: Query,
    /// The tests of one value.
    pub tests: Tests,
}

/// A test of one value. Equality is deep and compares numbers by value. Order exists within one
/// type only.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// The value equals this one.
    Equal(Tree),
    /// The value does not equal this one. It may have another type.
    NotEqual(Tree),
    /// The value has the same type as this one and is less.
    Less(Tree),
    /// The value has the same type as this one and is less or equal.
    AtMost(Tree),
    /// The value has the same type as this one and is greater.
    Greater(Tree),
    /// The value has the same type as this one and is greater or equal.
    AtLeast(Tree),
    /// The value equals one of these, which [`Test::one_of`] sorts.
    In(Vec<Tree>),
    /// The value is a string with this prefix.
    StartsWith(String),
    /// The value is a string that contains this one.
    Contains(String),
}

/// A filter as a client passes it.
#[derive(Debug, Default)]
#[expect(missing_docs, reason = "they are the members of the schema's Filter")]
pub struct FilterMembers {
    pub at: Option<Query>,
    pub eq: Option<Tree>,
    pub ne: Option<Tree>,
    pub lt: Option<Tree>,
    pub lte: Option<Tree>,
    pub gt: Option<Tree>,
    pub gte: Option<Tree>,
    pub one_of: Option<Vec<Tree>>,
    pub starts_with: Option<String>,
    pub contains: Option<String>,
    pub exists: Option<bool>,
    pub all: Option<Vec<Filter>>,
    pub any: Option<Vec<Filter>>,
    pub not: Option<Filter>,
}

/// A place in a document that a filter reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The place.
    pub place: Vec<Segment>,
    /// Whether the filter reads the value, or only whether one exists.
    pub value: bool,
}

/// The value at a place that a filter reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FilterValue<'t> {
    /// There is no value.
    Absent,
    /// There is a value, but it was not [needed](Need::value).
    Present,
    /// The value.
    Value(&'t Tree),
}

impl TryFrom<FilterMembers> for Filter {
    type Error = Error;

    /// # Errors
    /// `BAD_USER_INPUT`: the members contradict each other.
    fn try_from(given: FilterMembers) -> Result<Self> {
        let FilterMembers { at, exists, .. } = given;
        let tests = [
            given.eq.map(Test::Equal),
            given.ne.map(Test::NotEqual),
            given.lt.map(Test::Less),
            given.lte.map(Test::AtMost),
            given.gt.map(Test::Greater),
            given.gte.map(Test::AtLeast),
            given.one_of.map(Test::one_of),
            given.starts_with.map(Test::StartsWith),
            given.contains.map(Test::Contains),
        ];
        let tests: Vec<Test> = tests.into_iter().flatten().collect();
        let mut parts = Vec::new();
        parts.extend(condition(at, tests, exists)?);
        parts.extend(given.all.into_iter().flatten());
        parts.extend(given.any.map(Self::Any));
        parts.extend(given.not.map(|not| Self::Not(Box::new(not))));
        Ok(match <[Self; 1]>::try_from(parts) {
            Ok([only]) => only,
            Err(parts) => Self::All(parts),
        })
    }
}

fn condition(at: Option<Query>, tests: Vec<Test>, exists: Option<bool>) -> Result<Option<Filter>> {
    let none = tests.is_empty();
    let at = match (at, exists) {
        (None, Some(false)) => {
            return Err(Error::bad_input(
                "`exists: false` without `at` can never hold: every document exists",
            ));
        }
        (Some(at), Some(false)) if none => {
            let tests = Tests::default();
            let found = Filter::Where(Condition { at, tests });
            return Ok(Some(Filter::Not(Box::new(found))));
        }
        (Some(at), Some(false)) => {
            return Err(Error::bad_input(format!(
                "`exists: false` excludes other tests: if {} selects nothing, there is no value \
                 to test",
                at.text()
            )));
        }
        (Some(at), None) if none => {
            return Err(Error::bad_input(format!(
                "`at` is {} and has no test; `exists: true` tests whether it selects anything",
                at.text()
            )));
        }
        (None, _) if none => return Ok(None),
        (None, _) => Query::parse("$")?,
        (Some(at), _) => at,
    };
    let tests = tests.into();
    Ok(Some(Filter::Where(Condition { at, tests })))
}

impl Default for Filter {
    /// Every document passes.
    fn default() -> Self {
        Self::All(Vec::new())
    }
}

impl Filter {
    /// Whether every document passes because the filter has no condition.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::All(parts) if parts.iter().all(Self::is_empty))
    }

    /// Checks the filter against the limits.
    ///
    /// # Errors
    /// `TOO_COMPLEX`: it nests too deep, or has too many filters or values. The message names the
    /// limit.
    pub fn bounded(self) -> Result<Self> {
        let size = self.size();
        bound(
            size.levels,
            Limit::new("filterLevels", FILTER_LEVELS_MAX),
            "levels of filters in",
        )?;
        bound(
            size.filters,
            Limit::new("filters", FILTERS_MAX),
            "filters in",
        )?;
        bound(
            size.values,
            Limit::new("filterValues", FILTER_VALUES_MAX),
            "values in all the `in` of",
        )?;
        Ok(self)
    }

    /// The recursion is bounded by the limits of the query that contains the filter.
    fn size(&self) -> FilterSize {
        let inner = match self {
            Self::Where(condition) => {
                let values = condition.tests.iter().map(|test| match test {
                    Test::In(values) => values.len(),
                    _ => 0,
                });
                return FilterSize {
                    levels: 1,
                    filters: 1,
                    values: values.sum(),
                };
            }
            Self::Not(not) => std::slice::from_ref(&**not),
            Self::All(parts) | Self::Any(parts) => parts,
        };
        inner.iter().map(Self::size).fold(
            FilterSize {
                levels: 1,
                filters: 1,
                values: 0,
            },
            |all, one| FilterSize {
                levels: all.levels.max(one.levels + 1),
                filters: all.filters + one.filters,
                values: all.values + one.values,
            },
        )
    }

    /// The paths of its conditions.
    pub fn queries(&self) -> Vec<&Query> {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::queries).collect(),
            Self::Not(not) => not.queries(),
            Self::Where(condition) => vec![&condition.at],
        }
    }

    /// This filter and another one.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self.is_empty(), other.is_empty()) {
            (_, true) => self,
            (true, _) => other,
            _ => Self::All(vec![self, other]),
        }
    }

    /// The places that must be read to evaluate the filter, each once.
    pub fn needs(&self) -> Vec<Need> {
        let mut needs = Vec::new();
        self.add_needs(&mut needs);
        needs
    }

    fn add_needs(&self, needs: &mut Vec<Need>) {
        match self {
            Self::All(parts) | Self::Any(parts) => {
                for part in parts {
                    part.add_needs(needs);
                }
            }
            Self::Not(not) => not.add_needs(needs),
            Self::Where(condition) => {
                let place = condition.at.prefix();
                let value = condition.needs_value();
                match needs.iter_mut().find(|need| need.place == place) {
                    Some(need) => need.value |= value,
                    None => needs.push(Need {
                        place: place.to_vec(),
                        value,
                    }),
                }
            }
        }
    }

    /// Whether a document passes. `stored` returns the value at each place of [`Filter::needs`].
    ///
    /// # Errors
    /// As [`Query::select`].
    pub fn holds<'t>(
        &self,
        stored: &dyn Fn(&[Segment]) -> FilterValue<'t>,
        steps: &Steps<'_>,
    ) -> Result<bool> {
        steps.spend(1)?;
        match self {
            Self::All(parts) => {
                for part in parts {
                    if !part.holds(stored, steps)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Self::Any(parts) => {
                for part in parts {
                    if part.holds(stored, steps)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Self::Not(not) => Ok(!not.holds(stored, steps)?),
            Self::Where(condition) => condition.holds(stored(condition.at.prefix()), steps),
        }
    }
}

#[derive(Clone, Copy)]
struct FilterSize {
    levels: usize,
    filters: usize,
    values: usize,
}

fn bound(found: usize, limit: Limit, what: &str) -> Result<()> {
    if found as u64 <= limit.value() {
        return Ok(());
    }
    Err(Error::too_complex(
        limit,
        format!(
            "more than {} {what} one `where`, which is the limit",
            limit.value()
        ),
    ))
}

impl Condition {
    /// Whether the filter reads the value, or only whether one exists.
    fn needs_value(&self) -> bool {
        !self.tests.is_empty() || !self.is_at_prefix()
    }

    /// Whether the path is a single place, so that nothing is selected below it.
    fn is_at_prefix(&self) -> bool {
        let steps = self.at.simple().map(<[_]>::len);
        steps == Some(self.at.prefix().len())
    }

    fn holds(&self, stored: FilterValue<'_>, steps: &Steps<'_>) -> Result<bool> {
        let value = match stored {
            FilterValue::Absent => return Ok(false),
            FilterValue::Present => return Ok(!self.needs_value()),
            FilterValue::Value(value) => value,
        };
        if self.is_at_prefix() {
            return self.passes(value, steps);
        }
        let mut holds = false;
        self.at.visit(value, steps, |value| {
            holds = self.passes(value, steps)?;
            Ok(if holds {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
        })?;
        Ok(holds)
    }

    /// Whether a value passes all tests.
    ///
    /// # Errors
    /// As [`Steps::spend`].
    pub fn passes(&self, value: &Tree, steps: &Steps<'_>) -> Result<bool> {
        for test in &self.tests {
            if !test.passes(value, steps)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Test {
    /// The test for equality with one of `values`.
    pub fn one_of(mut values: Vec<Tree>) -> Self {
        values.sort_by(tree::sort_order);
        Self::In(values)
    }

    /// The JSON values that it compares with.
    pub fn trees(&self) -> &[Tree] {
        match self {
            Self::Equal(value)
            | Self::NotEqual(value)
            | Self::Less(value)
            | Self::AtMost(value)
            | Self::Greater(value)
            | Self::AtLeast(value) => std::slice::from_ref(value),
            Self::In(values) => values,
            Self::StartsWith(_) | Self::Contains(_) => &[],
        }
    }

    /// The steps to compare strings that [`tree::equal_within`] does not count.
    fn text_work(&self) -> u64 {
        match self {
            Self::Less(other)
            | Self::Greater(other)
            | Self::AtMost(other)
            | Self::AtLeast(other) => tree::text_work(other),
            Self::StartsWith(beginning) => beginning.len() as u64 / tree::TEXT_BYTES_PER_STEP,
            Self::Equal(_) | Self::NotEqual(_) | Self::In(_) | Self::Contains(_) => 0,
        }
    }

    /// Whether a value passes the test.
    ///
    /// # Errors
    /// As [`Steps::spend`].
    pub fn passes(&self, value: &Tree, steps: &Steps<'_>) -> Result<bool> {
        let equal = |other: &Tree| tree::equal_within(value, other, &mut |work| steps.spend(work));
        steps.spend(1 + self.text_work())?;
        Ok(match self {
            Self::Equal(other) => equal(other)?,
            Self::NotEqual(other) => !equal(other)?,
            Self::Less(other) => tree::compare(value, other) == Some(Ordering::Less),
            Self::Greater(other) => tree::compare(value, other) == Some(Ordering::Greater),
            Self::AtMost(other) => {
                tree::compare(value, other).is_some_and(|order| order != Ordering::Greater)
            }
            Self::AtLeast(other) => {
                tree::compare(value, other).is_some_and(|order| order != Ordering::Less)
            }
            Self::In(others) => is_one_of(value, others, steps)?,
            Self::StartsWith(beginning) => {
                matches!(value, Tree::Leaf(Leaf::String(text)) if text.starts_with(beginning))
            }
            Self::Contains(part) => match value {
                Tree::Leaf(Leaf::String(text)) => contains(text, part, steps)?,
                _ => false,
            },
        })
    }
}

/// Whether `text` contains `part`. The search takes time linear in both lengths for any input. A
/// `part` longer than `text` is not searched for.
fn contains(text: &str, part: &str, steps: &Steps<'_>) -> Result<bool> {
    if part.len() > text.len() {
        return Ok(false);
    }
    steps.spend(text.len() as u64 / SEARCHED_BYTES_PER_STEP)?;
    Ok(memchr::memmem::find(text.as_bytes(), part.as_bytes()).is_some())
}

/// Whether a value equals one of the values sorted by [`Test::one_of`]. Leaves are found by binary
/// search. Containers have no order, come last, and are compared one by one.
fn is_one_of(value: &Tree, sorted: &[Tree], steps: &Steps<'_>) -> Result<bool> {
    let leaves = sorted.partition_point(|other| matches!(other, Tree::Leaf(_)));
    if let Tree::Leaf(_) = value {
        let comparisons = 1 + u64::from(leaves.checked_ilog2().unwrap_or(0));
        steps.spend(comparisons * (1 + tree::text_work(value)))?;
        let found = sorted[..leaves].binary_search_by(|other| tree::sort_order(other, value));
        return Ok(found.is_ok());
    }
    for other in &sorted[leaves..] {
        if tree::equal_within(value, other, &mut |work| steps.spend(work + 1))? {
            return Ok(true);
        }
        steps.spend(1)?;
    }
    Ok(false)
}
