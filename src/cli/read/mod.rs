//! Commands that read documents.

pub(crate) mod collections;
pub(crate) mod export;
pub(crate) mod follow;
pub(crate) mod get;
pub(crate) mod names;
