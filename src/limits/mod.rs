//! All limits. The name of each ends with its unit. [`Bounds`] has the limits that an operator can
//! change; docs/reference.md#limits lists the limits on documents, keys and values.

mod bounds;
mod connections;
mod imports;
mod indexes;
mod leases;
mod queries;
mod references;
mod regexps;
mod slices;
mod stored_types;
mod types;
mod user_tokens;

use std::time::Duration;

pub use bounds::Bounds;
pub use connections::*;
pub use imports::*;
pub use indexes::*;
pub use leases::*;
pub use queries::*;
pub use references::*;
pub use regexps::*;
pub use slices::*;
pub use stored_types::*;
pub use types::*;
pub use user_tokens::*;

/// Bytes of an encoded key. FoundationDB's limit; the embedded engine has the same.
pub const KEY_BYTES_MAX: usize = 10_000;
/// Bytes of an encoded value. FoundationDB's limit. Longer strings are split.
pub const VALUE_BYTES_MAX: usize = 100_000;
/// Bytes of each piece of a split string except the last.
pub const PIECE_BYTES: usize = 10_000;
/// Bytes of the magnitude of an integer leaf: the maximum of the tuple encoding.
pub const INTEGER_BYTES_MAX: usize = 255;
/// The largest number of decimal digits of an integer of [`INTEGER_BYTES_MAX`].
pub const INTEGER_DIGITS_MAX: usize = 615;
/// Levels of objects and arrays in a document, counted from its root.
pub const DOCUMENT_LEVELS_MAX: usize = 128;

/// Bytes of a body, of a request's reads, of a response or of an unfinished message that do not count
/// as held.
pub const HELD_FREE_BYTES: usize = 4 << 10;
/// Bytes per body, per request's reads and per response that count towards
/// [`HELD_SMALL_BYTES_RESERVED`] first, so that small requests succeed even if large ones use up the
/// memory.
pub const HELD_SMALL_BYTES: usize = 64 << 10;
/// Bytes that the small parts of all requests hold before they count towards [`Bounds::held_bytes`].
pub const HELD_SMALL_BYTES_RESERVED: usize = 40 << 20;
/// Time without progress after which a client that holds memory may be disconnected, if the memory
/// is needed.
pub const SHED_TIME_MIN: Duration = Duration::from_secs(1);
/// Bytes of a body that must arrive before a buffer for the whole body is allocated.
pub const BODY_RESERVED_FROM_BYTES: usize = 1 << 20;
/// Bytes of a compressed body, as sent, that are decoded at a time.
pub const BODY_DECODED_BYTES: usize = 4 << 10;
/// Bytes that the decoder of a compressed body takes, without what it decodes.
pub const GZIP_DECODER_BYTES: usize = 48 << 10;
/// Members of a gzip body, besides one per [`BODY_MEMBER_BYTES`] of decoded data.
pub const BODY_MEMBERS_MAX: usize = 1_000;
/// Decoded bytes of a gzip body that allow one more member. Tools write larger members: `bgzip`
/// puts 65,280 bytes into each.
pub const BODY_MEMBER_BYTES: usize = 16 << 10;
/// Steps of work for a range that the embedded engine reads: the search for its beginning. They are not
/// spent.
pub const STEPS_PER_RANGE: u64 = 16;
/// Bytes of keys and values that the embedded engine copies in one step of work. They are not spent.
pub const READ_BYTES_PER_STEP: usize = 256;
/// Pairs that the embedded engine steps over to reach the next range, before it searches for its
/// start from the root. A step costs about a fifth of a search.
pub const PAIRS_WALKED_MAX: usize = 4;
/// Fields of a plan. A field that is selected several times under different conditions is planned once
/// for each of them.
pub const PLANNED_FIELDS_MAX: usize = 50_000;
/// Bytes of a plan. The arguments of a fragment are copied for each of its uses.
pub const PLANNED_BYTES_MAX: usize = 16 << 20;
/// Selections that are visited to plan an operation. The selections of a field with several occurrences
/// under different conditions are visited for each of them.
pub const VISITED_SELECTIONS_MAX: usize = 10 * PLANNED_FIELDS_MAX;
/// Steps of work, about a quarter of a millisecond, after which a read of the embedded engine yields.
pub const READ_STEPS_AT_A_TIME: u64 = 4_096;
/// Steps of work for a cleared range that a read of the embedded engine steps over: a search for its
/// end.
pub const STEPS_PER_HIDDEN_RANGE: u64 = 8;

/// Bytes of a JSONPath query.
pub const JSONPATH_BYTES_MAX: usize = 16 << 10;
/// Open brackets and parentheses at one place of a JSONPath query.
pub const JSONPATH_BRACKETS_MAX: usize = 32;
/// Calls of functions inside one another in a JSONPath query.
pub const JSONPATH_FUNCTIONS_MAX: usize = 4;
/// The magnitude of an index in a JSONPath query (RFC 9535 §2.1).
pub const JSONPATH_INTEGER_MAX: u64 = (1 << 53) - 1;
/// Steps of work per byte of a JSONPath query that is parsed.
pub const STEPS_PER_JSONPATH_BYTE: u64 = 30;
/// Bytes of memory per byte of a JSONPath query that is parsed.
pub const HELD_PER_JSONPATH_BYTE: usize = 64;
/// Bytes of JSON that are parsed in one step of work.
pub const JSON_BYTES_PER_STEP: u64 = 16;
/// Bytes that `contains` searches in one step of work, at most a nanosecond each.
pub const SEARCHED_BYTES_PER_STEP: u64 = 32;
/// Steps of work per byte of a query that is parsed, validated and planned. They are not spent.
pub const STEPS_PER_QUERY_BYTE: u64 = 4;
/// Steps of work per field of a plan that is bound to variables. They are not spent.
pub const STEPS_PER_BOUND_FIELD: u64 = 16;
/// Steps of work per read that is planned, or whose result is found. They are not spent.
pub const STEPS_PER_READ: u64 = 16;
/// Steps of work per range of keys that is sorted among others, besides those of its key. They are not
/// spent.
pub const STEPS_PER_SORTED_RANGE: u64 = 2;
/// Steps of work per range of keys that is read, or whose pairs are found, besides those of its key. They
/// are not spent.
pub const STEPS_PER_FOUND_RANGE: u64 = 2;
/// Steps of work per change that a subscriber gets. They are not spent.
pub const STEPS_PER_CHANGE: u64 = 64;
/// Steps of work per key that is set or cleared.
pub const STEPS_PER_WRITE: u64 = 10;
/// Bytes of memory that a write of a transaction takes, besides its key and its value.
pub const HELD_BYTES_PER_WRITE: usize = 64;
/// Nodes in any intermediate node list of a JSONPath query.
pub const JSONPATH_NODES_MAX: usize = 1_000_000;
/// Ranges that the leading segments of a JSONPath query are read as. If they name more, the value
/// above is read.
pub const JSONPATH_RANGES_MAX: usize = 256;
/// The step from which the elements of a slice are read one by one, and not with those between
/// them.
pub const JSONPATH_SPARSE_STEP_MIN: u64 = 16;
/// Bytes of a JSONPath query whose reads are planned ahead. Longer queries are parsed only when
/// they are executed.
pub const JSONPATH_AHEAD_BYTES_MAX: usize = 512;
/// Parsed JSONPath queries, of at most [`JSONPATH_AHEAD_BYTES_MAX`] each, in the cache.
pub const JSONPATHS_CACHED_MAX: usize = 256;
/// Values that one `select` returns.
pub const SELECTED_MAX: usize = PAGE_MAX;
/// Paths in the list of one `values` or `pick`.
pub const LISTED_PATHS_MAX: usize = 1_000;
/// Reads of one document from which on the first reads of a JSONPath query are not collected ahead.
pub const READS_AHEAD_MAX: usize = 1_000;
/// Reads of one root field that are compared one by one with a further one, so that equal ones are one.
/// Beyond them, reads of equal hashes are compared.
pub const READS_COMPARED_MAX: usize = 16;
/// Lookups of one selection (`select`, `children`, `length`) that are compared with a further one, so
/// that equal ones are one. Bounds the search.
pub const LOOKUPS_COMPARED_MAX: usize = 100;
/// Bytes of a place that are copied in one step of work.
pub const COPIED_BYTES_PER_STEP: u64 = 256;
/// Levels of objects and arrays in a value that is held in memory as a tree.
pub const TREE_LEVELS_MAX: usize = 1_000;

/// Variables in one request.
pub const VARIABLES_MAX: usize = 100_000;
/// Bytes of the `extensions` of a request, as JSON.
pub const EXTENSIONS_BYTES_MAX: usize = 16 << 10;

/// Bytes of a response below which it is not compressed.
pub const COMPRESSED_BYTES_MIN: u16 = 1 << 10;
/// Time for which a browser caches a preflight response.
pub const PREFLIGHT_TIME: Duration = Duration::from_secs(60 * 60);
/// The page size of `children` if `first` is absent.
pub const PAGE_DEFAULT: usize = 100;
/// The largest page size of `children`.
pub const PAGE_MAX: usize = 10_000;
/// Pages of documents, lookups and lists of children that one request reads concurrently.
pub const PAGES_AT_ONCE: usize = 32;
/// Levels of nested filters in one `where`.
pub const FILTER_LEVELS_MAX: usize = 16;
/// Filters in one `where`.
pub const FILTERS_MAX: usize = 1_000;
/// Values in all `in` filters of one `where`.
pub const FILTER_VALUES_MAX: usize = 1_000;
/// Orders in one `orderBy`: as many as an index can have paths.
pub const ORDERS_MAX: usize = INDEX_PATHS_MAX;
/// Keys in the `in` of one `keys`.
pub const LISTED_KEYS_MAX: usize = 1_000;
/// Index ranges that serve one `where`. A filter that needs more is answered by a scan of the
/// documents.
pub const SPANS_MAX: usize = 1_000;
/// Documents that a scan without an index reads by default. A request that asks for more is limited
/// by its steps, its time and the memory for its result.
pub const SCAN_DOCUMENTS_DEFAULT: usize = 10_000;
/// Documents that a scan without an index reads for a live page, which is read again after each
/// change.
pub const LIVE_SCAN_DOCUMENTS_MAX: usize = 100_000;
/// Ids that are read before the first document is examined for sorting. If there are more documents
/// than may be examined, and not more than these, none is.
pub const SORTED_IDS_AHEAD: usize = SCAN_DOCUMENTS_DEFAULT + 1;
/// Documents found by equality that are sorted although an index provides the order. If there are
/// more, the index is read in order.
pub const SORTED_BEFORE_WALK_MAX: usize = 1_000;
/// Documents that a scan reads in one round.
pub const SCAN_BATCH_DOCUMENTS: usize = 128;
/// Bytes of keys and values of the documents that a scan reads together.
pub const LOOKED_AT_BYTES_MAX: usize = 4 << 20;
/// Documents that a scan reads in its first round, before their size is known.
pub const LOOKED_AT_FIRST_DOCUMENTS: usize = 8;
/// Ids that are held in memory for sorting, and entries that an ordered scan leaves out.
pub const SORTED_IDS_MAX: usize = 100_000;
/// Entries at the start of each index range that are read to find the shortest range.
pub const PROBE_ENTRIES: usize = 128;
/// Bytes of memory per field of a response while it is built. The largest measured value is 340.
pub const HELD_PER_FIELD: usize = 384;
/// Bytes of memory per read of a part of a document: the request, its ranges and its answer.
pub const HELD_PER_READ: usize = 1 << 10;
/// The most paths that one `aggregate` groups by, and of which it computes aggregates.
pub const AGGREGATED_PATHS_MAX: usize = 32;
/// The most groups that one document may be in.
pub const GROUPS_PER_DOCUMENT_MAX: usize = 10_000;
/// Index entries that are counted for `totalCount`.
pub const COUNTED_ENTRIES_MAX: usize = PAGE_MAX;
/// Copies of a document's id that a page holds: its key, its cursor, and its data.
pub const HELD_PER_ID_BYTE: usize = 6;
/// Errors in one response.
pub const ERRORS_MAX: usize = 100;
/// Bytes of the names of unknown fields for which the error suggests similar known names.
pub const UNKNOWN_NAMES_BYTES_MAX: usize = 4 << 10;
/// Bytes of an error message that quotes the client's input.
pub const ERROR_MESSAGE_BYTES_MAX: usize = 1_000;
/// Bytes that one request may hold of its reads, per byte of [`Bounds::response_bytes`]. Each leaf
/// repeats its path in its key, so pairs can be larger than the JSON that they encode.
pub const READ_PER_RESPONSE: usize = 4;
/// Leaves that are flattened or assembled between two checks of the deadline, after which the task
/// yields.
pub const LEAVES_AT_A_TIME: usize = 4_096;
/// Leaves that are written to the store between two checks of the budget.
pub const LEAVES_PER_PACE: usize = 256;
/// Leaves that are serialized as JSON at a time, in about a quarter of a millisecond.
pub const LEAVES_WRITTEN_AT_A_TIME: usize = 4_096;
/// Bytes of keys and values of the leaves that are serialized as JSON at a time. One more leaf may exceed
/// it.
pub const WRITTEN_LEAVES_BYTES_AT_A_TIME: usize = 32 << 10;
/// Leaves of a value that is serialized without asking for the slice. Whoever writes many of them asks.
pub const LEAVES_WRITTEN_AT_ONCE: usize = 16;
/// Bytes of keys and values of a document in an argument. One more leaf may exceed it.
pub const ARGUMENT_LEAVES_BYTES_MAX: usize = 128 << 20;
/// Bytes of JSON that are parsed on the current thread: a body, its variables, or a document in an
/// argument. Longer input is parsed on a blocking thread.
pub const JSON_BYTES_AT_ONCE: usize = 128 << 10;
/// Operations of a patch that are prefetched together, and members of a merge patch that are
/// prefetched in all.
pub const LOOK_AHEAD_MAX: usize = 64;
/// Digit tokens of a JSON Pointer whose two readings (index or key) are tried in the same round.
pub const DIGIT_TOKENS_AT_ONCE: usize = 3;

/// Pairs in one batch of a range read. A loop over a batch is a portion of work, so it does not ask for the
/// slice of its task.
pub const BATCH_PAIRS_MAX: usize = 2_048;
/// Pairs in one batch of a read of a value, which is written in portions. Each further batch is copied once
/// more.
pub const VALUE_BATCH_PAIRS_MAX: usize = 16_384;
/// Bytes of keys and values in one batch of a range read.
pub const BATCH_BYTES_MAX: usize = 512 << 10;
/// Pairs that the embedded engine deletes in the transaction that clears their range, if the store may
/// have no log. A larger range is cleared by a tombstone.
pub const CLEARED_PAIRS_AT_ONCE: usize = 10_000;
/// Pairs that the embedded engine deletes in one transaction of redb because their ranges were cleared,
/// or counts in ranges that are too large, in about 0.1 s. Further ranges are cleared by tombstones.
pub const DELETED_PAIRS_MAX: usize = 100_000;
/// The part of the pairs that such a transaction may still delete that one range may take. So many
/// small ranges are deleted, and large ones get tombstones.
pub const DELETED_PAIRS_PART: usize = 16;
/// Pairs below tombstones that the embedded engine deletes in one transaction, in about 2 ms if
/// they are cached.
pub const RECLAIMED_PAIRS_AT_A_TIME: usize = 10_000;
/// Bytes of keys and values that such a transaction deletes. One more pair may exceed it.
pub const RECLAIMED_BYTES_AT_A_TIME: usize = 4 << 20;
/// The pause after such a transaction, as a multiple of its duration. Other writers run in the
/// pause.
pub const RECLAIM_PAUSE_FACTOR: u32 = 2;
/// The minimum of that pause.
pub const RECLAIM_PAUSE_MIN: Duration = Duration::from_millis(5);
/// Bytes of a segment of the embedded engine's log. A checkpoint is made when a segment ends, so
/// about two segments are replayed after a crash.
pub const LOG_SEGMENT_BYTES: u64 = 4 << 20;
/// Bytes of pages of redb that are written before they are synced. A sync of the log does not wait for
/// more than these.
pub const UNSYNCED_BYTES_MAX: u64 = 256 * 1024;
/// Bytes of the embedded engine's log that are in use. Transactions wait at this limit. The last
/// transaction may exceed it, and the space that is allocated for it in both files, besides a segment.
pub const LOG_BYTES_MAX: u64 = 24 << 20;
/// Bytes of changes that the embedded engine has in memory, those that are being written to redb
/// included. Transactions wait at this limit. The last transaction may exceed it.
pub const OVERLAY_BYTES_MAX: usize = 32 << 20;
/// Bytes of writes of a transaction that are applied, or committed, on the thread of its task. More of
/// them block a thread on which no other task waits.
pub const WRITTEN_BYTES_AT_ONCE: usize = 32 << 10;
/// Bytes of writes of a transaction in memory. A larger one is written to redb directly, and other
/// writers wait until that is durable.
pub const OVERLAY_TRANSACTION_BYTES_MAX: usize = 4 << 20;
/// Tries of one transaction before it fails with `CONFLICT`.
pub const TRANSACTION_TRIES_MAX: usize = 20;
/// Bytes of keys and values that one change moves, copies or reindexes. They are held in memory.
pub const MOVED_BYTES_MAX: usize = 256 << 20;
/// Bytes of the response that is stored for an idempotency key.
pub const KEPT_ANSWER_BYTES_MAX: usize = 1 << 20;
/// Time for which that response is stored.
pub const KEPT_ANSWER_TIME: Duration = Duration::from_secs(24 * 60 * 60);
/// Subspaces over which the expiry entries of stored responses are spread, to avoid a hot range.
pub const KEPT_ANSWER_SHARDS: u64 = 16;
/// Expired responses that one write clears.
pub const KEPT_ANSWERS_CLEARED_AT_ONCE: usize = 4;
/// Bytes of an idempotency key.
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 255;
/// Bytes of a FoundationDB transaction, as FoundationDB counts them: writes and conflict ranges.
pub const CLUSTER_TRANSACTION_BYTES_MAX: usize = 10_000_000;
/// The age at which FoundationDB rejects reads and commits of a transaction.
pub const CLUSTER_SNAPSHOT_TIME_MAX: Duration = Duration::from_secs(5);
/// Time for one try of a FoundationDB transaction, including the time that it waits for the
/// cluster. A cluster that loses a process recovers sooner.
pub const CLUSTER_TRANSACTION_TIME_MAX: Duration = Duration::from_secs(10);
/// Interval at which a server asks again for a store that is not available when it starts.
pub const STORE_RETRY_TIME: Duration = Duration::from_secs(1);
/// Time for which the answer to whether a FoundationDB cluster is ready is kept.
pub const CLUSTER_READY_KEPT_TIME: Duration = Duration::from_millis(500);
/// Time in which a FoundationDB cluster answers if it is ready.
pub const CLUSTER_READY_TIME_MAX: Duration = Duration::from_secs(2);
/// Tries of a snapshot read that the cluster could not answer.
pub const CLUSTER_READ_TRIES_MAX: usize = 8;
/// The smallest number of ranges of one document that are read as one range from FoundationDB.
pub const CLUSTER_SPAN_RANGES_MIN: usize = 4;
/// The largest number of ranges of one document that are read as one. More ranges make several
/// reads.
pub const CLUSTER_SPAN_RANGES_MAX: usize = 32;
/// Pairs that such a read may return per range, including the pairs between the ranges. They cost
/// less than the separate read of a range.
pub const CLUSTER_SPAN_PAIRS_FOR_EACH: usize = 64;
/// Pairs that such a read may return in all.
pub const CLUSTER_SPAN_PAIRS_MAX: usize = 1024;
/// Bytes that such a read may return, with one more pair. They fit into one reply of a storage
/// server.
pub const CLUSTER_SPAN_BYTES_MAX: usize = 64 << 10;
/// The largest distance of two integer ids whose documents may be read as one range.
pub const NEIGHBOURING_IDS_MAX: u64 = 4;
/// The number of trailing bytes in which two other ids may differ for the same purpose.
pub const NEIGHBOURING_IDS_BYTES_MAX: usize = 2;
/// The largest number of rounds without such reads after a round whose ranges were too far apart.
pub const CLUSTER_SPANS_LEFT_OUT_MAX: u32 = 64;
/// Time for which a server that starts waits for the names of the collections.
pub const COLLECTIONS_REPORT_TIME_MAX: Duration = Duration::from_secs(2);
/// Collections that a server names when it starts.
pub const COLLECTIONS_REPORTED_MAX: usize = 10;
/// Time to open a store that a server serves.
pub const OPEN_TIME_MAX: Duration = Duration::from_secs(30);
/// Interval at which a server reads the format of its store again.
pub const FORMAT_POLL_TIME: Duration = Duration::from_secs(1);
/// Bytes of a part of a large range that is read concurrently with other parts.
pub const PARALLEL_READ_BYTES: usize = 512 << 10;
/// Concurrent reads of one range.
pub const PARALLEL_READS_MAX: usize = 8;
/// Subspaces over which commit markers are spread, to avoid a hot range.
pub const COMMIT_SHARDS: u8 = 16;
/// Time for which a commit marker is kept, far longer than any operation takes.
pub const COMMIT_MARKER_TIME: Duration = Duration::from_secs(24 * 60 * 60);
/// One commit in this many clears expired markers.
pub const COMMITS_PER_CLEANING: u32 = 64;
/// Keys over which the document count of a collection is spread, to avoid a hot key.
pub const COUNT_SHARDS: u64 = 16;

/// Subspaces over which the entries of the change log are spread, to avoid a hot range.
pub const CHANGE_SHARDS: u8 = 16;
/// The subspace of all entries in a store that only one process can open.
pub const EXCLUSIVE_CHANGE_SHARD: u8 = 0;
/// Bytes of JSON Patch operations that the change log has of one commit. The operations of further
/// documents are left out.
pub const CHANGE_PATCH_BYTES_MAX: usize = 1 << 20;
/// Bytes of the names of documents and places that the change log has of one commit. Past it, only
/// the names of the collections are kept.
pub const CHANGE_HEADER_BYTES_MAX: usize = 512 << 10;
/// Bytes of one header of an entry of the change log.
pub const CHANGE_HEADER_PIECE_BYTES: usize = 32 << 10;
/// Places of one document that the change log has of one commit. Past it, their common ancestor is
/// kept.
pub const CHANGE_PLACES_MAX: usize = 64;
/// The time for which the change log of a new store keeps changes, unless the operator sets another
/// one.
pub const CHANGE_RETENTION_OF_NEW_STORES: Duration = Duration::from_secs(3_600);
/// Bytes of a transaction that are kept free for the keys of its entry in the change log.
pub const CHANGE_TRANSACTION_BYTES_SPARE: usize = 16 << 10;
/// Sessions of the embedded engine that are recorded. Cursors of commits of older ones are rejected.
pub const SESSIONS_MAX: u64 = 10_000;
/// Headers of one shard of the change log that one transaction removes.
pub const CHANGES_EXPIRED_AT_ONCE: usize = 1_000;
/// Interval at which a server removes expired entries of the change log, and measures the log.
pub const CHANGES_EXPIRY_TIME: Duration = Duration::from_secs(5);
/// Memory for the recent commits that subscribers share, in bytes.
pub const CHANGES_RECENT_BYTES_MAX: usize = 8 << 20;
/// Pages of the stored change log that are read and decoded at the same time.
pub const CHANGES_PAGES_READ_AT_ONCE: usize = 2;
/// Pages of the stored change log that are kept for subscribers that resume at the same position.
pub const CHANGES_PAGES_KEPT_MAX: usize = 4;
/// Memory of the decoded commits with which a page of the stored change log ends, in bytes.
pub const CHANGES_PAGE_BYTES: usize = 1 << 20;
/// Memory for decoded changes that followers always have together, in bytes, besides the recent ones.
/// They have a quarter of [`Bounds::held_bytes`] if that is more and requests do not need it. Past
/// it, changes are forgotten and read again.
pub const CHANGES_HELD_BYTES: usize = 32 << 20;
/// Memory for the pieces of patches that were read last, which subscribers share, in bytes.
pub const CHANGES_PIECES_BYTES_MAX: usize = 4 << 20;
/// Memory for the patches that all subscribers have read ahead, in bytes.
pub const CHANGES_AHEAD_BYTES_MAX: usize = 16 << 20;
/// Bytes of patches that a subscriber reads ahead at first. Each further round reads twice as many.
pub const CHANGES_AHEAD_BYTES_MIN: usize = 16 << 10;
/// The most bytes of patches that a subscriber reads ahead in one round.
pub const CHANGES_AHEAD_ROUND_BYTES_MAX: usize = 256 << 10;
/// Bytes of patches that nobody asked for and that are read so that two ranges are one.
pub const CHANGES_AHEAD_GAP_BYTES_MAX: usize = 4 << 10;
/// Time between two executions of a live page of documents.
pub const LIVE_PAGE_TIME_MIN: Duration = Duration::from_millis(100);
/// Live queries that are executed at the same time: as many fast ones, and as many slow ones. The
/// others wait, so that requests are served beside them.
pub const LIVE_EXECUTIONS_AT_ONCE: usize = 8;
/// A live query whose last execution took longer is slow.
pub const LIVE_FAST_TIME_MAX: Duration = Duration::from_millis(10);
/// Bytes of the response of a live query that are kept for later subscribers while nobody waits for
/// it. A larger one is dropped.
pub const LIVE_KEPT_BYTES_MAX: usize = 1 << 10;
/// A live query is executed at most one of this many parts of the time.
pub const LIVE_TIME_SHARE: u32 = 5;
/// Interval at which a server asks a cluster for new commits while there are subscribers, at first
/// after a commit.
pub const CHANGES_POLL_TIME_MIN: Duration = Duration::from_millis(5);
/// The same, after a longer time without commits.
pub const CHANGES_POLL_TIME_MAX: Duration = Duration::from_millis(50);

/// Documents that one `updateDocuments` or `deleteDocuments` changes.
pub const BULK_DOCUMENTS_MAX: usize = 10_000;
/// Documents that one `takeDocuments` removes.
pub const TAKEN_DOCUMENTS_MAX: usize = 1_000;
/// Documents between two checks of the size of such a transaction.
pub const BULK_DOCUMENTS_PER_MEASURE: usize = 64;
/// Documents that one operation of `phyllo delete` or `phyllo update` examines.
pub const SWEEP_DOCUMENTS_MAX: usize = 512;
/// Documents that it examines at least, however long it takes, unless its size is the reason that it fails.
pub const SWEEP_DOCUMENTS_MIN: usize = 64;
/// Time of such an operation above which the next one examines fewer documents, because other writers wait for it.
pub const SWEEP_TIME: Duration = Duration::from_millis(50);
/// Collections that are searched for among documents to list the names of collections.
pub const NAMES_LOOKED_AT_MAX: usize = 1_000;
/// Hints of one response.
pub const HINTS_MAX: usize = 5;
/// Bytes of a response that is examined for hints.
pub const HINTED_RESPONSE_BYTES_MAX: usize = 64 * 1024;
/// Fields of a query, and keys or ids in a list, that are examined for hints.
pub const HINTED_LOOKUPS_MAX: usize = 10;
/// Time for the hints of one response.
pub const HINT_TIME_MAX: Duration = Duration::from_secs(1);
/// Documents of a collection below which a hint suggests no index.
pub const UNINDEXED_DOCUMENTS_MAX: usize = 100;
/// Names of collections that a hint suggests.
pub const SIMILAR_NAMES_MAX: usize = 3;
/// Collections whose names are compared to suggest one.
pub const COLLECTIONS_COMPARED_MAX: usize = 4_096;
/// Characters of a name that is compared with others.
pub const NAME_COMPARED_CHARACTERS_MAX: usize = 64;
/// Estimated bytes of decoded values that are kept with a snapshot. No request counts them, and each
/// request can keep another snapshot alive.
pub const SNAPSHOT_CACHE_BYTES_MAX: usize = 128 * 1024;
/// Times that a check reads a part of the store which changes meanwhile, or for which the engine does
/// not keep a snapshot long enough.
pub const CHECK_TRIES_MAX: usize = 5;
/// Documents that a check compares with their index entries at the same time.
pub const CHECK_DOCUMENTS_AT_ONCE: usize = 32;
/// Findings about one document that a check holds until it has read the document.
pub const CHECK_FINDINGS_MAX: usize = 1_000;
/// Bytes of hashes of index values that a check holds to compare entries with documents.
pub const CHECK_HASHES_BYTES_MAX: usize = 128 << 20;

/// Time for which a graceful shutdown waits for accepted requests.
pub const STOP_TIME_MAX: Duration = Duration::from_secs(30);

/// The shortest token.
pub const TOKEN_CHARACTERS_MIN: usize = 16;
/// The shortest token.
pub const TOKEN_CHARACTERS_MAX: usize = 1_024;
/// Bytes of the name of a token.
pub const TOKEN_NAME_BYTES_MAX: usize = 64;
/// Bytes of a file of tokens, operations, certificates or a key.
pub const WATCHED_FILE_BYTES_MAX: usize = 6 << 20;
/// Bytes of a file of access rules.
pub const RULES_BYTES_MAX: usize = 256 << 10;
/// Access rules of one file.
pub const RULES_MAX: usize = 1_000;
/// Interval at which the server checks such files for changes.
pub const WATCH_PERIOD: Duration = Duration::from_secs(1);

/// Different refusals of one kind that are logged in [`REFUSALS_LOGGED_PERIOD`].
pub const REFUSALS_LOGGED_MAX: usize = 10;
/// The period of the limit on logged refusals.
pub const REFUSALS_LOGGED_PERIOD: Duration = Duration::from_secs(60);
/// Characters of a refused host or origin in the log.
pub const REFUSED_NAME_CHARACTERS_MAX: usize = 200;

/// Names of operations that metrics distinguish. Further names are counted together.
pub const METRICS_OPERATIONS_MAX: usize = 100;
/// Characters of the name of an operation in metrics and in the log. Longer names are truncated.
pub const OPERATION_NAME_CHARACTERS_MAX: usize = 64;
/// Characters of a request id from a client. A longer id is replaced.
pub const REQUEST_ID_CHARACTERS_MAX: usize = 64;
/// Time after which a request is logged as slow, whatever its result.
pub const SLOW_REQUEST_TIME: Duration = Duration::from_secs(1);

/// Time for a trace collector to accept a batch.
pub const COLLECTOR_TIME_MAX: Duration = Duration::from_secs(10);
/// Bytes of the head of a trace collector's response.
pub const COLLECTOR_HEAD_BYTES_MAX: usize = 32 << 10;
/// Bytes of a trace collector's response.
pub const COLLECTOR_ANSWER_BYTES_MAX: usize = 64 << 10;
/// Time for which a shutdown waits for the last traces to be sent.
pub const TRACES_END_TIME_MAX: Duration = Duration::from_secs(5);

/// Documents that one transaction of an import writes.
pub const IMPORT_BATCH_DOCUMENTS_MAX: usize = 1_000;
/// Bytes of JSON that one transaction of an import writes, unless a single document is larger. The
/// pairs stay well below FoundationDB's limit of 10 MB per transaction.
pub const IMPORT_BATCH_BYTES_MAX: usize = 1 << 20;
/// Bytes of keys and values that one transaction of an import writes, unless a single document is
/// larger. With long paths they are many times the JSON.
pub const IMPORT_BATCH_LEAVES_BYTES_MAX: usize = 4 << 20;
/// Bytes that an import reads at a time.
pub const IMPORT_CHUNK_BYTES: usize = 256 << 10;
/// Bytes at the start of a stream that are searched for the end of an array.
pub const IMPORT_DETECT_BYTES: usize = 64 << 10;
/// Time for one transaction of an import, including the time that it waits for the store.
pub const IMPORT_BATCH_TIME_MAX: Duration = Duration::from_secs(600);
/// Documents that one transaction of an adoption reads. A few more may exceed it.
pub const ADOPT_BATCH_DOCUMENTS_MAX: usize = 1_000;
/// Pairs that an adoption reads at a time. One read returns several small documents, or only the
/// start of a large one.
pub const ADOPT_PAIRS_AT_ONCE: usize = 32;
/// Time after which a transaction of an adoption reads no further documents, well within
/// [`CLUSTER_SNAPSHOT_TIME_MAX`].
pub const ADOPT_BATCH_TIME: Duration = Duration::from_secs(1);
/// Bytes of keys and values that one transaction of a copy writes. A few more may exceed it. A
/// larger document is copied in several transactions.
pub const COPY_BATCH_BYTES_MAX: usize = 1 << 20;
/// Documents that one transaction of a copy writes.
pub const COPY_BATCH_DOCUMENTS_MAX: usize = 1_000;
/// Concurrent transactions of a copy.
pub const COPY_BATCHES_AT_ONCE: usize = 4;
/// Bytes of the page cache of a store that a backup writes.
pub const BACKUP_CACHE_BYTES: usize = 64 << 20;
/// Commit numbers that a backup reserves for the original store, more than it will ever use.
pub const BACKUP_COMMITS_SKIPPED: u64 = 1 << 40;
/// Time for which a command waits for a store that another process has locked.
pub const STORE_WAIT_TIME_MAX: Duration = Duration::from_secs(2);
/// Time for which a command waits at its end for background tasks.
pub const TASKS_END_TIME_MAX: Duration = Duration::from_millis(500);
/// Bytes of the path of a Unix domain socket: the limit of the strictest system.
pub const SOCKET_PATH_BYTES_MAX: usize = 103;

/// Files that a server has open besides its connections: the store, sockets, and files of system
/// libraries.
pub const OTHER_FILES: usize = 128;
