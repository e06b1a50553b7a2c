//! Checks that the variables which say what a mutation changes have a value.
//!
//! A client that drops a variable (`JSON.stringify` drops `undefined`) would otherwise change more
//! than it means: without its path, `deleteDocument` deletes the whole document. Leaving the argument
//! out of the query has its documented meaning, because that cannot happen by accident at run time.

use std::collections::HashSet;

use async_graphql::parser::types::{
    BaseType, Directive, ExecutableDocument, Field, OperationDefinition, OperationType, Selection,
    SelectionSet, Type,
};
use async_graphql::{Name, Positioned, Value, Variables};
use async_graphql_value::Value as Input;

use crate::document::leaf::abridged;
use crate::error::{Error, Result};
use crate::graphql::schema::types::{Types, base_name};
use crate::graphql::variables::coerced::Coerced;

/// Checks the variables in the paths, the sets of keys and the filters of a valid mutation. The
/// default of a variable is a value.
///
/// # Errors
/// `BAD_USER_INPUT`: the named variable is absent or null.
pub(crate) fn check_targets(
    document: &ExecutableDocument,
    operation: &OperationDefinition,
    variables: &Coerced,
    types: &Types,
) -> Result<()> {
    let values = &variables.values;
    let definitions = operation.variable_definitions.iter();
    let declared = definitions.map(|definition| &definition.node.name.node);
    let without: HashSet<&Name> = declared
        .filter(|name| matches!(values.get(*name), None | Some(Value::Null)))
        .collect();
    if without.is_empty() {
        return Ok(());
    }
    let targets = Targets {
        document,
        variables,
        types,
        without,
    };
    targets.selections(&operation.selection_set.node)
}

struct Targets<'d> {
    document: &'d ExecutableDocument,
    variables: &'d Coerced,
    types: &'d Types,
    /// The variables that are absent or null.
    without: HashSet<&'d Name>,
}

/// A position inside an argument of a field.
#[derive(Clone, Copy)]
struct ArgumentPosition<'d> {
    field: &'d Name,
    argument: &'d Name,
    /// Whether the position is inside a filter or a set of keys, where an absent value is no test.
    tests: bool,
}

impl Targets<'_> {
    /// Checks the fields of a mutation. The fields below them only read.
    fn selections(&self, selections: &SelectionSet) -> Result<()> {
        for selection in &selections.items {
            if is_skipped(selection.node.directives(), &self.variables.values) {
                continue;
            }
            match &selection.node {
                Selection::Field(field) => self.field(&field.node)?,
                Selection::InlineFragment(inline) => {
                    self.selections(&inline.node.selection_set.node)?;
                }
                Selection::FragmentSpread(spread) => {
                    let name = &spread.node.fragment_name.node;
                    if let Some(fragment) = self.document.fragments.get(name) {
                        self.selections(&fragment.node.selection_set.node)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn field(&self, field: &Field) -> Result<()> {
        let root = Types::root(OperationType::Mutation);
        let Some((declared, _)) = self.types.field(root, &field.name.node) else {
            return Ok(());
        };
        for (argument, value) in &field.arguments {
            if let Some(position) = declared.get(&argument.node) {
                let at = ArgumentPosition {
                    field: &field.name.node,
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
                let Some(declared) = self.types.inputs().members(base) else {
                    return Ok(());
                };
                let at = ArgumentPosition {
                    tests: base == KEYS || base == FILTER,
                    ..at
                };
                for (name, value) in members {
                    if let Some(member) = declared.get(name.as_str()) {
                        self.value(at, value, &member.ty)?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn check(&self, at: ArgumentPosition<'_>, name: &Name, base: &str) -> Result<()> {
        if !self.without.contains(name) {
            return Ok(());
        }
        let is_null = self.variables.values.contains_key(name);
        // A test with null compares with null.
        if is_null && base == JSON {
            return Ok(());
        }
        let ArgumentPosition {
            field, argument, ..
        } = at;
        let found = if is_null { "null" } else { "not given" };
        Err(Error::bad_input(format!(
            "the variable `${}` in the argument `{argument}` of `{field}` is {found}: in a mutation, \
             variables in paths, `keys` and filters must have a value, because without it more would \
             be changed",
            abridged(name)
        )))
    }
}

/// Whether `@skip` or `@include` excludes a selection.
pub(super) fn is_skipped(directives: &[Positioned<Directive>], variables: &Variables) -> bool {
    directives.iter().any(|directive| {
        let condition = match directive.node.get_argument("if").map(|value| &value.node) {
            Some(Input::Boolean(value)) => *value,
            Some(Input::Variable(name)) => variables.get(name) == Some(&Value::Boolean(true)),
            _ => false,
        };
        match directive.node.name.node.as_str() {
            "skip" => condition,
            "include" => !condition,
            _ => false,
        }
    })
}

const PATH: &str = "Path";
const KEYS: &str = "DocumentKeyFilter";
const FILTER: &str = "DocumentFilter";
const JSON: &str = "JSON";
