//! JSON documents, their paths and their leaves. Pure: no store, no I/O, nothing async.

pub mod assemble;
pub mod filter;
pub mod flatten;
pub mod id;
pub mod json;
pub mod jsonpath;
pub mod leaf;
pub mod number;
pub mod parse_merge_patch;
pub mod patch;
pub mod path;
pub mod regexp;
pub mod tree;
