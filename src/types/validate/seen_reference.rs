//! References in a value, whose keys depend on other documents.

use std::sync::Arc;

use crate::document::id::DocumentId;
use crate::document::leaf::Leaf;
use crate::document::path::{Place, Segment};
use crate::error::{Error, Limit};
use crate::limits::REFERENCES_CHECKED_MAX;
use crate::types::shape::Reference;
use crate::types::violation::shown;

/// A reference that a validator has seen.
#[derive(Clone, Debug)]
pub struct SeenReference {
    /// The place of the key in the document.
    pub place: Place,
    /// What the schema says about it.
    pub reference: Arc<Reference>,
    /// The id of the document to which it leads. `None` if there can be none.
    pub to: Option<DocumentId>,
    /// The key as JSON, cut.
    pub value: String,
}

impl SeenReference {
    pub(super) fn new(place: &[Segment], reference: &Arc<Reference>, leaf: &Leaf<'_>) -> Self {
        Self {
            place: Place(place.to_vec()),
            reference: reference.clone(),
            to: DocumentId::of_leaf(leaf),
            value: shown(leaf),
        }
    }

    /// Its approximate memory.
    pub fn held(&self) -> usize {
        let to = self.to.as_ref().map_or(0, DocumentId::bytes);
        self.place.held_bytes() + to + self.value.len()
    }
}

/// The error of an operation that writes too many references.
pub fn too_many_references() -> Error {
    Error::too_large(
        Limit::new("checkedReferences", REFERENCES_CHECKED_MAX),
        format!(
            "one operation writes at most {REFERENCES_CHECKED_MAX} references that have `exists` or a `chain`; nothing \
             was changed"
        ),
    )
}
