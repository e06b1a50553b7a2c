//! What an expression of a filter is made of.

use super::super::ast::{FilterQuery, FunctionExpr, LogicalExpression};
use super::functions::FunctionCall;
use crate::document::tree::Tree;

/// A test, one side of a comparison or an argument of a function; the context tells which.
pub(super) enum PrimaryExpr<'q> {
    Literal(Tree),
    Query(FilterQuery),
    /// A call that yields a value.
    Value(FunctionCall<'q>, FunctionExpr),
    /// A call that yields true or false.
    Logical(FunctionCall<'q>, LogicalExpression),
}
