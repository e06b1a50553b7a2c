//! Changes to many documents.

pub(crate) mod adopt;
pub(crate) mod sweep;
pub(crate) mod take;
pub(crate) mod test;
pub(crate) mod update;
