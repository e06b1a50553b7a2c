//! The `where` of a rule, in the notation of the schema's `DocumentFilter`.

use super::super::template::Template;
use super::super::where_filter::WhereFilter;
use super::table::{GivenValue, ParseError};
use crate::document::filter::{Filter, FilterMembers};
use crate::document::jsonpath::Query;
use crate::document::leaf::Leaf;
use crate::document::tree::Tree;

/// The members of a filter.
const MEMBERS: [&str; 14] = [
    "at",
    "eq",
    "ne",
    "lt",
    "lte",
    "gt",
    "gte",
    "in",
    "startsWith",
    "contains",
    "exists",
    "all",
    "any",
    "not",
];

/// # Errors
/// The value is not a filter, it exceeds the limits on filters, or it has no condition.
pub(super) fn parse(given: &GivenValue<'_>) -> Result<WhereFilter, ParseError> {
    let filter = filter(given)?;
    if filter.is_empty() {
        return Err(
            given.error("`where` has no condition. Without `where` the rule covers all documents")
        );
    }
    let bounded = filter.bounded().map_err(|error| given.wrap(error))?;
    Ok(WhereFilter::new(bounded))
}

/// The recursion is bounded by the levels of a TOML file.
fn filter(given: &GivenValue<'_>) -> Result<Filter, ParseError> {
    let table =
        given.table("a filter is a table such as { at = \"$.status\", eq = \"published\" }")?;
    table.only("a filter", &MEMBERS)?;
    let value = |name| table.member(name).map(|it| value(&it)).transpose();
    let text = |name| table.member(name).map(|it| text(&it)).transpose();
    let list = |name| table.member(name).map(|it| filters(&it)).transpose();
    let members = FilterMembers {
        at: table.member("at").map(|it| path(&it)).transpose()?,
        eq: value("eq")?,
        ne: value("ne")?,
        lt: value("lt")?,
        lte: value("lte")?,
        gt: value("gt")?,
        gte: value("gte")?,
        one_of: table.member("in").map(|it| values(&it)).transpose()?,
        starts_with: text("startsWith")?,
        contains: text("contains")?,
        exists: table.member("exists").map(|it| it.boolean()).transpose()?,
        all: list("all")?,
        any: list("any")?,
        not: table.member("not").map(|it| filter(&it)).transpose()?,
    };
    Filter::try_from(members).map_err(|error| given.wrap(error))
}

fn filters(given: &GivenValue<'_>) -> Result<Vec<Filter>, ParseError> {
    given
        .list("a list of filters is needed")?
        .iter()
        .map(filter)
        .collect()
}

fn path(given: &GivenValue<'_>) -> Result<Query, ParseError> {
    Query::parse(given.string()?).map_err(|error| given.wrap(error))
}

/// The values of `in`: a list, or one claim that is a list.
fn values(given: &GivenValue<'_>) -> Result<Vec<Tree>, ParseError> {
    const WHAT: &str = "`in` is a list, or a claim such as \"{teams}\" that is one";
    if let Ok(text) = given.string() {
        return match Template::parse(text).map_err(|why| given.error(why))? {
            Template::Claim { .. } => Ok(vec![value(given)?]),
            Template::Literal(_) => Err(given.error(WHAT)),
        };
    }
    given.list(WHAT)?.iter().map(value).collect()
}

fn value(given: &GivenValue<'_>) -> Result<Tree, ParseError> {
    let tree = given.tree()?;
    check_templates(&tree).map_err(|why| given.error(why))?;
    Ok(tree)
}

fn text(given: &GivenValue<'_>) -> Result<String, ParseError> {
    let text = given.string()?;
    Template::parse(text).map_err(|why| given.error(why))?;
    Ok(text.to_owned())
}

/// The recursion is bounded by the levels of a TOML file.
fn check_templates(value: &Tree) -> Result<(), String> {
    match value {
        Tree::Leaf(Leaf::String(text)) => Template::parse(text).map(|_| ()),
        Tree::Leaf(_) => Ok(()),
        Tree::Array(elements) => elements.iter().try_for_each(check_templates),
        Tree::Object(members) => members
            .iter()
            .try_for_each(|(_, value)| check_templates(value)),
    }
}
