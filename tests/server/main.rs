//! The server over TCP: the real binary, on a free port.

mod access;
mod audits;
mod backup;
mod batches;
mod bodies;
mod caching;
mod coding;
mod cors;
mod crash;
mod documents;
mod headers;
mod held_by_connections;
mod hints;
mod hostile_connections;
mod hosts;
mod http2;
mod introspection;
mod jwt;
mod keep_alive;
mod limits;
mod listed_operations;
mod methods;
mod metrics_and_logs;
#[path = "../npm/mod.rs"]
mod npm;
mod persisted;
mod process;
#[path = "../replay/mod.rs"]
mod replay;
mod response_streams;
mod rights;
mod rules;
#[path = "../skip/mod.rs"]
mod skip;
mod support;
mod tls;
mod tracing;
mod typed_crash;
mod websockets;
