//! The server as a client meets it over TCP: the real binary, on a port of its own.

mod access;
mod audits;
mod backup;
mod batches;
mod bodies;
mod caching;
mod coding;
mod cors;
mod crash;
mod headers;
mod hosts;
mod hurting;
mod introspection;
mod limits;
mod methods;
#[path = "../npm/mod.rs"]
mod npm;
mod persisted;
mod process;
mod resting;
mod rights;
mod support;
mod tls;
mod tracing;
mod watching;
