//! Limits on requests. `phyllo serve` has a flag for each; docs/limits.md lists them.

use std::time::Duration;

/// Limits on the requests to one server. The defaults are [`Bounds::DEFAULT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes of a request's body, both as sent and as decoded.
    pub body_bytes: usize,
    /// Bytes of the text of a query.
    pub query_bytes: usize,
    /// Lexical tokens in the text of a query. The same limit applies to its lines.
    pub query_tokens: usize,
    /// Operations in the text of a query.
    pub query_operations: usize,
    /// Brackets, braces and parentheses that are open at one place of the text of a query.
    pub query_brackets: usize,
    /// Directives in the text of a query.
    pub query_directives: usize,
    /// Levels of fields in a query, fragments expanded.
    pub query_levels: usize,
    /// Fields in a query, fragments expanded.
    pub query_fields: usize,
    /// Aliases in a query, fragments expanded.
    pub query_aliases: usize,
    /// Values in arguments, and directives, in a query, fragments expanded.
    pub query_values: usize,
    /// Paths in arguments of fields in a query, fragments expanded.
    pub query_paths: usize,
    /// Levels of lists and objects in a variable that is not of type JSON.
    pub variable_levels: usize,
    /// Values in the variables of a request that are not of type JSON. In a list of JSON, each
    /// element counts as one value.
    pub variable_values: usize,
    /// Bytes of a string in a variable that is not of type JSON.
    pub variable_string_bytes: usize,
    /// Bytes of variables in the arguments of a request, counted once per use.
    pub argument_bytes: usize,
    /// Entities in one request.
    pub entities: usize,
    /// Places read for one request, counted in each element of a list.
    pub places: usize,
    /// Fields in one response, counted in each element of a list.
    pub response_fields: usize,
    /// Steps of work for one request: [`super::STEPS_PER_WRITE`] per key written,
    /// [`super::STEPS_PER_JSONPATH_BYTE`] per byte of a JSONPath that is parsed, and about one per
    /// value, pair or index entry that is read.
    pub steps: u64,
    /// Bytes of keys and values that one request reads from the store, even if it returns less.
    pub read_bytes: usize,
    /// Bytes of keys and values that one request writes.
    pub write_bytes: usize,
    /// Bytes of JSON in one response, or in all responses to a batch.
    pub response_bytes: usize,
    /// Bytes of memory that all requests hold together: unfinished heads, bodies and messages, data
    /// read from the store, changes that are followed, and responses.
    pub held_bytes: usize,
    /// Time for one request from the end of its body, including the time that it waits for the
    /// store.
    pub request_time: Duration,
    /// Time for a client to send the head of a request.
    pub header_time: Duration,
    /// Time for which an idle connection stays open.
    pub idle_time: Duration,
    /// Time for a client to send the body of a request.
    pub body_time: Duration,
    /// Time for a client to take anything of a response. It has [`super::SLOW_TIMES_MAX`] times as
    /// long for [`super::SENT_BYTES_PER_TIME`].
    pub send_time: Duration,
    /// Connections served at the same time. Further connections wait to be accepted. As many
    /// operations are executed, and requests of HTTP/2 connections are open, at the same time.
    pub connections: usize,
    /// Requests of one HTTP/2 connection that are open at the same time. Further requests wait.
    pub connection_requests: usize,
    /// Subscriptions that are open at the same time.
    pub subscriptions: usize,
    /// Operations of one WebSocket that are open at the same time.
    pub connection_operations: usize,
    /// Messages that a client of a WebSocket sends in a second. Further messages wait.
    pub message_rate: usize,
    /// Bytes of a message that a client of a WebSocket sends.
    pub message_bytes: usize,
    /// Time for a client of a WebSocket to send `connection_init`.
    pub init_time: Duration,
    /// Time for which a stream is silent before the server sends a ping.
    pub ping_time: Duration,
}

impl Bounds {
    /// The default limits.
    pub const DEFAULT: Self = Self {
        body_bytes: 32 << 20,
        query_bytes: 128 << 10,
        query_tokens: 10_000,
        query_operations: 100,
        query_brackets: 64,
        query_directives: 256,
        query_levels: 32,
        query_fields: 10_000,
        query_aliases: 1_000,
        query_values: 20_000,
        query_paths: 1_000,
        variable_levels: super::DOCUMENT_LEVELS_MAX + 8,
        variable_values: 100_000,
        variable_string_bytes: 64 << 10,
        argument_bytes: 64 << 20,
        entities: 1_000,
        places: 100_000,
        response_fields: 250_000,
        steps: 20_000_000,
        read_bytes: 1 << 30,
        write_bytes: 256 << 20,
        response_bytes: 64 << 20,
        held_bytes: 1 << 30,
        request_time: Duration::from_secs(30),
        header_time: Duration::from_secs(10),
        // Longer than the idle time of proxies and clients (load balancers 60 s, most client pools
        // 90 s), so that the server never closes a connection on which a request is being sent.
        idle_time: Duration::from_secs(120),
        body_time: Duration::from_secs(60),
        send_time: Duration::from_secs(30),
        connections: 10_000,
        connection_requests: 128,
        subscriptions: 20_000,
        connection_operations: 256,
        message_rate: 1_000,
        message_bytes: 256 << 10,
        init_time: Duration::from_secs(10),
        // Proxies end silent connections after 30 s to 60 s.
        ping_time: Duration::from_secs(15),
    };

    /// The limits for commands of the operator, which the size of the store's data must not stop.
    /// The text of a query has its usual limits.
    pub const OF_OPERATOR: Self = Self {
        body_bytes: UNLIMITED,
        variable_values: UNLIMITED,
        variable_string_bytes: UNLIMITED,
        argument_bytes: UNLIMITED,
        places: UNLIMITED,
        response_fields: UNLIMITED,
        steps: UNLIMITED as u64,
        read_bytes: UNLIMITED,
        write_bytes: UNLIMITED,
        response_bytes: UNLIMITED,
        held_bytes: UNLIMITED,
        request_time: super::IMPORT_BATCH_TIME_MAX,
        body_time: super::IMPORT_BATCH_TIME_MAX,
        ..Self::DEFAULT
    };
}

/// Sums of some of them do not overflow.
const UNLIMITED: usize = usize::MAX >> 8;

impl Default for Bounds {
    fn default() -> Self {
        Self::DEFAULT
    }
}
