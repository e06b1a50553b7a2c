//! The GraphQL interface: the only user of `async_graphql`.
//!
//! A request is read (`request`), bounded before it is parsed (`guard`) and before it is validated
//! (`expanded`), looked up or parsed and validated (`operations`), executed in one snapshot or one
//! transaction (`service`) while what it comes to is counted (`tally`), and written with its JSON
//! spliced in (`response`). A query that only reads by path is executed from a plan (`direct`),
//! everything else by `async_graphql`.

mod allowed;
mod apart;
mod batch;
mod bulk;
mod children;
mod counted;
mod cursor;
mod direct;
mod document;
mod documents;
mod entities;
mod expanded;
mod filter;
mod given;
mod guard;
mod indexes;
mod inputs;
mod jsonpath;
mod kept;
mod located;
mod lookahead;
mod mutation;
mod operations;
mod parse;
mod persisted;
mod query;
mod repeat;
mod report;
mod request;
mod response;
mod rewrite;
mod scalars;
mod service;
mod session;
mod tally;
mod typename;
mod types;
mod unknown;
mod uses;
mod variables;
mod walk;

use async_graphql::SDLExportOptions;

use crate::limits::Bounds;

pub use given::GivenVariables;
pub use persisted::QueryHash;
pub use report::Report;
pub use request::{Posted, Request};
pub use service::{Answer, GraphQl, Methods};

/// The schema as text, as `schema.graphql` has it.
pub fn schema_text() -> String {
    let options = SDLExportOptions::new()
        .include_specified_by()
        .prefer_single_line_descriptions();
    let schema = operations::schema(operations::Purpose::Execute, &Bounds::DEFAULT);
    let sdl = schema.sdl_with_options(options);
    let lines: Vec<&str> = sdl.lines().map(str::trim_end).collect();
    format!("{}\n", lines.join("\n").replace('\t', "  ").trim())
}
