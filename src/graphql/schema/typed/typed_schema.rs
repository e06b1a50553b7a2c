//! What a schema has of the types of collections.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::typed_fields::TypedFields;
use super::typed_inputs::TypedInputs;
use super::typed_writes::TypedWrites;

/// The meaning of the types of collections in a schema. A clone is cheap.
#[derive(Clone, Debug, Default)]
pub(crate) struct TypedSchema {
    /// What the fields read.
    pub(crate) fields: TypedFields,
    /// What the filters and orders mean.
    pub(crate) inputs: TypedInputs,
    /// What the inputs of documents mean.
    pub(crate) writes: TypedWrites,
    /// The types of documents, which are entities, with their collections.
    pub(crate) entities: Arc<BTreeMap<String, Arc<str>>>,
}
