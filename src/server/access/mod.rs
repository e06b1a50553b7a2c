//! Authenticates callers and decides what they may execute. No other module makes access decisions.

pub(crate) mod admission;
mod authentication;
mod bearer;
pub(crate) mod caller;
pub(crate) mod cors;
pub(crate) mod host;
pub(crate) mod operation_files;
mod rules_file;
pub(crate) mod tokens;
pub(crate) mod user_tokens;

pub use authentication::{Access, AccessOptions};
