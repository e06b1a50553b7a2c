//! Limits on regular expressions.

/// Bytes of a regular expression in a JSONPath query or a schema.
pub const REGEXP_BYTES_MAX: usize = 4 << 10;
/// Open parentheses at one place of a regular expression.
pub const REGEXP_LEVELS_MAX: usize = 64;
/// Regular expressions in one JSONPath query. Also the number of compiled patterns kept of those
/// that a query takes from documents.
pub const REGEXPS_MAX: usize = 16;
/// Bytes of a compiled regular expression.
pub const REGEXP_COMPILED_BYTES_MAX: usize = 512 << 10;
/// Bytes of the states that searches have made and that are kept for later searches, of all regular
/// expressions of the process.
pub const REGEXP_IDLE_BYTES_MAX: usize = 64 << 20;
