//! Errors in the text of a query.

use async_graphql::{Pos, ServerError};

use crate::document::leaf::abridged;

/// Why a text is not a document, and where.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SyntaxError {
    message: String,
    /// The most important position first.
    positions: Vec<Pos>,
}

/// What is parsed from a text, or why it is not a document.
pub(crate) type ParseResult<T> = Result<T, SyntaxError>;

impl SyntaxError {
    pub(crate) fn new(why: &str, pos: Pos) -> Self {
        Self {
            message: format!("syntax error: {why}"),
            positions: vec![pos],
        }
    }

    /// Two definitions of a kind have the same name.
    pub(crate) fn defined_twice(kind: &str, name: &str, second: Pos, first: Pos) -> Self {
        Self {
            message: format!("{kind} {} is defined twice", abridged(name)),
            positions: vec![second, first],
        }
    }

    /// An operation without a name is not the only one.
    pub(crate) fn several_operations(anonymous: Pos, other: Pos) -> Self {
        Self {
            message: "document contains multiple operations".to_owned(),
            positions: vec![anonymous, other],
        }
    }

    /// There is no operation.
    pub(crate) fn no_operation() -> Self {
        Self {
            message: "document does not contain an operation".to_owned(),
            positions: Vec::new(),
        }
    }

    /// Two members of an object have the same name (GraphQL specification, 5.6.3).
    pub(crate) fn member_given_twice(name: &str, pos: Pos) -> Self {
        Self {
            message: format!(
                "There can only be one input field named \"{}\"",
                abridged(name)
            ),
            positions: vec![pos],
        }
    }
}

impl From<SyntaxError> for ServerError {
    fn from(error: SyntaxError) -> Self {
        let mut converted = Self::new(error.message, None);
        converted.locations = error.positions;
        converted
    }
}
