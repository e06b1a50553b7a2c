//! A store verified at one snapshot, in one pass and in little memory however large it is.
//!
//! Entries, versions, the catalog and the documents are in the same order, that of collection and
//! id, so they are read side by side and each document is compared with what is said of it.

pub(crate) mod checker;
pub(crate) mod entries;
pub(crate) mod finding;

use crate::key::collection_of;
