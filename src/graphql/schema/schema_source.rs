//! The definitions that a schema is built from. Those of every server are in schema.graphql.

use std::collections::HashSet;
use std::sync::LazyLock;

use async_graphql::indexmap::IndexMap;
use async_graphql::parser::parse_schema;
use async_graphql::parser::types::{
    ConstDirective, FieldDefinition, InputValueDefinition, InterfaceType, ObjectType,
    TypeDefinition, TypeKind, TypeSystemDefinition,
};
use async_graphql::{Name, Pos, Positioned, Value as ConstValue};

use super::scope::SchemaScope;
use super::typed::typed_schema::TypedSchema;
use super::types::base_name;
use crate::error::{Error, Result};

/// The schema of the full scope, in the form in which the library prints a schema.
pub(crate) const SCHEMA_GRAPHQL: &str = include_str!("../../../schema.graphql");

/// What the subgraph adds.
const SUBGRAPH_GRAPHQL: &str = include_str!("subgraph.graphql");

/// The mutations that create or drop indexes or drop collections.
const ADMIN_MUTATIONS: [&str; 5] = [
    "createIndex",
    "dropIndex",
    "dropCollection",
    "setCollectionType",
    "dropCollectionType",
];

/// The queries that the text of a subgraph lacks: those of the federation specification, and those of
/// `Node`. A gateway finds objects with `_entities`, and two subgraphs with a field `node` do not
/// compose.
const NOT_IN_SUBGRAPH: [&str; 4] = ["node", "nodes", "_service", "_entities"];

static FIXED: LazyLock<SchemaSource> = LazyLock::new(|| {
    let parsed = SchemaSource::default().extended(SCHEMA_GRAPHQL);
    parsed.expect("schema.graphql is a schema, which a test checks")
});

/// The type definitions of a schema, by name.
#[derive(Clone, Debug, Default)]
pub struct SchemaSource {
    types: IndexMap<Name, TypeDefinition>,
    /// What the types of collections mean.
    typed: TypedSchema,
}

impl SchemaSource {
    /// The types of schema.graphql that a server of this scope has.
    pub fn of(scope: SchemaScope) -> Self {
        let mut source = FIXED.clone();
        match scope {
            SchemaScope::Full => {}
            SchemaScope::WithoutAdmin => source.remove_fields("Mutation", &ADMIN_MUTATIONS),
            SchemaScope::ReadOnly => _ = source.types.shift_remove("Mutation"),
        }
        source.reachable()
    }

    /// Adds the definitions in a text: types, and extensions of object types by fields and
    /// directives. The definitions of directives and of the root operations are ignored: the library
    /// defines the directives, and the root types are `Query`, `Mutation` and `Subscription`.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: the text is not a schema, defines a type or a field that exists, or extends a
    /// type that does not exist.
    pub fn extended(mut self, text: &str) -> Result<Self> {
        let parsed = parse_schema(text).map_err(|error| Error::bad_input(error.to_string()))?;
        for definition in parsed.definitions {
            if let TypeSystemDefinition::Type(definition) = definition {
                self.add(definition.node)?;
            }
        }
        Ok(self)
    }

    /// Adds the types of collections, and what they mean.
    ///
    /// # Errors
    /// As [`SchemaSource::extended`].
    pub(crate) fn with_types(
        mut self,
        definitions: Vec<TypeDefinition>,
        typed: TypedSchema,
    ) -> Result<Self> {
        for definition in definitions {
            self.add(definition)?;
        }
        self.typed = typed;
        Ok(self)
    }

    /// What the types of collections mean.
    pub(crate) fn typed(&self) -> &TypedSchema {
        &self.typed
    }

    /// The types of the subgraph that has these types.
    ///
    /// # Errors
    /// `BAD_USER_INPUT`: one of the types that the subgraph extends does not exist.
    pub(crate) fn subgraph(&self) -> Result<Self> {
        let mut source = self.clone().extended(SUBGRAPH_GRAPHQL)?;
        for entity in self.typed.entities.keys() {
            if let Some(definition) = source.types.get_mut(entity.as_str()) {
                definition.directives.push(key_directive());
            }
        }
        source.remove_fields("Query", &NOT_IN_SUBGRAPH);
        Ok(source.reachable())
    }

    /// The types, in the order in which they were defined.
    pub(crate) fn types(&self) -> impl Iterator<Item = &TypeDefinition> {
        self.types.values()
    }

    /// Whether there is a type with this name.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.types.contains_key(name)
    }

    fn add(&mut self, definition: TypeDefinition) -> Result<()> {
        let name = definition.name.node.clone();
        match (self.types.get_mut(&name), definition.extend) {
            (None, false) => {
                check_names(&definition)?;
                self.types.insert(name, definition);
                Ok(())
            }
            (Some(existing), true) => {
                extend(existing, definition)?;
                check_names(existing)
            }
            (Some(_), false) => Err(refused(&name, "is defined twice")),
            (None, true) => Err(refused(&name, "is extended and does not exist")),
        }
    }

    fn remove_fields(&mut self, object: &str, removed: &[&str]) {
        if let Some(TypeDefinition {
            kind: TypeKind::Object(object),
            ..
        }) = self.types.get_mut(object)
        {
            let fields = &mut object.fields;
            fields.retain(|field| !removed.contains(&field.node.name.node.as_str()));
        }
    }

    /// Only the types that an operation can reach.
    fn reachable(mut self) -> Self {
        let mut reached = HashSet::new();
        for root in ["Query", "Mutation", "Subscription"] {
            self.reach(root, &mut reached);
        }
        self.types.retain(|name, _| reached.contains(name));
        self
    }

    fn reach(&self, name: &str, reached: &mut HashSet<Name>) {
        let Some((name, definition)) = self.types.get_key_value(name) else {
            return;
        };
        if !reached.insert(name.clone()) {
            return;
        }
        for name in mentioned(definition) {
            self.reach(name, reached);
        }
        if let TypeKind::Interface(_) = definition.kind {
            let objects = self.types.values();
            for object in objects.filter(|object| implements(object, name)) {
                self.reach(&object.name.node, reached);
            }
        }
    }
}

fn refused(name: &str, why: &str) -> Error {
    Error::bad_input(format!("the type {name} {why}"))
}

/// `@key(fields: "key")`
fn key_directive() -> Positioned<ConstDirective> {
    let placed = |name| Positioned::new(Name::new(name), Pos::default());
    let fields = ConstValue::String("key".to_owned());
    let directive = ConstDirective {
        name: placed("key"),
        arguments: vec![(placed("fields"), Positioned::new(fields, Pos::default()))],
    };
    Positioned::new(directive, Pos::default())
}

/// Adds the fields and the directives of an extension to an object type, or the types to a union.
fn extend(existing: &mut TypeDefinition, mut extension: TypeDefinition) -> Result<()> {
    if let (TypeKind::Union(union), TypeKind::Union(more)) =
        (&mut existing.kind, &mut extension.kind)
    {
        union.members.append(&mut more.members);
        return Ok(());
    }
    let name = &extension.name.node;
    let (TypeKind::Object(object), TypeKind::Object(more)) = (&mut existing.kind, extension.kind)
    else {
        return Err(refused(name, "is extended and is not an object type"));
    };
    object.fields.extend(more.fields);
    object.implements.extend(more.implements);
    existing.directives.extend(extension.directives);
    Ok(())
}

/// Rejects a type with two parts of the same name, at which the library would panic.
fn check_names(definition: &TypeDefinition) -> Result<()> {
    let mut parts = HashSet::new();
    let mut twice = parts_of(definition).filter(|part| !parts.insert(part.as_str()));
    match twice.next() {
        Some(part) => {
            let why = format!("has several parts named {part}");
            Err(refused(&definition.name.node, &why))
        }
        None => Ok(()),
    }
}

/// The names of the fields or values of a type, and of the interfaces that it implements.
fn parts_of(definition: &TypeDefinition) -> impl Iterator<Item = &Name> {
    let (implemented, fields, values, inputs) = match &definition.kind {
        TypeKind::Object(ObjectType { implements, fields })
        | TypeKind::Interface(InterfaceType { implements, fields }) => {
            (&implements[..], &fields[..], &[][..], &[][..])
        }
        TypeKind::Enum(values) => (&[][..], &[][..], &values.values[..], &[][..]),
        TypeKind::InputObject(input) => (&[][..], &[][..], &[][..], &input.fields[..]),
        TypeKind::Union(union) => (&union.members[..], &[][..], &[][..], &[][..]),
        TypeKind::Scalar => (&[][..], &[][..], &[][..], &[][..]),
    };
    let implemented = implemented.iter().map(|name| &name.node);
    let fields = fields.iter().map(|field| &field.node.name.node);
    let values = values.iter().map(|value| &value.node.value.node);
    let inputs = inputs.iter().map(|input| &input.node.name.node);
    implemented.chain(fields).chain(values).chain(inputs)
}

fn implements(definition: &TypeDefinition, interface: &Name) -> bool {
    match &definition.kind {
        TypeKind::Object(object) => {
            let mut implemented = object.implements.iter();
            implemented.any(|name| name.node == *interface)
        }
        _ => false,
    }
}

/// The names of the types that a definition mentions.
fn mentioned(definition: &TypeDefinition) -> Vec<&str> {
    match &definition.kind {
        TypeKind::Object(ObjectType { implements, fields })
        | TypeKind::Interface(InterfaceType { implements, fields }) => {
            let implemented = implements.iter().map(|name| name.node.as_str());
            let fields = fields.iter().flat_map(|field| mentioned_by(&field.node));
            implemented.chain(fields).collect()
        }
        TypeKind::Union(union) => {
            let members = union.members.iter();
            members.map(|member| member.node.as_str()).collect()
        }
        TypeKind::InputObject(input) => inputs(input.fields.iter().map(|it| &it.node)).collect(),
        TypeKind::Scalar | TypeKind::Enum(_) => Vec::new(),
    }
}

fn mentioned_by(field: &FieldDefinition) -> impl Iterator<Item = &str> {
    let arguments = inputs(field.arguments.iter().map(|argument| &argument.node));
    std::iter::once(base_name(&field.ty.node.base)).chain(arguments)
}

fn inputs<'d>(
    values: impl Iterator<Item = &'d InputValueDefinition>,
) -> impl Iterator<Item = &'d str> {
    values.map(|value| base_name(&value.ty.node.base))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEOPLE: &str = "
        type Query { person(name: String!): Person }
        type Person implements Named { name: String! friends(like: Like): [Person!]! }
        type Dog implements Named { name: String! }
        type Cat { name: String! }
        interface Named { name: String! }
        input Like { name: String kind: Kind }
        enum Kind { OLD NEW }";

    fn names(source: &SchemaSource) -> Vec<&str> {
        let names = source.types().map(|definition| &*definition.name.node);
        names.collect()
    }

    #[test]
    fn types_that_no_operation_reaches_are_left_out() {
        let source = SchemaSource::default().extended(PEOPLE).expect("a schema");
        let expected = ["Query", "Person", "Dog", "Named", "Like", "Kind"];
        assert_eq!(names(&source.reachable()), expected);
    }

    #[test]
    fn extensions_add_fields_and_directives() {
        let source = SchemaSource::default().extended(PEOPLE).expect("a schema");
        let extension = "extend type Query { cats: [Cat!]! } extend type Cat @shareable";
        let source = source
            .extended(extension)
            .expect("an extension")
            .reachable();
        assert!(source.contains("Cat"));
        assert_eq!(source.types["Cat"].directives.len(), 1);
    }

    #[test]
    fn definitions_that_contradict_others_are_rejected() {
        let source = SchemaSource::default().extended(PEOPLE).expect("a schema");
        for (text, why) in [
            ("type Cat { age: Int }", "the type Cat is defined twice"),
            (
                "extend type Cat { name: String }",
                "the type Cat has several parts named name",
            ),
            (
                "extend type Bird { name: String }",
                "the type Bird is extended and does not exist",
            ),
            (
                "extend enum Kind { RARE }",
                "the type Kind is extended and is not an object type",
            ),
        ] {
            let error = source.clone().extended(text).expect_err(text);
            assert_eq!(error.kind().code(), "BAD_USER_INPUT", "{text}");
            assert!(error.to_string().contains(why), "{text}: {error}");
        }
        assert!(source.extended("type {").is_err());
    }
}
