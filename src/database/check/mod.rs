//! Verification of a store. It makes one pass and uses little memory, whatever the size of the store.
//! If the engine does not keep a snapshot long enough, the pass continues in later ones
//! ([`snapshots`]).
//!
//! Catalog entries, versions and documents are all ordered by collection and id. The check reads
//! them side by side and compares each document with its entry, its version and its index entries.

mod bounds;
pub(crate) mod change_log;
pub(crate) mod checker;
mod collection_count;
pub(crate) mod count;
mod document_entries;
pub(crate) mod document_read;
pub(crate) mod entries;
pub(crate) mod expected;
pub(crate) mod finding;
mod resume;
pub(crate) mod snapshots;

use crate::key::collection_of;
