//! From the text of a query to a prepared query: parsed, validated, planned and cached.

pub(crate) mod parse;
pub(crate) mod plan;
pub(crate) mod prepared_query;
pub(crate) mod query_cost;
pub(crate) mod text_limits;
pub(crate) mod validate;
