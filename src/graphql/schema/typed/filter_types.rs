//! Makes the input types that filter and order the documents of a collection, from its object types.

use std::collections::{HashMap, HashSet, VecDeque};

use async_graphql::Positioned;
use async_graphql::parser::types::{
    FieldDefinition, InputValueDefinition, TypeDefinition, TypeKind,
};

use super::definitions::{argument, enumeration, input, list, named};
use super::object_types::ObjectTypes;
use super::type_names::{is_usable, too_long};
use super::typed_fields::{BIG_INTEGER, LeafType, TypedField, TypedPlace, TypedValue};
use super::typed_inputs::{
    ALL, ALL_FILTER, ANY, ANY_FILTER, ASCENDING, DESCENDING, InputOf, NOT, NOT_FILTER, TypedInput,
};
use crate::document::json::write_string;
use crate::document::path::{Path, Segment, Token};
use crate::graphql::schema::types::base_name;
use crate::types::is_graphql_name;

/// The enum of the directions of an order.
pub(super) const SORT_ORDER: &str = "SortOrder";

/// The input types with the tests of scalars, and whether they have tests of an order and of text.
const TESTS: [(&str, &str, bool, bool); 6] = [
    ("StringFilter", "String", true, true),
    ("IntFilter", "Int", true, false),
    ("BigIntegerFilter", BIG_INTEGER, true, false),
    ("FloatFilter", "Float", true, false),
    ("BooleanFilter", "Boolean", false, false),
    ("JSONFilter", "JSON", true, false),
];

/// The names of the types that all collections share.
pub(super) fn shared_names() -> impl Iterator<Item = &'static str> {
    let tests = TESTS.iter().map(|(name, ..)| *name);
    tests.chain([SORT_ORDER])
}

/// The types that all collections share.
pub(super) fn shared_types() -> Vec<TypeDefinition> {
    let tests = TESTS.iter().map(|(name, of, ordered, text)| {
        let about = format!(
            "Tests of the values of a member. A document matches if a single value passes all of them, as in \
             `DocumentFilter`. ({of})"
        );
        input(name, &about, tests_of(of, *ordered, *text))
    });
    let directions = [ASCENDING, DESCENDING].into_iter();
    let about = "From the least to the greatest value, or the reverse.";
    let order = enumeration(SORT_ORDER, about, directions);
    tests.chain([order]).collect()
}

/// The tests of values of a type.
fn tests_of(of: &str, ordered: bool, text: bool) -> Vec<Positioned<InputValueDefinition>> {
    let value = |name, about| argument(name, named(of, false), about);
    let mut tests = vec![
        value("eq", "Equal to this; null means null."),
        value("ne", "Not equal to this."),
    ];
    if ordered {
        tests.push(value("lt", "Less than this."));
        tests.push(value("lte", "Less than or equal to this."));
        tests.push(value("gt", "Greater than this."));
        tests.push(value("gte", "Greater than or equal to this."));
    }
    let one_of = list(named(of, false), false);
    tests.push(argument("in", one_of, "Equal to one of these."));
    if text {
        tests.push(value("startsWith", "A string that begins with this."));
        tests.push(value(
            "contains",
            "A string that contains this one. No index supports this test.",
        ));
    }
    tests.push(argument(
        "exists",
        named("Boolean", false),
        "Whether there is a value, which may be null.",
    ));
    tests
}

/// The input types of one collection.
#[derive(Default)]
pub(super) struct FilterTypes {
    pub(super) definitions: Vec<TypeDefinition>,
    /// What their members mean.
    pub(super) inputs: HashMap<String, HashMap<String, TypedInput>>,
}

/// The name of the filter of an object type or an enum.
pub(super) fn filter_of(name: &str) -> String {
    format!("{name}Filter")
}

/// The name of the order of an object type.
pub(super) fn order_of(name: &str) -> String {
    format!("{name}OrderBy")
}

/// Makes the filters and orders of the object types that are reached from the type of documents. Maps are
/// left out: their names are data.
///
/// # Errors
/// Why there are none.
pub(super) fn filter_types(root: &str, made: &ObjectTypes) -> Result<FilterTypes, String> {
    let types = ReachedTypes::of(root, made);
    let mut maker = FilterMaker {
        filtered: types.with(|_| true),
        ordered: types.with(|member| !member.is_listed),
        enums: HashSet::new(),
        found: FilterTypes::default(),
    };
    for (name, members) in &types.0 {
        if !is_usable(&filter_of(name)) {
            return Err(too_long(&filter_of(name)));
        }
        let (mut filter, mut order) = maker.inputs(members);
        if *name == root {
            add_members_of_root(&mut filter, &mut order, &filter_of(name))?;
        }
        let about = format!(
            "Filters by the members of `{name}`. All that are given have to match. Of a list, each can match \
             another element."
        );
        maker.add(filter_of(name), &about, filter);
        let about = "The value to sort by: exactly one member.";
        maker.add(order_of(name), about, order);
    }
    Ok(maker.found)
}

/// The members of an input type, and what they mean.
#[derive(Default)]
struct InputMembers {
    declared: Vec<Positioned<InputValueDefinition>>,
    meanings: HashMap<String, TypedInput>,
}

impl InputMembers {
    /// Adds a member of a type, whose values are at a JSONPath.
    fn add(&mut self, name: &str, ty: &str, path: &str, of: InputOf) {
        let declared = argument(name, named(ty, false), "");
        self.declared.push(declared);
        let path = path.to_owned();
        let meaning = TypedInput { path, of };
        self.meanings.insert(name.to_owned(), meaning);
    }
}

struct FilterMaker<'m> {
    /// The object types that have a filter, and those that have an order.
    filtered: HashSet<&'m str>,
    ordered: HashSet<&'m str>,
    /// The enums that have tests.
    enums: HashSet<&'m str>,
    found: FilterTypes,
}

impl<'m> FilterMaker<'m> {
    /// The members of the filter and of the order of an object type.
    fn inputs(&mut self, members: &[Member<'m>]) -> (InputMembers, InputMembers) {
        let (mut filter, mut order) = (InputMembers::default(), InputMembers::default());
        for member in members {
            let (field, path) = (member.field, &*member.path);
            match &member.of {
                MemberOf::Leaf(tests) => {
                    if let Some(of) = tests.of_enum
                        && self.enums.insert(of)
                    {
                        let tests = tests_of(of, false, false);
                        let tests = input(&filter_of(of), "", tests);
                        self.found.definitions.push(tests);
                    }
                    let of = match tests.of_enum {
                        Some(_) => InputOf::Enum,
                        None => InputOf::Values,
                    };
                    filter.add(field, &tests.name, path, of);
                    if !member.is_listed {
                        order.add(field, SORT_ORDER, path, InputOf::Values);
                    }
                }
                MemberOf::Object(ty) => {
                    if self.filtered.contains(ty) {
                        let below = filter_of(ty);
                        filter.add(field, &below, path, InputOf::Object(below.clone()));
                    }
                    if !member.is_listed && self.ordered.contains(ty) {
                        let below = order_of(ty);
                        order.add(field, &below, path, InputOf::Object(below.clone()));
                    }
                }
            }
        }
        (filter, order)
    }

    /// Adds an input type, if it has members.
    fn add(&mut self, name: String, description: &str, members: InputMembers) {
        if members.declared.is_empty() {
            return;
        }
        let definition = input(&name, description, members.declared);
        self.found.definitions.push(definition);
        self.found.inputs.insert(name, members.meanings);
    }
}

/// Adds what only whole documents have: the order by key, and the members that combine filters.
///
/// # Errors
/// A member of the documents has the name of one that combines filters.
fn add_members_of_root(
    filter: &mut InputMembers,
    order: &mut InputMembers,
    name: &str,
) -> Result<(), String> {
    order.add("key", SORT_ORDER, "", InputOf::Key);
    let mut combining_names = [ALL, ANY, NOT].into_iter();
    if let Some(taken) = combining_names.find(|name| filter.meanings.contains_key(*name)) {
        return Err(format!(
            "at \"/properties\": the name {taken:?} combines filters: give the member another one in its schema, \
             such as \"x-graphql\": {{\"name\": \"other\"}}"
        ));
    }
    filter.declared.extend(combining(name));
    for (member, combined) in [(ALL, ALL_FILTER), (ANY, ANY_FILTER), (NOT, NOT_FILTER)] {
        let meaning = TypedInput {
            path: String::new(),
            of: InputOf::Combined(combined),
        };
        filter.meanings.insert(member.to_owned(), meaning);
    }
    Ok(())
}

/// The members of a filter that combine others.
fn combining(filter: &str) -> [Positioned<InputValueDefinition>; 3] {
    let filters = || list(named(filter, true), false);
    [
        argument(ALL, filters(), "Every one of these filters matches."),
        argument(ANY, filters(), "At least one of these filters matches."),
        argument(NOT, named(filter, false), "This filter does not match."),
    ]
}

/// A member of an object type.
struct Member<'m> {
    field: &'m str,
    /// The JSONPath from the object.
    path: String,
    of: MemberOf<'m>,
    /// Whether it is in a list, so that an object has several values.
    is_listed: bool,
}

enum MemberOf<'m> {
    Leaf(LeafTests<'m>),
    /// An object of this type.
    Object(&'m str),
}

/// The tests of a leaf.
struct LeafTests<'m> {
    /// The name of the input type.
    name: String,
    /// The enum, if it is one.
    of_enum: Option<&'m str>,
}

/// The object types that are reached without maps, breadth first.
struct ReachedTypes<'m>(Vec<(&'m str, Vec<Member<'m>>)>);

impl<'m> ReachedTypes<'m> {
    fn of(root: &'m str, made: &'m ObjectTypes) -> Self {
        let definitions = made.definitions.iter();
        let definitions: HashMap<&str, &TypeDefinition> =
            definitions.map(|it| (it.name.node.as_str(), it)).collect();
        let mut reached = Vec::new();
        let mut seen = HashSet::from([root]);
        let mut open = VecDeque::from([root]);
        while let Some(name) = open.pop_front() {
            let (Some(reads), Some(TypeKind::Object(object))) = (
                made.fields.get(name),
                definitions.get(name).map(|it| &it.kind),
            ) else {
                continue;
            };
            let members: Vec<Member<'m>> = object
                .fields
                .iter()
                .filter_map(|field| {
                    let read = reads.get(field.node.name.node.as_str())?;
                    member(&field.node, read)
                })
                .collect();
            for member in &members {
                if let MemberOf::Object(ty) = member.of
                    && seen.insert(ty)
                {
                    open.push_back(ty);
                }
            }
            reached.push((name, members));
        }
        Self(reached)
    }

    /// The types that have leaves, at any depth, over members for which this holds.
    fn with(&self, counts: impl Fn(&Member<'_>) -> bool) -> HashSet<&'m str> {
        let mut found = HashSet::new();
        let mut open = Vec::new();
        // The types that have members of a type.
        let mut around: HashMap<&str, Vec<&'m str>> = HashMap::new();
        for (name, members) in &self.0 {
            for member in members.iter().filter(|member| counts(member)) {
                match member.of {
                    MemberOf::Leaf(_) if found.insert(*name) => open.push(*name),
                    MemberOf::Leaf(_) => {}
                    MemberOf::Object(ty) => around.entry(ty).or_default().push(*name),
                }
            }
        }
        while let Some(name) = open.pop() {
            let around = around.remove(name).unwrap_or_default();
            open.extend(around.into_iter().filter(|name| found.insert(*name)));
        }
        found
    }
}

/// A member that can be filtered. None if it is a map, or no member.
fn member<'m>(field: &'m FieldDefinition, read: &'m TypedField) -> Option<Member<'m>> {
    let TypedField::Value(path, place) = read else {
        return None;
    };
    let ty = base_name(&field.ty.node.base);
    let mut path = json_path(path);
    let mut place: &TypedPlace = place;
    let mut is_listed = false;
    while let TypedValue::List(element) = &place.value {
        path.push_str("[*]");
        place = element;
        is_listed = true;
    }
    let of = match &place.value {
        TypedValue::Leaf(LeafType::Enum(_)) => MemberOf::Leaf(LeafTests {
            name: filter_of(ty),
            of_enum: Some(ty),
        }),
        TypedValue::Leaf(_) => MemberOf::Leaf(LeafTests {
            name: filter_of(ty),
            of_enum: None,
        }),
        TypedValue::Object => MemberOf::Object(ty),
        TypedValue::List(_) | TypedValue::Map => return None,
    };
    Some(Member {
        field: field.name.node.as_str(),
        path,
        of,
        is_listed,
    })
}

/// A path of member names as a JSONPath, without `$`.
fn json_path(path: &Path) -> String {
    let mut text = Vec::new();
    for token in path.tokens() {
        let Token::Segment(Segment::Key(name)) = token else {
            continue;
        };
        if is_graphql_name(name) {
            text.push(b'.');
            text.extend_from_slice(name.as_bytes());
        } else {
            text.push(b'[');
            write_string(&mut text, name);
            text.push(b']');
        }
    }
    String::from_utf8(text).expect("names are UTF-8")
}
