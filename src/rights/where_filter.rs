//! The `where` of a rule: a filter whose values claims can fill.

use serde_json::{Map, Value};

use super::claim;
use super::template::{FilledTemplate, Template};
use crate::document::filter::{Condition, Filter, Test};
use crate::document::leaf::Leaf;
use crate::document::tree::Tree;

/// A filter whose strings are [templates](Template).
#[derive(Debug)]
pub(super) enum WhereFilter {
    /// No string has a claim. The filter is the same for all.
    Fixed(Filter),
    /// Some strings have claims. The templates are valid.
    Filled(Filter),
}

type Claims<'c> = Option<&'c Map<String, Value>>;

impl WhereFilter {
    /// A filter whose strings are valid templates.
    pub(super) fn new(filter: Filter) -> Self {
        match fill(&filter, None) {
            Some(fixed) => Self::Fixed(fixed),
            None => Self::Filled(filter),
        }
    }

    /// The filter for a principal. None if the principal lacks a claim, or a claim is no value for its
    /// test. Then no document passes, also not if the test is negated.
    pub(super) fn filled(&self, claims: Claims<'_>) -> Option<Filter> {
        match self {
            Self::Fixed(filter) => Some(filter.clone()),
            Self::Filled(filter) => fill(filter, claims),
        }
    }
}

/// The recursion is bounded by the limit on levels of filters.
fn fill(filter: &Filter, claims: Claims<'_>) -> Option<Filter> {
    let each = |filters: &[Filter]| -> Option<Vec<Filter>> {
        filters.iter().map(|one| fill(one, claims)).collect()
    };
    Some(match filter {
        Filter::All(filters) => Filter::All(each(filters)?),
        Filter::Any(filters) => Filter::Any(each(filters)?),
        Filter::Not(not) => Filter::Not(Box::new(fill(not, claims)?)),
        Filter::Where(condition) => {
            let tests = condition.tests.iter().map(|test| fill_test(test, claims));
            Filter::Where(Condition {
                at: condition.at.clone(),
                tests: tests.collect::<Option<_>>()?,
            })
        }
    })
}

fn fill_test(test: &Test, claims: Claims<'_>) -> Option<Test> {
    let value = |value: &Tree| fill_value(value, claims);
    Some(match test {
        Test::Equal(other) => Test::Equal(value(other)?),
        Test::NotEqual(other) => Test::NotEqual(value(other)?),
        Test::Less(other) => Test::Less(value(other)?),
        Test::AtMost(other) => Test::AtMost(value(other)?),
        Test::Greater(other) => Test::Greater(value(other)?),
        Test::AtLeast(other) => Test::AtLeast(value(other)?),
        Test::In(others) => {
            let mut values = Vec::with_capacity(others.len());
            for other in others {
                match (other, value(other)?) {
                    // A claim that is a list means its elements.
                    (Tree::Leaf(_), Tree::Array(elements)) => values.extend(elements),
                    (_, value) => values.push(value),
                }
            }
            Test::one_of(values)
        }
        Test::StartsWith(text) => Test::StartsWith(fill_text(text, claims)?),
        Test::Contains(text) => Test::Contains(fill_text(text, claims)?),
    })
}

fn fill_text(text: &str, claims: Claims<'_>) -> Option<String> {
    match fill_string(text, claims)? {
        Tree::Leaf(Leaf::String(text)) => Some(text.into_owned()),
        _ => None,
    }
}

/// The recursion is bounded by the levels of a [`Tree`].
fn fill_value(value: &Tree, claims: Claims<'_>) -> Option<Tree> {
    Some(match value {
        Tree::Leaf(Leaf::String(text)) => fill_string(text, claims)?,
        Tree::Leaf(leaf) => Tree::Leaf(leaf.clone()),
        Tree::Array(elements) => {
            let elements = elements.iter().map(|element| fill_value(element, claims));
            Tree::Array(elements.collect::<Option<_>>()?)
        }
        Tree::Object(members) => {
            let member =
                |(name, value): &(String, Tree)| Some((name.clone(), fill_value(value, claims)?));
            Tree::Object(members.iter().map(member).collect::<Option<_>>()?)
        }
    })
}

fn fill_string(text: &str, claims: Claims<'_>) -> Option<Tree> {
    let string = |text: String| Tree::Leaf(Leaf::String(text.into()));
    let template = Template::parse(text).ok()?;
    if let Template::Literal(text) = template {
        return Some(string(text.into()));
    }
    match template.filled(claims)? {
        FilledTemplate::Alone(value) => claim::to_tree(value),
        FilledTemplate::Text(before, value, after) => Some(string([before, value, after].concat())),
    }
}
