//! Output to the terminal and to files.

pub(crate) mod files;
pub(crate) mod interrupt;
pub(crate) mod output;
pub(crate) mod pretty;
