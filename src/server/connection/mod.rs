//! Connections: listening, TLS, and timeouts.

pub(crate) mod caller_slot;
pub(crate) mod header_timeout;
pub(crate) mod http2;
pub(crate) mod listen;
pub(crate) mod protocol;
pub(crate) mod served;
pub(crate) mod stream_timeout;
pub(crate) mod tls;
pub(crate) mod unread;
pub(crate) mod write_timeout;
