//! Divides a stream of bytes into the texts of documents.

pub(crate) mod chunks;
mod detect;
mod scan;
pub(crate) mod split;

#[cfg(test)]
mod tests;
