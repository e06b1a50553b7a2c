//! The input objects of the schema, with their members and types.

use std::collections::HashMap;

use async_graphql::parser::types::Type;
use async_graphql::registry::{MetaInputValue, MetaType, Registry};

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

impl InputMember {
    fn of(member: &MetaInputValue) -> Self {
        let ty = parsed(&member.ty);
        Self {
            optional: ty.nullable || member.default_value.is_some(),
            ty,
        }
    }
}

impl Inputs {
    /// The input objects of the schema with this registry.
    pub(crate) fn of(registry: &Registry) -> Self {
        let inputs = registry.types.values().filter_map(|ty| match ty {
            MetaType::InputObject {
                name, input_fields, ..
            } => Some((name, input_fields)),
            _ => None,
        });
        let members = inputs.map(|(name, fields)| {
            let members = fields.values();
            let members = members.map(|member| (member.name.clone(), InputMember::of(member)));
            (name.clone(), members.collect())
        });
        Self(members.collect())
    }

    /// The members of the input object with this name; none if there is no such input object.
    pub(crate) fn members(&self, name: &str) -> Option<&HashMap<String, InputMember>> {
        self.0.get(name)
    }
}

/// The type in a text of the registry.
pub(super) fn parsed(ty: &str) -> Type {
    Type::new(ty).expect("the library prints types in their notation")
}
