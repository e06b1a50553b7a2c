//! GraphQL over HTTP, per its specification: <https://graphql.github.io/graphql-over-http/>.

pub(crate) mod batch;
pub(crate) mod body;
pub(crate) mod cached;
pub(crate) mod endpoint;
pub(crate) mod methods;
pub(crate) mod web_page;
