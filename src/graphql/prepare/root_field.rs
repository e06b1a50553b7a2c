//! The root field of a subscription.

use async_graphql::parser::types::{
    ExecutableDocument, Field, OperationDefinition, Selection, SelectionSet,
};

use crate::error::{Error, Result};

/// The only root field of a subscription (GraphQL specification, 5.2.3.1 Single Root Field). The
/// document is valid, so its fragments exist and have no cycles.
///
/// # Errors
/// `BAD_USER_INPUT`: there are several root fields, one is an introspection field, or one has
/// `@skip` or `@include`.
pub(crate) fn root_field<'d>(
    document: &'d ExecutableDocument,
    operation: &'d OperationDefinition,
) -> Result<&'d Field> {
    let mut found = None;
    collect(document, &operation.selection_set.node, &mut found)?;
    found.ok_or_else(|| Error::bad_input("a subscription has one root field"))
}

fn collect<'d>(
    document: &'d ExecutableDocument,
    selections: &'d SelectionSet,
    found: &mut Option<&'d Field>,
) -> Result<()> {
    for selection in &selections.items {
        let (directives, below) = match &selection.node {
            Selection::Field(field) => {
                if found.is_some() || field.node.name.node.starts_with("__") {
                    let message =
                        "a subscription has one root field, which is no introspection field";
                    return Err(Error::bad_input(message));
                }
                *found = Some(&field.node);
                (&field.node.directives, None)
            }
            Selection::InlineFragment(inline) => (
                &inline.node.directives,
                Some(&inline.node.selection_set.node),
            ),
            Selection::FragmentSpread(spread) => {
                let fragment = document.fragments.get(&spread.node.fragment_name.node);
                let below = fragment.map(|fragment| &fragment.node.selection_set.node);
                (&spread.node.directives, below)
            }
        };
        if !directives.is_empty() {
            let message = "the root field of a subscription cannot have directives";
            return Err(Error::bad_input(message));
        }
        if let Some(below) = below {
            collect(document, below, found)?;
        }
    }
    Ok(())
}
