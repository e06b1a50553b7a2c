//! The violations of each keyword.

use crate::document::leaf::{Kind, abridged};
use crate::document::path::Segment;
use crate::types::shape::{ArrayConstraints, Constraints, Enumeration, Kinds};
use crate::types::violation::{Violation, shown};

/// What a message calls a value of a kind.
pub(crate) fn named(kind: Kind) -> &'static str {
    match kind {
        Kind::Object => "an object",
        Kind::Array => "an array",
        Kind::String => "a string",
        Kind::Number => "a number",
        Kind::Boolean => "a boolean",
        Kind::Null => "null",
    }
}

/// A value of a kind that the schema does not have there.
pub(crate) fn not_of_type(constraints: &Constraints, place: &[Segment], found: &str) -> Violation {
    match &constraints.enumeration {
        Some(enumeration) => not_listed(enumeration, place, found),
        None => Violation::new(place, "type", expected_kinds(constraints.kinds), found),
    }
}

fn expected_kinds(kinds: Kinds) -> String {
    let names: Vec<&str> = kinds
        .names()
        .into_iter()
        .map(|name| match name {
            "null" => "null",
            "object" => "an object",
            "array" => "an array",
            "string" => "a string",
            "number" => "a number",
            "integer" => "an integer",
            _ => "a boolean",
        })
        .collect();
    names.join(" or ")
}

/// A value that an `enum` does not have.
pub(crate) fn not_listed(enumeration: &Enumeration, place: &[Segment], found: &str) -> Violation {
    const LISTED_MAX: usize = 10;
    let values = enumeration.values();
    let listed: Vec<_> = values.iter().take(LISTED_MAX).map(shown).collect();
    let listed = listed.join(", ");
    let expected = match values.len() {
        1 => listed,
        many if many <= LISTED_MAX => format!("one of {listed}"),
        many => format!("one of {many} values, such as {listed}"),
    };
    Violation::new(place, enumeration.keyword, expected, found)
}

/// An object without a member that it must have.
pub(crate) fn missing(place: &[Segment], name: &str) -> Violation {
    let name = format!("the member {:?}", abridged(name));
    Violation::new(place, "required", name, "no such member")
}

/// A member that `additionalProperties` forbids.
pub(crate) fn additional_property(place: &[Segment]) -> Violation {
    let name = match place.last() {
        Some(Segment::Key(name)) => &**name,
        _ => "",
    };
    let found = format!("a member {:?}", abridged(name));
    let expected = "members that are listed in `properties` only";
    Violation::new(place, "additionalProperties", expected, found)
}

/// The violation by an array of this length, if any.
pub(crate) fn wrong_length(
    array: &ArrayConstraints,
    place: &[Segment],
    length: u64,
) -> Option<Violation> {
    let elements = |count: u64| match count {
        1 => "1 element".to_owned(),
        _ => format!("{count} elements"),
    };
    let found = || format!("an array of {}", elements(length));
    if length < array.items_min {
        let expected = format!("at least {}", elements(array.items_min));
        return Some(Violation::new(place, "minItems", expected, found()));
    }
    let max = array.items_max.filter(|max| length > *max)?;
    let expected = format!("at most {}", elements(max));
    Some(Violation::new(place, "maxItems", expected, found()))
}

/// Why no value can be at a place: its segment number `at` cannot be below a place of these constraints.
pub(crate) fn forbidden(constraints: &Constraints, place: &[Segment], at: usize) -> Violation {
    let above = &place[..at];
    match place.get(at) {
        Some(Segment::Key(_)) if constraints.kinds.has(Kinds::OBJECT) => {
            additional_property(&place[..=at])
        }
        Some(Segment::Index(_)) => not_of_type(constraints, above, named(Kind::Array)),
        _ => not_of_type(constraints, above, named(Kind::Object)),
    }
}
