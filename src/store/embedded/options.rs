//! Options of the embedded engine.

use crate::limits::{
    LOG_BYTES_MAX, LOG_SEGMENT_BYTES, OVERLAY_BYTES_MAX, OVERLAY_TRANSACTION_BYTES_MAX,
};

/// Options of the embedded engine.
#[derive(Clone, Copy, Debug)]
pub struct EmbeddedOptions {
    /// Bytes of memory that the page cache takes.
    pub cache_bytes: usize,
    /// Bytes of a segment of the write-ahead log. A checkpoint is made when a segment ends.
    pub log_segment_bytes: u64,
    /// Bytes of the log that are in use at which transactions wait for a checkpoint.
    pub log_bytes_max: u64,
    /// Bytes of changes in memory at which transactions wait for a checkpoint.
    pub overlay_bytes_max: usize,
    /// Bytes of writes of a transaction in memory. A larger one is written to redb directly.
    pub overlay_transaction_bytes_max: usize,
}

impl Default for EmbeddedOptions {
    fn default() -> Self {
        Self {
            cache_bytes: 512 << 20,
            log_segment_bytes: LOG_SEGMENT_BYTES,
            log_bytes_max: LOG_BYTES_MAX,
            overlay_bytes_max: OVERLAY_BYTES_MAX,
            overlay_transaction_bytes_max: OVERLAY_TRANSACTION_BYTES_MAX,
        }
    }
}

impl EmbeddedOptions {
    /// Bytes of the pages in the cache. Each page is an allocation of its own, with two counts: the allocator
    /// rounds 4,112 bytes up to 5,120.
    pub(super) fn cached_page_bytes(&self) -> usize {
        self.cache_bytes / 5 * 4
    }
}
