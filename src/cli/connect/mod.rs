//! Connects commands to a store, directly or through the server that holds it.

pub(crate) mod access;
pub(crate) mod client;
pub(crate) mod cluster;
pub(crate) mod opening;
