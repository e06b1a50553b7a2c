//! Phyllo: a GraphQL server for JSON documents that are read and written by path.
//!
//! A document is stored one leaf to a key, so any part of it is one contiguous range of keys
//! (docs/format.md draws every byte). The folders are the layers; each uses only those above it:
//!
//! | layer | what it knows |
//! |---|---|
//! | [`error`], [`limits`] | what can go wrong, and every bound |
//! | [`budget`] | what one request may still use: steps, bytes, memory, time |
//! | [`document`] | JSON, paths and leaves; pure |
//! | [`key`] | keys and values as bytes; pure |
//! | [`store`] | bytes only: the engines' contract, the retry of transactions, the embedded engine, FoundationDB |
//! | [`database`] | operations on documents inside one snapshot or transaction |
//! | [`graphql`] | the schema, and how a request is executed; the only user of `async_graphql` |
//! | [`server`] | HTTP; the only user of `axum` |
//! | [`cli`] | the commands |
//!
//! # A read: `document(id: "FRA", path: "/name") { value }`
//!
//! 1. `server::http::by_post` reads the body within its bound and [`graphql::Posted::from_json`]
//!    takes it apart; variables stay text.
//! 2. [`graphql::GraphQl::answer`] asks `graphql::prepared_query` for the document of this text:
//!    kept, or bounded (`text_limits::check_text`), parsed (`parse::parse`), bounded again
//!    (`query_cost::check_expanded`) and validated. `variables::coerce` checks the variables.
//! 3. A query of which all reads are known beforehand, as of this one, is planned once for its text
//!    (`graphql::direct`): the plan is bound to the variables, which gives all that is to be read.
//!    For any other, resolvers look ahead in their selection (`lookahead::wants_below`) and ask the
//!    session's loader; `batcher::Batcher` runs it when none can go on, so everything asked for at
//!    the same level is one batch.
//! 4. [`database::read_asked`] plans the reads ([`database::ReadPlan`]): one range for each place
//!    that lies in no other. It reads them in one round ([`store::Read::ranges`]) from one snapshot
//!    ([`store::Store::lazy_snapshot`]).
//! 5. What was asked for is a [`database::Slice`] of those pairs, or a [`database::Part`] where it
//!    is kept; [`key::JsonText`] writes its JSON straight from them.
//! 6. `direct::write` writes that text into the response; `response::write` splices it in.
//!
//! # A write: `insertDocument(document: …)`
//!
//! 1. and 2. as above; then [`store::transact`] begins a transaction and executes the whole
//!    operation in it, again from the start after a conflict.
//! 3. [`key::Leaves::from_json`] flattens the text into sorted pairs ([`document::flatten`]).
//! 4. [`database::insert`] reads whether anything is there, and writes existence, count, version
//!    and leaves.
//! 5. Any error in the response aborts the transaction. Otherwise it commits: the embedded engine
//!    reports success after the sync that covers it (`store::embedded::commit`).
//! 6. `response::write` fills in the version that the commit got.

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
pub mod server;
pub mod store;
