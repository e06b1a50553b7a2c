//! What is fuzzed: each target takes any bytes, and panics where the program does what it must
//! not. The same functions run briefly with the tests and for as long as one likes under a
//! coverage-guided fuzzer (docs/fuzzing.md).

mod assemble;
mod json;
mod jsonpath;
mod patch;
mod path;
mod query;
mod request;
mod server;
mod tuple;
mod world;

/// Something to throw bytes at.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    /// Its name, that of its module.
    pub(crate) name: &'static str,
    /// Panics where something is wrong.
    pub(crate) check: fn(&[u8]),
    /// Inputs to begin with.
    pub(crate) seeds: &'static [&'static [u8]],
}

/// A new target is a module with these two and a line here.
pub(crate) const TARGETS: [Target; 9] = [
    target("assemble", assemble::check, assemble::SEEDS),
    target("json", json::check, json::SEEDS),
    target("jsonpath", jsonpath::check, jsonpath::SEEDS),
    target("patch", patch::check, patch::SEEDS),
    target("path", path::check, path::SEEDS),
    target("query", query::check, query::SEEDS),
    target("request", request::check, request::SEEDS),
    target("server", server::check, server::SEEDS),
    target("tuple", tuple::check, tuple::SEEDS),
];

const fn target(name: &'static str, check: fn(&[u8]), seeds: &'static [&'static [u8]]) -> Target {
    Target { name, check, seeds }
}
