//! Which fields, arguments and members of inputs of the schema operations use.

use std::collections::{BTreeMap, BTreeSet};

use async_graphql::Value;
use async_graphql::parser::types::{
    BaseType, DocumentOperations, ExecutableDocument, InputValueDefinition, OperationType,
    Selection, SelectionSet, ServiceDocument, Type, TypeKind, TypeSystemDefinition,
};
use async_graphql::parser::{Positioned, parse_query, parse_schema};

/// The fields, arguments and members of inputs of a schema, such as `Query.node`, `Query.node(id:)`
/// and `DocumentFilter.eq`.
pub(super) type Coordinates = BTreeSet<String>;

/// A field: the name of its type, and the types of its arguments.
struct FieldTypes {
    ty: String,
    arguments: BTreeMap<String, String>,
}

/// The types of a schema.
pub(super) struct Schema {
    fields: BTreeMap<(String, String), FieldTypes>,
    inputs: BTreeMap<(String, String), String>,
}

impl Schema {
    pub(super) fn parse(text: &str) -> Self {
        let document: ServiceDocument = parse_schema(text).expect("the schema is valid");
        let mut schema = Self {
            fields: BTreeMap::new(),
            inputs: BTreeMap::new(),
        };
        for definition in document.definitions {
            let TypeSystemDefinition::Type(ty) = definition else {
                continue;
            };
            let name = ty.node.name.node.to_string();
            match ty.node.kind {
                TypeKind::Object(object) => schema.add_fields(&name, &object.fields),
                TypeKind::Interface(interface) => schema.add_fields(&name, &interface.fields),
                TypeKind::InputObject(input) => {
                    for (member, ty) in types_of(&input.fields) {
                        schema.inputs.insert((name.clone(), member), ty);
                    }
                }
                TypeKind::Scalar | TypeKind::Union(_) | TypeKind::Enum(_) => {}
            }
        }
        schema
    }

    fn add_fields(
        &mut self,
        name: &str,
        fields: &[Positioned<async_graphql::parser::types::FieldDefinition>],
    ) {
        for field in fields {
            let key = (name.to_owned(), field.node.name.node.to_string());
            let types = FieldTypes {
                ty: named(&field.node.ty.node),
                arguments: types_of(&field.node.arguments).collect(),
            };
            self.fields.insert(key, types);
        }
    }

    /// All coordinates.
    pub(super) fn coordinates(&self) -> Coordinates {
        let fields = self.fields.iter().flat_map(|((ty, field), types)| {
            let arguments = types.arguments.keys();
            let arguments = arguments.map(move |name| format!("{ty}.{field}({name}:)"));
            arguments.chain([format!("{ty}.{field}")])
        });
        let inputs = self.inputs.keys();
        let inputs = inputs.map(|(input, member)| format!("{input}.{member}"));
        fields.chain(inputs).collect()
    }

    /// The coordinates that an operation uses. Variables count with their values.
    pub(super) fn used(&self, query: &str, variables: &serde_json::Value) -> Coordinates {
        let document = parse_query(query).unwrap_or_else(|error| panic!("{query:.300}: {error}"));
        let operation = match &document.operations {
            DocumentOperations::Single(operation) => &operation.node,
            DocumentOperations::Multiple(_) => panic!("one operation: {query:.300}"),
        };
        let root = match operation.ty {
            OperationType::Query => "Query",
            OperationType::Mutation => "Mutation",
            OperationType::Subscription => "Subscription",
        };
        let mut use_ = Use {
            schema: self,
            document: &document,
            variables,
            used: Coordinates::new(),
        };
        use_.selection(root, &operation.selection_set.node);
        use_.used
    }
}

fn types_of(
    values: &[Positioned<InputValueDefinition>],
) -> impl Iterator<Item = (String, String)> + '_ {
    let types = |value: &Positioned<InputValueDefinition>| {
        (value.node.name.node.to_string(), named(&value.node.ty.node))
    };
    values.iter().map(types)
}

/// The name of a type, without lists.
fn named(ty: &Type) -> String {
    match &ty.base {
        BaseType::Named(name) => name.to_string(),
        BaseType::List(element) => named(element),
    }
}

struct Use<'u> {
    schema: &'u Schema,
    document: &'u ExecutableDocument,
    variables: &'u serde_json::Value,
    used: Coordinates,
}

impl Use<'_> {
    fn selection(&mut self, ty: &str, selection: &SelectionSet) {
        for selected in &selection.items {
            match &selected.node {
                Selection::Field(field) => {
                    let field = &field.node;
                    let name = field.name.node.to_string();
                    if name == "__typename" {
                        continue;
                    }
                    let key = (ty.to_owned(), name.clone());
                    let types = self.schema.fields.get(&key);
                    let types = types.unwrap_or_else(|| panic!("no field {ty}.{name}"));
                    for (argument, value) in &field.arguments {
                        let argument = argument.node.to_string();
                        self.used.insert(format!("{ty}.{name}({argument}:)"));
                        let value = value.node.clone().into_const_with(|variable| {
                            let value = &self.variables[variable.as_str()];
                            Ok::<_, ()>(Value::from_json(value.clone()).expect("a value"))
                        });
                        let value = value.expect("its variables have values");
                        self.input(&types.arguments[&argument], &value);
                    }
                    self.used.insert(format!("{ty}.{name}"));
                    self.selection(&types.ty, &field.selection_set.node);
                }
                Selection::InlineFragment(fragment) => {
                    let condition = fragment.node.type_condition.as_ref();
                    let ty = condition.map_or(ty, |condition| condition.node.on.node.as_str());
                    self.selection(ty, &fragment.node.selection_set.node);
                }
                Selection::FragmentSpread(spread) => {
                    let document = self.document;
                    let name = &spread.node.fragment_name.node;
                    let fragment = &document.fragments[name].node;
                    let ty = fragment.type_condition.node.on.node.as_str();
                    self.selection(ty, &fragment.selection_set.node);
                }
            }
        }
    }

    fn input(&mut self, ty: &str, value: &Value) {
        match value {
            Value::List(elements) => elements.iter().for_each(|element| self.input(ty, element)),
            Value::Object(members) => {
                for (name, member) in members {
                    let key = (ty.to_owned(), name.to_string());
                    if let Some(below) = self.schema.inputs.get(&key) {
                        self.used.insert(format!("{ty}.{name}"));
                        self.input(below, member);
                    }
                }
            }
            _ => {}
        }
    }
}
