//! Walks the selections of a document together with their types.

use std::collections::HashSet;

use async_graphql::parser::types::{
    Directive, ExecutableDocument, Field, OperationDefinition, Selection, SelectionSet,
};
use async_graphql::{Name, Positioned};

use crate::graphql::schema::types::{ArgumentTypes, Types};

/// The callbacks of a walk.
pub(crate) trait Visitor<'d> {
    /// Visits a field of the type `of`. `arguments` has the declared arguments; it is none if the
    /// type has no such field, and the walk then skips the selections below the field.
    fn field(&mut self, field: &'d Field, of: &'d str, arguments: Option<&'d ArgumentTypes>);

    /// Visits the directives of one selection, operation or fragment.
    fn directives(&mut self, _: &'d [Positioned<Directive>]) {}
}

/// A walk through operations. Each fragment is visited once for all of them.
pub(crate) struct SelectionWalk<'d, V> {
    document: &'d ExecutableDocument,
    types: &'d Types,
    visited: HashSet<&'d Name>,
    pub(crate) visitor: V,
}

impl<'d, V: Visitor<'d>> SelectionWalk<'d, V> {
    pub(crate) fn new(document: &'d ExecutableDocument, types: &'d Types, visitor: V) -> Self {
        Self {
            document,
            types,
            visited: HashSet::new(),
            visitor,
        }
    }

    pub(crate) fn operation(&mut self, operation: &'d OperationDefinition) {
        self.visitor.directives(&operation.directives);
        self.selections(&operation.selection_set.node, Types::root(operation.ty));
    }

    /// The recursion is bounded by the limit on the levels of the document.
    fn selections(&mut self, selections: &'d SelectionSet, of: &'d str) {
        for selection in &selections.items {
            self.visitor.directives(selection.node.directives());
            match &selection.node {
                Selection::Field(field) => {
                    let field = &field.node;
                    let known = self.types.field(of, &field.name.node);
                    self.visitor
                        .field(field, of, known.map(|(arguments, _)| arguments));
                    if let Some((_, below)) = known {
                        self.selections(&field.selection_set.node, below);
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
        let Some(fragment) = self.document.fragments.get(name) else {
            return;
        };
        if self.visited.insert(name) {
            let fragment = &fragment.node;
            self.visitor.directives(&fragment.directives);
            self.selections(
                &fragment.selection_set.node,
                &fragment.type_condition.node.on.node,
            );
        }
    }
}
