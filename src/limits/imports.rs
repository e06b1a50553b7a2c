//! Limits of the files that an import reads.

/// Bytes of one document of a stream: standard input, a pipe, a device, or what a compressed file has. A document
/// of another file is not larger than the file.
pub const IMPORT_STREAMED_DOCUMENT_BYTES_MAX: usize = 256 << 20;

/// Columns of a table. Without a limit, a small compressed file of separators would fill the memory.
pub const IMPORT_COLUMNS_MAX: usize = 100_000;

/// Bytes of one response of a server at a URL, or of one line of it, that a command holds.
pub const RECEIVED_BYTES_MAX: usize = 1 << 30;

/// Documents that `phyllo find` requests at a time.
pub const FOUND_AT_A_TIME: usize = 1_000;
