//! The types of collections. What validation says is compared with the crate `jsonschema`: on the official
//! suite of JSON Schema, and on random schemas, documents and changes. Schemas that are inferred from
//! files of npm are checked with the files.

mod inference;
mod json_schema_suite;
#[path = "../npm/mod.rs"]
mod npm;
mod random_changes;
mod random_schemas;
#[path = "../seed/mod.rs"]
mod seed;
#[path = "../skip/mod.rs"]
mod skip;
mod verdicts;
