//! Phyllo: a GraphQL server that reads and writes JSON documents by path.
//!
//! A document is stored as one key per leaf, so any part of it is one contiguous range of keys
//! (docs/format.md). The folders are the layers. Each layer uses only the layers above it:
//!
//! | layer | contents |
//! |---|---|
//! | [`error`], [`limits`] | the error type; all limits |
//! | [`budget`] | what a request may still use: steps, bytes, memory, time |
//! | [`document`] | JSON, paths and leaves; pure |
//! | [`key`] | documents and records as keys and values; pure |
//! | [`rights`] | access rules: who may do what, at which places; pure |
//! | [`types`] | types of collections: JSON Schema, validation, inference; pure |
//! | [`store`] | the engine contract, the retry loop, the embedded engine, FoundationDB |
//! | [`database`] | operations on documents in a snapshot or transaction |
//! | [`graphql`] | the schema and the execution of requests; the only user of `async_graphql` |
//! | [`operations`] | the operations of the commands |
//! | [`server`] | HTTP; the only user of `axum` |
//! | [`cli`] | the commands |
//!
//! ARCHITECTURE.md in the repository describes the invariants, and how to add a mutation, a limit
//! or a key family.
//!
//! # A read: `document(id: "FRA", path: "/name") { value }`
//!
//! 1. `server/http/methods.rs` (`by_post`) reads the body within its limits (`body.rs`).
//!    `graphql/request/body.rs` ([`graphql::Posted::from_json`]) parses it. Variables stay text.
//! 2. `graphql/execute/service.rs` ([`graphql::GraphQl::answer_and_report`]) gets the prepared query
//!    from the cache of `graphql/prepare/prepared_query.rs`, which otherwise checks the text
//!    (`text_limits.rs`), parses it (`parse/mod.rs`), checks the cost (`query_cost.rs`), validates
//!    it (`validate/`), and plans it (`planner.rs`).
//! 3. `graphql/variables/coerce_variables.rs` converts the variables to their declared types.
//! 4. `graphql/execute/planned/binding/bind.rs` binds the plan to the variables, which gives all reads of
//!    the query.
//! 5. `database/read/load.rs` ([`database::read_requested`]) plans the ranges ([`database::ReadPlan`])
//!    and reads them in one round ([`store::Read::ranges`]) from one snapshot
//!    ([`store::Store::lazy_snapshot`]).
//! 6. `graphql/execute/planned/write_response.rs` writes the response. [`key::JsonText`] writes the JSON of
//!    each value from its pairs, without a tree.
//!
//! # A write: `replaceDocument(id: "FRA", path: "/name", document: "Frankfurt")`
//!
//! 1. Steps 1 to 3 are the same. The execution then runs in a transaction:
//!    `database/open/mod.rs` ([`database::Database::transact`]) calls `store/transact/mod.rs`
//!    ([`store::transact()`]), which repeats the whole operation after a conflict.
//! 2. The function `replace` in `graphql/execute/mutations/document.rs` splits the argument into
//!    sorted pairs ([`key::LeavesReader`], [`document::flatten`]).
//! 3. `database/edit/mod.rs` ([`database::replace`]) finds the place, writes the pairs that differ,
//!    and then the document's version and index entries (`editor/mod.rs`).
//! 4. An error in the response aborts the transaction. Otherwise it commits. The embedded engine
//!    reports success after a sync (`store/embedded/commit/mod.rs`).
//! 5. `graphql/response/commit_version.rs` inserts the version of the commit into the response.

#![cfg_attr(not(feature = "foundationdb"), forbid(unsafe_code))]

pub mod budget;
pub mod cli;
pub mod database;
pub mod document;
pub mod error;
pub mod graphql;
pub mod key;
pub mod limits;
pub mod operations;
pub mod rights;
pub mod server;
pub mod store;
pub mod types;
