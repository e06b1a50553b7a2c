//! Bounds on what a query becomes when its fragments are expanded, checked before anything walks
//! it.

use std::collections::HashMap;

use async_graphql::parser::types::{
    Directive, ExecutableDocument, Field, Selection, SelectionSet, VariableDefinition,
};
use async_graphql::{Name, Positioned};
use async_graphql_value::{ConstValue, Value};

use super::text_limits::bound;
use super::validate::types::Types;
use crate::error::{Limit, Result};
use crate::limits::Bounds;

/// Bounds what a query becomes when its fragments are expanded, those that no operation uses
/// included, since validation walks them too. Each fragment is measured once, so the work is that
/// of the text's size.
///
/// # Errors
/// `TOO_COMPLEX`: names the limit.
pub(crate) fn check_expanded(
    document: &ExecutableDocument,
    types: &Types,
    bounds: &Bounds,
) -> Result<()> {
    let mut measuring = Measuring {
        document,
        types,
        bounds,
        fragments: HashMap::new(),
    };
    let mut operations = SelectionCost::default();
    for (_, operation) in document.operations.iter() {
        let operation = &operation.node;
        let size = measuring
            .selections(&operation.selection_set.node, 0)?
            .with_values(defaults(&operation.variable_definitions))
            .with_values(in_directives(&operation.directives));
        size.check_one(bounds)?;
        operations = operations.beside(size);
    }
    operations.check_all(bounds)?;
    let mut fragments = SelectionCost::default();
    for name in document.fragments.keys() {
        fragments = fragments.beside(measuring.fragment(name, 0)?);
    }
    fragments.check_all(bounds)
}

/// What some selections come to.
#[derive(Clone, Copy, Default)]
struct SelectionCost {
    /// Fields and fragments, since these cost as much where they stand.
    fields: usize,
    aliases: usize,
    /// Fields that go to a path.
    paths: usize,
    /// Directives, and values in the arguments of fields and directives.
    values: usize,
    /// Fields of the response, where the schema's own lists count with all that they hold.
    answered: usize,
    /// Levels of fields.
    levels: usize,
    /// Levels of selections: what the parser and validation recurse into.
    selections: usize,
}

impl SelectionCost {
    fn beside(self, other: Self) -> Self {
        Self {
            fields: self.fields.saturating_add(other.fields),
            aliases: self.aliases.saturating_add(other.aliases),
            paths: self.paths.saturating_add(other.paths),
            values: self.values.saturating_add(other.values),
            answered: self.answered.saturating_add(other.answered),
            levels: self.levels.max(other.levels),
            selections: self.selections.max(other.selections),
        }
    }

    fn with_values(self, values: usize) -> Self {
        Self {
            values: self.values.saturating_add(values),
            ..self
        }
    }

    /// What holds for each operation.
    fn check_one(&self, bounds: &Bounds) -> Result<()> {
        bound(
            self.aliases,
            Limit::new("queryAliases", bounds.query_aliases),
            "aliases with fragments expanded",
        )?;
        bound(
            self.levels,
            Limit::new("queryLevels", bounds.query_levels),
            "levels of fields with fragments expanded",
        )?;
        bound(
            self.paths,
            Limit::new("queryPaths", bounds.query_paths),
            "paths with fragments expanded",
        )?;
        self.check_fields(bounds)?;
        bound(
            self.answered,
            Limit::new("responseFields", bounds.response_fields),
            "fields in the response, in which the schema's lists count with all they hold",
        )
    }

    /// What holds for all operations together, or all fragments, since validation walks them all.
    fn check_all(&self, bounds: &Bounds) -> Result<()> {
        self.check_fields(bounds)?;
        bound(
            self.values,
            Limit::new("queryValues", bounds.query_values),
            "values and directives with fragments expanded",
        )
    }

    fn check_fields(&self, bounds: &Bounds) -> Result<()> {
        bound(
            self.fields,
            Limit::new("queryFields", bounds.query_fields),
            "fields with fragments expanded",
        )
    }
}

struct Measuring<'d> {
    document: &'d ExecutableDocument,
    types: &'d Types,
    bounds: &'d Bounds,
    /// What each fragment comes to; nothing while it is being measured, since a fragment inside
    /// itself is an error that validation reports.
    fragments: HashMap<&'d Name, SelectionCost>,
}

impl<'d> Measuring<'d> {
    /// The size of selections that stand `above` levels deep; recurses no deeper than allowed.
    fn selections(&mut self, selections: &'d SelectionSet, above: usize) -> Result<SelectionCost> {
        self.check_levels(above)?;
        let mut sum = SelectionCost::default();
        for selection in &selections.items {
            sum = sum.beside(self.selection(selection, above + 1)?);
        }
        sum.selections += 1;
        self.check_levels(above + sum.selections)?;
        Ok(sum)
    }

    fn selection(
        &mut self,
        selection: &'d Positioned<Selection>,
        above: usize,
    ) -> Result<SelectionCost> {
        let size = match &selection.node {
            Selection::Field(field) => self.field(&field.node, above)?,
            Selection::InlineFragment(inline) => {
                self.selections(&inline.node.selection_set.node, above)?
            }
            Selection::FragmentSpread(spread) => {
                self.fragment(&spread.node.fragment_name.node, above)?
            }
        };
        let size = size.with_values(in_directives(selection.node.directives()));
        Ok(SelectionCost {
            fields: size.fields.saturating_add(1),
            ..size
        })
    }

    fn field(&mut self, field: &'d Field, above: usize) -> Result<SelectionCost> {
        let below = match &field.selection_set.node {
            none if none.items.is_empty() => SelectionCost::default(),
            below => self.selections(below, above)?,
        };
        let path = field.arguments.iter().any(|(name, _)| name.node == "path");
        let values = field.arguments.iter().map(|(_, value)| values(&value.node));
        let answered = below.answered.saturating_add(1);
        Ok(SelectionCost {
            aliases: below
                .aliases
                .saturating_add(usize::from(field.alias.is_some())),
            paths: below.paths.saturating_add(usize::from(path)),
            answered: answered.saturating_mul(self.types.held_by(&field.name.node)),
            levels: below.levels + 1,
            ..below
        }
        .with_values(values.sum()))
    }

    fn fragment(&mut self, name: &'d Name, above: usize) -> Result<SelectionCost> {
        if let Some(size) = self.fragments.get(name).copied() {
            self.check_levels(above + size.selections)?;
            return Ok(size);
        }
        let Some(fragment) = self.document.fragments.get(name) else {
            return Ok(SelectionCost::default());
        };
        self.fragments.insert(name, SelectionCost::default());
        let fragment = &fragment.node;
        let size = self
            .selections(&fragment.selection_set.node, above)?
            .with_values(in_directives(&fragment.directives));
        self.fragments.insert(name, size);
        Ok(size)
    }

    fn check_levels(&self, levels: usize) -> Result<()> {
        bound(
            levels,
            Limit::new("queryFragmentLevels", 2 * self.bounds.query_levels),
            "levels of fields and fragments",
        )
    }
}

/// The values in an argument, itself included. No deeper than its brackets, which are bounded.
fn values(value: &Value) -> usize {
    match value {
        Value::List(elements) => 1 + elements.iter().map(values).sum::<usize>(),
        Value::Object(members) => 1 + members.values().map(values).sum::<usize>(),
        _ => 1,
    }
}

fn in_directives(directives: &[Positioned<Directive>]) -> usize {
    let arguments = directives.iter().flat_map(|it| &it.node.arguments);
    let given = arguments.map(|(_, value)| values(&value.node));
    directives.len() + given.sum::<usize>()
}

fn defaults(definitions: &[Positioned<VariableDefinition>]) -> usize {
    let given = definitions
        .iter()
        .filter_map(|it| it.node.default_value.as_ref());
    let given = given.map(|value| const_values(&value.node));
    definitions.len() + given.sum::<usize>()
}

fn const_values(value: &ConstValue) -> usize {
    match value {
        ConstValue::List(elements) => 1 + elements.iter().map(const_values).sum::<usize>(),
        ConstValue::Object(members) => 1 + members.values().map(const_values).sum::<usize>(),
        _ => 1,
    }
}
