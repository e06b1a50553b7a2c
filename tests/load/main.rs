//! The server under load: mixed traffic of every kind, stops in the middle of it, and thousands of
//! connections at rest.
//!
//! Mixed traffic goes on for a minute, or for as many seconds as `PHYLLO_LOAD_SECONDS` says. It
//! comes from autocannon, a package of npm; where that cannot be had, one line says so.

mod client;
mod keep_alive;
#[path = "../npm/mod.rs"]
mod npm;
#[path = "../walk/server.rs"]
mod server;
mod stopping;
mod traffic;
