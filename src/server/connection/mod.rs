//! Connections: listening, TLS, timeouts and reloaded files.

pub(crate) mod file_reload;
pub(crate) mod header_timeout;
pub(crate) mod listen;
pub(crate) mod tls;
pub(crate) mod write_timeout;
