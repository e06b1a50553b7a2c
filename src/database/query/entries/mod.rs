//! Streams of document ids from index entries, and their unions and intersections.

pub(crate) mod ids;
pub(crate) mod keys;
pub(crate) mod union;
pub(crate) mod walk;
