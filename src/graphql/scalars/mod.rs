//! The scalars of the schema, node ids and cursors.

pub(crate) mod jsonpath;
pub(crate) mod list_cursor;
pub(crate) mod node_id;
pub(crate) mod scalar_types;
