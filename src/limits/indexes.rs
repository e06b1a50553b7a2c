//! Limits of indexes.

/// Indexes of a collection.
pub const INDEXES_MAX: usize = 64;
/// JSONPaths of an index.
pub const INDEX_PATHS_MAX: usize = 8;
/// Bytes of the name of an index.
pub const INDEX_NAME_BYTES_MAX: usize = 255;
/// Entries whose values are held in memory until their keys are sorted. Without them, values are read
/// from documents.
pub const HELD_ENTRIES_MAX: usize = 10_000;
/// Bytes of the filter of a partial index, as JSON.
pub const INDEX_FILTER_BYTES_MAX: usize = 4_096;
/// Pairs in the first read of the names of members.
pub const INDEX_NAMES_FIRST_PAIRS: usize = 256;
/// Documents whose entries one transaction of an index build adds.
pub const INDEX_BATCH_DOCUMENTS_MAX: usize = 512;
/// Documents of such a transaction that are read concurrently.
pub const INDEX_BATCH_DOCUMENTS_AT_ONCE: usize = 64;
/// Bytes that one transaction of an index build reads, and bytes of entries that it writes. The
/// last document may exceed it. With [`INDEX_BATCH_ENTRIES_MAX`] it keeps other writers of the
/// embedded engine waiting for less than about 50 ms.
pub const INDEX_BATCH_BYTES_MAX: usize = 256 << 10;
/// The minimum of that size after it was reduced because a transaction was too large.
pub const INDEX_BATCH_BYTES_MIN: usize = 8 << 10;
/// Entries that one transaction of an index build writes. The last document may exceed it.
pub const INDEX_BATCH_ENTRIES_MAX: usize = 4_096;
/// Bytes of keys and values of one indexed value. A larger value may not be readable in one
/// transaction.
pub const INDEX_VALUE_BYTES_MAX: usize = 64 << 20;
/// Pairs of a document that are turned into index entries at a time.
pub const INDEX_PORTION_PAIRS_MAX: usize = 1_024;
/// Bytes of keys and values that are turned into index entries at a time.
pub const INDEX_PORTION_BYTES: usize = 64 << 10;
/// Index entries whose documents a check reads concurrently.
pub const INDEX_READS_AT_ONCE: usize = 256;
