//! Scalars of the schema, node ids and cursors: values as text.

pub(crate) mod cursor;
pub(crate) mod jsonpath;
pub(crate) mod node_id;
pub(crate) mod types;
