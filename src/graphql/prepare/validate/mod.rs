//! Validation rules that `async_graphql` lacks.

pub(crate) mod literals;
pub(crate) mod overlapping;
pub(crate) mod selection_walk;
pub(crate) mod shown;
pub(crate) mod unknown_fields;
pub(crate) mod variable_usage;
