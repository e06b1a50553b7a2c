//! Walks the selections of a document with the types that they are of.

use std::collections::HashSet;

use async_graphql::parser::types::{
    Directive, ExecutableDocument, Field, OperationDefinition, Selection, SelectionSet,
};
use async_graphql::{Name, Positioned};

use super::types::{ArgumentTypes, Types};

/// What is done where a walk comes by.
pub(crate) trait Visitor<'d> {
    /// A field of the type `of`, and the arguments that it may have; none if the type has no such
    /// field, of which nothing below is walked.
    fn field(&mut self, field: &'d Field, of: &'d str, arguments: Option<&'d ArgumentTypes>);

    /// The directives at one place.
    fn directives(&mut self, _: &'d [Positioned<Directive>]) {}
}

/// A walk through operations, each fragment walked once for all of them.
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

    /// Recurses no deeper than the document, whose levels are bounded.
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
