//! Connections: accepted, encrypted and bounded in time.

pub(crate) mod file_reload;
pub(crate) mod header_timeout;
pub(crate) mod listen;
pub(crate) mod tls;
pub(crate) mod write_timeout;
