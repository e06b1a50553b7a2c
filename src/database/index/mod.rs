//! Indexes: what the documents of a collection are found by.
//!
//! An index is on one or several JSONPaths of names, indexes and, in all, at most one `[*]`. A
//! document of the catalog has an entry ([`IndexKey`](crate::key::IndexKey)) if the first path
//! selects something, one for each different value that `[*]` leads to; where a later path selects
//! nothing the entry says so, so that a query that tests only the first paths finds the document
//! all the same. Only values of which none is missing have to be unique.
//!
//! Entries change in the transaction that changes the document ([`IndexMaintainer`]). An index on
//! documents that are there already is built in batches while they change ([`Builder`]). Both read
//! what they index as a stream (`columns`), so that it may be larger than memory.

pub(crate) mod batch;
pub(crate) mod build;
pub(crate) mod columns;
pub(crate) mod define;
pub(crate) mod definition;
pub(crate) mod entries;
pub(crate) mod entry_writer;
pub(crate) mod key_ranges;
pub(crate) mod maintainer;
