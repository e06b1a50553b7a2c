//! Declares the object types of the schema. Plans have their fields.

pub(crate) mod aggregation;
pub(crate) mod changes;
pub(crate) mod document;
pub(crate) mod documents;
pub(crate) mod indexes;
mod page;
