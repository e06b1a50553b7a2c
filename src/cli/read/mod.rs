//! Commands that read documents.

pub(crate) mod collection_types;
pub(crate) mod collections;
pub(crate) mod export;
pub(crate) mod find;
pub(crate) mod follow;
pub(crate) mod get;
pub(crate) mod names;
pub(crate) mod query;
