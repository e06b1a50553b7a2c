//! The GraphQL interface as a client meets it, without HTTP: what is read and written, what it
//! costs in the store, what is refused and how.
#![expect(
    clippy::needless_raw_string_hashes,
    clippy::format_collect,
    reason = "texts in a table are written alike, and the long ones are few"
)]

mod bounds;
mod changing;
mod children;
mod counting;
mod entities;
mod errors;
mod exactness;
mod model;
mod operations;
mod reading;
mod schema;
mod snapshot;
mod suites;
mod support;
mod variables;
mod writing;
