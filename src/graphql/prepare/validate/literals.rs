//! Checks the types of literals (GraphQL specification, 5.6.1 Values of Correct Type), the arguments
//! and selections of `__typename`, and the directives of variables.
//!
//! The rules of `async_graphql` check no value that contains a variable. They accept a string as the
//! value of an enum, any value as an input object, and integers past 32 bits. They also visit
//! neither `__typename` nor the directives of variables.

use async_graphql::parser::types::{BaseType, ExecutableDocument, Field, Type, VariableDefinition};
use async_graphql::{Name, Pos, Positioned, ServerError};
use async_graphql_value::Value;

use super::selection_walk::{SelectionWalk, Visitor};
use crate::document::leaf::abridged;
use crate::graphql::schema::typed::typed_fields::BIG_INTEGER;
use crate::graphql::schema::types::{ArgumentTypes, Types};
use crate::limits::ERRORS_MAX;

/// The errors of the literals, which are at most [`ERRORS_MAX`]. The document must be valid
/// otherwise, and its size bounded. Each fragment is visited once.
pub(crate) fn incorrect_literals(document: &ExecutableDocument, types: &Types) -> Vec<ServerError> {
    let literals = Literals {
        types,
        errors: Vec::new(),
    };
    let mut walk = SelectionWalk::new(document, types, literals);
    for (_, operation) in document.operations.iter() {
        for definition in &operation.node.variable_definitions {
            walk.visitor.definition(&definition.node, definition.pos);
        }
        walk.operation(&operation.node);
    }
    walk.visitor.errors
}

struct Literals<'d> {
    types: &'d Types,
    errors: Vec<ServerError>,
}

impl<'d> Visitor<'d> for Literals<'d> {
    fn arguments(
        &mut self,
        given: &'d [(Positioned<Name>, Positioned<Value>)],
        declared: &'d ArgumentTypes,
    ) {
        for (name, value) in given {
            let Some(position) = declared.get(&name.node) else {
                continue;
            };
            let mut path = vec![name.node.to_string()];
            if let Some(problem) = self.problem(&value.node, &position.ty, &mut path) {
                let path = path.join(".");
                let message = format!("Invalid value for argument \"{path}\", {problem}");
                self.report(message, name.pos);
            }
        }
    }

    fn undeclared(&mut self, field: &'d Field, of: &'d str) {
        if field.name.node == "__typename" {
            self.typename(field, of);
        }
    }
}

impl Literals<'_> {
    fn report(&mut self, message: String, pos: Pos) {
        if self.errors.len() < ERRORS_MAX {
            self.errors.push(ServerError::new(message, Some(pos)));
        }
    }

    fn typename(&mut self, field: &Field, of: &str) {
        for (name, _) in &field.arguments {
            let message = format!(
                "Unknown argument \"{}\" on field \"__typename\" of type \"{of}\".",
                name.node
            );
            self.report(message, name.pos);
        }
        if !field.selection_set.node.items.is_empty() {
            let message = "Field \"__typename\" must not have a selection since type \"String\" has \
                           no subfields";
            self.report(message.to_owned(), field.name.pos);
        }
    }

    fn definition(&mut self, definition: &VariableDefinition, pos: Pos) {
        for directive in &definition.directives {
            let name = &directive.node.name.node;
            let message = match self.types.directive(name) {
                Some(_) => {
                    format!("Directive \"{name}\" may not be used on \"VARIABLE_DEFINITION\"")
                }
                None => format!("Unknown directive \"{name}\""),
            };
            self.report(message, directive.pos);
        }
        if let Some(value) = &definition.default_value {
            let value = value.node.clone().into_value();
            let mut path = vec![definition.name.node.to_string()];
            if let Some(problem) = self.problem(&value, &definition.var_type.node, &mut path) {
                let message = format!(
                    "Invalid default value for argument: \"{}\", {problem}",
                    path.join(".")
                );
                self.report(message, pos);
            }
        }
    }

    /// The problem of a value, at `path`; none if it has the type. The recursion is bounded by the
    /// limit on nested brackets.
    fn problem(&self, value: &Value, ty: &Type, path: &mut Vec<String>) -> Option<String> {
        let expected = || Some(format!("expected type \"{}\"", ty.base));
        match (value, &ty.base) {
            (Value::Variable(_), _) => None,
            (Value::Null, _) => (!ty.nullable).then(expected).flatten(),
            (Value::List(elements), BaseType::List(element)) => {
                elements.iter().enumerate().find_map(|(at, value)| {
                    path.push(at.to_string());
                    let problem = self.problem(value, element, path);
                    if problem.is_none() {
                        path.pop();
                    }
                    problem
                })
            }
            // A single value is coerced to a list.
            (_, BaseType::List(element)) => self.problem(value, element, path),
            (_, BaseType::Named(name)) => {
                if let Some(values) = self.types.enum_values(name) {
                    return match value {
                        Value::Enum(value) if values.contains(value) => None,
                        Value::Enum(value) => Some(format!(
                            "enumeration type \"{name}\" does not contain the value \"{}\"",
                            abridged(value)
                        )),
                        _ => expected(),
                    };
                }
                if self.types.input(name).is_some() {
                    return match value {
                        Value::Object(given) => self.members(given, name, path),
                        _ => expected(),
                    };
                }
                (!is_scalar(value, name)).then(expected).flatten()
            }
        }
    }

    fn members(
        &self,
        given: &async_graphql::indexmap::IndexMap<Name, Value>,
        object: &str,
        path: &mut Vec<String>,
    ) -> Option<String> {
        let declared = self.types.input(object)?;
        for (name, value) in given {
            let Some(member) = declared.get(name.as_str()) else {
                let name = abridged(name);
                return Some(format!("unknown field \"{name}\" of type \"{object}\""));
            };
            path.push(name.to_string());
            if let Some(problem) = self.problem(value, &member.ty, path) {
                return Some(problem);
            }
            path.pop();
        }
        if self.types.is_choice(object)
            && !matches!(given.values().collect::<Vec<_>>()[..], [only] if *only != Value::Null)
        {
            return Some(format!(
                "exactly one field of the type \"{object}\" is required, and it is not null"
            ));
        }
        let mut missing = declared
            .iter()
            .filter(|(name, member)| !member.is_optional() && !given.contains_key(name.as_str()));
        let (name, member) = missing.next()?;
        Some(format!(
            "field \"{name}\" of type \"{}\" is required but not provided",
            member.ty
        ))
    }
}

/// Whether a literal is one of the scalar with this name. The scalars of this schema accept every
/// literal here, and check it when it is coerced.
fn is_scalar(value: &Value, name: &str) -> bool {
    match (name, value) {
        ("Int", Value::Number(number)) => {
            let integer = number.as_i64();
            integer.is_some_and(|integer| i32::try_from(integer).is_ok())
        }
        (BIG_INTEGER, Value::Number(number)) => !number.to_string().contains(['.', 'e', 'E']),
        // The key of a document is an integer of 64 bits or a string.
        ("ID", Value::Number(number)) => number.is_i64(),
        ("Float", Value::Number(_))
        | ("String" | "ID", Value::String(_))
        | ("Boolean", Value::Boolean(_)) => true,
        _ => !matches!(
            name,
            "Int" | "Float" | "String" | "Boolean" | "ID" | BIG_INTEGER
        ),
    }
}
