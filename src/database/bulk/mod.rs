//! Changes to many documents.

pub(crate) mod adopt;
pub(crate) mod bulk_update;
pub(crate) mod check_references;
pub(crate) mod reference_indexes;
pub(crate) mod settle_references;
pub(crate) mod simulate_type;
pub(crate) mod take;
pub(crate) mod test;
pub(crate) mod type_checker;
pub(crate) mod typed_documents;
