//! Checks that fields of the same response name can be merged (GraphQL specification, 5.3.2 Field
//! Selection Merging). The rule of `async_graphql` compares only fields of one selection set, and
//! rejects fields of different objects, which cannot both be in a response.
//!
//! A comparison of all pairs of fields takes quadratic time. Both relations, to have the same shape
//! and to be the same field with the same arguments, are equivalences. So all fields of a name are
//! compared with the first one, and their selections are checked together:
//!
//! - in [`MergeCheck::shapes`] for all fields of a name,
//! - in [`MergeCheck::same_fields`] for the fields of a name that can be in the same object: those of
//!   one object type, together with those of interfaces and unions.
//!
//! Each field is visited once in each of the two, with fragments expanded, which
//! `query_cost::check_expanded` bounds. Only the fields of an interface or union are visited again
//! for each object type beside them; in this schema no such field has selections.

use std::collections::{HashMap, HashSet};

use async_graphql::indexmap::IndexMap;
use async_graphql::parser::types::{
    BaseType, ExecutableDocument, Field, Selection, SelectionSet, Type,
};
use async_graphql::{Name, Positioned, ServerError};

use crate::document::leaf::abridged;
use crate::graphql::schema::types::Types;
use crate::limits::ERRORS_MAX;

/// Fields of one selection set that are compared with each other. More of them are found by name.
const COMPARED_FIELDS_MAX: usize = 32;

/// The errors for fields that cannot be merged, at most [`ERRORS_MAX`]. The document must be valid
/// otherwise, and its size bounded.
pub(crate) fn conflicts(document: &ExecutableDocument, types: &Types) -> Vec<ServerError> {
    let mut check = MergeCheck {
        document,
        types,
        errors: Vec::new(),
    };
    for (_, operation) in document.operations.iter() {
        let operation = &operation.node;
        if nothing_is_merged(&operation.selection_set.node) {
            continue;
        }
        let root = Types::root(operation.ty);
        let fields = check.collected([(&operation.selection_set.node, root)]);
        check.same_fields(&fields);
        if check.errors.is_empty() {
            check.shapes(&fields);
        }
    }
    check.errors
}

/// Whether no selection set has fragments, or two fields of one response name. Most queries are like
/// this, and need no check.
fn nothing_is_merged(set: &SelectionSet) -> bool {
    let fields = || {
        set.items.iter().map(|item| match &item.node {
            Selection::Field(field) => Some(&field.node),
            _ => None,
        })
    };
    if set.items.len() > COMPARED_FIELDS_MAX || fields().any(|field| field.is_none()) {
        return false;
    }
    fields().flatten().enumerate().all(|(number, field)| {
        let name = &field.response_key().node;
        let mut before = fields().flatten().take(number);
        before.all(|other| other.response_key().node != *name)
            && nothing_is_merged(&field.selection_set.node)
    })
}

/// A selected field.
#[derive(Clone, Copy)]
struct SelectedField<'d> {
    field: &'d Positioned<Field>,
    /// The name of the type that has the field.
    of: &'d str,
}

impl<'d> SelectedField<'d> {
    fn response_name(&self) -> &'d Name {
        &self.field.node.response_key().node
    }
}

struct MergeCheck<'d> {
    document: &'d ExecutableDocument,
    types: &'d Types,
    errors: Vec<ServerError>,
}

impl<'d> MergeCheck<'d> {
    /// Checks that the fields of each response name have values of the same shape.
    fn shapes(&mut self, fields: &[SelectedField<'d>]) {
        for same in by_response_name(fields) {
            let [first, others @ ..] = &same[..] else {
                continue;
            };
            let shape = self.type_of(*first);
            let different = others
                .iter()
                .find(|other| match (shape, self.type_of(**other)) {
                    (Some(one), Some(other)) => self.differ(one, other),
                    _ => false,
                });
            if let (Some(other), Some(shape)) = (different, shape) {
                let found = self.type_of(*other).unwrap_or(shape);
                let why = format!("they return conflicting types \"{shape}\" and \"{found}\"");
                self.report(*first, *other, &why);
            } else {
                let below = self.below(&same);
                self.shapes(&below);
            }
        }
    }

    /// Checks that the fields of each response name that can be in the same object are the same
    /// field with the same arguments.
    fn same_fields(&mut self, fields: &[SelectedField<'d>]) {
        for same in by_response_name(fields) {
            let (of_any, of_objects): (Vec<_>, Vec<_>) = same
                .into_iter()
                .partition(|field| self.types.is_abstract(field.of));
            let mut objects: IndexMap<&str, Vec<SelectedField<'d>>> = IndexMap::new();
            for field in of_objects {
                objects.entry(field.of).or_default().push(field);
            }
            if objects.is_empty() {
                objects.insert("", Vec::new());
            }
            for (_, mut together) in objects {
                together.extend_from_slice(&of_any);
                let Some((first, others)) = together.split_first() else {
                    continue;
                };
                let conflict = others.iter().find_map(|other| {
                    let why = difference(&first.field.node, &other.field.node)?;
                    Some((*other, why))
                });
                if let Some((other, why)) = conflict {
                    self.report(*first, other, &why);
                } else {
                    let below = self.below(&together);
                    self.same_fields(&below);
                }
            }
        }
    }

    /// The fields that are selected below these fields.
    fn below(&self, fields: &[SelectedField<'d>]) -> Vec<SelectedField<'d>> {
        let sets = fields.iter().filter_map(|field| {
            let (_, of) = self.types.field(field.of, &field.field.node.name.node)?;
            Some((&field.field.node.selection_set.node, of))
        });
        self.collected(sets)
    }

    /// The fields of these selections on these types, with each fragment expanded once.
    fn collected(
        &self,
        sets: impl IntoIterator<Item = (&'d SelectionSet, &'d str)>,
    ) -> Vec<SelectedField<'d>> {
        let mut fields = Vec::new();
        let mut visited = HashSet::new();
        for (selections, of) in sets {
            self.collect(selections, of, &mut visited, &mut fields);
        }
        fields
    }

    fn collect(
        &self,
        selections: &'d SelectionSet,
        of: &'d str,
        visited: &mut HashSet<&'d Name>,
        fields: &mut Vec<SelectedField<'d>>,
    ) {
        for selection in &selections.items {
            match &selection.node {
                Selection::Field(field) => fields.push(SelectedField { field, of }),
                Selection::InlineFragment(inline) => {
                    let on = inline.node.type_condition.as_ref();
                    let of = on.map_or(of, |on| on.node.on.node.as_str());
                    self.collect(&inline.node.selection_set.node, of, visited, fields);
                }
                Selection::FragmentSpread(spread) => {
                    let name = &spread.node.fragment_name.node;
                    let Some(fragment) = self.document.fragments.get(name) else {
                        continue;
                    };
                    if visited.insert(name) {
                        let fragment = &fragment.node;
                        let of = fragment.type_condition.node.on.node.as_str();
                        self.collect(&fragment.selection_set.node, of, visited, fields);
                    }
                }
            }
        }
    }

    /// The type of a field. None for the introspection fields that have no selections: introspection
    /// types have no interfaces, so fields of the same name are compared by their names.
    fn type_of(&self, field: SelectedField<'d>) -> Option<&'d Type> {
        self.types.field_type(field.of, &field.field.node.name.node)
    }

    /// Whether values of these types have different shapes.
    fn differ(&self, one: &Type, other: &Type) -> bool {
        if one.nullable != other.nullable {
            return true;
        }
        match (&one.base, &other.base) {
            (BaseType::List(one), BaseType::List(other)) => self.differ(one, other),
            (BaseType::Named(one), BaseType::Named(other)) => {
                let composite = |name: &Name| self.types.is_composite(name);
                one != other && !(composite(one) && composite(other))
            }
            _ => true,
        }
    }

    fn report(&mut self, first: SelectedField<'d>, other: SelectedField<'d>, why: &str) {
        if self.errors.len() == ERRORS_MAX {
            return;
        }
        let message = format!(
            "Fields \"{}\" conflict because {why}. Use different aliases on the fields to fetch both \
             if this was intentional.",
            abridged(first.response_name())
        );
        let mut error = ServerError::new(message, Some(first.field.pos));
        error.locations.push(other.field.pos);
        self.errors.push(error);
    }
}

/// The fields of each response name, in the order of the names' first fields.
fn by_response_name<'d>(fields: &[SelectedField<'d>]) -> Vec<Vec<SelectedField<'d>>> {
    let mut places: HashMap<&Name, usize> = HashMap::with_capacity(fields.len());
    let mut groups: Vec<Vec<SelectedField<'d>>> = Vec::new();
    for field in fields {
        let place = *places.entry(field.response_name()).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(*field),
            None => groups.push(vec![*field]),
        }
    }
    groups
}

/// Why two fields are not the same field with the same arguments; none if they are.
fn difference(one: &Field, other: &Field) -> Option<String> {
    let (name, found) = (&one.name.node, &other.name.node);
    if name != found {
        let (name, found) = (abridged(name), abridged(found));
        return Some(format!("\"{name}\" and \"{found}\" are different fields"));
    }
    let same = one.arguments.len() == other.arguments.len()
        && one.arguments.iter().all(|(name, value)| {
            let found = other.get_argument(&name.node);
            found.is_some_and(|found| found.node == value.node)
        });
    (!same).then(|| "they have differing arguments".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graphql::prepare::parse::parse;
    use crate::graphql::schema::served_schema::types_of;

    const SCHEMA: &str = "
        type Query { node(id: ID): Node dog: Dog cat: Cat both: [Pet] a(b: Int, c: Int): Int }
        interface Node { id: ID! name: String }
        union Pet = Dog | Cat
        type Dog implements Node { id: ID! name: String age: Int! friend: Pet owner: Dog kind: String }
        type Cat implements Node { id: ID! name: String age: Int friend: Pet owner: Cat kind: String }";

    fn found(query: &str) -> Vec<String> {
        let document = parse(query).expect(query);
        let errors = conflicts(&document, &types_of(SCHEMA));
        let short = |error: ServerError| {
            let (message, _) = error.message.split_once(". Use").expect("a hint");
            message.to_owned()
        };
        errors.into_iter().map(short).collect()
    }

    #[test]
    fn fields_that_merge_are_accepted() {
        for query in [
            "{ a a x: a(b: 1, c: 2) x: a(c: 2, b: 1) }",
            "{ node { ... on Dog { x: id } ... on Cat { x: id } } }",
            "{ node { ... on Dog { x: name } ... on Cat { x: kind } } }",
            "{ node { ... on Dog { ... { x: name } } ... on Cat { ... { x: kind } } } }",
            "{ both { ... on Dog { o: owner { x: name } } ... on Cat { o: owner { x: kind } } } }",
            "{ dog { ...F ...F } x: dog { id } x: dog { name ...F } } fragment F on Dog { age }",
            "{ dog { friend { ... on Dog { age } ... on Cat { name } } } }",
            "query A { x: dog { id } } query B { x: cat { id } }",
        ] {
            assert_eq!(found(query), [""; 0], "{query}");
        }
    }

    #[test]
    fn fields_that_do_not_merge_are_rejected() {
        for (query, name, why) in [
            (
                "{ x: dog { id } x: cat { id } }",
                "x",
                "\"dog\" and \"cat\" are different fields",
            ),
            ("{ a(b: 1) a }", "a", "they have differing arguments"),
            ("{ a(b: 1) a(b: 2) }", "a", "they have differing arguments"),
            ("{ a(b: 1) a(c: 1) }", "a", "they have differing arguments"),
            (
                "{ a ... on Query { a(b: 1) } }",
                "a",
                "they have differing arguments",
            ),
            (
                "{ dog { x: id } dog { x: name } }",
                "x",
                "\"id\" and \"name\" are different fields",
            ),
            (
                "{ both { ... on Dog { age } ... on Cat { age } } }",
                "age",
                "they return conflicting types \"Int!\" and \"Int\"",
            ),
            (
                "{ both { ... on Dog { x: owner { id } } ... on Cat { x: name } } }",
                "x",
                "they return conflicting types \"Dog\" and \"String\"",
            ),
            (
                "{ node { x: name ... on Dog { x: kind } } }",
                "x",
                "\"kind\" and \"name\" are different fields",
            ),
            (
                "{ ...F ...G } fragment F on Query { dog { x: name } } fragment G on Query { dog { x: kind } }",
                "x",
                "\"name\" and \"kind\" are different fields",
            ),
            (
                "{ dog { x: owner { y: name } ...F } } fragment F on Dog { x: owner { y: kind } }",
                "y",
                "\"name\" and \"kind\" are different fields",
            ),
        ] {
            let expected = format!("Fields \"{name}\" conflict because {why}");
            assert!(
                found(query).contains(&expected),
                "{query}: {:?}",
                found(query)
            );
        }
    }

    #[test]
    fn errors_are_bounded() {
        let fields: Vec<String> = (0..200)
            .map(|at| format!("x{at}: a(b: 1) x{at}: a "))
            .collect();
        assert_eq!(
            found(&format!("{{ {} }}", fields.concat())).len(),
            ERRORS_MAX
        );
    }
}
