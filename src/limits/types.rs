//! Limits of the types of collections.

/// Bytes of a schema.
pub const TYPE_BYTES_MAX: usize = 1 << 20;
/// Schemas inside the schema of a type.
pub const TYPE_SHAPES_MAX: usize = 10_000;
/// Properties of all objects of a type.
pub const TYPE_PROPERTIES_MAX: usize = 10_000;
/// Schemas that a `$ref` leads over.
pub const TYPE_REFERENCES_MAX: usize = 100;
/// Patterns of a type. Each takes up to [`REGEXP_COMPILED_BYTES_MAX`](super::REGEXP_COMPILED_BYTES_MAX).
pub const TYPE_PATTERNS_MAX: usize = 100;
/// Bytes of all compiled patterns of a type. Each process compiles them before its first write.
pub const TYPE_PATTERNS_BYTES_MAX: usize = 2 << 20;
/// Values of an `enum`.
pub const TYPE_ENUM_VALUES_MAX: usize = 1_000;
/// Bytes of a value of an `enum`.
pub const TYPE_ENUM_VALUE_BYTES_MAX: usize = 1_000;
/// Problems of a schema that its error lists.
pub const TYPE_PROBLEMS_MAX: usize = 10;
/// Pairs of schemas, and properties in them, that are compared to find out whether documents of one type
/// fit another.
pub const TYPE_COMPARISONS_MAX: usize = 100_000;
/// Violations of a type that a validation lists.
pub const TYPE_VIOLATIONS_MAX: usize = 100;
/// Different places of the documents that a type is inferred from.
pub const INFERRED_PLACES_MAX: usize = 200_000;
/// Names of the members of one object from which an inferred type has a map.
pub const INFERRED_NAMES_MAX: usize = 1_000;
/// Bytes of the name of a member from which an inferred type has a map.
pub const INFERRED_NAME_BYTES_MAX: usize = 64;
/// Bytes of a name in the GraphQL types of collections.
pub const GRAPHQL_NAME_BYTES_MAX: usize = 255;
/// Bytes of the name of a property that is a field. Each test in a filter repeats it.
pub const GRAPHQL_MEMBER_BYTES_MAX: usize = 1_000;
/// Types, fields, arguments and values of enums in the GraphQL types of all collections; 200 bytes of a
/// description count as one. With as many, a query for the whole schema has fewer fields than the default
/// limit of a response.
pub const GRAPHQL_PARTS_MAX: usize = 5_000;
/// Fields on all paths of required objects from one input type. Members with more can be null.
pub const GRAPHQL_REQUIRED_FIELDS_MAX: usize = 1_000;
/// Lists directly inside each other in such a type. Queries for the schema ask for as many levels.
pub const GRAPHQL_LISTS_MAX: usize = 3;
