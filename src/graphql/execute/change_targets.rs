//! Checks that the variables which say what a mutation changes, or reads, have a value.
//!
//! A client that drops a variable (`JSON.stringify` drops `undefined`) would otherwise change more
//! than it means: without its path, `deleteDocument` deletes the whole document. Leaving the argument
//! out of the query has its documented meaning, because that cannot happen by accident at run time.

use async_graphql::Value;
use async_graphql::parser::types::{BaseType, OperationType, Type};
use async_graphql_value::Value as Input;

use super::planned::PlanArguments;
use crate::document::leaf::abridged;
use crate::error::{Error, Result};
use crate::graphql::prepare::plan::{Field, Plan, PlannedMutation};
use crate::graphql::schema::types::{Types, base_name};
use crate::graphql::variables::coerced::Coerced;

/// Checks the variables in the paths, the sets of keys and the filters of a mutation. The default of a
/// variable is a value.
///
/// # Errors
/// `BAD_USER_INPUT`: the named variable is absent or null.
pub(crate) fn check_targets(plan: &Plan, variables: &Coerced, types: &Types) -> Result<()> {
    let targets = Targets { variables, types };
    for field in PlanArguments(variables).included(&plan.root) {
        if let Field::Mutation(planned) = &field.field {
            targets.field(planned)?;
        }
    }
    Ok(())
}

struct Targets<'d> {
    variables: &'d Coerced,
    types: &'d Types,
}

/// A position inside an argument of a field.
#[derive(Clone, Copy)]
struct ArgumentPosition<'d> {
    field: &'d str,
    argument: &'d str,
    /// Whether the position is inside a filter or a set of keys, where an absent value is no test, or names the
    /// document of a place.
    tests: bool,
}

impl Targets<'_> {
    fn field(&self, field: &PlannedMutation) -> Result<()> {
        let root = Types::root(OperationType::Mutation);
        let Some((declared, _)) = self.types.field(root, &field.name) else {
            return Ok(());
        };
        for (argument, value) in &field.arguments {
            if let Some(position) = declared.get(&argument.node) {
                let at = ArgumentPosition {
                    field: &field.name,
                    argument: &argument.node,
                    tests: false,
                };
                self.value(at, &value.node, &position.ty)?;
            }
        }
        Ok(())
    }

    /// The recursion is bounded by the limit on the levels of the document.
    fn value(&self, at: ArgumentPosition<'_>, value: &Input, ty: &Type) -> Result<()> {
        let base = base_name(&ty.base);
        match value {
            Input::Variable(name) if base == PATH || base == KEYS || at.tests => {
                self.check(at, name, base)?;
            }
            Input::List(elements) => {
                let element = match &ty.base {
                    BaseType::List(element) => element,
                    BaseType::Named(_) => ty,
                };
                for value in elements {
                    self.value(at, value, element)?;
                }
            }
            Input::Object(members) => {
                let Some(declared) = self.types.input(base) else {
                    return Ok(());
                };
                let at = ArgumentPosition {
                    tests: base == KEYS || base == FILTER,
                    ..at
                };
                for (name, value) in members {
                    // Without them, the place is in the document that is changed.
                    let names_document = base == PLACE && ["id", "idFrom"].contains(&name.as_str());
                    let at = ArgumentPosition {
                        tests: at.tests || names_document,
                        ..at
                    };
                    if let Some(member) = declared.get(name.as_str()) {
                        self.value(at, value, &member.ty)?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn check(&self, at: ArgumentPosition<'_>, name: &str, base: &str) -> Result<()> {
        let found = match self.variables.values.get(name) {
            // A test with null compares with null.
            Some(Value::Null) if base == JSON => return Ok(()),
            Some(Value::Null) => "null",
            Some(_) => return Ok(()),
            None => "not given",
        };
        let ArgumentPosition {
            field, argument, ..
        } = at;
        Err(Error::bad_input(format!(
            "the variable `${}` in the argument `{argument}` of `{field}` is {found}: in a mutation, \
             variables in paths, places, `keys` and filters must have a value, because without it \
             something else would be changed",
            abridged(name)
        )))
    }
}

const PATH: &str = "Path";
const PLACE: &str = "DocumentPlace";
const KEYS: &str = "DocumentKeyFilter";
const FILTER: &str = "DocumentFilter";
const JSON: &str = "JSON";
