//! The arguments of pages, groups, filters and mutations, and what the fields of documents read.

pub(crate) mod aggregation;
pub(crate) mod documents;
pub(crate) mod entry_reads;
pub(crate) mod field_reads;
pub(crate) mod filter;
pub(crate) mod json_argument;
pub(crate) mod page;
pub(crate) mod place;
pub(crate) mod required;
pub(crate) mod updates;
