//! The scalars of the schema, node ids and cursors.

pub(crate) mod cursor;
pub(crate) mod jsonpath;
pub(crate) mod node_id;
pub(crate) mod types;
