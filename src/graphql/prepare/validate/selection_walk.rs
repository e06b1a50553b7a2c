//! Walks the selections of a document together with their types.

use std::collections::HashSet;

use async_graphql::parser::types::{
    Directive, ExecutableDocument, Field, OperationDefinition, Selection, SelectionSet,
};
use async_graphql::{Name, Positioned};
use async_graphql_value::Value;

use crate::graphql::schema::types::{ArgumentTypes, Types};

/// The callbacks of a walk.
pub(crate) trait Visitor<'d> {
    /// Visits the arguments of a field or a directive, with those that it declares.
    fn arguments(
        &mut self,
        _given: &'d [(Positioned<Name>, Positioned<Value>)],
        _declared: &'d ArgumentTypes,
    ) {
    }

    /// Visits a field that the type `of` does not declare: `__typename`, or an unknown one. The walk
    /// skips the selections below it.
    fn undeclared(&mut self, _field: &'d Field, _of: &'d str) {}
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
        self.directives(&operation.directives);
        self.selections(&operation.selection_set.node, Types::root(operation.ty));
    }

    /// The recursion is bounded by the limit on the levels of the document.
    fn selections(&mut self, selections: &'d SelectionSet, of: &'d str) {
        for selection in &selections.items {
            self.directives(selection.node.directives());
            match &selection.node {
                Selection::Field(field) => {
                    let field = &field.node;
                    if let Some((declared, below)) = self.types.field(of, &field.name.node) {
                        self.visitor.arguments(&field.arguments, declared);
                        self.selections(&field.selection_set.node, below);
                    } else {
                        self.visitor.undeclared(field, of);
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

    fn directives(&mut self, directives: &'d [Positioned<Directive>]) {
        for directive in directives {
            if let Some(declared) = self.types.directive(&directive.node.name.node) {
                self.visitor.arguments(&directive.node.arguments, declared);
            }
        }
    }

    fn fragment(&mut self, name: &'d Name) {
        let Some(fragment) = self.document.fragments.get(name) else {
            return;
        };
        if self.visited.insert(name) {
            let fragment = &fragment.node;
            self.directives(&fragment.directives);
            self.selections(
                &fragment.selection_set.node,
                &fragment.type_condition.node.on.node,
            );
        }
    }
}
