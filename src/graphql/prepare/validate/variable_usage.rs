//! Checks that the types of variables allow their usages (GraphQL specification, 5.8.5 All Variable
//! Usages Are Allowed). The rule of `async_graphql` for this never reports an error.

use std::collections::HashMap;

use async_graphql::parser::types::{BaseType, ExecutableDocument, Type, VariableDefinition};
use async_graphql::{Name, Pos, Positioned, ServerError};
use async_graphql_value::{ConstValue, Value};

use super::selection_walk::{SelectionWalk, Visitor};
use crate::graphql::schema::types::{ArgumentTypes, InputPosition, Types};
use crate::limits::ERRORS_MAX;

/// The errors for usages that are not allowed. The document must be valid otherwise, and its size
/// bounded.
pub(crate) fn disallowed(document: &ExecutableDocument, types: &Types) -> Vec<ServerError> {
    let mut errors = Vec::new();
    for (_, operation) in document.operations.iter() {
        let operation = &operation.node;
        let definitions = operation.variable_definitions.iter();
        let usages = Usages {
            types,
            variables: definitions
                .map(|it| (&it.node.name.node, &it.node))
                .collect(),
            errors: &mut errors,
        };
        // Each operation declares its own variables, which also apply in shared fragments.
        SelectionWalk::new(document, types, usages).operation(operation);
    }
    errors
}

/// The usages of the variables of one operation.
struct Usages<'d> {
    types: &'d Types,
    variables: HashMap<&'d Name, &'d VariableDefinition>,
    errors: &'d mut Vec<ServerError>,
}

impl<'d> Visitor<'d> for Usages<'_> {
    fn arguments(
        &mut self,
        given: &'d [(Positioned<Name>, Positioned<Value>)],
        declared: &'d ArgumentTypes,
    ) {
        for (name, value) in given {
            if let Some(position) = declared.get(&name.node) {
                self.value(&value.node, value.pos, position);
            }
        }
    }
}

impl Usages<'_> {
    /// Inside the literal of a scalar, a variable may have any type.
    fn value(&mut self, value: &Value, at: Pos, position: &InputPosition) {
        let expected = &position.ty;
        match (value, &expected.base) {
            (Value::Variable(name), _) => {
                let Some(definition) = self.variables.get(name) else {
                    return;
                };
                if !is_allowed(definition, position) && self.errors.len() < ERRORS_MAX {
                    let found = &definition.var_type.node;
                    let message = format!(
                        "Variable \"${name}\" of type \"{found}\" used in position expecting type \
                         \"{expected}\"."
                    );
                    let mut error = ServerError::new(message, Some(definition.name.pos));
                    error.locations.push(at);
                    self.errors.push(error);
                }
            }
            (Value::List(elements), BaseType::List(element)) => {
                let element = element_position(element);
                for value in elements {
                    self.value(value, at, &element);
                }
            }
            (Value::Object(given), BaseType::Named(object)) => {
                let types = self.types;
                let Some(members) = types.input(object) else {
                    return;
                };
                for (name, value) in given {
                    let Some(member) = members.get(name) else {
                        continue;
                    };
                    self.value(value, at, member);
                    if let Value::Variable(variable) = value
                        && types.is_choice(object)
                    {
                        self.choice(variable, at, object);
                    }
                }
            }
            // A single value is coerced to a list.
            (_, BaseType::List(element)) => self.value(value, at, &element_position(element)),
            _ => {}
        }
    }

    /// A variable that is the only member of an input object cannot be null, not even with a default.
    fn choice(&mut self, variable: &Name, at: Pos, object: &str) {
        let Some(definition) = self.variables.get(variable) else {
            return;
        };
        if definition.var_type.node.nullable && self.errors.len() < ERRORS_MAX {
            let message = format!(
                "Variable \"${variable}\" must be non-nullable to be used for the type \"{object}\", of \
                 which exactly one field is given."
            );
            let mut error = ServerError::new(message, Some(definition.name.pos));
            error.locations.push(at);
            self.errors.push(error);
        }
    }
}

/// The position of an element of a list.
fn element_position(ty: &Type) -> InputPosition {
    InputPosition {
        ty: ty.clone(),
        has_default: false,
    }
}

fn is_allowed(variable: &VariableDefinition, position: &InputPosition) -> bool {
    let (found, expected) = (&variable.var_type.node, &position.ty);
    if expected.nullable || !found.nullable {
        return are_compatible(found, expected);
    }
    let default = variable.default_value.as_ref();
    let never_null = default.is_some_and(|value| value.node != ConstValue::Null);
    (never_null || position.has_default) && are_compatible_bases(&found.base, &expected.base)
}

fn are_compatible(found: &Type, expected: &Type) -> bool {
    (expected.nullable || !found.nullable) && are_compatible_bases(&found.base, &expected.base)
}

fn are_compatible_bases(found: &BaseType, expected: &BaseType) -> bool {
    match (found, expected) {
        (BaseType::Named(found), BaseType::Named(expected)) => found == expected,
        (BaseType::List(found), BaseType::List(expected)) => are_compatible(found, expected),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use async_graphql::parser::parse_query;

    use super::*;
    use crate::graphql::schema::served_schema::types_of;

    /// The types in the examples of the specification.
    const EXAMPLES: &str = "
        type Query { arguments: Arguments }
        input Choice @oneOf { a: Int b: Int }
        type Arguments {
            choiceArgField(choiceArg: Choice): Int
            intArgField(intArg: Int): Int
            booleanArgField(booleanArg: Boolean): Boolean
            nonNullBooleanArgField(nonNullBooleanArg: Boolean!): Boolean!
            booleanListArgField(booleanListArg: [Boolean]!): [Boolean]
            nonNullBooleanListField(nonNullBooleanListArg: [Boolean!]): [Boolean]
            optionalNonNullBooleanArgField(optionalBooleanArg: Boolean! = false): Boolean!
        }
        directive @include(if: Boolean!) on FIELD";

    fn errors(query: &str) -> Vec<String> {
        let document = parse_query(query).expect(query);
        let errors = disallowed(&document, &types_of(EXAMPLES));
        errors.into_iter().map(|error| error.message).collect()
    }

    #[test]
    fn the_examples_of_the_specification() {
        for allowed in [
            "query($booleanArg: Boolean) { arguments { booleanArgField(booleanArg: $booleanArg) } }",
            "query($list: [Boolean!]!) { arguments { nonNullBooleanListField(nonNullBooleanListArg: $list) } }",
            "query($list: [Boolean!]!) { arguments { booleanListArgField(booleanListArg: $list) } }",
            "query($b: Boolean) { arguments { optionalNonNullBooleanArgField(optionalBooleanArg: $b) } }",
            "query($b: Boolean = true) { arguments { nonNullBooleanArgField(nonNullBooleanArg: $b) } }",
            "query($b: Boolean!) { arguments { ...F } } fragment F on Arguments { nonNullBooleanArgField(nonNullBooleanArg: $b) }",
            "query($b: Boolean) { arguments { booleanListArgField(booleanListArg: [$b, true]) } }",
            "query($a: Int!) { arguments { choiceArgField(choiceArg: {a: $a}) } }",
            "query($b: Boolean = false) { arguments @include(if: $b) { intArgField } }",
        ] {
            assert_eq!(errors(allowed), [""; 0], "{allowed}");
        }
        for (refused, found, expected) in [
            (
                "query($b: Int) { arguments { booleanArgField(booleanArg: $b) } }",
                "Int",
                "Boolean",
            ),
            (
                "query($b: [Boolean]) { arguments { booleanArgField(booleanArg: $b) } }",
                "[Boolean]",
                "Boolean",
            ),
            (
                "query($b: Boolean) { arguments { nonNullBooleanArgField(nonNullBooleanArg: $b) } }",
                "Boolean",
                "Boolean!",
            ),
            (
                "query($b: [Boolean]) { arguments { nonNullBooleanListField(nonNullBooleanListArg: $b) } }",
                "[Boolean]",
                "[Boolean!]",
            ),
            (
                "query($b: Boolean = null) { arguments { nonNullBooleanArgField(nonNullBooleanArg: $b) } }",
                "Boolean",
                "Boolean!",
            ),
            (
                "query($b: Int) { arguments { booleanListArgField(booleanListArg: [true, $b]) } }",
                "Int",
                "Boolean",
            ),
            (
                "query($b: Boolean) { ... @include(if: $b) { arguments { intArgField } } }",
                "Boolean",
                "Boolean!",
            ),
            (
                "query($b: Int) { arguments { ...F } } fragment F on Arguments { ...G } fragment G on Arguments { booleanArgField(booleanArg: $b) }",
                "Int",
                "Boolean",
            ),
            (
                "query A { arguments { intArgField } } query B($b: Int!) { ... on Query { arguments { booleanArgField(booleanArg: $b) } } }",
                "Int!",
                "Boolean",
            ),
        ] {
            let expected = format!(
                "Variable \"$b\" of type \"{found}\" used in position expecting type \"{expected}\"."
            );
            assert_eq!(errors(refused), [expected], "{refused}");
        }
    }

    #[test]
    fn the_only_member_of_an_input_object_cannot_be_null() {
        for declared in ["Int", "Int = 1"] {
            let query = format!(
                "query($a: {declared}) {{ arguments {{ choiceArgField(choiceArg: {{a: $a}}) }} }}"
            );
            let found = errors(&query);
            assert!(found[0].contains("must be non-nullable"), "{found:?}");
            assert_eq!(found.len(), 1);
        }
    }

    #[test]
    fn errors_in_a_shared_fragment_are_reported_a_bounded_number_of_times() {
        let operation = |at| format!("query Q{at}($b: Int) {{ arguments {{ ...F }} }} ");
        let operations: Vec<String> = (0..1_000).map(operation).collect();
        let operations = operations.concat();
        let fragment = "fragment F on Arguments { booleanArgField(booleanArg: $b) }";
        assert_eq!(errors(&format!("{operations}{fragment}")).len(), ERRORS_MAX);
    }
}
