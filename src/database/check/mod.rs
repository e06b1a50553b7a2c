//! Verification of a store at one snapshot. It makes one pass and uses little memory, whatever the
//! size of the store.
//!
//! Catalog entries, versions and documents are all ordered by collection and id. The check reads
//! them side by side and compares each document with its entry, its version and its index entries.

pub(crate) mod change_log;
pub(crate) mod checker;
pub(crate) mod entries;
pub(crate) mod finding;

use crate::key::collection_of;
