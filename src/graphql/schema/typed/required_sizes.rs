//! Which members of input types that are objects are required.
//!
//! The library follows every path of required input objects when it builds a schema, and has no memory of
//! those that it has followed. The number of paths can double with each type, so it is limited here. A member
//! over the limit can be null in the input; the type of the collection still requires it.

use std::collections::HashMap;

use async_graphql::parser::types::ObjectType;

use super::object_types::ObjectTypes;
use super::typed_fields::{TypedField, TypedValue};
use crate::graphql::schema::types::base_name;
use crate::limits::GRAPHQL_REQUIRED_FIELDS_MAX;

/// For each object type of which there are finite values, the number of fields on all paths of required
/// objects from it. A type that has to be inside itself has no finite value, and GraphQL rejects such an
/// input.
pub(super) struct RequiredSizes<'m>(HashMap<&'m str, usize>);

/// The required members of one type so far, in the order of its fields.
pub(super) struct RequiredSize<'s> {
    sizes: &'s RequiredSizes<'s>,
    fields: usize,
}

impl<'m> RequiredSizes<'m> {
    pub(super) fn of(objects: &HashMap<&'m str, &'m ObjectType>, made: &'m ObjectTypes) -> Self {
        let mut sizes = Self(HashMap::new());
        let mut open = Vec::new();
        // For each type, the number of its required objects that have no size yet.
        let mut unknown: HashMap<&str, usize> = HashMap::new();
        // The types that require an object of a type.
        let mut around: HashMap<&str, Vec<&'m str>> = HashMap::new();
        for (name, object) in objects {
            let mut count = 0;
            for ty in required_objects(name, object, made) {
                around.entry(ty).or_default().push(*name);
                count += 1;
            }
            if count == 0 {
                open.push(*name);
            } else {
                unknown.insert(*name, count);
            }
        }
        while let Some(name) = open.pop() {
            let Some(object) = objects.get(name) else {
                continue;
            };
            let mut size = sizes.of_type();
            for ty in required_objects(name, object, made) {
                size.adds(ty);
            }
            let fields = size.fields.saturating_add(object.fields.len());
            sizes.0.insert(name, fields);
            for around in around.remove(name).unwrap_or_default() {
                let Some(count) = unknown.get_mut(around) else {
                    continue;
                };
                *count -= 1;
                if *count == 0 {
                    open.push(around);
                }
            }
        }
        sizes
    }

    pub(super) fn of_type(&self) -> RequiredSize<'_> {
        RequiredSize {
            sizes: self,
            fields: 0,
        }
    }
}

impl RequiredSize<'_> {
    /// Adds the next member with an object of a type, if it can be required. Returns whether it can.
    pub(super) fn adds(&mut self, ty: &str) -> bool {
        let Some(fields) = self.sizes.0.get(ty) else {
            return false;
        };
        let fields = self.fields.saturating_add(*fields);
        let is_allowed = fields <= GRAPHQL_REQUIRED_FIELDS_MAX;
        if is_allowed {
            self.fields = fields;
        }
        is_allowed
    }
}

/// The types of the required objects of a type, in the order of its fields.
fn required_objects<'m>(
    name: &str,
    object: &'m ObjectType,
    made: &'m ObjectTypes,
) -> impl Iterator<Item = &'m str> {
    let reads = made.fields.get(name);
    object.fields.iter().filter_map(move |field| {
        let field = &field.node;
        match reads?.get(field.name.node.as_str())? {
            TypedField::Value(_, place)
                if place.required && matches!(place.value, TypedValue::Object) =>
            {
                Some(base_name(&field.ty.node.base))
            }
            _ => None,
        }
    })
}
