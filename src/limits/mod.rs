//! Every bound in one place, with its unit last in the name. README.md has the table for users.
//! Those that an operator may move are in [`Bounds`].

mod bounds;

use std::time::Duration;

pub use bounds::Bounds;

/// A key, packed. FoundationDB's limit; the embedded engine keeps to it too.
pub const KEY_BYTES_MAX: usize = 10_000;
/// A value, packed. FoundationDB's limit; longer strings are split.
pub const VALUE_BYTES_MAX: usize = 100_000;
/// Each piece of a split string but the last.
pub const PIECE_BYTES: usize = 10_000;
/// The magnitude of an integer leaf: what the tuple layer can encode.
pub const INTEGER_BYTES_MAX: usize = 255;
/// The most decimal digits that an integer of [`INTEGER_BYTES_MAX`] can have.
pub const INTEGER_DIGITS_MAX: usize = 615;
/// Levels of objects and arrays in a document, counted from its root.
pub const DOCUMENT_LEVELS_MAX: usize = 128;

/// What a client has to take of a response within [`Bounds::send_time`].
pub const SENT_BYTES_PER_TIME: usize = 64 << 10;
/// Time for which what a client goes on sending is thrown away when it was answered and its
/// connection ends.
pub const LINGER_TIME_MAX: Duration = Duration::from_secs(1);
/// What is thrown away of it at a time.
pub const LINGER_BYTES_AT_ONCE: usize = 16 << 10;
/// Bytes of a response that are handed to a connection at a time.
pub const SENT_BYTES_AT_A_TIME: usize = 64 << 10;
/// The beginning of each body, of what each request reads and of each response, which does not count
/// among what all requests may hold together: small requests are answered also when others hold
/// much.
pub const HELD_UNCOUNTED_BYTES: usize = 64 << 10;
/// What has to be there of a body before room is made for all of it.
pub const BODY_RESERVED_FROM_BYTES: usize = 1 << 20;
/// What is decoded at a time, in bytes as they were sent, of a body that is compressed.
pub const BODY_DECODED_BYTES: usize = 4 << 10;
/// Members of a body in gzip, besides one for each [`BODY_MEMBER_BYTES`] that they decode to.
pub const BODY_MEMBERS_MAX: usize = 1_000;
/// What a body in gzip decodes to for each member more. Programs that make members make them larger:
/// 65,280 bytes is what `bgzip` puts into one.
pub const BODY_MEMBER_BYTES: usize = 16 << 10;
/// Query texts kept parsed and validated.
pub const OPERATIONS_CACHED_MAX: usize = 1_000;
/// Bytes of the texts that are kept parsed and validated, which take some dozen times as many.
pub const OPERATIONS_CACHED_BYTES_MAX: usize = 2 << 20;
/// Ranges that the embedded engine reads before others have their turn.
pub const RANGES_AT_A_TIME: usize = 250;
/// Pairs that the embedded engine walks over to a range that is to be read next, before it looks
/// for its beginning from the root: walking costs about a fifth of that.
pub const PAIRS_WALKED_MAX: usize = 4;
/// Fields, fragments expanded, that a query may have to be planned and executed directly.
pub const PLANNED_FIELDS_MAX: usize = 2_000;
/// A query text past this is not parsed again, a microsecond a token, to say what is wrong with it
/// or because it has a form that the specification has not (docs/decisions/0017).
pub const QUERY_PARSED_AGAIN_BYTES_MAX: usize = 16 << 10;
/// A query text past this is parsed anew each time.
pub const OPERATION_CACHED_BYTES_MAX: usize = 16 << 10;

/// The text of a JSONPath query.
pub const JSONPATH_BYTES_MAX: usize = 16 << 10;
/// Open brackets and parentheses at any one place of a JSONPath query.
pub const JSONPATH_BRACKETS_MAX: usize = 32;
/// Calls of functions inside one another in a JSONPath query.
pub const JSONPATH_FUNCTIONS_MAX: usize = 4;
/// The magnitude of an index in a JSONPath query (RFC 9535 §2.1).
pub const JSONPATH_INTEGER_MAX: u64 = (1 << 53) - 1;
/// Steps of work for each byte of a JSONPath query that is parsed.
pub const STEPS_PER_JSONPATH_BYTE: u64 = 30;
/// Memory for each byte of a JSONPath query that is parsed.
pub const HELD_PER_JSONPATH_BYTE: usize = 64;
/// Bytes of JSON that are parsed in one step of work.
pub const JSON_BYTES_PER_STEP: u64 = 16;
/// Bytes of a string that `contains` searches in one step of work: at worst a nanosecond each.
pub const SEARCHED_BYTES_PER_STEP: u64 = 32;
/// Steps of work for each key that is set or cleared.
pub const STEPS_PER_WRITE: u64 = 10;
/// Steps of work, about half a millisecond, after which a task yields, and work that cannot yield
/// moves to a thread that may block.
pub const STEPS_AT_A_TIME: u64 = 10_000;
/// Steps that synchronous work draws from its budget at a time.
pub const STEPS_PER_DRAW: u64 = 1_024;
/// Nodes in any one list that comes up while a JSONPath query is answered.
pub const JSONPATH_NODES_MAX: usize = 1_000_000;
/// A JSONPath query past this is parsed only where it is used: what it needs is not read ahead.
pub const JSONPATH_AHEAD_BYTES_MAX: usize = 512;
/// JSONPath queries of at most so many bytes that are kept parsed.
pub const JSONPATHS_CACHED_MAX: usize = 256;
/// Parts that one `select` returns.
pub const SELECTED_MAX: usize = PAGE_MAX;
/// A regular expression in a JSONPath query.
pub const REGEXP_BYTES_MAX: usize = 4 << 10;
/// Open parentheses at any one place of a regular expression.
pub const REGEXP_LEVELS_MAX: usize = 64;
/// Regular expressions in one JSONPath query, and those told by a document that are kept compiled.
pub const REGEXPS_MAX: usize = 16;
/// What a regular expression takes once it is compiled.
pub const REGEXP_COMPILED_BYTES_MAX: usize = 512 << 10;
/// Levels of objects and arrays in a value that is held whole.
pub const TREE_LEVELS_MAX: usize = 1_000;

/// Variables that come with one request.
pub const VARIABLES_MAX: usize = 100_000;
/// The extensions of a request, as JSON: of all that may be in them, one is read.
pub const EXTENSIONS_BYTES_MAX: usize = 16 << 10;

/// Query texts kept by their hash, for clients that send the hash alone.
pub const PERSISTED_QUERIES_MAX: usize = 10_000;
/// Bytes of those texts, all together.
pub const PERSISTED_QUERIES_BYTES_MAX: usize = 16 << 20;

/// A response smaller than this is sent as it is, also to those who take gzip.
pub const COMPRESSED_BYTES_MIN: u16 = 1 << 10;
/// Time for which a browser remembers that an origin may send requests.
pub const PREFLIGHT_TIME: Duration = Duration::from_secs(60 * 60);
/// A page of `children` where `first` is not given.
pub const PAGE_DEFAULT: usize = 100;
/// A page of `children`, at most.
pub const PAGE_MAX: usize = 10_000;
/// Pages of `children` that one request reads at the same time.
pub const PAGES_AT_ONCE: usize = 32;
/// Levels of filters inside one another in one `where`.
pub const FILTER_LEVELS_MAX: usize = 16;
/// Filters in one `where`.
pub const FILTERS_MAX: usize = 1_000;
/// Values in all the `in` of one `where`.
pub const FILTER_VALUES_MAX: usize = 1_000;
/// Spans of indexes that one `where` is answered from; one that would need more has its documents
/// looked at.
pub const SPANS_MAX: usize = 1_000;
/// Documents that are looked at where no index serves, by default.
pub const SCAN_DOCUMENTS_DEFAULT: usize = 1_000;
/// Documents that are looked at where no index serves, at most.
pub const SCAN_DOCUMENTS_MAX: usize = 100_000;
/// Documents that are looked at in one round of reads.
pub const SCAN_BATCH_DOCUMENTS: usize = 128;
/// Keys and values of several documents that are looked at together.
pub const LOOKED_AT_BYTES_MAX: usize = 4 << 20;
/// Documents that are looked at together before it is known how large they are.
pub const LOOKED_AT_FIRST_DOCUMENTS: usize = 8;
/// Ids that are held to be put in order: those of a span of an index that is a range, or of all
/// that pass where they are ordered by what no index has.
pub const SORTED_IDS_MAX: usize = 100_000;
/// Entries at the beginning of each span that are looked at to tell whether it is the shortest.
pub const PROBE_ENTRIES: usize = 128;
/// Memory for each field of a response while it is made: up to 340 bytes were measured.
pub const HELD_PER_FIELD: usize = 384;
/// Memory for a resolver that waits for a read, with all that waits for it: 8 KB were measured for
/// one below `children`.
pub const HELD_PER_LOAD: usize = 8 << 10;
/// Entries of indexes that are counted to tell how many documents pass: as many as the largest page
/// reads.
pub const COUNTED_ENTRIES_MAX: usize = PAGE_MAX;
/// Copies of the id of a document of a page: its key, its cursor, what is read of it.
pub const HELD_PER_ID_BYTE: usize = 6;
/// Errors that one response tells.
pub const ERRORS_MAX: usize = 100;
/// Names of unknown fields that are compared with those of known ones, for errors to tell what the
/// client may have meant.
pub const UNKNOWN_NAMES_BYTES_MAX: usize = 4 << 10;
/// The message of an error that quotes what a client sent.
pub const ERROR_MESSAGE_BYTES_MAX: usize = 1_000;
/// What is read of a store for one request, at most so many times what the response may carry:
/// pairs have a key for each leaf, so they may be larger than the JSON text they make.
pub const READ_PER_RESPONSE: usize = 4;
/// Leaves that are taken apart or put together at a time, before others have their turn and the time
/// of the request is looked at.
pub const LEAVES_AT_A_TIME: usize = 4_096;
/// Leaves that are written to a store between two looks at the budget.
pub const LEAVES_PER_PACE: usize = 512;
/// Leaves that are written as JSON at a time, which takes a millisecond.
pub const LEAVES_WRITTEN_AT_A_TIME: usize = 16_384;
/// Keys and values of a document in an argument, and a few more.
pub const ARGUMENT_LEAVES_BYTES_MAX: usize = 128 << 20;
/// JSON of a request that is read at once: its body, its variables, a document in an argument. What
/// is larger goes to a thread where it holds nobody up.
pub const JSON_BYTES_AT_ONCE: usize = 256 << 10;
/// Operations of a patch that are looked ahead at together, and members of a merge patch that are
/// looked ahead at in all.
pub const LOOK_AHEAD_MAX: usize = 64;
/// Pointer tokens of digits whose readings (index or key) are tried in the same round.
pub const DIGIT_TOKENS_AT_ONCE: usize = 3;

/// Pairs in one batch of a range read.
pub const BATCH_PAIRS_MAX: usize = 16_384;
/// Bytes of keys and values in one batch of a range read.
pub const BATCH_BYTES_MAX: usize = 512 << 10;
/// Pairs of a range that the embedded engine removes in the transaction that clears it; a range of
/// more is cleared by a tombstone.
pub const CLEARED_PAIRS_AT_ONCE: usize = 10_000;
/// Pairs under tombstones that the embedded engine removes in one transaction: about 2 ms if they
/// are in memory.
pub const RECLAIMED_PAIRS_AT_A_TIME: usize = 10_000;
/// Bytes of the keys and values of those pairs, and one pair more.
pub const RECLAIMED_BYTES_AT_A_TIME: usize = 4 << 20;
/// The pause after such a transaction, as a multiple of the time that it took: other writers have
/// the rest.
pub const RECLAIM_PAUSE_FACTOR: u32 = 2;
/// That pause, at least.
pub const RECLAIM_PAUSE_MIN: Duration = Duration::from_millis(5);
/// Tries of one transaction before CONFLICT.
pub const TRANSACTION_TRIES_MAX: usize = 20;
/// Keys and values that one change moves, copies, or gives other indexes; they are held in memory
/// meanwhile.
pub const MOVED_BYTES_MAX: usize = 256 << 20;
/// The answer that is kept for an operation with an idempotency key.
pub const KEPT_ANSWER_BYTES_MAX: usize = 1 << 20;
/// How long it is kept.
pub const KEPT_ANSWER_TIME: Duration = Duration::from_secs(24 * 60 * 60);
/// Parts of the key space over which the times are spread at which kept answers may go, so that
/// none is hot.
pub const KEPT_ANSWER_SHARDS: u64 = 16;
/// Answers past their time that one write clears.
pub const KEPT_ANSWERS_CLEARED_AT_ONCE: usize = 4;
/// An idempotency key.
pub const IDEMPOTENCY_KEY_BYTES_MAX: usize = 255;
/// The bytes of a transaction on FoundationDB, as it counts them: all that is written and all
/// conflict ranges.
pub const CLUSTER_TRANSACTION_BYTES_MAX: usize = 10_000_000;
/// Time for which FoundationDB keeps a snapshot, and lets a transaction commit.
pub const CLUSTER_SNAPSHOT_TIME_MAX: Duration = Duration::from_secs(5);
/// Time for one try of a transaction on FoundationDB, waiting for the cluster included. A cluster
/// that loses a process is back sooner.
pub const CLUSTER_TRANSACTION_TIME_MAX: Duration = Duration::from_secs(10);
/// Time in which a FoundationDB cluster answers, if it is ready.
pub const CLUSTER_READY_TIME_MAX: Duration = Duration::from_secs(2);
/// Times that a read of a snapshot is done again when the cluster could not answer it.
pub const CLUSTER_READ_TRIES_MAX: usize = 8;
/// Ranges of one document that FoundationDB is asked for as one, at least.
pub const CLUSTER_SPAN_RANGES_MIN: usize = 4;
/// Ranges of one document that FoundationDB is asked for as one, at most; more make several.
pub const CLUSTER_SPAN_RANGES_MAX: usize = 32;
/// Pairs for each of these ranges that are read with them at most, those between them counted. It is
/// less than what costs as much as a range.
pub const CLUSTER_SPAN_PAIRS_FOR_EACH: usize = 64;
/// Pairs that are read with them at most.
pub const CLUSTER_SPAN_PAIRS_MAX: usize = 1024;
/// Bytes that are read with them at most, or little more; within one reply of a server.
pub const CLUSTER_SPAN_BYTES_MAX: usize = 64 << 10;
/// How far apart the integer ids of two documents are at most that may be read as one range.
pub const NEIGHBOURING_IDS_MAX: u64 = 4;
/// The last bytes in which other ids of two such documents differ at most.
pub const NEIGHBOURING_IDS_BYTES_MAX: usize = 2;
/// Rounds that do without after one whose ranges were farther apart, at most.
pub const CLUSTER_SPANS_LEFT_OUT_MAX: u32 = 64;
/// Time to open a store that serves.
pub const OPEN_TIME_MAX: Duration = Duration::from_secs(30);
/// Time after which a server reads the format of its store again.
pub const FORMAT_POLL_TIME: Duration = Duration::from_secs(1);
/// Bytes of a large range that are worth a read of their own beside others.
pub const PARALLEL_READ_BYTES: usize = 512 << 10;
/// Such reads of one range at the same time.
pub const PARALLEL_READS_MAX: usize = 8;
/// Ranges of keys over which markers of commits are spread, so that none is hot.
pub const COMMIT_SHARDS: u8 = 16;
/// Time for which a marker of a commit is kept: far longer than any operation takes.
pub const COMMIT_MARKER_TIME: Duration = Duration::from_secs(24 * 60 * 60);
/// One in so many commits clears expired markers.
pub const COMMITS_PER_CLEANING: u32 = 64;
/// Keys over which a collection's document count is spread, so that none is hot.
pub const COUNT_SHARDS: u64 = 16;

/// Documents that one `updateDocuments` or `deleteDocuments` changes.
pub const BULK_DOCUMENTS_MAX: usize = 10_000;
/// Documents after which the size of such a transaction is looked at.
pub const BULK_DOCUMENTS_PER_MEASURE: usize = 64;
/// Documents that are looked at in one of the many transactions of `phyllo delete`.
pub const SWEEP_DOCUMENTS_MAX: usize = 512;
/// Time after which such a transaction ends on the embedded engine, where other writers wait for it.
pub const SWEEP_TIME: Duration = Duration::from_millis(50);
/// Time after which it ends on FoundationDB, well before it is too old to commit.
pub const CLUSTER_SWEEP_TIME: Duration = Duration::from_secs(2);
/// Collections that are looked for among documents to name those that there are.
pub const NAMES_LOOKED_AT_MAX: usize = 1_000;
/// Indexes of a collection.
pub const INDEXES_MAX: usize = 64;
/// JSONPaths of an index.
pub const INDEX_PATHS_MAX: usize = 8;
/// The name of an index.
pub const INDEX_NAME_BYTES_MAX: usize = 255;
/// Documents of which the entries are added in one transaction while an index is built.
pub const INDEX_BATCH_DOCUMENTS_MAX: usize = 512;
/// Those among them that are read at the same time.
pub const INDEX_BATCH_DOCUMENTS_AT_ONCE: usize = 64;
/// Bytes that are read, and bytes of entries that are written, in one transaction while an index
/// is built, and a few more. With [`INDEX_BATCH_ENTRIES_MAX`] it keeps the time for which other
/// writers of the embedded engine wait below about 50 ms.
pub const INDEX_BATCH_BYTES_MAX: usize = 256 << 10;
/// The least that this is lowered to after a transaction that failed for its size.
pub const INDEX_BATCH_BYTES_MIN: usize = 8 << 10;
/// Entries that are written in one transaction while an index is built, and a few more.
pub const INDEX_BATCH_ENTRIES_MAX: usize = 4_096;
/// Bytes of keys and values of one value of which an index is built: more cannot surely be read
/// in one transaction.
pub const INDEX_VALUE_BYTES_MAX: usize = 64 << 20;
/// Pairs of a document that are taken at a time to make index entries of them.
pub const INDEX_PORTION_PAIRS_MAX: usize = 1_024;
/// Bytes of keys and values that are taken at a time.
pub const INDEX_PORTION_BYTES: usize = 64 << 10;
/// Entries of an index that are read at the same time to check what they depend on.
pub const INDEX_READS_AT_ONCE: usize = 256;
/// Bytes of the hashes of index values that a check holds to compare entries with documents.
pub const CHECK_HASHES_BYTES_MAX: usize = 128 << 20;
/// Time for which a server that builds an index keeps others from it, after each batch; and for
/// one batch.
pub const INDEX_LEASE_TIME: Duration = Duration::from_secs(10);
/// How far in the future such a lease ends at most: one lease, and one more for clocks that differ.
/// One that ends later is void.
pub const INDEX_LEASE_EXPIRY_MAX: Duration = Duration::from_secs(2 * INDEX_LEASE_TIME.as_secs());
/// Time after which a server looks again for an index that is to be built.
pub const INDEX_POLL_TIME: Duration = Duration::from_millis(250);

/// Time that a graceful stop gives requests that were accepted.
pub const STOP_TIME_MAX: Duration = Duration::from_secs(30);

/// A token, in characters.
pub const TOKEN_CHARACTERS_MIN: usize = 16;
/// A token, in characters.
pub const TOKEN_CHARACTERS_MAX: usize = 1_024;
/// The name of a token.
pub const TOKEN_NAME_BYTES_MAX: usize = 64;
/// A file of tokens, certificates or a key.
pub const WATCHED_FILE_BYTES_MAX: usize = 1 << 20;
/// Time between two looks at files that are read anew when they change.
pub const WATCH_PERIOD: Duration = Duration::from_secs(1);

/// Names of operations that metrics tell apart; further ones are counted together.
pub const METRICS_OPERATIONS_MAX: usize = 100;
/// The name of an operation in metrics and in the log; longer ones are cut.
pub const OPERATION_NAME_CHARACTERS_MAX: usize = 64;
/// An id that a client gives to a request; longer ones are replaced.
pub const REQUEST_ID_CHARACTERS_MAX: usize = 64;
/// Time past which a request is told in the log, however it ended.
pub const SLOW_REQUEST_TIME: Duration = Duration::from_secs(1);

/// Time for a collector of traces to take a batch of them.
pub const COLLECTOR_TIME_MAX: Duration = Duration::from_secs(10);
/// What a collector answers.
pub const COLLECTOR_ANSWER_BYTES_MAX: usize = 64 << 10;
/// Time at the end of a server for the last traces to be sent.
pub const TRACES_END_TIME_MAX: Duration = Duration::from_secs(5);

/// Documents that an import writes in one transaction.
pub const IMPORT_BATCH_DOCUMENTS_MAX: usize = 1_000;
/// JSON that an import writes in one transaction, unless a single document is larger. Chosen so
/// that its pairs stay well under FoundationDB's 10 MB a transaction.
pub const IMPORT_BATCH_BYTES_MAX: usize = 1 << 20;
/// Bytes of keys and values that an import writes in one transaction, unless a single document
/// has more: long paths make them many times the JSON.
pub const IMPORT_BATCH_LEAVES_BYTES_MAX: usize = 4 << 20;
/// Bytes that an import reads at a time.
pub const IMPORT_CHUNK_BYTES: usize = 256 << 10;
/// The beginning of a stream in which an array is looked through for its end.
pub const IMPORT_DETECT_BYTES: usize = 64 << 10;
/// Time for one transaction of an import, waiting for the store included.
pub const IMPORT_BATCH_TIME_MAX: Duration = Duration::from_secs(600);
/// Documents that an adoption looks at in one transaction, and a few more.
pub const ADOPT_BATCH_DOCUMENTS_MAX: usize = 1_000;
/// Pairs that an adoption reads at a time: small documents come several at once, and of a large one
/// no more than this is read.
pub const ADOPT_PAIRS_AT_ONCE: usize = 32;
/// Time after which a transaction of an adoption looks for no further documents, well within
/// [`CLUSTER_SNAPSHOT_TIME_MAX`].
pub const ADOPT_BATCH_TIME: Duration = Duration::from_secs(1);
/// Keys and values that a copy writes in one transaction, and a few more; of a larger document, in
/// one of several.
pub const COPY_BATCH_BYTES_MAX: usize = 1 << 20;
/// Documents that a copy writes in one transaction, at most.
pub const COPY_BATCH_DOCUMENTS_MAX: usize = 1_000;
/// Transactions of a copy that are under way at the same time.
pub const COPY_BATCHES_AT_ONCE: usize = 4;
/// Memory for pages of the store that a backup writes.
pub const BACKUP_CACHE_BYTES: usize = 64 << 20;
/// Numbers of commits that a backup leaves to the store it was made of: more than any will use.
pub const BACKUP_COMMITS_SKIPPED: u64 = 1 << 40;
/// Time that a command waits for a store that another process holds and does not share.
pub const STORE_WAIT_TIME_MAX: Duration = Duration::from_secs(2);
/// Time for tasks to end when a command is done.
pub const TASKS_END_TIME_MAX: Duration = Duration::from_millis(500);
/// Bytes of an export that a server sends at a time, unless a single document is larger.
pub const EXPORT_CHUNK_BYTES: usize = 64 << 10;
/// The path of a Unix domain socket; what every system allows.
pub const SOCKET_PATH_BYTES_MAX: usize = 103;

/// Files that a server has open besides its connections: the store, sockets, what the system
/// libraries keep.
pub const OTHER_FILES: usize = 128;
