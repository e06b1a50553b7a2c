//! The document that the validation of `async_graphql` gets. It ignores directives on `__typename`,
//! and its rule on fields of the same response name rejects valid documents.

use async_graphql::parser::types::{ExecutableDocument, InlineFragment, Selection, SelectionSet};
use async_graphql::{Name, Positioned};

/// An equivalent document for validation.
///
/// - The directives of each `__typename` move to an inline fragment around it, where validation
///   checks them. Validation thus counts the variables in these directives as used, and detects
///   undeclared ones.
/// - Each field has an alias of its own, so that validation finds no fields of the same response
///   name. The module `overlapping` checks these.
pub(crate) fn shown(document: &ExecutableDocument) -> ExecutableDocument {
    let mut shown = document.clone();
    let mut fields = 0;
    for fragment in shown.fragments.values_mut() {
        show(&mut fragment.node.selection_set.node, &mut fields);
    }
    for operation in operations(&mut shown) {
        show(operation, &mut fields);
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
fn show(selections: &mut SelectionSet, fields: &mut usize) {
    for selection in &mut selections.items {
        if let Selection::Field(field) = &mut selection.node {
            *fields += 1;
            let alias = Name::new(fields.to_string());
            field.node.alias = Some(Positioned::new(alias, field.pos));
        }
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
            Selection::Field(field) => show(&mut field.node.selection_set.node, fields),
            Selection::InlineFragment(inline) => {
                show(&mut inline.node.selection_set.node, fields);
            }
            Selection::FragmentSpread(_) => {}
        }
    }
}
