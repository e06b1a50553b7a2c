//! The GraphQL interface: the only user of `async_graphql`.
//!
//! A request is read (`request`), bounded before it is parsed (`text_limits`) and before it is
//! validated (`query_cost`), looked up or parsed and validated (`prepared_query`), executed in one
//! snapshot or one transaction (`service`) while what it comes to is counted (`request_budget`), and
//! written with its JSON spliced in (`response`). A query that only reads by path is executed from a
//! plan (`direct`), everything else by `async_graphql`.

mod batcher;
mod bulk;
mod children;
mod counted;
mod cursor;
mod deletion;
mod direct;
mod document;
mod documents;
mod dropped;
mod entities;
mod federation;
mod filter;
mod filter_text;
mod idempotency;
mod indexes;
mod inputs;
mod json_argument;
mod jsonpath;
mod located;
mod lookahead;
mod lru_cache;
mod mutation;
mod node;
mod node_id;
mod normalize;
mod parse;
mod persisted;
mod prepared_query;
mod query;
mod query_cost;
mod raw_variables;
mod request;
mod request_budget;
mod request_stats;
mod response;
mod scalars;
mod schema;
mod service;
mod session;
mod text_limits;
mod typename;
mod types;
mod unknown_fields;
mod variable_cost;
mod variable_usage;
mod variables;
mod walk;

pub use filter_text::read_filter;
pub use persisted::QueryHash;
pub use raw_variables::GivenVariables;
pub use request::{Left, Posted, Request};
pub use request_stats::RequestStats;
pub use schema::{SchemaScope, schema_text, subgraph_text};
pub use service::{GraphQl, GraphQlOptions, GraphQlResponse, Methods};
