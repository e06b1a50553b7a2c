//! The schema: declarations of its types and fields, and how it is built.

pub(crate) mod build;
pub(crate) mod declared;
pub(crate) mod entities;
pub(crate) mod federation;
pub(crate) mod mutation;
pub(crate) mod node;
pub(crate) mod query;
pub(crate) mod subscription;
mod types;
