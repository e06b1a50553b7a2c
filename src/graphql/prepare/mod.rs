//! Turns the text of a query into a prepared query: limits, parser, validation, plan and cache.

pub(crate) mod condition;
pub(crate) mod introspection;
mod occurrences;
pub(crate) mod parse;
pub(crate) mod plan;
mod plan_entities;
mod planner;
pub(crate) mod prepared_memory;
pub(crate) mod prepared_query;
pub(crate) mod query_cost;
pub(crate) mod root_field;
pub(crate) mod text_limits;
pub(crate) mod validate;
