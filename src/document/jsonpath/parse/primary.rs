//! What an expression of a filter is made of.

use super::super::ast::{FilterQuery, FunctionExpr, LogicalExpression};
use crate::document::tree::Tree;

/// A test, one side of a comparison or an argument of a function; the context decides which.
pub(super) enum PrimaryExpr<'q> {
    Literal(Tree),
    Query(FilterQuery),
    /// A call that yields a value.
    Value(FunctionCall<'q>, FunctionExpr),
    /// A call that yields true or false.
    Logical(FunctionCall<'q>, LogicalExpression),
}

/// A call whose arguments are being parsed.
#[derive(Clone, Copy)]
pub(super) struct FunctionCall<'q> {
    pub(super) name: &'q str,
    /// The byte at which the name begins.
    pub(super) at: usize,
}
