//! Limits on the size of a query with its fragments expanded, checked before other code walks it.

use std::collections::HashMap;

use async_graphql::parser::types::{
    Directive, ExecutableDocument, Field, Selection, SelectionSet, VariableDefinition,
};
use async_graphql::{Name, Positioned};
use async_graphql_value::{ConstValue, Value};

use super::text_limits::bound;
use crate::error::{Limit, Result};
use crate::graphql::schema::entities::ENTITIES;
use crate::graphql::schema::types::{TypeLists, Types};
use crate::limits::Bounds;

/// Checks the size of a query with its fragments expanded. Unused fragments are checked too, since
/// validation walks them. Each fragment is measured once, so the work is proportional to the text.
/// Returns whether a field introspects the schema.
///
/// # Errors
/// `TOO_COMPLEX`: the named limit is exceeded.
pub(crate) fn check_expanded(
    document: &ExecutableDocument,
    types: &Types,
    bounds: &Bounds,
) -> Result<bool> {
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
            .selections(
                &operation.selection_set.node,
                (Types::root(operation.ty), 0),
            )?
            .with_values(defaults(&operation.variable_definitions))
            .with_values(in_directives(&operation.directives));
        size.check_one(types, bounds)?;
        operations = operations.beside(size);
    }
    operations.check_all(bounds)?;
    let mut fragments = SelectionCost::default();
    for name in document.fragments.keys() {
        fragments = fragments.beside(measuring.fragment(name, 0)?);
    }
    fragments.check_all(bounds)?;
    Ok(operations.introspects || fragments.introspects)
}

/// The cost of selections with fragments expanded.
#[derive(Clone, Copy, Default)]
struct SelectionCost {
    /// Fields and fragments. A fragment costs as much as a field.
    fields: usize,
    aliases: usize,
    /// The paths in `path` and `paths` arguments, and those of `range`.
    paths: usize,
    /// Directives, variable definitions, and values in arguments and variable defaults.
    values: usize,
    /// Fields of the response.
    answered: ResponseFields,
    /// Levels of fields.
    levels: usize,
    /// Levels of selections, into which the parser and validation recurse.
    selections: usize,
    /// Whether there is a field `__schema` or `__type`.
    introspects: bool,
}

/// Fields of the response below a field, where the lists of introspection count with all their
/// elements.
#[derive(Clone, Copy, Default)]
struct ResponseFields {
    /// Fields that do not depend on the type that introspection describes.
    plain: usize,
    /// Fields for each element of each list of the type that introspection describes.
    each: TypeLists,
}

impl ResponseFields {
    fn plain(plain: usize) -> Self {
        Self {
            plain,
            each: TypeLists::default(),
        }
    }

    fn beside(self, other: Self) -> Self {
        Self {
            plain: self.plain.saturating_add(other.plain),
            each: self.each.plus(other.each),
        }
    }

    /// The most fields below an object, with the object's own field.
    fn of_one(self, types: &Types) -> usize {
        let lists = self.each.times(types.of_one());
        self.plain.saturating_add(lists).saturating_add(1)
    }

    /// The fields of a field of a type, with this name and these fields below it. Fields of other types than
    /// those of introspection can have the names of its lists.
    fn of_field(self, of: &str, name: &str, types: &Types) -> Self {
        let one = self.of_one(types);
        let is_entities = of == "Query" && name == ENTITIES;
        if !of.starts_with("__") && !is_entities {
            return Self::plain(one);
        }
        let mut each = TypeLists::default();
        match name {
            "fields" => {
                each.fields = self.plain.saturating_add(1);
                each.arguments = self.each.arguments;
            }
            "args" => each.arguments = one,
            "inputFields" => each.input_fields = one,
            "enumValues" => each.enum_values = one,
            "interfaces" => each.interfaces = one,
            "possibleTypes" => each.possible_types = one,
            "types" => {
                let plain = self
                    .plain
                    .saturating_add(1)
                    .saturating_mul(types.held_by(name));
                return Self::plain(plain.saturating_add(self.each.times(types.of_all())));
            }
            "directives" => {
                let plain = self
                    .plain
                    .saturating_add(1)
                    .saturating_mul(types.held_by(name));
                let arguments = self
                    .each
                    .arguments
                    .saturating_mul(types.directive_arguments());
                return Self::plain(plain.saturating_add(arguments));
            }
            _ => return Self::plain(one.saturating_mul(types.held_by(name))),
        }
        Self { plain: 0, each }
    }
}

impl SelectionCost {
    fn beside(self, other: Self) -> Self {
        Self {
            fields: self.fields.saturating_add(other.fields),
            aliases: self.aliases.saturating_add(other.aliases),
            paths: self.paths.saturating_add(other.paths),
            values: self.values.saturating_add(other.values),
            answered: self.answered.beside(other.answered),
            levels: self.levels.max(other.levels),
            selections: self.selections.max(other.selections),
            introspects: self.introspects || other.introspects,
        }
    }

    fn with_values(self, values: usize) -> Self {
        Self {
            values: self.values.saturating_add(values),
            ..self
        }
    }

    /// Checks the limits for a single operation.
    fn check_one(&self, types: &Types, bounds: &Bounds) -> Result<()> {
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
            self.answered.of_one(types) - 1,
            Limit::new("responseFields", bounds.response_fields),
            "fields in the response, counting all elements of the schema's lists",
        )
    }

    /// Checks the limits for all operations together, or for all fragments together, since
    /// validation walks them all.
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
    /// The cost of each fragment; zero while it is being measured. Validation later rejects a
    /// fragment that contains itself.
    fragments: HashMap<&'d Name, SelectionCost>,
}

impl<'d> Measuring<'d> {
    /// The cost of selections of a type at a depth of `above` levels. The recursion is bounded by
    /// `check_levels`.
    fn selections(
        &mut self,
        selections: &'d SelectionSet,
        (of, above): (&'d str, usize),
    ) -> Result<SelectionCost> {
        self.check_levels(above)?;
        let mut sum = SelectionCost::default();
        for selection in &selections.items {
            sum = sum.beside(self.selection(selection, (of, above + 1))?);
        }
        sum.selections += 1;
        self.check_levels(above + sum.selections)?;
        Ok(sum)
    }

    fn selection(
        &mut self,
        selection: &'d Positioned<Selection>,
        (of, above): (&'d str, usize),
    ) -> Result<SelectionCost> {
        let size = match &selection.node {
            Selection::Field(field) => self.field(&field.node, (of, above))?,
            Selection::InlineFragment(inline) => {
                let condition = inline.node.type_condition.as_ref();
                let of = condition.map_or(of, |condition| condition.node.on.node.as_str());
                self.selections(&inline.node.selection_set.node, (of, above))?
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

    fn field(&mut self, field: &'d Field, (of, above): (&'d str, usize)) -> Result<SelectionCost> {
        let below = match &field.selection_set.node {
            none if none.items.is_empty() => SelectionCost::default(),
            below => self.selections(below, (self.type_of(of, &field.name.node), above))?,
        };
        let paths = field
            .arguments
            .iter()
            .map(|(name, value)| paths(&field.name.node, &name.node, &value.node))
            .sum::<usize>();
        let values = field.arguments.iter().map(|(_, value)| values(&value.node));
        let name = field.name.node.as_str();
        let answered = below.answered.of_field(of, name, self.types);
        Ok(SelectionCost {
            aliases: below
                .aliases
                .saturating_add(usize::from(field.alias.is_some())),
            paths: below.paths.saturating_add(paths),
            answered,
            levels: below.levels + 1,
            introspects: below.introspects || matches!(name, "__schema" | "__type"),
            ..below
        }
        .with_values(values.sum()))
    }

    /// The type of a field, without lists. Empty if there is no such field.
    fn type_of(&self, of: &str, field: &Name) -> &'d str {
        match field.as_str() {
            "__schema" => "__Schema",
            "__type" => "__Type",
            _ => {
                let types: &'d Types = self.types;
                types.field(of, field).map_or("", |(_, ty)| ty)
            }
        }
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
            .selections(
                &fragment.selection_set.node,
                (fragment.type_condition.node.on.node.as_str(), above),
            )?
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

/// The number of paths in an argument. A variable counts as one.
fn paths(field: &str, name: &str, value: &Value) -> usize {
    match (field, name, value) {
        (_, "paths", Value::List(listed)) => listed.len(),
        (_, "path" | "paths", _) | ("range", "from" | "to", _) => 1,
        _ => 0,
    }
}

/// The number of values in an argument, including the argument itself. The recursion is bounded by
/// the limit on nested brackets.
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
        .filter_map(|it| it.node.default_value.as_ref())
        .map(|value| const_values(&value.node));
    definitions.len() + given.sum::<usize>()
}

fn const_values(value: &ConstValue) -> usize {
    match value {
        ConstValue::List(elements) => 1 + elements.iter().map(const_values).sum::<usize>(),
        ConstValue::Object(members) => 1 + members.values().map(const_values).sum::<usize>(),
        _ => 1,
    }
}
