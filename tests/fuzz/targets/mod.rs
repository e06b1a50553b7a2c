//! Fuzz targets. Each takes any bytes and panics if the program misbehaves. The same functions run
//! briefly with the tests, and for longer under a coverage-guided fuzzer (docs/fuzzing.md).

mod assemble;
mod extended_json;
mod json;
mod jsonpath;
mod patch;
mod path;
mod query;
mod request;
mod schema;
mod server;
mod table;
mod tuple;
mod world;

/// A fuzz target.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    /// Its name, which is that of its module.
    pub(crate) name: &'static str,
    /// Panics if the program misbehaves.
    pub(crate) check: fn(&[u8]),
    /// The initial inputs.
    pub(crate) seeds: &'static [&'static [u8]],
}

/// To add a target, add a module with these two functions and a line here.
pub(crate) const TARGETS: [Target; 12] = [
    target("assemble", assemble::check, assemble::SEEDS),
    target("extended_json", extended_json::check, extended_json::SEEDS),
    target("json", json::check, json::SEEDS),
    target("jsonpath", jsonpath::check, jsonpath::SEEDS),
    target("patch", patch::check, patch::SEEDS),
    target("path", path::check, path::SEEDS),
    target("query", query::check, query::SEEDS),
    target("request", request::check, request::SEEDS),
    target("schema", schema::check, schema::SEEDS),
    target("server", server::check, server::SEEDS),
    target("table", table::check, table::SEEDS),
    target("tuple", tuple::check, tuple::SEEDS),
];

const fn target(name: &'static str, check: fn(&[u8]), seeds: &'static [&'static [u8]]) -> Target {
    Target { name, check, seeds }
}
