//! Directives on `__typename`, which the validation of `async_graphql` ignores.

use async_graphql::Positioned;
use async_graphql::parser::types::{ExecutableDocument, InlineFragment, Selection, SelectionSet};

/// An equivalent document for validation: moves the directives of each `__typename` to an inline
/// fragment around it, where validation checks them. Validation thus counts the variables in these
/// directives as used, and detects undeclared ones.
pub(crate) fn shown(document: &ExecutableDocument) -> ExecutableDocument {
    let mut shown = document.clone();
    for fragment in shown.fragments.values_mut() {
        show(&mut fragment.node.selection_set.node);
    }
    for operation in operations(&mut shown) {
        show(operation);
    }
    shown
}

fn operations(document: &mut ExecutableDocument) -> Vec<&mut SelectionSet> {
    use async_graphql::parser::types::DocumentOperations::{Multiple, Single};
    match &mut document.operations {
        Single(only) => vec![&mut only.node.selection_set.node],
        Multiple(all) => {
            let operations = all.values_mut();
            operations
                .map(|operation| &mut operation.node.selection_set.node)
                .collect()
        }
    }
}

/// The recursion is bounded by the limit on the levels of the document.
fn show(selections: &mut SelectionSet) {
    for selection in &mut selections.items {
        match &mut selection.node {
            Selection::Field(field) if field.node.name.node == "__typename" => {
                let directives = std::mem::take(&mut field.node.directives);
                if directives.is_empty() {
                    continue;
                }
                let pos = selection.pos;
                let items = vec![selection.clone()];
                let around = InlineFragment {
                    type_condition: None,
                    directives,
                    selection_set: Positioned::new(SelectionSet { items }, pos),
                };
                selection.node = Selection::InlineFragment(Positioned::new(around, pos));
            }
            Selection::Field(field) => show(&mut field.node.selection_set.node),
            Selection::InlineFragment(inline) => show(&mut inline.node.selection_set.node),
            Selection::FragmentSpread(_) => {}
        }
    }
}
