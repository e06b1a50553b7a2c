//! The GraphQL interface as a client meets it, without HTTP: what is read and written, what it
//! costs in the store, what is refused and how.

mod children;
mod counting;
mod exactness;
mod reading;
mod schema;
mod snapshot;
mod support;
mod writing;
