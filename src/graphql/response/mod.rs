//! The response: its JSON text, its errors, and how its bytes are counted.

pub(crate) mod commit_version;
pub(crate) mod hint;
pub(crate) mod write_errors;
