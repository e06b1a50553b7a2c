//! Validation rules that `async_graphql` lacks, and the types of the schema that they need.

pub(crate) mod inputs;
pub(crate) mod literals;
pub(crate) mod overlapping;
pub(crate) mod shown;
pub(crate) mod types;
pub(crate) mod unknown_fields;
pub(crate) mod variable_usage;
pub(crate) mod walk;
