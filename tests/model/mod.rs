//! What Phyllo is compared with: plain values in memory, written independently of it.

#![allow(dead_code, reason = "each program that has it uses a part")]

pub(crate) mod change;
pub(crate) mod documents;
pub(crate) mod json;
pub(crate) mod pairs;
pub(crate) mod queries;
pub(crate) mod updates;
