//! Reads of values by path: resolve paths, plan ranges, fetch them, and interpret the pairs.

pub(crate) mod adjacent;
pub(crate) mod children;
pub(crate) mod fetch;
pub(crate) mod length;
pub(crate) mod load;
pub(crate) mod path_candidates;
pub(crate) mod path_range;
pub(crate) mod projection;
pub(crate) mod range_plan;
pub(crate) mod request;
pub(crate) mod selection;
pub(crate) mod value;
pub(crate) mod value_ref;
