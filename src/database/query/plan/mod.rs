//! Which index, if any, serves a query.

pub(crate) mod access_path;
pub(crate) mod column;
