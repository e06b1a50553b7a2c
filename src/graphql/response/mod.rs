//! The response: its JSON text, its errors, and the bytes that it holds.

pub(crate) mod counted;
pub(crate) mod write;
