//! Fields that no type has, where they are many: validation takes far longer to tell each.

use std::collections::HashSet;

use async_graphql::parser::types::{ExecutableDocument, Selection, SelectionSet};
use async_graphql::{Name, ServerError};

use super::types::Types;

/// The unknown fields of a document of bounded size, each fragment looked at once.
pub(super) fn unknown_fields(document: &ExecutableDocument, types: &Types) -> Vec<ServerError> {
    let mut walk = Walk {
        document,
        types,
        visited: HashSet::new(),
        errors: Vec::new(),
    };
    for (_, operation) in document.operations.iter() {
        let operation = &operation.node;
        walk.selections(&operation.selection_set.node, Types::root(operation.ty));
    }
    walk.errors
}

struct Walk<'d> {
    document: &'d ExecutableDocument,
    types: &'d Types,
    visited: HashSet<&'d Name>,
    errors: Vec<ServerError>,
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
                        let message = format!("Unknown field \"{}\" on type \"{of}\".", name.node);
                        self.errors.push(ServerError::new(message, Some(name.pos)));
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
