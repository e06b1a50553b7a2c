//! The protocol `graphql-transport-ws`: <https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md>.

pub(crate) mod client_message;
pub(crate) mod closing;
pub(crate) mod handshake;
pub(crate) mod message_rate;
pub(crate) mod open_operation;
pub(crate) mod outgoing;
pub(crate) mod session;
pub(crate) mod unfinished_message;

#[cfg(test)]
mod tests;
