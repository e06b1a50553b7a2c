//! The fields of `Mutation`.

pub(crate) mod append;
pub(crate) mod arguments;
pub(crate) mod bulk;
pub(crate) mod deletion;
pub(crate) mod dropped;
pub(crate) mod fields;
pub(crate) mod json_argument;
pub(crate) mod place;
pub(crate) mod take;
pub(crate) mod updates;
