//! Validation rules that depend on the types of the schema.

pub(crate) mod inputs;
pub(crate) mod typename;
pub(crate) mod types;
pub(crate) mod unknown_fields;
pub(crate) mod variable_usage;
pub(crate) mod walk;
