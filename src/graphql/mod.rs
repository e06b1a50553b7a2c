//! The GraphQL interface: the only user of `async_graphql`.
//!
//! A request is read (`request`), bounded before it is parsed (`guard`) and before it is validated
//! (`expanded`), looked up or parsed and validated (`operations`), executed in one snapshot or one
//! transaction (`service`) while what it comes to is counted (`tally`), and written with its JSON
//! spliced in (`response`). A query that only reads by path is executed from a plan (`direct`),
//! everything else by `async_graphql`.

mod allowed;
mod apart;
mod batch;
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
mod expanded;
mod federation;
mod filter;
mod filter_text;
mod given;
mod guard;
mod indexes;
mod inputs;
mod jsonpath;
mod kept;
mod located;
mod lookahead;
mod mutation;
mod node;
mod node_id;
mod operations;
mod parse;
mod persisted;
mod query;
mod repeat;
mod report;
mod request;
mod response;
mod rewrite;
mod scalars;
mod schema;
mod service;
mod session;
mod tally;
mod typename;
mod types;
mod unknown;
mod uses;
mod variables;
mod walk;

pub use filter_text::read_filter;
pub use given::GivenVariables;
pub use persisted::QueryHash;
pub use report::Report;
pub use request::{Left, Posted, Request};
pub use schema::{SchemaScope, schema_text, subgraph_text};
pub use service::{Answer, GraphQl, GraphQlOptions, Methods};
