//! The fields that follow references, from the document with a key to the document that has it.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use async_graphql::parser::types::{BaseType, FieldDefinition, Type, TypeDefinition, TypeKind};
use async_graphql::{Name, Positioned};

use super::definitions::{field, list, named, of_list, printable};
use super::typed_fields::{
    LeafType, ReferenceOf, TypedField, TypedPlace, TypedReference, TypedValue,
};
use crate::document::path::Path;
use crate::limits::FOLLOWED_DOCUMENTS_MAX;
use crate::types::{CollectionType, Reference, ShapeId};

/// The type of documents without a type.
const UNTYPED: &str = "Document";

/// The reference of the values of a shape, and whether it is that of the elements of a list.
fn reference_of(of: &CollectionType, shape: ShapeId) -> Option<(&Reference, bool)> {
    let shape = of.shape(shape);
    if let Some(reference) = &shape.reference {
        return Some((reference, false));
    }
    let items = of.shape(shape.constraints.array.items?);
    items
        .reference
        .as_deref()
        .map(|reference| (reference, true))
}

/// A field, and what it reads.
pub(super) type ReadField = (Positioned<FieldDefinition>, TypedField);

/// The fields that follow the reference of a member at a path. Their types are set later, by
/// [`find_referenced_types`]. `is_of_document` says that the path begins at the root of a document.
///
/// # Errors
/// Why the reference cannot have its chain.
pub(super) fn reference_fields(
    of: &CollectionType,
    (shape, member, path): (ShapeId, &str, &Path),
    is_of_document: bool,
) -> Result<Vec<ReadField>, &'static str> {
    let Some((reference, is_list)) = reference_of(of, shape) else {
        return Ok(Vec::new());
    };
    let made = |name: &str, (ty, about): (Type, String), leads: ReferenceOf| {
        let arguments = match leads {
            ReferenceOf::List(_) => of_list(),
            ReferenceOf::One | ReferenceOf::Chain => Vec::new(),
        };
        let annotations = (&*printable(&about), of.shape(shape).deprecated);
        let read = TypedReference {
            path: path.clone(),
            collection: reference.collection.as_str().into(),
            typed: false,
            of: leads,
        };
        let read = TypedField::Reference(Arc::new(read));
        (field(name, arguments, ty, annotations), read)
    };
    let collection = &reference.collection;
    let mut fields = vec![if is_list {
        let about = format!(
            "The documents of the collection `{collection}` whose keys are in `{member}`, in that order; null \
             for each that does not exist."
        );
        let ty = list(named(UNTYPED, false), false);
        made(&reference.field, (ty, about), ReferenceOf::List(keys()))
    } else {
        let about = format!(
            "The document of the collection `{collection}` whose key is in `{member}`; null if it does not exist."
        );
        let ty = named(UNTYPED, false);
        made(&reference.field, (ty, about), ReferenceOf::One)
    }];
    if let Some(chain) = &reference.chain {
        if is_list || !is_of_document {
            return Err("only a property of the document itself that is one key has a `chain`");
        }
        let about = format!(
            "The document whose key is in `{member}`, then the one whose key is in `{member}` there, and so on: at \
             most {FOLLOWED_DOCUMENTS_MAX}, and each once."
        );
        let ty = list(named(UNTYPED, true), true);
        fields.push(made(chain, (ty, about), ReferenceOf::Chain));
    }
    Ok(fields)
}

/// The place of a list of keys.
fn keys() -> Arc<TypedPlace> {
    let key = TypedPlace {
        value: TypedValue::Leaf(LeafType::Json),
        required: false,
        nullable: true,
    };
    Arc::new(TypedPlace {
        value: TypedValue::List(Arc::new(key)),
        required: false,
        nullable: true,
    })
}

/// Gives fields that follow references the types of the collections that have one. `types` are the types of
/// documents with their collections. Removes the fields that lead to `hidden` collections.
pub(super) fn find_referenced_types(
    definitions: &mut [TypeDefinition],
    fields: &mut HashMap<String, HashMap<String, TypedField>>,
    types: &BTreeMap<String, Arc<str>>,
    hidden: &HashSet<String>,
) {
    let types: HashMap<&str, &String> = types
        .iter()
        .map(|(ty, collection)| (&**collection, ty))
        .collect();
    for definition in definitions {
        let reads = fields.get_mut(definition.name.node.as_str());
        let (TypeKind::Object(object), Some(reads)) = (&mut definition.kind, reads) else {
            continue;
        };
        object.fields.retain_mut(|field| {
            let field = &mut field.node;
            let read = reads.get_mut(field.name.node.as_str());
            let Some(TypedField::Reference(reference)) = read else {
                return true;
            };
            if hidden.contains(&*reference.collection) {
                return false;
            }
            if let Some(ty) = types.get(&*reference.collection) {
                rename(&mut field.ty.node.base, ty);
                Arc::make_mut(reference).typed = true;
            }
            true
        });
    }
}

/// Sets the name of a type inside lists.
fn rename(base: &mut BaseType, name: &str) {
    match base {
        BaseType::Named(named) => *named = Name::new(name),
        BaseType::List(element) => rename(&mut element.base, name),
    }
}
