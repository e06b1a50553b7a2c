//! The GraphQL interface: the only user of `async_graphql`.
//!
//! The folders, in the order in which a request passes through them:
//!
//! - `request` reads the HTTP body, resolves persisted queries and hashes operations for
//!   idempotency keys.
//! - `prepare` turns the text of a query into a cached `PreparedQuery`: it checks the limits on the
//!   text, parses it, checks the expanded size, validates it against `schema`, and plans it.
//! - `variables` coerces the variables to the types that the operation declares.
//! - `execute` runs the operation in one snapshot (a query) or one transaction (a mutation). It
//!   executes a query from its plan, unless it introspects the schema, and every other operation
//!   with `async_graphql`.
//! - `schema` holds the resolvers of the root fields, `objects` the types that they return, and
//!   `scalars` the scalar types, node ids and cursors.
//! - `context` holds what the resolvers of one request share: the snapshot or transaction, the
//!   batched loads and the budget of the request.
//! - `response` writes the result as JSON text.

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
pub use execute::interface::{GraphQlOptions, GraphQlResponse, Methods};
pub use execute::service::GraphQl;
pub use execute::streaming::{ResponseStream, Started, StreamedResponse};
pub use request::body::{Left, Posted, Request};
pub use request::query_hash::QueryHash;
pub use request::raw_variables::GivenVariables;
pub use schema::built::scope::SchemaScope;
pub use schema::built::source::SchemaSource;
pub use schema::built::text::{schema_text, subgraph_text};
