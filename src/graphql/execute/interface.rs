//! The options and the results of executing a request.

use crate::graphql::context::rules_in_force::RulesInForce;
use crate::graphql::schema::scope::SchemaScope;
use crate::limits::Bounds;

/// Which operations a request may execute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Methods {
    /// Only queries, as for GET.
    Queries,
    /// Only queries, because the client has no right to write, for this reason.
    ReadOnly(&'static str),
    /// Queries and mutations.
    All,
}

/// The response to a request.
#[derive(Debug)]
pub enum GraphQlResponse {
    /// The JSON of the response to an executed request. It can contain errors of fields.
    Executed(Vec<u8>),
    /// The JSON of the response to a request that was rejected before execution.
    Refused(Vec<u8>),
    /// The request is a mutation where only queries are allowed.
    MutationRefused(Vec<u8>),
    /// The request is a mutation, but the client may only read.
    Forbidden(Vec<u8>),
}

/// The options of a GraphQL interface.
#[derive(Clone, Debug)]
pub struct GraphQlOptions {
    /// The operations in the schema.
    pub scope: SchemaScope,
    /// Whether introspection is allowed.
    pub introspection: bool,
    /// Whether responses to queries have hints.
    pub hints: bool,
    /// Whether only listed operations are executed.
    pub listed_only: bool,
    /// The limits of a request.
    pub bounds: Bounds,
    /// The access rules. Without them, every request is allowed.
    pub rules: Option<RulesInForce>,
}

/// All operations, introspection, hints, the documented default limits, and no access rules.
impl Default for GraphQlOptions {
    fn default() -> Self {
        Self {
            scope: SchemaScope::default(),
            introspection: true,
            hints: true,
            listed_only: false,
            bounds: Bounds::DEFAULT,
            rules: None,
        }
    }
}
