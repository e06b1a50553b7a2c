//! Normalizes the operation of a request where `async_graphql` deviates from the specification:
//! arguments whose variable is not given, and mutation fields that are selected more than once.

use std::collections::HashSet;
use std::sync::Arc;

use async_graphql::parser::types::{
    Directive, DocumentOperations, ExecutableDocument, Field, OperationDefinition, OperationType,
    Selection, SelectionSet,
};
use async_graphql::{Name, Positioned, Value, Variables};
use async_graphql_value::Value as Input;

/// The document with the operation `name`, which must exist, normalized for these variables. Most
/// documents need no change and are returned as they are.
pub(crate) fn ready(
    document: Arc<ExecutableDocument>,
    name: Option<&str>,
    variables: &Variables,
) -> Arc<ExecutableDocument> {
    let Some(operation) = operation(&document.operations, name) else {
        return document;
    };
    let definitions = operation.variable_definitions.iter();
    let declared = definitions.map(|definition| &definition.node.name.node);
    let absent: HashSet<Name> = declared
        .filter(|name| !variables.contains_key(*name))
        .cloned()
        .collect();
    let mutation = operation.ty == OperationType::Mutation;
    if absent.is_empty() && !mutation {
        return document;
    }
    let fields = mutation.then(|| {
        let mut fields = Vec::new();
        collect(
            &document,
            &operation.selection_set.node,
            variables,
            &mut fields,
        );
        fields
    });
    let mut document = (*document).clone();
    for fragment in document.fragments.values_mut() {
        mend(&mut fragment.node.selection_set.node, &absent);
    }
    if let Some(operation) = operation_mut(&mut document.operations, name) {
        if let Some(fields) = fields {
            operation.selection_set.node.items = fields;
        }
        mend(&mut operation.selection_set.node, &absent);
    }
    Arc::new(document)
}

/// Removes the arguments whose variable is not given, so that they take their defaults (GraphQL
/// specification, 6.4.1 Coercing Field Arguments).
fn mend(selections: &mut SelectionSet, absent: &HashSet<Name>) {
    for selection in &mut selections.items {
        match &mut selection.node {
            Selection::Field(field) => {
                field.node.arguments.retain(|(_, value)| match &value.node {
                    Input::Variable(name) => !absent.contains(name),
                    _ => true,
                });
                mend(&mut field.node.selection_set.node, absent);
            }
            Selection::InlineFragment(inline) => {
                mend(&mut inline.node.selection_set.node, absent);
            }
            Selection::FragmentSpread(_) => {}
        }
    }
}

/// Collects the fields of a mutation. Fields with the same response name are merged, so that
/// nothing is written twice (GraphQL specification, 6.3.2 Field Collection).
fn collect(
    document: &ExecutableDocument,
    selections: &SelectionSet,
    variables: &Variables,
    fields: &mut Vec<Positioned<Selection>>,
) {
    for selection in &selections.items {
        if is_skipped(selection.node.directives(), variables) {
            continue;
        }
        match &selection.node {
            Selection::Field(field) => add(field, selection, fields),
            Selection::InlineFragment(inline) => {
                collect(document, &inline.node.selection_set.node, variables, fields);
            }
            Selection::FragmentSpread(spread) => {
                if let Some(fragment) = document.fragments.get(&spread.node.fragment_name.node) {
                    collect(
                        document,
                        &fragment.node.selection_set.node,
                        variables,
                        fields,
                    );
                }
            }
        }
    }
}

fn add(
    field: &Positioned<Field>,
    selection: &Positioned<Selection>,
    fields: &mut Vec<Positioned<Selection>>,
) {
    let name = &field.node.response_key().node;
    let same = fields.iter_mut().find_map(|other| match &mut other.node {
        Selection::Field(other) if other.node.response_key().node == *name => Some(other),
        _ => None,
    });
    if let Some(same) = same {
        let more = field.node.selection_set.node.items.iter().cloned();
        same.node.selection_set.node.items.extend(more);
        return;
    }
    let mut field = selection.clone();
    field.node.directives_mut().clear();
    fields.push(field);
}

/// Whether `@skip` or `@include` excludes a selection.
pub(super) fn is_skipped(directives: &[Positioned<Directive>], variables: &Variables) -> bool {
    directives.iter().any(|directive| {
        let condition = match directive.node.get_argument("if").map(|value| &value.node) {
            Some(Input::Boolean(value)) => *value,
            Some(Input::Variable(name)) => variables.get(name) == Some(&Value::Boolean(true)),
            _ => false,
        };
        match directive.node.name.node.as_str() {
            "skip" => condition,
            "include" => !condition,
            _ => false,
        }
    })
}

fn operation<'d>(
    operations: &'d DocumentOperations,
    name: Option<&str>,
) -> Option<&'d OperationDefinition> {
    match (operations, name) {
        (DocumentOperations::Single(only), _) => Some(&only.node),
        (DocumentOperations::Multiple(all), Some(name)) => all.get(name).map(|found| &found.node),
        (DocumentOperations::Multiple(all), None) => all.values().next().map(|found| &found.node),
    }
}

fn operation_mut<'d>(
    operations: &'d mut DocumentOperations,
    name: Option<&str>,
) -> Option<&'d mut OperationDefinition> {
    let found = match (operations, name) {
        (DocumentOperations::Single(only), _) => Some(only),
        (DocumentOperations::Multiple(all), Some(name)) => all.get_mut(name),
        (DocumentOperations::Multiple(all), None) => all.values_mut().next(),
    };
    found.map(|found| &mut found.node)
}
