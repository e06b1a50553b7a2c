//! Objects that several fields of the schema return: documents, their pages, their indexes.

pub(crate) mod children;
pub(crate) mod document;
pub(crate) mod documents;
pub(crate) mod filter;
pub(crate) mod indexes;
pub(crate) mod located;
pub(crate) mod lookahead;
pub(crate) mod page;
