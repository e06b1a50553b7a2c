//! How the embedded engine is opened.

/// How the embedded engine is opened.
#[derive(Clone, Copy, Debug)]
pub struct EmbeddedOptions {
    /// Memory for pages of the file.
    pub cache_bytes: usize,
}

impl Default for EmbeddedOptions {
    fn default() -> Self {
        Self {
            cache_bytes: 512 << 20,
        }
    }
}
