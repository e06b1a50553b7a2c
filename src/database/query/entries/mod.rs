//! Streams of document ids from index entries, and their unions and intersections.

pub(crate) mod held;
pub(crate) mod id_source;
pub(crate) mod ids;
pub(crate) mod keys;
pub(crate) mod listed_ids;
pub(crate) mod lookup;
pub(crate) mod merge_streams;
pub(crate) mod walk;
