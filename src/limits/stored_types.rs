//! Limits of stored types, of the validation of writes and of the check of stored documents.

use std::time::Duration;

/// Bytes of each piece of the stored text of a schema except the last.
pub const TYPE_PIECE_BYTES: usize = 10_000;
/// Approximate bytes of the parsed types that a process keeps.
pub const TYPES_CACHED_BYTES_MAX: usize = 64 << 20;
/// Bytes of a written value that an edit keeps until it is validated. Larger values are read again.
pub const VALIDATED_VALUE_BYTES_MAX: usize = 64 << 10;
/// Bytes of all such values of an edit.
pub const VALIDATED_EDIT_BYTES_MAX: usize = 1 << 20;
/// Interval at which a server looks for types that others have changed.
pub const TYPES_POLL_TIME: Duration = Duration::from_secs(1);
/// Time from the end of one build of the schema to the begin of the next one.
pub const SCHEMA_BUILDS_INTERVAL: Duration = Duration::from_millis(100);
/// Schemas that were replaced and that requests still use. While there are as many, the schema is not
/// replaced.
pub const SCHEMAS_REPLACED_MAX: usize = 16;
/// Schemas with the types of some collections, for callers who may not know all of them.
pub const SCHEMAS_PARTIAL_MAX: usize = 8;
/// Documents that the simulation of a type reads.
pub const SIMULATED_DOCUMENTS_MAX: usize = 10_000;
/// Bytes of keys and values that such a simulation reads.
pub const SIMULATED_BYTES_MAX: usize = 16 << 20;
/// Time after which such a simulation in a mutation ends, at the end of a portion. The only writer of
/// the embedded engine waits for it.
pub const SIMULATED_TIME_MAX: Duration = Duration::from_millis(500);
/// Documents that one step of a check of stored documents reads.
pub const TYPE_CHECK_DOCUMENTS_MAX: usize = 512;
/// Bytes of keys and values after which such a step ends, at the end of a document.
pub const TYPE_CHECK_BYTES_MAX: usize = 1 << 20;
/// Steps of the validation of one document by a check. A request has fewer by default.
pub const CHECKED_DOCUMENT_STEPS_MAX: u64 = 100_000_000;
/// Documents whose first pairs such a step reads in one round.
pub const TYPE_CHECK_DOCUMENTS_AT_ONCE: usize = 32;
/// Pairs of a document in that round.
pub const TYPE_CHECK_FIRST_PAIRS: usize = 256;
