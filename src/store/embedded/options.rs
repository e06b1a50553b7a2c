//! Options of the embedded engine.

/// Options of the embedded engine.
#[derive(Clone, Copy, Debug)]
pub struct EmbeddedOptions {
    /// Bytes of the page cache.
    pub cache_bytes: usize,
}

impl Default for EmbeddedOptions {
    fn default() -> Self {
        Self {
            cache_bytes: 512 << 20,
        }
    }
}
