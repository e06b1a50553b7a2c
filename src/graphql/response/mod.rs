//! The response: its JSON text, its errors, and how its bytes are counted.

pub(crate) mod counted;
pub(crate) mod hint;
pub(crate) mod write;
