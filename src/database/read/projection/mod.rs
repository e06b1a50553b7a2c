//! Values that have only some of their parts.

pub(crate) mod between;
pub(crate) mod picked;
pub(crate) mod remainder;
