//! Changes to many documents.

pub(crate) mod adopt;
pub(crate) mod bulk_update;
pub(crate) mod sweep;
pub(crate) mod take;
pub(crate) mod test;
