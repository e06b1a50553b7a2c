//! Which operations introspect the schema.

use async_graphql::parser::types::{
    ExecutableDocument, OperationDefinition, OperationType, Selection, SelectionSet,
};

use crate::error::{Error, Result};

/// Whether an operation of a valid document is a query that selects nothing but introspection. The
/// recursion is bounded by the limit on the levels of the document.
pub(crate) fn only_introspects(
    document: &ExecutableDocument,
    operation: &OperationDefinition,
) -> bool {
    operation.ty == OperationType::Query
        && are_introspection(document, &operation.selection_set.node)
}

fn are_introspection(document: &ExecutableDocument, selections: &SelectionSet) -> bool {
    let mut selections = selections.items.iter();
    selections.all(|selection| match &selection.node {
        Selection::Field(field) => field.node.name.node.starts_with("__"),
        Selection::InlineFragment(inline) => {
            are_introspection(document, &inline.node.selection_set.node)
        }
        Selection::FragmentSpread(spread) => {
            let fragment = document.fragments.get(&spread.node.fragment_name.node);
            fragment.is_some_and(|fragment| {
                are_introspection(document, &fragment.node.selection_set.node)
            })
        }
    })
}

/// Rejects introspection. Must be called after [`check_expanded`], which bounds the recursion.
///
/// # Errors
/// `BAD_USER_INPUT`: the document has a field `__schema` or `__type`.
pub(crate) fn check_introspection(document: &ExecutableDocument) -> Result<()> {
    let operations = document.operations.iter();
    let operations = operations.map(|(_, operation)| &operation.node.selection_set.node);
    let fragments = document.fragments.values();
    let fragments = fragments.map(|fragment| &fragment.node.selection_set.node);
    if operations.chain(fragments).any(introspects) {
        return Err(Error::bad_input(
            "introspection is turned off on this server",
        ));
    }
    Ok(())
}

fn introspects(selections: &SelectionSet) -> bool {
    selections
        .items
        .iter()
        .any(|selection| match &selection.node {
            Selection::Field(field) => {
                matches!(field.node.name.node.as_str(), "__schema" | "__type")
                    || introspects(&field.node.selection_set.node)
            }
            Selection::InlineFragment(inline) => introspects(&inline.node.selection_set.node),
            Selection::FragmentSpread(_) => false,
        })
}
