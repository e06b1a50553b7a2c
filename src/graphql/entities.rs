//! Representations of entities, as a federated graph's gateway sends them.

use std::convert::Infallible;

use async_graphql::indexmap::IndexMap;
use async_graphql::parser::types::{
    ExecutableDocument, Field, OperationDefinition, Selection, SelectionSet,
};
use async_graphql::{Value, Variables};
use async_graphql_value::Value as Input;

use super::scalars::name;
use crate::database::DocumentKey;

/// The field that asks for entities.
pub(super) const ENTITIES: &str = "_entities";

/// The scalar that representations are of.
pub(super) const REPRESENTATION: &str = "_Any";

/// What a representation says of what tells entities of this graph apart; null where it says
/// nothing.
#[derive(Default)]
pub(super) struct Keys {
    typename: Value,
    collection: Value,
    id: Value,
}

impl Keys {
    /// The one of this name.
    pub(super) fn named(&mut self, name: &str) -> Option<&mut Value> {
        match name {
            "__typename" => Some(&mut self.typename),
            "collection" => Some(&mut self.collection),
            "id" => Some(&mut self.id),
            _ => None,
        }
    }

    /// The representation that says this and nothing else or, if it matches no key of this graph,
    /// one of a document that cannot be: `async_graphql` fails all entities because of one that it
    /// does not know.
    pub(super) fn into_known(self) -> Value {
        let matches = matches!(&self.typename, Value::String(ty) if ty == "Document")
            && matches!(self.collection, Value::String(_))
            && matches!(self.id, Value::String(_) | Value::Number(_));
        let text = |text: &str| Value::String(text.to_owned());
        let (collection, id) = if matches {
            (self.collection, self.id)
        } else {
            (text(""), text(""))
        };
        let mut members = IndexMap::with_capacity(3);
        members.insert(name("__typename"), text("Document"));
        members.insert(name("collection"), collection);
        members.insert(name("id"), id);
        Value::Object(members)
    }
}

/// The document that each representation of a list stands for; none if it matches no key of this
/// graph.
pub(super) type Entities = Vec<Option<DocumentKey>>;

/// As [`Keys::into_known`], of what was read already.
pub(super) fn representation_of(entity: Option<&DocumentKey>) -> Value {
    let Some(DocumentKey { collection, id }) = entity else {
        return Keys::default().into_known();
    };
    let keys = Keys {
        typename: Value::String("Document".to_owned()),
        collection: Value::String(collection.clone()),
        id: Value::String(id.to_string()),
    };
    keys.into_known()
}

/// The representation with its keys only; see [`Keys::into_known`].
pub(super) fn known(representation: Value) -> Value {
    let mut keys = Keys::default();
    if let Value::Object(members) = representation {
        for (member, value) in members {
            if let Some(key) = keys.named(&member) {
                *key = value;
            }
        }
    }
    keys.into_known()
}

/// The same with each representation known, if it is a list of them.
pub(super) fn all_known(representations: Value) -> Value {
    match representations {
        Value::List(elements) => Value::List(elements.into_iter().map(known).collect()),
        one => known(one),
    }
}

/// Whether an operation asks for entities whose representations stand in its text, not in a
/// variable.
pub(super) fn are_literal(document: &ExecutableDocument, operation: &OperationDefinition) -> bool {
    let fragments = document.fragments.values();
    let fragments = fragments.map(|fragment| &fragment.node.selection_set.node);
    fragments
        .chain([&operation.selection_set.node])
        .any(has_literal)
}

/// Looks no deeper than the root, where alone entities can be asked for.
fn has_literal(selections: &SelectionSet) -> bool {
    let mut selections = selections.items.iter().map(|selection| &selection.node);
    selections.any(|selection| match selection {
        Selection::Field(field) => {
            let field = &field.node;
            let literal = |value: &Input| !matches!(value, Input::Variable(_));
            field.name.node == ENTITIES && field.arguments.iter().any(|(_, it)| literal(&it.node))
        }
        Selection::InlineFragment(inline) => has_literal(&inline.node.selection_set.node),
        Selection::FragmentSpread(_) => false,
    })
}

/// Makes each representation that stands in a field's arguments a known one. A variable inside
/// them that is not given is null, which no key is.
pub(super) fn make_known(field: &mut Field, variables: &Variables) {
    if field.name.node != ENTITIES {
        return;
    }
    for (_, argument) in &mut field.arguments {
        let written = std::mem::take(&mut argument.node);
        argument.node = if let Input::Variable(_) = written {
            written
        } else {
            let given = |name| Ok(variables.get(&name).cloned().unwrap_or_default());
            let Ok(value) = written.into_const_with::<Infallible>(given);
            all_known(value).into_value()
        };
    }
}
