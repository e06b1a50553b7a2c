//! The GraphQL interface as a client meets it, without HTTP: what is read and written, what it
//! costs in the store, what is refused and how.

mod bounds;
mod children;
mod counting;
mod entities;
mod errors;
mod exactness;
mod operations;
mod reading;
mod schema;
mod snapshot;
mod support;
mod variables;
mod writing;
