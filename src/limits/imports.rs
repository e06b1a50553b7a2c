//! Limits of the files that an import reads.

/// Bytes of one document of a compressed file, decompressed. An uncompressed document is not larger than its
/// file.
pub const IMPORT_COMPRESSED_DOCUMENT_BYTES_MAX: usize = 256 << 20;
