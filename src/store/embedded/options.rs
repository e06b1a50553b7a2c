//! Options of the embedded engine.

use crate::limits::LOG_SEGMENT_BYTES;

/// Options of the embedded engine.
#[derive(Clone, Copy, Debug)]
pub struct EmbeddedOptions {
    /// Bytes of the page cache.
    pub cache_bytes: usize,
    /// Bytes of a segment of the write-ahead log. A checkpoint is made when a segment ends.
    pub log_segment_bytes: u64,
}

impl Default for EmbeddedOptions {
    fn default() -> Self {
        Self {
            cache_bytes: 512 << 20,
            log_segment_bytes: LOG_SEGMENT_BYTES,
        }
    }
}
