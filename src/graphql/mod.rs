//! The GraphQL interface: the only user of `async_graphql`.
//!
//! A request is read (`request`), bounded before it is parsed (`text_limits`) and before it is
//! validated (`query_cost`), looked up or parsed and validated (`prepared_query`), executed in one
//! snapshot or one transaction (`service`) while what it comes to is counted (`request_budget`), and
//! written with its JSON spliced in (`response`). A query that only reads by path is executed from a
//! plan (`direct`), everything else by `async_graphql`.

mod context;
mod execute;
mod objects;
mod prepare;
mod request;
mod response;
mod scalars;
mod schema;
mod variables;

pub use context::request_stats::RequestStats;
pub use execute::filter_text::read_filter;
pub use execute::service::{GraphQl, GraphQlOptions, GraphQlResponse, Methods};
pub use request::body::{Left, Posted, Request};
pub use request::query_hash::QueryHash;
pub use request::raw_variables::GivenVariables;
pub use schema::build::{SchemaScope, schema_text, subgraph_text};
