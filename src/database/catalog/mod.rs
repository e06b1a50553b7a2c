//! The catalog of collections and documents, and scans over them.

pub(crate) mod collections;
pub(crate) mod cursor;
pub(crate) mod drop;
pub(crate) mod names;
pub(crate) mod scan;
pub(crate) mod versionstamp;
