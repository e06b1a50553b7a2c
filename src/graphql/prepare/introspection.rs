//! The fields of a query that introspect the schema. The library executes them, in a query of their own.

use std::collections::HashSet;
use std::sync::Arc;

use async_graphql::parser::types::{
    DocumentOperations, ExecutableDocument, Field, InlineFragment, OperationDefinition, Selection,
    SelectionSet,
};
use async_graphql::{Name, Positioned, Variables};
use async_graphql_value::Value as Input;

use super::condition::FieldCondition;
use super::prepared_memory::PreparedDocument;

/// The fields `__schema` and `__type` of a query.
#[derive(Debug)]
pub(crate) struct Introspection {
    document: Arc<PreparedDocument>,
    /// The operation, without its root fields.
    operation: Positioned<OperationDefinition>,
    fields: Vec<Positioned<Selection>>,
}

/// The selections of one occurrence of a field, and their conditions.
pub(super) struct IntrospectedFields<'d> {
    pub(super) conditions: &'d [FieldCondition],
    pub(super) selected: &'d SelectionSet,
}

impl Introspection {
    /// The `fields` of an operation; none if there are none.
    pub(super) fn new(
        document: &Arc<PreparedDocument>,
        operation: &OperationDefinition,
        fields: Vec<Positioned<Selection>>,
    ) -> Option<Self> {
        let pos = fields.first()?.pos;
        let operation = OperationDefinition {
            ty: operation.ty,
            variable_definitions: operation.variable_definitions.clone(),
            directives: operation.directives.clone(),
            selection_set: Positioned::new(SelectionSet::default(), pos),
        };
        Some(Self {
            document: document.clone(),
            operation: Positioned::new(operation, pos),
            fields,
        })
    }

    /// The number of fields.
    pub(crate) fn count(&self) -> usize {
        self.fields.len()
    }

    /// A query of the fields with these numbers.
    pub(crate) fn query(
        &self,
        included: impl Iterator<Item = usize>,
        variables: &Variables,
    ) -> ExecutableDocument {
        let mut document = ExecutableDocument {
            operations: DocumentOperations::Single(self.operation.clone()),
            fragments: self.document.fragments.clone(),
        };
        let fields = included.filter_map(|number| self.fields.get(number).cloned());
        if let DocumentOperations::Single(operation) = &mut document.operations {
            operation.node.selection_set.node.items.extend(fields);
            let declared = operation
                .node
                .variable_definitions
                .iter()
                .map(|definition| &definition.node.name.node);
            let absent: HashSet<Name> = declared
                .filter(|name| !variables.contains_key(*name))
                .cloned()
                .collect();
            leave_out(&mut operation.node.selection_set.node, &absent);
            for fragment in document.fragments.values_mut() {
                leave_out(&mut fragment.node.selection_set.node, &absent);
            }
        }
        document
    }
}

/// A field with the selections of all of its occurrences.
pub(super) fn merged<'d>(
    field: &Field,
    occurrences: impl Iterator<Item = IntrospectedFields<'d>>,
) -> Positioned<Selection> {
    let pos = field.name.pos;
    let mut field = field.clone();
    field.directives.clear();
    let each = occurrences.map(|occurrence| {
        let conditions = occurrence.conditions.iter();
        let directives = conditions.map(|condition| Positioned::new(condition.directive(pos), pos));
        let inline = InlineFragment {
            type_condition: None,
            directives: directives.collect(),
            selection_set: Positioned::new(occurrence.selected.clone(), pos),
        };
        Positioned::new(Selection::InlineFragment(Positioned::new(inline, pos)), pos)
    });
    field.selection_set.node.items = each.collect();
    Positioned::new(Selection::Field(Positioned::new(field, pos)), pos)
}

/// Removes the arguments whose variable is not given, so that they take their defaults (GraphQL
/// specification, 6.4.1 Coercing Field Arguments), which the library does not do.
fn leave_out(selections: &mut SelectionSet, absent: &HashSet<Name>) {
    for selection in &mut selections.items {
        match &mut selection.node {
            Selection::Field(field) => {
                field.node.arguments.retain(|(_, value)| match &value.node {
                    Input::Variable(name) => !absent.contains(name),
                    _ => true,
                });
                leave_out(&mut field.node.selection_set.node, absent);
            }
            Selection::InlineFragment(inline) => {
                leave_out(&mut inline.node.selection_set.node, absent);
            }
            Selection::FragmentSpread(_) => {}
        }
    }
}
