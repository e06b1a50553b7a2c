//! Secondary indexes on values of documents.
//!
//! An index is on one or more JSONPaths. Each path consists of names and array indexes; all paths
//! together may contain one `[*]`. A column is the set of values that one path selects in a
//! document.
//!
//! A document of the catalog has an index entry ([`IndexKey`](crate::key::IndexKey)) if the first
//! path selects something. If a path contains `[*]`, the document has one entry for each distinct
//! value that the path selects. If a later path selects nothing, the entry stores a "missing" value
//! in that column, so that a query on the first paths still finds the document. A unique index
//! ignores entries with a missing value.
//!
//! If a path ends with `[*]~`, its values are the names of the members of an object.
//!
//! A partial index has entries only of the documents that pass its filter (`partial`).
//!
//! [`IndexMaintainer`](maintainer::IndexMaintainer) updates the entries in the transaction that changes the document.
//! [`Builder`](build::Builder) builds an index on existing documents in batches while they change. Both read the
//! indexed values as a stream (`columns`), so the values may exceed memory.

pub(crate) mod batch;
pub(crate) mod build;
pub(crate) mod build_progress;
pub(crate) mod columns;
pub(crate) mod define;
pub(crate) mod definition;
pub(crate) mod entries;
pub(crate) mod entry_writer;
pub(crate) mod filter_value;
pub(crate) mod key_ranges;
pub(crate) mod maintainer;
pub(crate) mod partial;
