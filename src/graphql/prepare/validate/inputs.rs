//! The input objects of the schema, with their members and types.

use std::collections::HashMap;

use async_graphql::parser::types::{ServiceDocument, Type, TypeKind, TypeSystemDefinition};

/// The members of each input object, by name.
#[derive(Debug, Default)]
pub(crate) struct Inputs(HashMap<String, HashMap<String, InputMember>>);

/// A member of an input object.
#[derive(Debug)]
pub(crate) struct InputMember {
    pub(crate) ty: Type,
    /// Whether the member may be omitted.
    pub(crate) optional: bool,
}

impl Inputs {
    /// The input objects in the text of a schema.
    pub(crate) fn of(schema: &ServiceDocument) -> Self {
        let types = schema
            .definitions
            .iter()
            .filter_map(|definition| match definition {
                TypeSystemDefinition::Type(ty) => Some(&ty.node),
                _ => None,
            });
        let inputs = types.filter_map(|ty| match &ty.kind {
            TypeKind::InputObject(input) => Some((ty.name.node.to_string(), input)),
            _ => None,
        });
        let members = inputs.map(|(name, input)| {
            let members = input.fields.iter().map(|field| {
                let field = &field.node;
                let ty = field.ty.node.clone();
                let optional = ty.nullable || field.default_value.is_some();
                (field.name.node.to_string(), InputMember { ty, optional })
            });
            (name, members.collect())
        });
        Self(members.collect())
    }

    /// The members of the input object with this name; none if there is no such input object.
    pub(crate) fn members(&self, name: &str) -> Option<&HashMap<String, InputMember>> {
        self.0.get(name)
    }
}
