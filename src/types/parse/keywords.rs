//! The keywords of JSON Schema that a type can have, and what to write instead of the others.

use std::fmt;

/// The keywords that say what the values are.
pub(super) const CONSTRAINTS: [&str; 20] = [
    "$ref",
    "additionalProperties",
    "const",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "multipleOf",
    "pattern",
    "prefixItems",
    "properties",
    "required",
    "type",
];

/// The keywords that describe a place, which may be beside `$ref`.
pub(super) const ANNOTATIONS: [&str; 5] = [
    "title",
    "description",
    "deprecated",
    "x-graphql",
    "x-reference",
];

/// The keywords that only the schema of the document has.
pub(super) const OF_ROOT: [&str; 2] = ["$schema", "$defs"];

/// The version of JSON Schema whose keywords these are.
pub(super) const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// Keywords that are not supported, and what to write instead.
const INSTEAD: [(&str, &str); 42] = [
    (
        "$anchor",
        "refer to a member of $defs by `\"$ref\": \"#/$defs/NAME\"`",
    ),
    ("$comment", "write `description`"),
    ("$defs", "move it to the `$defs` of the whole schema"),
    (
        "$dynamicAnchor",
        "refer to a member of $defs by `\"$ref\": \"#/$defs/NAME\"`",
    ),
    (
        "$dynamicRef",
        "refer to a member of $defs by `\"$ref\": \"#/$defs/NAME\"`",
    ),
    (
        "$id",
        "remove it: the name of the collection identifies the schema",
    ),
    ("$schema", "move it to the whole schema"),
    (
        "$vocabulary",
        "remove it: the keywords that a type can have are fixed",
    ),
    (
        "allOf",
        "write the keywords of all the schemas into this one",
    ),
    (
        "anyOf",
        "list the kinds in `type`, such as `\"type\": [\"string\", \"null\"]`, or leave the place open \
         with `true`",
    ),
    ("contains", "describe every element with `items`"),
    (
        "contentEncoding",
        "say so in `description`: contents of strings are not validated",
    ),
    (
        "contentMediaType",
        "say so in `description`: contents of strings are not validated",
    ),
    (
        "contentSchema",
        "say so in `description`: contents of strings are not validated",
    ),
    (
        "default",
        "remove it: what a document does not have is absent, and nothing fills it in",
    ),
    ("definitions", "write `$defs`"),
    (
        "dependencies",
        "remove it: whether a member is required cannot depend on others",
    ),
    (
        "dependentRequired",
        "remove it: whether a member is required cannot depend on others",
    ),
    (
        "dependentSchemas",
        "remove it: the schema of a member cannot depend on others",
    ),
    ("divisibleBy", "write `multipleOf`"),
    (
        "else",
        "remove it: the schema of a place cannot depend on its value",
    ),
    ("example", "write it into `description`"),
    ("examples", "write it into `description`"),
    (
        "id",
        "remove it: the name of the collection identifies the schema",
    ),
    (
        "if",
        "remove it: the schema of a place cannot depend on its value",
    ),
    ("maxContains", "write `maxItems`"),
    (
        "maxProperties",
        "list the possible names in `properties` with `\"additionalProperties\": false`",
    ),
    ("minContains", "write `minItems`"),
    ("minProperties", "list the necessary names in `required`"),
    (
        "not",
        "describe what the values are, with `type`, `enum`, `pattern` or bounds",
    ),
    ("nullable", "add \"null\" to `type`"),
    (
        "oneOf",
        "list the kinds in `type`, such as `\"type\": [\"string\", \"null\"]`, or leave the place open \
         with `true`",
    ),
    (
        "patternProperties",
        "describe all other members with `additionalProperties`",
    ),
    (
        "propertyNames",
        "list the possible names in `properties` with `\"additionalProperties\": false`",
    ),
    (
        "readOnly",
        "remove it: access rules say who may write a place",
    ),
    (
        "then",
        "remove it: the schema of a place cannot depend on its value",
    ),
    ("unevaluatedItems", "describe all elements with `items`"),
    ("unevaluatedProperties", "write `additionalProperties`"),
    (
        "uniqueItems",
        "remove it, and store a set as an object whose names are its values",
    ),
    (
        "writeOnly",
        "remove it: access rules say who may read a place",
    ),
    ("xml", "remove it"),
    ("extends", "write the keywords of that schema into this one"),
];

/// Formats what to write instead of a keyword that is not supported.
pub(super) struct InsteadOf<'k>(pub(super) &'k str);

impl fmt::Display for InsteadOf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keyword = self.0;
        if let Some((_, instead)) = INSTEAD.iter().find(|(name, _)| *name == keyword) {
            return f.write_str(instead);
        }
        match nearest(keyword) {
            Some(near) => write!(f, "write `{near}`, if that is meant"),
            None => f.write_str("remove it"),
        }
    }
}

/// The keyword that a misspelled one may mean.
fn nearest(keyword: &str) -> Option<&'static str> {
    const DISTANCE_MAX: usize = 2;
    const LONGEST: usize = "additionalProperties".len();
    // The comparison takes memory in proportion to the length.
    if keyword.len() > LONGEST + DISTANCE_MAX {
        return None;
    }
    let known = CONSTRAINTS.into_iter().chain(ANNOTATIONS).chain(OF_ROOT);
    let near = known.map(|name| (strsim::damerau_levenshtein(name, keyword), name));
    let (distance, name) = near.min()?;
    (distance <= DISTANCE_MAX).then_some(name)
}
