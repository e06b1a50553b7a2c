//! How a command reaches a store: directly, or through the server that has it open.

pub(crate) mod access;
pub(crate) mod client;
pub(crate) mod cluster;
