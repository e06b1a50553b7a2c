//! The server as a client meets it over TCP: the real binary, on a port of its own.

mod audits;
mod bodies;
mod crash;
mod headers;
mod methods;
mod process;
mod support;
