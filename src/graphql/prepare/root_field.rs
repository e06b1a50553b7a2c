//! The root field of a subscription.

use async_graphql::parser::types::{
    ExecutableDocument, Field, OperationDefinition, Selection, SelectionSet,
};

use crate::error::{Error, Result};

/// The only root field of a subscription (GraphQL specification, 5.2.4.1 Single Root Field), or the
/// first of those that are merged. The document is valid, so its fragments exist and have no cycles, and
/// fields of the same response name can be merged.
///
/// # Errors
/// `BAD_USER_INPUT`: there are several response names, one is that of an introspection field, or a
/// selection has a directive.
pub(crate) fn root_field<'d>(
    document: &'d ExecutableDocument,
    operation: &'d OperationDefinition,
) -> Result<&'d Field> {
    let mut found = None;
    find(document, &operation.selection_set.node, &mut found)?;
    found.ok_or_else(no_single_field)
}

fn no_single_field() -> Error {
    Error::bad_input("a subscription has one root field, which is no introspection field")
}

fn find<'d>(
    document: &'d ExecutableDocument,
    selections: &'d SelectionSet,
    found: &mut Option<&'d Field>,
) -> Result<()> {
    for selection in &selections.items {
        if !selection.node.directives().is_empty() {
            let message = "the root field of a subscription cannot have directives";
            return Err(Error::bad_input(message));
        }
        match &selection.node {
            Selection::Field(field) => {
                let field = &field.node;
                let first = *found.get_or_insert(field);
                if field.name.node.starts_with("__")
                    || first.response_key().node != field.response_key().node
                {
                    return Err(no_single_field());
                }
            }
            Selection::InlineFragment(inline) => {
                find(document, &inline.node.selection_set.node, found)?;
            }
            Selection::FragmentSpread(spread) => {
                if let Some(fragment) = document.fragments.get(&spread.node.fragment_name.node) {
                    find(document, &fragment.node.selection_set.node, found)?;
                }
            }
        }
    }
    Ok(())
}
