//! Reports unknown fields if they are many or have long names. The validation of `async_graphql`
//! takes far longer for each, since it searches for fields with similar names.

use async_graphql::ServerError;
use async_graphql::parser::types::{ExecutableDocument, Field};

use super::selection_walk::{SelectionWalk, Visitor};
use crate::graphql::schema::types::Types;
use crate::limits::{ERRORS_MAX, UNKNOWN_NAMES_BYTES_MAX};

/// The errors for the unknown fields of a document, whose size must be bounded. Each fragment is
/// visited once. None if the unknown fields are few: validation then reports them with suggestions.
pub(crate) fn many_unknown_fields(
    document: &ExecutableDocument,
    types: &Types,
) -> Option<Vec<ServerError>> {
    let unknown = Unknown {
        types,
        errors: Vec::new(),
        name_bytes: 0,
    };
    let mut walk = SelectionWalk::new(document, types, unknown);
    for (_, operation) in document.operations.iter() {
        walk.operation(&operation.node);
    }
    let Unknown {
        errors, name_bytes, ..
    } = walk.visitor;
    let many = errors.len() > ERRORS_MAX || name_bytes > UNKNOWN_NAMES_BYTES_MAX;
    many.then_some(errors)
}

struct Unknown<'d> {
    types: &'d Types,
    errors: Vec<ServerError>,
    /// The bytes of the names of all unknown fields.
    name_bytes: usize,
}

impl<'d> Visitor<'d> for Unknown<'d> {
    fn undeclared(&mut self, field: &'d Field, of: &'d str) {
        let name = &field.name;
        if !self.types.lacks(of, &name.node) {
            return;
        }
        self.name_bytes += name.node.len();
        // Errors over the limit are only counted.
        let message = match self.errors.len() {
            ..ERRORS_MAX => format!("Unknown field \"{}\" on type \"{of}\".", name.node),
            _ => String::new(),
        };
        self.errors.push(ServerError::new(message, Some(name.pos)));
    }
}
