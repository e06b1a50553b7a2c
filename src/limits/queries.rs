//! Limits of the texts of queries that the server keeps.

/// Parsed and validated queries in the cache.
pub const OPERATIONS_CACHED_MAX: usize = 1_000;
/// Bytes of these queries in memory, of which there are several dozen for each byte of text.
pub const OPERATIONS_CACHED_BYTES_MAX: usize = 32 << 20;
/// Bytes in memory of a query that is cached. Larger queries are parsed for each request.
pub const OPERATION_CACHED_BYTES_MAX: usize = 2 << 20;
/// Persisted queries, which clients send by hash alone.
pub const PERSISTED_QUERIES_MAX: usize = 10_000;
/// Bytes of the texts of all persisted queries.
pub const PERSISTED_QUERIES_BYTES_MAX: usize = 16 << 20;
/// Operations in all files of listed operations.
pub const LISTED_OPERATIONS_MAX: usize = 10_000;
/// Bytes of the texts of all listed operations.
pub const LISTED_OPERATIONS_BYTES_MAX: usize = 4 << 20;
/// Bytes of the id of a query.
pub const QUERY_ID_BYTES_MAX: usize = 256;
/// Listed operations that are not valid and are logged when their files are loaded.
pub const INVALID_OPERATIONS_LOGGED_MAX: usize = 20;
