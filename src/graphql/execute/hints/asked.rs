//! The fields that an operation requests, with their arguments, as both executors see them.

use async_graphql::parser::types::{
    ExecutableDocument, OperationDefinition, Selection, SelectionSet,
};
use async_graphql::{Name, Positioned, Value, Variables};
use async_graphql_value::Value as Input;

use crate::graphql::execute::change_targets::is_skipped;
use crate::limits::HINTED_LOOKUPS_MAX;

/// A valid operation with its variables.
#[derive(Clone, Copy)]
pub(super) struct AskedOperation<'d> {
    pub(super) document: &'d ExecutableDocument,
    pub(super) variables: &'d Variables,
}

/// A requested field. Selections of the same response name are merged.
pub(super) struct AskedField<'d> {
    /// The name in the response.
    pub(super) key: &'d str,
    pub(super) name: &'d str,
    arguments: &'d [(Positioned<Name>, Positioned<Input>)],
    selections: Vec<&'d SelectionSet>,
}

impl<'d> AskedOperation<'d> {
    /// The first root fields.
    pub(super) fn fields(self, operation: &'d OperationDefinition) -> Vec<AskedField<'d>> {
        self.selected([&operation.selection_set.node])
    }

    /// The first fields with this name below a field.
    pub(super) fn below(self, field: &AskedField<'d>, name: &str) -> Vec<AskedField<'d>> {
        let mut fields = self.selected(field.selections.iter().copied());
        fields.retain(|field| field.name == name);
        fields
    }

    fn selected(
        self,
        selections: impl IntoIterator<Item = &'d SelectionSet>,
    ) -> Vec<AskedField<'d>> {
        let mut fields = Vec::new();
        for selections in selections {
            self.collect(selections, &mut fields);
        }
        fields
    }

    /// The recursion is bounded by the limits on the document with expanded fragments.
    fn collect(self, selections: &'d SelectionSet, fields: &mut Vec<AskedField<'d>>) {
        for selection in &selections.items {
            if is_skipped(selection.node.directives(), self.variables) {
                continue;
            }
            match &selection.node {
                Selection::Field(field) => {
                    let field = &field.node;
                    let key = field.response_key().node.as_str();
                    let below = &field.selection_set.node;
                    if let Some(known) = fields.iter_mut().find(|known| known.key == key) {
                        known.selections.push(below);
                    } else if fields.len() < HINTED_LOOKUPS_MAX {
                        fields.push(AskedField {
                            key,
                            name: &field.name.node,
                            arguments: &field.arguments,
                            selections: vec![below],
                        });
                    }
                }
                Selection::InlineFragment(inline) => {
                    self.collect(&inline.node.selection_set.node, fields);
                }
                Selection::FragmentSpread(spread) => {
                    let name = &spread.node.fragment_name.node;
                    if let Some(fragment) = self.document.fragments.get(name) {
                        self.collect(&fragment.node.selection_set.node, fields);
                    }
                }
            }
        }
    }

    /// The given arguments of a field. None if a variable inside one of them is not given.
    pub(super) fn arguments(self, field: &AskedField<'d>) -> Option<Vec<(&'d str, Value)>> {
        let mut arguments = Vec::with_capacity(field.arguments.len());
        for (name, value) in field.arguments {
            if let Input::Variable(variable) = &value.node
                && !self.variables.contains_key(variable)
            {
                continue;
            }
            let variable = |name| self.variables.get(&name).cloned().ok_or(());
            let value = value.node.clone().into_const_with(variable).ok()?;
            arguments.push((name.node.as_str(), value));
        }
        Some(arguments)
    }
}
