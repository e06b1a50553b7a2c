//! Query planning: the access paths that indexes offer.

pub(crate) mod access_path;
pub(crate) mod column;
pub(crate) mod conjuncts;
pub(crate) mod implication;
pub(crate) mod ordered_scan;
