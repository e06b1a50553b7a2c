//! The root field of a subscription.

use async_graphql::Positioned;
use async_graphql::parser::types::{
    ExecutableDocument, Field, OperationDefinition, Selection, SelectionSet,
};

use crate::error::{Error, Result};

/// The only root field of a subscription (GraphQL specification, 5.2.4.1 Single Root Field), with the
/// selections of all fields that are merged into it. The document is valid, so its fragments exist
/// and have no cycles, and fields of the same response name can be merged.
///
/// # Errors
/// `BAD_USER_INPUT`: there are several response names, one is that of an introspection field, or a
/// selection has a directive.
pub(crate) fn merged_root_field(
    document: &ExecutableDocument,
    operation: &OperationDefinition,
) -> Result<Positioned<Field>> {
    let mut found = None;
    collect(document, &operation.selection_set.node, &mut found)?;
    found.ok_or_else(no_single_field)
}

fn no_single_field() -> Error {
    Error::bad_input("a subscription has one root field, which is no introspection field")
}

/// The root field of a subscription after [`merged_root_field`] has replaced its selections.
///
/// # Errors
/// `BAD_USER_INPUT`: there is no single field.
pub(crate) fn root_field(operation: &OperationDefinition) -> Result<&Field> {
    match &operation.selection_set.node.items[..] {
        [only] => match &only.node {
            Selection::Field(field) => Ok(&field.node),
            _ => Err(no_single_field()),
        },
        _ => Err(no_single_field()),
    }
}

fn collect(
    document: &ExecutableDocument,
    selections: &SelectionSet,
    found: &mut Option<Positioned<Field>>,
) -> Result<()> {
    for selection in &selections.items {
        if !selection.node.directives().is_empty() {
            let message = "the root field of a subscription cannot have directives";
            return Err(Error::bad_input(message));
        }
        match &selection.node {
            Selection::Field(field) => merge(found, field)?,
            Selection::InlineFragment(inline) => {
                collect(document, &inline.node.selection_set.node, found)?;
            }
            Selection::FragmentSpread(spread) => {
                if let Some(fragment) = document.fragments.get(&spread.node.fragment_name.node) {
                    collect(document, &fragment.node.selection_set.node, found)?;
                }
            }
        }
    }
    Ok(())
}

fn merge(found: &mut Option<Positioned<Field>>, field: &Positioned<Field>) -> Result<()> {
    if field.node.name.node.starts_with("__") {
        return Err(no_single_field());
    }
    match found {
        None => *found = Some(field.clone()),
        Some(first) if first.node.response_key().node == field.node.response_key().node => {
            let more = field.node.selection_set.node.items.iter().cloned();
            first.node.selection_set.node.items.extend(more);
        }
        Some(_) => return Err(no_single_field()),
    }
    Ok(())
}
