//! The limit flags of `phyllo serve`.

use clap::Args;

use super::units::{ByteSize, Time};
use crate::limits::Bounds;

const DEFAULT: Bounds = Bounds::DEFAULT;

// Nesting limits have an upper bound too, because the parser and validation are recursive.
#[derive(Debug, Args)]
#[expect(clippy::struct_field_names, reason = "they are the names of the flags")]
#[command(next_help_heading = "Limits on requests")]
pub(crate) struct LimitArguments {
    /// The body of a request, both as sent and decompressed, or a line of many
    #[arg(long, value_name = "BYTES", default_value_t = ByteSize(DEFAULT.body_bytes))]
    body_bytes_max: ByteSize,
    /// The text of a query
    #[arg(long, value_name = "BYTES", default_value_t = ByteSize(DEFAULT.query_bytes))]
    query_bytes_max: ByteSize,
    /// Tokens in the text of a query, and also lines
    #[arg(long, value_name = "NUMBER", default_value_t = number(DEFAULT.query_tokens), value_parser = any())]
    query_tokens_max: u64,
    /// Operations in the text of a query
    #[arg(long, value_name = "NUMBER", default_value_t = number(DEFAULT.query_operations), value_parser = any())]
    query_operations_max: u64,
    /// Nesting depth of brackets in the text of a query
    #[arg(long, value_name = "NUMBER", default_value_t = number(DEFAULT.query_brackets), value_parser = up_to(128))]
    query_brackets_max: u64,
    /// Directives in the text of a query
    #[arg(long, value_name = "NUMBER", default_value_t = number(DEFAULT.query_directives), value_parser = any())]
    query_directives_max: u64,
    /// Levels of fields in a query, with fragments expanded
    #[arg(long, value_name = "NUMBER", default_value_t = number(DEFAULT.query_levels), value_parser = up_to(64))]
    query_levels_max: u64,
    /// Fields in a query, with fragments expanded
    #[arg(long, value_name = "NUMBER", default_value_t = number(DEFAULT.query_fields), value_parser = any())]
    query_fields_max: u64,
    /// Aliases in a query, with fragments expanded
    #[arg(long, value_name = "NUMBER", default_value_t = number(DEFAULT.query_aliases), value_parser = any())]
    query_aliases_max: u64,
    /// Argument values and directives in a query, with fragments expanded
    #[arg(long, value_name = "NUMBER", default_value_t = number(DEFAULT.query_values), value_parser = any())]
    query_values_max: u64,
    /// Paths in the fields of a query, with fragments expanded
    #[arg(long, value_name = "NUMBER", default_value_t = number(DEFAULT.query_paths), value_parser = any())]
    query_paths_max: u64,
    /// Levels of lists and objects in a variable that is not JSON
    #[arg(long, value_name = "NUMBER", default_value_t = number(DEFAULT.variable_levels), value_parser = up_to(512))]
    variable_levels_max: u64,
    /// Values in variables that are not JSON
    #[arg(long, value_name = "NUMBER", default_value_t = number(DEFAULT.variable_values), value_parser = any())]
    variable_values_max: u64,
    /// A string in a variable that is not JSON
    #[arg(long, value_name = "BYTES", default_value_t = ByteSize(DEFAULT.variable_string_bytes))]
    variable_string_bytes_max: ByteSize,
    /// Variables in arguments, counted for each use
    #[arg(long, value_name = "BYTES", default_value_t = ByteSize(DEFAULT.argument_bytes))]
    argument_bytes_max: ByteSize,
    /// Entities, and nodes by id, in one request
    #[arg(long, value_name = "NUMBER", default_value_t = number(DEFAULT.entities), value_parser = any())]
    entities_max: u64,
    /// Paths read by one request, counted for each list element
    #[arg(long, value_name = "NUMBER", default_value_t = number(DEFAULT.places), value_parser = any())]
    places_max: u64,
    /// Fields in one response, counted for each list element
    #[arg(long, value_name = "NUMBER", default_value_t = number(DEFAULT.response_fields), value_parser = any())]
    response_fields_max: u64,
    /// Steps of work for one request
    #[arg(long, value_name = "NUMBER", default_value_t = DEFAULT.steps, value_parser = up_to(1_000_000_000_000))]
    steps_max: u64,
    /// Keys and values that one request reads
    #[arg(long, value_name = "BYTES", default_value_t = ByteSize(DEFAULT.read_bytes))]
    read_bytes_max: ByteSize,
    /// Keys and values that one request writes
    #[arg(long, value_name = "BYTES", default_value_t = ByteSize(DEFAULT.write_bytes))]
    write_bytes_max: ByteSize,
    /// JSON in one response, or in the responses to a batch
    #[arg(long, value_name = "BYTES", default_value_t = ByteSize(DEFAULT.response_bytes))]
    response_bytes_max: ByteSize,
    /// Unfinished heads, bodies and messages, data read from the store, changes that are followed, and
    /// responses, for all requests together
    #[arg(long, value_name = "BYTES", default_value_t = ByteSize(DEFAULT.held_bytes))]
    held_bytes_max: ByteSize,
    /// Time for one request, or for a batch, after its body is received
    #[arg(long, value_name = "TIME", default_value_t = Time(DEFAULT.request_time))]
    request_time_max: Time,
    /// Time for a client to send the head of a request
    #[arg(long, value_name = "TIME", default_value_t = Time(DEFAULT.header_time))]
    header_time_max: Time,
    /// Time that an idle connection stays open between two requests
    #[arg(long, value_name = "TIME", default_value_t = Time(DEFAULT.idle_time))]
    idle_time_max: Time,
    /// Time for a client to send the body of a request, or the next line of many
    #[arg(long, value_name = "TIME", default_value_t = Time(DEFAULT.body_time))]
    body_time_max: Time,
    /// Time for a client to take anything of a response; it has four times as long for 64 KiB
    #[arg(long, value_name = "TIME", default_value_t = Time(DEFAULT.send_time))]
    send_time_max: Time,
    /// Open connections; further ones wait
    #[arg(long, value_name = "NUMBER", default_value_t = number(DEFAULT.connections), value_parser = up_to(1_000_000))]
    connections_max: u64,
    /// Open requests of one HTTP/2 connection; further ones wait
    #[arg(long, value_name = "NUMBER", default_value_t = number(DEFAULT.connection_requests), value_parser = up_to(1_000_000))]
    connection_requests_max: u64,
    /// Open subscriptions
    #[arg(long, value_name = "NUMBER", default_value_t = number(DEFAULT.subscriptions), value_parser = up_to(10_000_000))]
    subscriptions_max: u64,
    /// Open operations of one WebSocket
    #[arg(long, value_name = "NUMBER", default_value_t = number(DEFAULT.connection_operations), value_parser = up_to(1_000_000))]
    connection_operations_max: u64,
    /// Messages that a WebSocket client sends in a second; further ones wait
    #[arg(long, value_name = "NUMBER", default_value_t = number(DEFAULT.message_rate), value_parser = up_to(1_000_000))]
    message_rate_max: u64,
    /// A message that a WebSocket client sends
    #[arg(long, value_name = "BYTES", default_value_t = ByteSize(DEFAULT.message_bytes))]
    message_bytes_max: ByteSize,
    /// Time for a WebSocket client to send its first message, `connection_init`
    #[arg(long, value_name = "TIME", default_value_t = Time(DEFAULT.init_time))]
    init_time_max: Time,
    /// Time that a stream is silent before the server sends a ping
    #[arg(long, value_name = "TIME", default_value_t = Time(DEFAULT.ping_time))]
    ping_time_max: Time,
}

impl From<LimitArguments> for Bounds {
    fn from(limits: LimitArguments) -> Self {
        Self {
            body_bytes: limits.body_bytes_max.0,
            query_bytes: limits.query_bytes_max.0,
            query_tokens: size(limits.query_tokens_max),
            query_operations: size(limits.query_operations_max),
            query_brackets: size(limits.query_brackets_max),
            query_directives: size(limits.query_directives_max),
            query_levels: size(limits.query_levels_max),
            query_fields: size(limits.query_fields_max),
            query_aliases: size(limits.query_aliases_max),
            query_values: size(limits.query_values_max),
            query_paths: size(limits.query_paths_max),
            variable_levels: size(limits.variable_levels_max),
            variable_values: size(limits.variable_values_max),
            variable_string_bytes: limits.variable_string_bytes_max.0,
            argument_bytes: limits.argument_bytes_max.0,
            entities: size(limits.entities_max),
            places: size(limits.places_max),
            response_fields: size(limits.response_fields_max),
            steps: limits.steps_max,
            read_bytes: limits.read_bytes_max.0,
            write_bytes: limits.write_bytes_max.0,
            response_bytes: limits.response_bytes_max.0,
            held_bytes: limits.held_bytes_max.0,
            request_time: limits.request_time_max.0,
            header_time: limits.header_time_max.0,
            idle_time: limits.idle_time_max.0,
            body_time: limits.body_time_max.0,
            send_time: limits.send_time_max.0,
            connections: size(limits.connections_max),
            subscriptions: size(limits.subscriptions_max),
            connection_requests: size(limits.connection_requests_max),
            connection_operations: size(limits.connection_operations_max),
            message_rate: size(limits.message_rate_max),
            message_bytes: limits.message_bytes_max.0,
            init_time: limits.init_time_max.0,
            ping_time: limits.ping_time_max.0,
        }
    }
}

fn any() -> clap::builder::RangedU64ValueParser<u64> {
    up_to(1_000_000_000)
}

fn up_to(limit: u64) -> clap::builder::RangedU64ValueParser<u64> {
    clap::builder::RangedU64ValueParser::new().range(1..=limit)
}

fn number(size: usize) -> u64 {
    size as u64
}

fn size(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
