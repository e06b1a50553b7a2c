//! Limits of references.

/// Documents that a chain of references, or `follow`, leads to. Each is one round of reads.
pub const FOLLOWED_DOCUMENTS_MAX: usize = 100;
/// References of an operation that are checked at its end.
pub const REFERENCES_CHECKED_MAX: usize = 10_000;
/// Deleted documents for which one query finds those that refer to them.
pub const REFERRED_KEYS_AT_ONCE: usize = 100;
/// Keys that one JSONPath compares with the elements of a list.
pub const KEYS_COMPARED_AT_ONCE: usize = 16;
