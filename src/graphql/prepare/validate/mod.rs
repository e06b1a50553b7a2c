//! Validation rules that `async_graphql` lacks, and the types of the schema that they need.

pub(crate) mod inputs;
pub(crate) mod typename;
pub(crate) mod types;
pub(crate) mod unknown_fields;
pub(crate) mod variable_usage;
pub(crate) mod walk;
