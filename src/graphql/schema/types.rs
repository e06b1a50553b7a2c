//! The types of a schema, in a form in which validation looks them up. They are made from the registry
//! of the library, which has types as texts.

use std::collections::{HashMap, HashSet};

use async_graphql::Name;
use async_graphql::indexmap::{IndexMap, IndexSet};
use async_graphql::parser::types::{BaseType, OperationType, Type};
use async_graphql::registry::{MetaField, MetaInputValue, MetaType, Registry};

use super::entities::ENTITIES;
use super::typed::typed_fields::TypedField;
use super::typed::typed_schema::TypedSchema;

/// The cost of one `_entities` field, in fields. Each has its own copy of the representations.
const ENTITIES_FIELDS: usize = 1_000;

/// A position for an input value: its type, and whether it has a default.
#[derive(Clone, Debug)]
pub(crate) struct InputPosition {
    pub(crate) ty: Type,
    pub(crate) has_default: bool,
}

impl InputPosition {
    fn of(declared: &MetaInputValue) -> Self {
        Self {
            ty: parsed(&declared.ty),
            has_default: declared.default_value.is_some(),
        }
    }

    /// Whether the value may be omitted.
    pub(crate) fn is_optional(&self) -> bool {
        self.ty.nullable || self.has_default
    }
}

/// The arguments of a field or a directive, or the members of an input object, by name.
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
    /// The members of each input object.
    inputs: HashMap<String, ArgumentTypes>,
    /// The input objects of which exactly one member is given.
    choices: HashSet<String>,
    /// The values of each enum.
    enums: HashMap<String, HashSet<Name>>,
    /// The object types.
    objects: HashSet<String>,
    /// The object types of each interface and union.
    abstracts: HashMap<String, HashSet<String>>,
    names: HashSet<String>,
    /// The maximum number of elements of each introspection list, and the cost of `_entities`.
    lists: HashMap<&'static str, usize>,
    /// The elements of the lists of all types.
    all: TypeLists,
    /// The most elements of each list that one type has.
    most: TypeLists,
    /// The arguments of all directives.
    directive_arguments: usize,
    /// What the types of collections mean.
    typed: TypedSchema,
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
    /// `interfaces`
    pub(crate) interfaces: usize,
    /// `possibleTypes`
    pub(crate) possible_types: usize,
}

impl TypeLists {
    /// Applies a function to each pair of members.
    fn zip(self, other: Self, function: impl Fn(usize, usize) -> usize) -> Self {
        Self {
            fields: function(self.fields, other.fields),
            arguments: function(self.arguments, other.arguments),
            input_fields: function(self.input_fields, other.input_fields),
            enum_values: function(self.enum_values, other.enum_values),
            interfaces: function(self.interfaces, other.interfaces),
            possible_types: function(self.possible_types, other.possible_types),
        }
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        self.zip(other, usize::saturating_add)
    }

    /// The sum of the products of the members.
    pub(crate) fn times(self, other: Self) -> usize {
        let products = self.zip(other, usize::saturating_mul);
        let sum = products
            .fields
            .saturating_add(products.arguments)
            .saturating_add(products.input_fields)
            .saturating_add(products.enum_values)
            .saturating_add(products.interfaces);
        sum.saturating_add(products.possible_types)
    }
}

impl Types {
    /// The types of the schema with this registry. `typed` is what the types of collections mean.
    pub(crate) fn of(registry: &Registry, typed: &TypedSchema) -> Self {
        let mut types = Self {
            fields: HashMap::new(),
            directives: HashMap::new(),
            inputs: HashMap::new(),
            choices: HashSet::new(),
            enums: HashMap::new(),
            objects: HashSet::new(),
            abstracts: HashMap::new(),
            names: registry.types.keys().cloned().collect(),
            lists: HashMap::from([(ENTITIES, ENTITIES_FIELDS)]),
            all: TypeLists::default(),
            most: TypeLists::default(),
            directive_arguments: 0,
            typed: typed.clone(),
        };
        for ty in registry.types.values() {
            let interfaces = registry.implements.get(ty.name());
            types.add_type(ty, interfaces.map_or(0, IndexSet::len));
        }
        for directive in registry.directives.values() {
            let arguments = arguments(&directive.args);
            types.directive_arguments += arguments.len();
            types
                .directives
                .insert(Name::new(&directive.name), arguments);
        }
        types.hold("types", registry.types.len());
        types.hold("directives", registry.directives.len());
        types
    }

    /// The members of the input object with this name; none if there is no such input object.
    pub(crate) fn input(&self, name: &str) -> Option<&ArgumentTypes> {
        self.inputs.get(name)
    }

    /// Whether exactly one member of the input object with this name is given, and is not null (`@oneOf`).
    pub(crate) fn is_choice(&self, name: &str) -> bool {
        self.choices.contains(name)
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

    /// The collections whose types the schema has.
    pub(crate) fn collections(&self) -> impl Iterator<Item = &str> {
        self.typed.fields.collections()
    }

    /// What a field of a type of a collection reads; none for other fields.
    pub(crate) fn typed(&self, of: &str, field: &str) -> Option<&TypedField> {
        self.typed.fields.get(of, field)
    }

    /// What the types of collections mean.
    pub(crate) fn typed_schema(&self) -> &TypedSchema {
        &self.typed
    }

    /// The values of an enum; none if there is no enum with this name.
    pub(crate) fn enum_values(&self, name: &str) -> Option<&HashSet<Name>> {
        self.enums.get(name)
    }

    /// Whether this is an interface or a union.
    pub(crate) fn is_abstract(&self, name: &str) -> bool {
        self.abstracts.contains_key(name)
    }

    /// Whether a fragment on the type `condition` applies to objects of the type `object`.
    pub(crate) fn applies(&self, condition: &str, object: &str) -> bool {
        let objects = self.abstracts.get(condition);
        condition == object || objects.is_some_and(|objects| objects.contains(object))
    }

    /// Whether a field of this type has selections.
    pub(crate) fn is_composite(&self, name: &str) -> bool {
        self.objects.contains(name) || self.is_abstract(name)
    }

    /// Whether `of` is a type that has no field with this name.
    pub(crate) fn lacks(&self, of: &str, name: &Name) -> bool {
        let fields = self.fields.get(of);
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

    fn add_type(&mut self, ty: &MetaType, interfaces: usize) {
        let name = ty.name().to_owned();
        let mut lists = TypeLists {
            interfaces,
            ..TypeLists::default()
        };
        match ty {
            MetaType::Object { .. } => _ = self.objects.insert(name.clone()),
            MetaType::Interface { possible_types, .. } | MetaType::Union { possible_types, .. } => {
                let objects = possible_types.iter().cloned().collect();
                self.abstracts.insert(name.clone(), objects);
                lists.possible_types = possible_types.len();
            }
            MetaType::Enum { enum_values, .. } => {
                lists.enum_values = enum_values.len();
                let values = enum_values.keys().map(Name::new).collect();
                self.enums.insert(name.clone(), values);
            }
            MetaType::InputObject {
                input_fields,
                oneof,
                ..
            } => {
                lists.input_fields = input_fields.len();
                if *oneof {
                    self.choices.insert(name.clone());
                }
                self.inputs.insert(name.clone(), arguments(input_fields));
            }
            MetaType::Scalar { .. } => {}
        }
        if let Some(fields) = ty.fields() {
            let fields: HashMap<Name, FieldType> = fields
                .iter()
                .map(|(name, field)| (Name::new(name), FieldType::of(field)))
                .collect();
            lists.fields = fields.len();
            lists.arguments = fields.values().map(|field| field.arguments.len()).sum();
            self.fields.insert(name, fields);
        }
        self.all = self.all.plus(lists);
        self.most = self.most.zip(lists, usize::max);
    }

    fn hold(&mut self, list: &'static str, elements: usize) {
        let held = self.lists.entry(list).or_insert(1);
        *held = elements.max(*held);
    }
}

impl FieldType {
    fn of(field: &MetaField) -> Self {
        let ty = parsed(&field.ty);
        Self {
            of: base_name(&ty.base).to_owned(),
            ty,
            arguments: arguments(&field.args),
        }
    }
}

fn arguments(declared: &IndexMap<String, MetaInputValue>) -> ArgumentTypes {
    let declared = declared.values();
    declared
        .map(|declared| (Name::new(&declared.name), InputPosition::of(declared)))
        .collect()
}

/// The type in a text of the registry.
fn parsed(ty: &str) -> Type {
    Type::new(ty).expect("the library prints types in their notation")
}

/// The name of a type without the lists around it.
pub(crate) fn base_name(ty: &BaseType) -> &str {
    match ty {
        BaseType::Named(name) => name,
        BaseType::List(element) => base_name(&element.base),
    }
}
