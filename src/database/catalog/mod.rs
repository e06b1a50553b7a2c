//! Which collections and documents there are.

pub(crate) mod collections;
pub(crate) mod cursor;
pub(crate) mod drop;
pub(crate) mod names;
pub(crate) mod scan;
