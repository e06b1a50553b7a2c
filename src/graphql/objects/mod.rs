//! Object and input types of the schema: documents, pages and groups of documents, filters, indexes.

pub(crate) mod aggregation;
pub(crate) mod changes;
pub(crate) mod children;
pub(crate) mod document;
pub(crate) mod documents;
pub(crate) mod entry_reads;
pub(crate) mod field_reads;
pub(crate) mod filter;
pub(crate) mod indexes;
pub(crate) mod located;
pub(crate) mod lookahead;
pub(crate) mod page;
pub(crate) mod projections;
