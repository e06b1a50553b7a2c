//! Connects commands to a database: to a server by its URL, to the server that holds a store, or to a store that this
//! process opens. All three have the same interfaces ([`client`]).

pub(crate) mod client;
pub(crate) mod cluster;
pub(crate) mod data;
pub(crate) mod opening;
pub(crate) mod raw_json;
pub(crate) mod reply;
pub(crate) mod server_connection;
