//! What clients may ask of one server. `phyllo serve` has a flag for each, and README.md a line.

use std::time::Duration;

/// What clients may ask of one server, at most. The defaults are [`Bounds::DEFAULT`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The body of a request, as it is sent and as it decodes.
    pub body_bytes: usize,
    /// The text of a query.
    pub query_bytes: usize,
    /// Lexical tokens in the text of a query, and its lines.
    pub query_tokens: usize,
    /// Operations in the text of a query.
    pub query_operations: usize,
    /// Open brackets, braces and parentheses at any one place of a query's text.
    pub query_brackets: usize,
    /// Directives in the text of a query.
    pub query_directives: usize,
    /// Levels of fields, fragments followed.
    pub query_levels: usize,
    /// Fields of a query once its fragments are expanded.
    pub query_fields: usize,
    /// Aliases of a query once its fragments are expanded.
    pub query_aliases: usize,
    /// Values in arguments, and directives, of a query once its fragments are expanded.
    pub query_values: usize,
    /// Fields that go to a path, once the fragments of a query are expanded.
    pub query_paths: usize,
    /// Levels of lists and objects in a variable that is not of type JSON.
    pub variable_levels: usize,
    /// Values in the variables of a request that are not of type JSON; of a list of JSON each
    /// element is one.
    pub variable_values: usize,
    /// A string in a variable that is not of type JSON.
    pub variable_string_bytes: usize,
    /// Variables in the arguments of a request, each as often as it is used.
    pub argument_bytes: usize,
    /// Entities asked for in one request.
    pub entities: usize,
    /// Places of documents that one request has read, also where a list multiplies a path.
    pub places: usize,
    /// Fields in one response, in each element of a list.
    pub response_fields: usize,
    /// Steps of work for one request: [`super::STEPS_PER_WRITE`] for each key that is written, some
    /// for each byte of a JSONPath that is parsed, otherwise about one for each value, pair or index
    /// entry that is looked at.
    pub steps: u64,
    /// Keys and values that one request reads of the store, also where it returns less.
    pub read_bytes: usize,
    /// Keys and values that one request writes.
    pub write_bytes: usize,
    /// The JSON that one response, or the responses to a batch, may carry.
    pub response_bytes: usize,
    /// Bodies, what is read of the store and responses, of all requests together.
    pub held_bytes: usize,
    /// Time for one request once its body is there, waiting for the store included.
    pub request_time: Duration,
    /// Time for a client to send the head of a request.
    pub header_time: Duration,
    /// Time for which a connection is kept between two requests.
    pub idle_time: Duration,
    /// Time for a client to send the body of a request.
    pub body_time: Duration,
    /// Time for a client to take [`super::SENT_BYTES_PER_TIME`] of a response, or the rest of it.
    pub send_time: Duration,
    /// Connections served at the same time; more wait to be accepted.
    pub connections: usize,
}

impl Bounds {
    /// The default of each.
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
        // Longer than what is before a server keeps connections for: load balancers 60 s, most
        // pools of clients 90 s. Who closes second closes none that is just being used.
        idle_time: Duration::from_secs(120),
        body_time: Duration::from_secs(60),
        send_time: Duration::from_secs(30),
        connections: 10_000,
    };
}

impl Default for Bounds {
    fn default() -> Self {
        Self::DEFAULT
    }
}
