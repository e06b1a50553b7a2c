//! Fields that no type has, where they are many or long: validation takes far longer to tell each,
//! since it looks for fields with a similar name.

use std::collections::HashSet;

use async_graphql::parser::types::{ExecutableDocument, Selection, SelectionSet};
use async_graphql::{Name, Positioned, ServerError};

use super::types::Types;
use crate::limits::{ERRORS_MAX, UNKNOWN_NAMES_BYTES_MAX};

/// The unknown fields of a document of bounded size, each fragment looked at once; none where
/// validation may tell them as well, with what the client may have meant.
pub(super) fn many_unknown_fields(
    document: &ExecutableDocument,
    types: &Types,
) -> Option<Vec<ServerError>> {
    let mut walk = Walk {
        document,
        types,
        visited: HashSet::new(),
        errors: Vec::new(),
        name_bytes: 0,
    };
    for (_, operation) in document.operations.iter() {
        let operation = &operation.node;
        walk.selections(&operation.selection_set.node, Types::root(operation.ty));
    }
    let many = walk.errors.len() > ERRORS_MAX || walk.name_bytes > UNKNOWN_NAMES_BYTES_MAX;
    many.then_some(walk.errors)
}

struct Walk<'d> {
    document: &'d ExecutableDocument,
    types: &'d Types,
    visited: HashSet<&'d Name>,
    errors: Vec<ServerError>,
    /// Of the names of all that are unknown.
    name_bytes: usize,
}

impl<'d> Walk<'d> {
    /// Recurses no deeper than the document, whose levels are bounded.
    fn selections(&mut self, selections: &'d SelectionSet, of: &'d str) {
        for selection in &selections.items {
            match &selection.node {
                Selection::Field(field) => {
                    let name = &field.node.name;
                    if let Some((_, below)) = self.types.field(of, &name.node) {
                        self.selections(&field.node.selection_set.node, below);
                    } else if self.types.lacks(of, &name.node) {
                        self.unknown(name, of);
                    }
                }
                Selection::InlineFragment(inline) => {
                    let on = inline.node.type_condition.as_ref();
                    let of = on.map_or(of, |on| on.node.on.node.as_str());
                    self.selections(&inline.node.selection_set.node, of);
                }
                Selection::FragmentSpread(spread) => {
                    self.fragment(&spread.node.fragment_name.node);
                }
            }
        }
    }

    fn unknown(&mut self, name: &Positioned<Name>, of: &str) {
        self.name_bytes += name.node.len();
        // Of those past the limit no more is told than how many they are.
        let message = match self.errors.len() {
            ..ERRORS_MAX => format!("Unknown field \"{}\" on type \"{of}\".", name.node),
            _ => String::new(),
        };
        self.errors.push(ServerError::new(message, Some(name.pos)));
    }

    fn fragment(&mut self, name: &'d Name) {
        if let Some(fragment) = self.document.fragments.get(name)
            && self.visited.insert(name)
        {
            let fragment = &fragment.node;
            let on = fragment.type_condition.node.on.node.as_str();
            self.selections(&fragment.selection_set.node, on);
        }
    }
}
