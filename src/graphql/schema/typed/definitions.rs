//! Parts of type definitions, and their descriptions as the library prints them.

use async_graphql::parser::types::{
    BaseType, ConstDirective, EnumType, EnumValueDefinition, FieldDefinition, InputObjectType,
    InputValueDefinition, ObjectType, Type, TypeDefinition, TypeKind, UnionType,
};
use async_graphql::{Name, Pos, Positioned};

/// A part of a definition. It is at no place of a text.
pub(super) fn placed<T>(node: T) -> Positioned<T> {
    Positioned::new(node, Pos::default())
}

/// The bytes of a description that count as one part.
const DESCRIPTION_BYTES_PER_PART: usize = 200;

/// The parts of a definition: the type, its fields, their arguments, the members of an input and the values of an
/// enum. A long description counts as several.
pub(super) fn parts_of(definition: &TypeDefinition) -> usize {
    let members = match &definition.kind {
        TypeKind::Object(object) => parts_of_fields(&object.fields),
        TypeKind::InputObject(input) => {
            input.fields.iter().map(|it| parts_of_input(&it.node)).sum()
        }
        TypeKind::Enum(values) => values.values.len(),
        TypeKind::Scalar | TypeKind::Interface(_) | TypeKind::Union(_) => 0,
    };
    1 + parts_of_text(definition.description.as_ref()) + members
}

/// The parts of these fields.
pub(super) fn parts_of_fields(fields: &[Positioned<FieldDefinition>]) -> usize {
    let parts = fields.iter().map(|field| {
        let arguments = field
            .node
            .arguments
            .iter()
            .map(|argument| parts_of_input(&argument.node));
        1 + parts_of_text(field.node.description.as_ref()) + arguments.sum::<usize>()
    });
    parts.sum()
}

fn parts_of_input(input: &InputValueDefinition) -> usize {
    1 + parts_of_text(input.description.as_ref())
}

fn parts_of_text(description: Option<&Positioned<String>>) -> usize {
    description.map_or(0, |text| text.node.len()) / DESCRIPTION_BYTES_PER_PART
}

fn described(description: &str) -> Option<Positioned<String>> {
    (!description.is_empty()).then(|| placed(description.to_owned()))
}

fn deprecation(deprecated: bool) -> Vec<Positioned<ConstDirective>> {
    let directive = || ConstDirective {
        name: placed(Name::new("deprecated")),
        arguments: Vec::new(),
    };
    deprecated
        .then(|| placed(directive()))
        .into_iter()
        .collect()
}

/// The type with this name.
pub(super) fn named(name: &str, required: bool) -> Type {
    Type {
        base: BaseType::Named(Name::new(name)),
        nullable: !required,
    }
}

/// A list of values of a type.
pub(super) fn list(element: Type, required: bool) -> Type {
    Type {
        base: BaseType::List(Box::new(element)),
        nullable: !required,
    }
}

/// A field with arguments.
pub(super) fn field(
    name: &str,
    arguments: Vec<Positioned<InputValueDefinition>>,
    ty: Type,
    (description, deprecated): (&str, bool),
) -> Positioned<FieldDefinition> {
    placed(FieldDefinition {
        description: described(description),
        name: placed(Name::new(name)),
        arguments,
        ty: placed(ty),
        directives: deprecation(deprecated),
    })
}

/// An argument without a default.
pub(super) fn argument(
    name: &str,
    ty: Type,
    description: &str,
) -> Positioned<InputValueDefinition> {
    placed(InputValueDefinition {
        description: described(description),
        name: placed(Name::new(name)),
        ty: placed(ty),
        default_value: None,
        directives: Vec::new(),
    })
}

fn definition(name: &str, description: &str, kind: TypeKind) -> TypeDefinition {
    TypeDefinition {
        extend: false,
        description: described(description),
        name: placed(Name::new(name)),
        directives: Vec::new(),
        kind,
    }
}

/// An object type.
pub(super) fn object(
    name: &str,
    description: &str,
    fields: Vec<Positioned<FieldDefinition>>,
) -> TypeDefinition {
    let implements = Vec::new();
    let kind = TypeKind::Object(ObjectType { implements, fields });
    definition(name, description, kind)
}

/// Further types of a union.
pub(super) fn union_extension<'v>(
    name: &str,
    members: impl Iterator<Item = &'v str>,
) -> TypeDefinition {
    let members = members.map(|member| placed(Name::new(member))).collect();
    TypeDefinition {
        extend: true,
        ..definition(name, "", TypeKind::Union(UnionType { members }))
    }
}

/// Further fields of an object type.
pub(super) fn extension(name: &str, fields: Vec<Positioned<FieldDefinition>>) -> TypeDefinition {
    TypeDefinition {
        extend: true,
        ..object(name, "", fields)
    }
}

/// An input object type.
pub(super) fn input(
    name: &str,
    description: &str,
    fields: Vec<Positioned<InputValueDefinition>>,
) -> TypeDefinition {
    let kind = TypeKind::InputObject(InputObjectType { fields });
    definition(name, description, kind)
}

/// An enum.
pub(super) fn enumeration<'v>(
    name: &str,
    description: &str,
    values: impl Iterator<Item = &'v str>,
) -> TypeDefinition {
    let values = values
        .map(|value| {
            placed(EnumValueDefinition {
                description: None,
                value: placed(Name::new(value)),
                directives: Vec::new(),
            })
        })
        .collect();
    definition(name, description, TypeKind::Enum(EnumType { values }))
}

/// A scalar.
pub(super) fn scalar(name: &str, description: &str) -> TypeDefinition {
    definition(name, description, TypeKind::Scalar)
}

/// The arguments of a list.
pub(super) fn of_list() -> Vec<Positioned<InputValueDefinition>> {
    let int = || named("Int", false);
    vec![
        argument("first", int(), "At most so many of the first elements."),
        argument("last", int(), "At most so many of the last elements."),
        argument("from", int(), "Only elements from this index."),
        argument("to", int(), "Only elements before this index."),
    ]
}

/// A description that block strings can hold as it is: the library does not escape it.
pub(super) fn printable(text: &str) -> String {
    let text: String = text
        .replace("\r\n", "\n")
        .replace("\"\"\"", "'''")
        .chars()
        .map(shown)
        .collect();
    text.trim().to_owned()
}

/// A character of a GraphQL document (GraphQL specification, 2.1.1); a space for others, and for tabs,
/// which are indentation.
fn shown(character: char) -> char {
    match character {
        '\n' | '\r' => '\n',
        character if character.is_control() => ' ',
        character => character,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_cannot_end_their_string() {
        for (text, expected) in [
            ("a \"\"\" type Query", "a ''' type Query"),
            ("\"\"\"\"\"\"", "''''''"),
            ("a\r\nb\rc\u{0}d\te", "a\nb\nc d e"),
            ("  a\\  ", "a\\"),
        ] {
            assert_eq!(printable(text), expected);
        }
    }
}
