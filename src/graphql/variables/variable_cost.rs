//! Limits the bytes of variables in arguments. Each use copies the variable, so each use counts.

use std::collections::HashMap;

use async_graphql::parser::types::{
    Directive, ExecutableDocument, Field, OperationDefinition, Selection, SelectionSet,
};
use async_graphql::{Name, Positioned};
use async_graphql_value::Value as Input;

use super::coerced::Coerced;
use crate::error::{Error, Limit, Result};
use crate::limits::Bounds;

/// Checks the bytes of all uses of variables in a valid operation, with fragments expanded.
///
/// # Errors
/// `TOO_LARGE`: the named limit is exceeded.
pub(crate) fn check_uses(
    document: &ExecutableDocument,
    operation: &OperationDefinition,
    variables: &Coerced,
    bounds: &Bounds,
) -> Result<()> {
    let limit = bounds.argument_bytes;
    let sizes = variables.sizes();
    // A query has at most `query_values` values, so small variables cannot exceed the limit.
    let all: usize = sizes.values().sum();
    if all.saturating_mul(bounds.query_values) <= limit {
        return Ok(());
    }
    let mut uses = Uses {
        document,
        sizes,
        fragments: HashMap::new(),
    };
    if uses.selections(&operation.selection_set.node) <= limit {
        return Ok(());
    }
    Err(Error::too_large(
        Limit::new("argumentBytes", limit),
        format!(
            "more than {limit} bytes of variables in the arguments of the query, which is the \
             limit; a variable counts each time it is used"
        ),
    ))
}

struct Uses<'d> {
    document: &'d ExecutableDocument,
    sizes: HashMap<&'d Name, usize>,
    fragments: HashMap<&'d Name, usize>,
}

impl<'d> Uses<'d> {
    /// The recursion is bounded by the limit on the levels of the document.
    fn selections(&mut self, selections: &'d SelectionSet) -> usize {
        let mut sum = 0_usize;
        for selection in &selections.items {
            let below = match &selection.node {
                Selection::Field(field) => self.field(&field.node),
                Selection::InlineFragment(inline) => {
                    self.selections(&inline.node.selection_set.node)
                }
                Selection::FragmentSpread(spread) => self.fragment(&spread.node.fragment_name.node),
            };
            sum = sum
                .saturating_add(below)
                .saturating_add(self.directives(selection.node.directives()));
        }
        sum
    }

    fn field(&mut self, field: &'d Field) -> usize {
        let below = self.selections(&field.selection_set.node);
        below.saturating_add(self.arguments(&field.arguments))
    }

    fn fragment(&mut self, name: &'d Name) -> usize {
        if let Some(size) = self.fragments.get(name) {
            return *size;
        }
        let Some(fragment) = self.document.fragments.get(name) else {
            return 0;
        };
        let size = self.selections(&fragment.node.selection_set.node);
        self.fragments.insert(name, size);
        size
    }

    fn directives(&self, directives: &[Positioned<Directive>]) -> usize {
        let arguments = directives.iter().map(|it| &it.node.arguments);
        let sizes = arguments.map(|arguments| self.arguments(arguments));
        sizes.fold(0, usize::saturating_add)
    }

    fn arguments(&self, arguments: &[(Positioned<Name>, Positioned<Input>)]) -> usize {
        let sizes = arguments.iter().map(|(_, value)| self.value(&value.node));
        sizes.fold(0, usize::saturating_add)
    }

    fn value(&self, value: &Input) -> usize {
        match value {
            Input::Variable(name) => self.sizes.get(name).copied().unwrap_or_default(),
            Input::List(elements) => {
                let sizes = elements.iter().map(|element| self.value(element));
                sizes.fold(0, usize::saturating_add)
            }
            Input::Object(members) => {
                let sizes = members.values().map(|member| self.value(member));
                sizes.fold(0, usize::saturating_add)
            }
            _ => 0,
        }
    }
}
