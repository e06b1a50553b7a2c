//! The server under load: mixed traffic of every kind, stops in the middle of it, and thousands of
//! connections at rest. Mixed traffic is a long test.
//!
//! Mixed traffic lasts a minute, or for as many seconds as `PHYLLO_LOAD_SECONDS` says. It
//! comes from autocannon, a package of npm; if that cannot be installed, the test is skipped.

mod client;
mod keep_alive;
#[path = "../npm/mod.rs"]
mod npm;
#[path = "../walk/server.rs"]
mod server;
#[path = "../skip/mod.rs"]
mod skip;
mod stopping;
mod traffic;
