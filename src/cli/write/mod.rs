//! Commands that change documents.

pub(crate) mod adopt;
pub(crate) mod delete;
pub(crate) mod documents;
pub(crate) mod drop;
pub(crate) mod import;
pub(crate) mod sample;
pub(crate) mod set_type;
pub(crate) mod sweep;
pub(crate) mod update;
pub(crate) mod upload;
