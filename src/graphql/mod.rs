//! The GraphQL interface: the only user of `async_graphql`.
//!
//! The folders, in the order in which a request passes through them:
//!
//! - `request` reads the HTTP body, resolves persisted queries and hashes operations for
//!   idempotency keys.
//! - `prepare` turns the text of a query into a cached `PreparedQuery`: it checks the limits on the
//!   text, parses it, checks the expanded size, validates it against `schema`, and plans it.
//! - `variables` coerces the variables to the types that the operation declares.
//! - `execute` runs the operation from its plan, in one snapshot (a query) or one transaction (a
//!   mutation). `async_graphql` executes the fields that introspect the schema.
//! - `schema` declares the types and fields, `arguments` reads the arguments of fields, and `scalars`
//!   has the scalar types, node ids and cursors.
//! - `context` holds the budget and the statistics of the request.
//! - `response` writes the result as JSON text.

mod arguments;
mod context;
mod execute;
mod lru_cache;
mod prepare;
mod request;
mod response;
mod scalars;
mod schema;
mod variables;

pub use context::request_stats::RequestStats;
pub use context::rules_in_force::RulesInForce;
pub(crate) use context::rules_in_force::{SameCaller, caller_digest};
pub use execute::filter_text::read_filter;
pub use execute::interface::{GraphQlOptions, GraphQlResponse, Methods};
pub use execute::replaceable::InvalidOperation;
pub use execute::service::GraphQl;
pub use execute::streaming::{ResponseStream, Started, StreamedResponse};
pub use request::body::{Left, Posted, Request};
pub use request::condition::{VersionTags, WriteCondition};
pub use request::operation_list::OperationList;
pub use request::query_id::{QueryHash, QueryId};
pub use request::raw_variables::GivenVariables;
pub use schema::schema_source::SchemaSource;
pub use schema::scope::SchemaScope;
pub use schema::typed::check_schema::check_schema_of;
pub use schema::typed::collection_types::UnnamedType;
