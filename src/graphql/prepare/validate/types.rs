//! The types of the schema, parsed from its text, because the registry of `async_graphql` is
//! private.

use std::collections::{HashMap, HashSet};

use async_graphql::Name;
use async_graphql::parser::parse_schema;
use async_graphql::parser::types::{
    BaseType, FieldDefinition, InputValueDefinition, InterfaceType, ObjectType, OperationType,
    ServiceDocument, Type, TypeDefinition, TypeKind, TypeSystemDefinition,
};

use super::inputs::Inputs;
use crate::graphql::schema::entities::ENTITIES;

/// The introspection types (GraphQL specification, 4.2): the fields that have arguments or return
/// other types.
const INTROSPECTION: &str = "
type __Schema { types: [__Type!]! queryType: __Type! mutationType: __Type subscriptionType: __Type
    directives: [__Directive!]! }
type __Type { fields(includeDeprecated: Boolean! = false): [__Field!] interfaces: [__Type!]
    possibleTypes: [__Type!] enumValues(includeDeprecated: Boolean! = false): [__EnumValue!]
    inputFields(includeDeprecated: Boolean! = false): [__InputValue!] ofType: __Type }
type __Field { args(includeDeprecated: Boolean! = false): [__InputValue!]! type: __Type! }
type __InputValue { type: __Type! }
type __EnumValue { name: String! }
type __Directive { args(includeDeprecated: Boolean! = false): [__InputValue!]! }";

/// The cost of one `_entities` field, in fields. Each has its own copy of the representations.
const ENTITIES_FIELDS: usize = 1_000;

/// A position for an input value: its type, and whether it has a default.
#[derive(Clone, Debug)]
pub(crate) struct InputPosition {
    pub(crate) ty: Type,
    pub(crate) has_default: bool,
}

/// The arguments of a field or a directive, by name.
pub(crate) type ArgumentTypes = HashMap<Name, InputPosition>;

struct FieldType {
    ty: Type,
    /// The name of the field's type, without lists.
    of: String,
    arguments: ArgumentTypes,
}

/// The types of a schema.
pub(crate) struct Types {
    fields: HashMap<String, HashMap<Name, FieldType>>,
    directives: HashMap<Name, ArgumentTypes>,
    inputs: Inputs,
    /// The values of each enum.
    enums: HashMap<String, HashSet<Name>>,
    /// The object types.
    objects: HashSet<String>,
    /// The interfaces and unions.
    abstracts: HashSet<String>,
    names: HashSet<String>,
    /// The maximum number of elements of each introspection list, and the cost of `_entities`.
    lists: HashMap<&'static str, usize>,
    /// The elements of the lists of all types.
    all: TypeLists,
    /// The most elements of each list that one type has.
    most: TypeLists,
    /// The arguments of all directives.
    directive_arguments: usize,
}

/// The numbers of elements of the introspection lists of a type, or for each of them something else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TypeLists {
    /// `fields`
    pub(crate) fields: usize,
    /// `args` of all `fields`
    pub(crate) arguments: usize,
    /// `inputFields`
    pub(crate) input_fields: usize,
    /// `enumValues`
    pub(crate) enum_values: usize,
}

impl TypeLists {
    /// Applies a function to each pair of members.
    fn zip(self, other: Self, function: impl Fn(usize, usize) -> usize) -> Self {
        Self {
            fields: function(self.fields, other.fields),
            arguments: function(self.arguments, other.arguments),
            input_fields: function(self.input_fields, other.input_fields),
            enum_values: function(self.enum_values, other.enum_values),
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        self.zip(other, usize::saturating_add)
    }

    /// The sum of the products of the members.
    pub(crate) fn times(self, other: Self) -> usize {
        let products = self.zip(other, usize::saturating_mul);
        let sum = products.fields.saturating_add(products.arguments);
        let sum = sum.saturating_add(products.input_fields);
        sum.saturating_add(products.enum_values)
    }
}

impl Types {
    /// The types of the schema with this text.
    pub(crate) fn of(sdl: &str) -> Self {
        let mut types = Self {
            fields: HashMap::new(),
            directives: HashMap::new(),
            inputs: Inputs::default(),
            enums: HashMap::new(),
            objects: HashSet::new(),
            abstracts: HashSet::new(),
            names: HashSet::new(),
            lists: HashMap::from([(ENTITIES, ENTITIES_FIELDS)]),
            all: TypeLists::default(),
            most: TypeLists::default(),
            directive_arguments: 0,
        };
        let built_in = ["Boolean", "Float", "ID", "Int", "String"];
        types.names.extend(built_in.map(str::to_owned));
        types.add(sdl);
        types.inputs = Inputs::of(&parsed(sdl));
        types.add(INTROSPECTION);
        types.hold("types", types.names.len());
        types.hold("directives", types.directives.len());
        // The text of the schema does not contain these fields.
        let reflection = "type Query { __schema: __Schema! __type(name: String!): __Type }";
        types.add(reflection);
        types
    }

    /// The input objects of the schema.
    pub(crate) fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// Whether the schema has a type with this name.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// The name of the root type of an operation.
    pub(crate) fn root(ty: OperationType) -> &'static str {
        match ty {
            OperationType::Query => "Query",
            OperationType::Mutation => "Mutation",
            OperationType::Subscription => "Subscription",
        }
    }

    /// The arguments of a field, and the name of its type without lists.
    pub(crate) fn field(&self, of: &str, name: &Name) -> Option<(&ArgumentTypes, &str)> {
        let field = self.fields.get(of)?.get(name)?;
        Some((&field.arguments, &field.of))
    }

    /// The type of a field; none if the type `of` has no such field.
    pub(crate) fn field_type(&self, of: &str, name: &Name) -> Option<&Type> {
        let field = self.fields.get(of)?.get(name)?;
        Some(&field.ty)
    }

    /// The values of an enum; none if there is no enum with this name.
    pub(crate) fn enum_values(&self, name: &str) -> Option<&HashSet<Name>> {
        self.enums.get(name)
    }

    /// Whether this is an interface or a union.
    pub(crate) fn is_abstract(&self, name: &str) -> bool {
        self.abstracts.contains(name)
    }

    /// Whether a field of this type has selections.
    pub(crate) fn is_composite(&self, name: &str) -> bool {
        self.objects.contains(name) || self.is_abstract(name)
    }

    /// Whether `of` is a type other than an introspection type and has no field with this name.
    pub(crate) fn lacks(&self, of: &str, name: &Name) -> bool {
        let fields = self.fields.get(of).filter(|_| !of.starts_with("__"));
        fields.is_some_and(|fields| name != "__typename" && !fields.contains_key(name))
    }

    /// The arguments of a directive.
    pub(crate) fn directive(&self, name: &Name) -> Option<&ArgumentTypes> {
        self.directives.get(name)
    }

    /// The maximum number of elements of the introspection list with this name, or the cost of
    /// `_entities`; 1 for any other field. No other type has a field with such a name.
    pub(crate) fn held_by(&self, field: &str) -> usize {
        self.lists.get(field).copied().unwrap_or(1)
    }

    /// The elements of the introspection lists of all types.
    pub(crate) fn of_all(&self) -> TypeLists {
        self.all
    }

    /// The most elements of each introspection list that one type has.
    pub(crate) fn of_one(&self) -> TypeLists {
        self.most
    }

    /// The arguments of all directives.
    pub(crate) fn directive_arguments(&self) -> usize {
        self.directive_arguments
    }

    fn add(&mut self, sdl: &str) {
        for definition in parsed(sdl).definitions {
            match definition {
                TypeSystemDefinition::Type(ty) => self.add_type(ty.node),
                TypeSystemDefinition::Directive(directive) => {
                    let arguments = arguments(directive.node.arguments.iter().map(|it| &it.node));
                    self.directive_arguments += arguments.len();
                    self.directives.insert(directive.node.name.node, arguments);
                }
                TypeSystemDefinition::Schema(_) => {}
            }
        }
    }

    fn add_type(&mut self, ty: TypeDefinition) {
        let name = ty.name.node.to_string();
        self.names.insert(name.clone());
        let mut lists = TypeLists::default();
        match &ty.kind {
            TypeKind::Object(_) => _ = self.objects.insert(name.clone()),
            TypeKind::Interface(_) | TypeKind::Union(_) => _ = self.abstracts.insert(name.clone()),
            TypeKind::Enum(values) => {
                let values = values.values.iter();
                let values = values.map(|value| value.node.value.node.clone());
                self.enums.insert(name.clone(), values.collect());
            }
            TypeKind::Scalar | TypeKind::InputObject(_) => {}
        }
        match ty.kind {
            TypeKind::Object(ObjectType { fields, .. })
            | TypeKind::Interface(InterfaceType { fields, .. }) => {
                lists.fields = fields.len();
                for field in fields {
                    lists.arguments += self.add_field(&name, &field.node);
                }
            }
            TypeKind::Enum(values) => lists.enum_values = values.values.len(),
            TypeKind::InputObject(object) => lists.input_fields = object.fields.len(),
            TypeKind::Union(union) => self.hold("possibleTypes", union.members.len()),
            TypeKind::Scalar => {}
        }
        self.all = self.all.plus(lists);
        self.most = self.most.zip(lists, usize::max);
    }

    /// Returns the number of arguments.
    fn add_field(&mut self, of: &str, field: &FieldDefinition) -> usize {
        let arguments = arguments(field.arguments.iter().map(|it| &it.node));
        let count = arguments.len();
        let found = FieldType {
            of: base_name(&field.ty.node.base).to_owned(),
            ty: field.ty.node.clone(),
            arguments,
        };
        let fields = self.fields.entry(of.to_owned()).or_default();
        fields.insert(field.name.node.clone(), found);
        count
    }

    fn hold(&mut self, list: &'static str, elements: usize) {
        let held = self.lists.entry(list).or_insert(1);
        *held = elements.max(*held);
    }
}

fn parsed(sdl: &str) -> ServiceDocument {
    parse_schema(sdl).expect("the text that the schema prints is GraphQL")
}

fn arguments<'a>(definitions: impl Iterator<Item = &'a InputValueDefinition>) -> ArgumentTypes {
    let argument = |definition: &InputValueDefinition| {
        let position = InputPosition {
            ty: definition.ty.node.clone(),
            has_default: definition.default_value.is_some(),
        };
        (definition.name.node.clone(), position)
    };
    definitions.map(argument).collect()
}

/// The name of a type without the lists around it.
pub(crate) fn base_name(ty: &BaseType) -> &str {
    match ty {
        BaseType::Named(name) => name,
        BaseType::List(element) => base_name(&element.base),
    }
}
