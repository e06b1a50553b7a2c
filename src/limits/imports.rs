//! Limits of the files that an import reads.

/// Bytes of one document of a compressed file, decompressed. An uncompressed document is not larger than its
/// file.
pub const IMPORT_COMPRESSED_DOCUMENT_BYTES_MAX: usize = 256 << 20;

/// Columns of a table. Without a limit, a small compressed file of separators would fill the memory.
pub const IMPORT_COLUMNS_MAX: usize = 100_000;

/// Documents that `phyllo find` requests at a time.
pub const FOUND_AT_A_TIME: usize = 1_000;
