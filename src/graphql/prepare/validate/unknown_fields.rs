//! Fields that no type has, where they are many or long: validation takes far longer to tell each,
//! since it looks for fields with a similar name.

use async_graphql::ServerError;
use async_graphql::parser::types::{ExecutableDocument, Field};

use super::types::{ArgumentTypes, Types};
use super::walk::{SelectionWalk, Visitor};
use crate::limits::{ERRORS_MAX, UNKNOWN_NAMES_BYTES_MAX};

/// The unknown fields of a document of bounded size, each fragment looked at once; none where
/// validation may tell them as well, with what the client may have meant.
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
    /// Of the names of all that are unknown.
    name_bytes: usize,
}

impl<'d> Visitor<'d> for Unknown<'d> {
    fn field(&mut self, field: &'d Field, of: &'d str, arguments: Option<&'d ArgumentTypes>) {
        let name = &field.name;
        if arguments.is_some() || !self.types.lacks(of, &name.node) {
            return;
        }
        self.name_bytes += name.node.len();
        // Of those past the limit no more is told than how many they are.
        let message = match self.errors.len() {
            ..ERRORS_MAX => format!("Unknown field \"{}\" on type \"{of}\".", name.node),
            _ => String::new(),
        };
        self.errors.push(ServerError::new(message, Some(name.pos)));
    }
}
